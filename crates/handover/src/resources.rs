//! `rules://source/article`: the rules by address, for people who pick what their client shows to a model.

use async_trait::async_trait;
use bylaw_contract::{ArticleAddress, Language, SourceName, sources::SourceDetail};
use bylaw_mcp::{Caller, ResourceBody, ResourceSpec, ResourceTemplate, ServerResources, Words};
use tokio_util::sync::CancellationToken;

use crate::{
    DoorError, error_text,
    read_article::read,
    visit::{Desk, PATIENCE, within},
};

const SCHEME: &str = "rules://";

pub(crate) struct Rules(pub(crate) Desk);

/// The address of a source, or of an article in it.
pub(crate) fn uri(source: &SourceName, article: Option<&ArticleAddress>) -> String {
    let source = percent_encoded(source.as_str());
    match article {
        Some(article) => format!("{SCHEME}{source}/{}", percent_encoded(article.as_str())),
        None => format!("{SCHEME}{source}"),
    }
}

/// What an address names: a source, and perhaps an article of it.
fn named(uri: &str) -> Option<(String, Option<String>)> {
    let rest = uri.strip_prefix(SCHEME)?;
    match rest.split_once('/') {
        // Some clients write every address with a path.
        None | Some((_, "")) => Some((decode(rest.trim_end_matches('/'))?, None)),
        Some((source, article)) => Some((decode(source)?, Some(decode(article)?))),
    }
}

/// Everything but letters, digits and `-._~` of ASCII as %XX: a name with slashes is one segment of a path.
#[must_use]
pub fn percent_encoded(text: &str) -> String {
    use std::fmt::Write;
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (high, low) = (char::from(rest.next()?).to_digit(16)?, char::from(rest.next()?).to_digit(16)?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[async_trait]
impl ServerResources for Rules {
    async fn list(&self, caller: &Caller) -> Result<Vec<ResourceSpec>, String> {
        let visit = self.0.visit(caller, &CancellationToken::new());
        let sources = within(&visit, PATIENCE, self.0.door.sources(&visit)).await;
        let sources = sources.map_err(|error| error_text::told(&error, &visit, caller.language, None).to_string())?;
        let shown = sources.into_iter().filter(|summary| self.0.settings.shows(&summary.source));
        Ok(shown
            .map(|summary| {
                let articles = summary.articles.len();
                let mut spec = ResourceSpec::new(uri(&summary.source, None), summary.source.to_string());
                spec.title = summary.title.map(Words::from);
                spec.description =
                    Some(Words::new(format!("Outline: {articles} articles."), format!("目錄，共 {articles} 條。")));
                spec.mime = Some("text/markdown".to_owned());
                spec
            })
            .collect())
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate {
            uri_template: format!("{SCHEME}{{source}}/{{article}}"),
            name: "article".to_owned(),
            description: Some(Words::new(
                "One article in full. Both parts are percent-encoded.",
                "一條條文的全文。兩段都要做百分號編碼。",
            )),
            mime: Some("text/markdown".to_owned()),
        }]
    }

    async fn read(&self, caller: &Caller, uri: &str) -> Result<Option<(Option<String>, ResourceBody)>, String> {
        let Some((source, article)) = named(uri) else { return Ok(None) };
        let visit = self.0.visit(caller, &CancellationToken::new());
        let text = match article {
            Some(article) => read(&self.0, &visit, &source, &article)
                .await
                .map(|found| format!("# {}\n\n{}\n", found.article.title, found.article.text)),
            None => match SourceName::new(source) {
                Ok(source) if self.0.settings.shows(&source) => {
                    let detail = within(&visit, PATIENCE, self.0.door.source(&visit, &source)).await;
                    detail.map(|detail| outline(&detail, caller.language))
                }
                _ => return Ok(None),
            },
        };
        match text {
            Ok(text) => Ok(Some((Some("text/markdown".to_owned()), ResourceBody::Text(text)))),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error_text::told(&error, &visit, caller.language, None).to_string()),
        }
    }
}

fn is_absent(error: &DoorError) -> bool {
    use bylaw_contract::ErrorCode::{ArticleNotFound, SourceNotFound};
    matches!(error, DoorError::Refused(refused) if matches!(refused.code, ArticleNotFound | SourceNotFound))
}

fn outline(detail: &SourceDetail, language: Language) -> String {
    let summary = &detail.summary;
    let title = summary.title.as_deref().unwrap_or(summary.source.as_str());
    let mut text = format!("# {title}\n\n");
    text.push_str(if language.is_chinese() {
        "要讀某一條，請用 read_article 或下列位址。\n"
    } else {
        "Read an article with read_article, or by its address.\n"
    });
    let mut above: &[String] = &[];
    for entry in &detail.outline {
        if entry.heading_path != above {
            above = &entry.heading_path;
            text.push_str(&format!("\n## {}\n\n", above.join(" > ")));
        }
        text.push_str(&format!("* {} {}\n", entry.title, uri(&summary.source, Some(&entry.article))));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back_to_what_it_names() {
        for (source, article) in
            [("work_rules.md", "26-1"), ("員工工作規則.md", "附表"), ("a/b #c.txt", "4.2"), ("100%.md", "1")]
        {
            let (source, article) = (SourceName::new(source).unwrap(), ArticleAddress::new(article).unwrap());
            let address = uri(&source, Some(&article));
            assert!(address.is_ascii());
            assert_eq!(named(&address), Some((source.to_string(), Some(article.to_string()))), "{address}");
            assert_eq!(named(&uri(&source, None)), Some((source.to_string(), None)));
            assert_eq!(named(&format!("{}/", uri(&source, None))), Some((source.to_string(), None)));
        }
        for other in ["http://a/b", "rules:a", "rules://%zz", "rules://a/%", "rules://%ff"] {
            assert_eq!(named(other), None, "{other}");
        }
    }
}
