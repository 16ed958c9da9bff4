//! The articles of an answer as a numbered list of links to the page.

use std::fmt::Write;

use axum::http::{HeaderMap, Uri, header, uri::Authority};
use bylaw_contract::{ArticleId, Citation, Language};

/// Articles that are listed where the answer rests on none.
const NEAREST: usize = 5;

/// What the page's addresses begin with: as the caller calls this service, so that a link works where the answer is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base(String);

impl Base {
    /// As a request says it. Without a host it is empty, and links are relative.
    pub(crate) fn of(uri: &Uri, headers: &HeaderMap) -> Self {
        let named = headers.get(header::HOST).and_then(|value| value.to_str().ok()?.parse::<Authority>().ok());
        let Some(host) = uri.authority().cloned().or(named) else { return Self(String::new()) };
        // Whoever ends TLS in front of this service says so.
        let secure = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
        Self(format!("{}://{}", if secure { "https" } else { "http" }, host.as_str()))
    }

    fn article(&self, id: &ArticleId) -> String {
        format!("{}/ui/rules/{}/{}", self.0, encoded(id.source.as_str()), encoded(id.article.as_str()))
    }
}

fn encoded(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _infallible = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// Who is to be listed: what the answer rests on, or else what comes first of what was found, and what `also` names.
pub(crate) fn listed<'a>(citations: &'a [Citation], also: &[ArticleId]) -> Vec<&'a Citation> {
    let used: Vec<&Citation> = citations.iter().filter(|citation| citation.used).collect();
    if !used.is_empty() {
        return used;
    }
    let nearest = citations.iter().enumerate();
    nearest
        .filter(|(place, citation)| *place < NEAREST || also.contains(&citation.id))
        .map(|(_, found)| found)
        .collect()
}

/// What stands above the list.
pub(crate) const fn heading(used: bool, language: Language) -> &'static str {
    match (used, language.is_chinese()) {
        (true, true) => "引用的條文：",
        (true, false) => "Cited articles:",
        (false, true) => "服務查到的條文（不一定每一條都跟答案有關）：",
        (false, false) => "Articles that the service found (not each of them need have to do with the answer):",
    }
}

/// One line of the list.
pub(crate) fn line(number: usize, citation: &Citation, base: &Base) -> String {
    let source = citation.source.as_str().replace('`', "'");
    format!("{number}. [{}]({}) `{source}`", plain(&citation.title), base.article(&citation.id))
}

/// A title as Markdown shows it: what documents call themselves must not become markup.
fn plain(title: &str) -> String {
    let mut text = String::with_capacity(title.len());
    for c in title.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '!' | '#' | '|' | '~') {
            text.push('\\');
        }
        text.push(if c.is_whitespace() || c.is_control() { ' ' } else { c });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_begin_as_the_caller_calls_the_service() {
        let rows: [(&str, Option<&str>, Option<&str>, &str); 6] = [
            ("/v1", Some("127.0.0.1:8024"), None, "http://127.0.0.1:8024"),
            ("/v1", Some("rules.example"), Some("https"), "https://rules.example"),
            ("/v1", Some("rules.example"), Some("javascript"), "http://rules.example"),
            ("/v1", None, None, ""),
            ("/v1", Some("a)b c"), None, ""),
            ("http://rules.example:80/v1", None, None, "http://rules.example:80"),
        ];
        for (uri, host, scheme, expected) in rows {
            let mut headers = HeaderMap::new();
            for (name, value) in [("host", host), ("x-forwarded-proto", scheme)] {
                if let Some(value) = value {
                    headers.insert(name, value.parse().unwrap());
                }
            }
            assert_eq!(Base::of(&uri.parse().unwrap(), &headers), Base(expected.to_owned()), "{uri} {host:?}");
        }
    }

    #[test]
    fn an_address_has_nothing_in_it_that_would_end_a_link() {
        let id: ArticleId = "部門/規章 (新).md#26-1".parse().unwrap();
        let address = Base(String::new()).article(&id);
        assert_eq!(address, "/ui/rules/%E9%83%A8%E9%96%80%2F%E8%A6%8F%E7%AB%A0%20%28%E6%96%B0%29.md/26-1");
    }

    #[test]
    fn a_title_is_no_markup() {
        assert_eq!(plain("a](javascript:x) <b>\n# *c*"), "a\\](javascript:x) \\<b\\> \\# \\*c\\*");
    }
}
