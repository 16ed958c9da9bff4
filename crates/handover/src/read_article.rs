//! `read_article`: one article in full.

use async_trait::async_trait;
use bylaw_contract::{ApiError, ArticleAddress, ArticleId, ErrorCode, Language, SourceName, sources::ArticleResponse};
use bylaw_mcp::{CallContext, Caller, ServerTool, ToolReply, ToolSpec, ToolStop};
use serde_json::json;

use crate::{
    DoorError, Visit, articles_text, describe, error_text,
    room::{MOST_CHARS, named_part, parts},
    visit::{Desk, PATIENCE, within},
};

/// Most names that are told when one was wrong.
const MOST_NAMES: usize = 40;

pub(crate) struct ReadArticle(pub(crate) Desk);

#[async_trait]
impl ServerTool for ReadArticle {
    fn spec(&self) -> ToolSpec {
        describe::read_article()
    }

    fn wrong(&self, caller: &Caller, problems: &str) -> ToolStop {
        self.0.wrong(caller, problems)
    }

    async fn call(&self, call: CallContext) -> Result<ToolReply, ToolStop> {
        let visit = self.0.visit(&call.caller, &call.cancel);
        let language = call.caller.language;
        let given = |name: &str| call.arguments[name].as_str().unwrap_or_default().trim();
        let (source, address) = (given("source"), given("article"));
        // Models like to give the whole id in one of the two places.
        let address = address.strip_prefix(source).and_then(|rest| rest.strip_prefix('#')).unwrap_or(address);
        let (address, part) = named_part(address);
        let read = read(&self.0, &visit, source, address).await;
        match read {
            Ok(article) => reply(&article, part, &visit, language),
            Err(error) => {
                let names = names(&self.0, &visit, &error, source, language).await;
                Err(error_text::told(&error, &visit, language, names.as_deref()))
            }
        }
    }
}

/// Reads an article, if it exists for callers.
pub(crate) async fn read(
    desk: &Desk,
    visit: &Visit,
    source: &str,
    address: &str,
) -> Result<ArticleResponse, DoorError> {
    let missing = |code, message: String| {
        let request_id = visit.request_id.clone();
        DoorError::Refused(Box::new(ApiError { code, message, request_id, hint: None }))
    };
    let no_source = || missing(ErrorCode::SourceNotFound, format!("there is no source named {:?}", short(source)));
    let source = SourceName::new(source).map_err(|_| no_source())?;
    if !desk.settings.shows(&source) {
        return Err(no_source());
    }
    let address = ArticleAddress::new(address).map_err(|_| {
        missing(ErrorCode::ArticleNotFound, format!("there is no article {:?} in {source}", short(address)))
    })?;
    within(visit, PATIENCE, desk.door.article(visit, &source, &address)).await
}

fn short(name: &str) -> String {
    name.chars().take(80).collect()
}

/// What there is instead, when a name was wrong.
async fn names(desk: &Desk, visit: &Visit, error: &DoorError, source: &str, language: Language) -> Option<String> {
    let DoorError::Refused(refused) = error else { return None };
    let wanted = match refused.code {
        ErrorCode::SourceNotFound => None,
        ErrorCode::ArticleNotFound => Some(source),
        _ => return None,
    };
    let mut sources = within(visit, PATIENCE, desk.door.sources(visit)).await.ok()?;
    sources.retain(|summary| desk.settings.shows(&summary.source));
    let names: Vec<String> = match wanted {
        None => sources.iter().map(|summary| summary.source.to_string()).collect(),
        Some(wanted) => {
            let summary = sources.iter().find(|summary| summary.source.as_str() == wanted)?;
            summary.articles.iter().map(ToString::to_string).collect()
        }
    };
    let more = if names.len() > MOST_NAMES { " …" } else { "" };
    let shown = names[..names.len().min(MOST_NAMES)].join(", ");
    Some(if language.is_chinese() { format!("有的是：{shown}{more}") } else { format!("there are: {shown}{more}") })
}

fn reply(found: &ArticleResponse, part: usize, visit: &Visit, language: Language) -> Result<ToolReply, ToolStop> {
    let article = &found.article;
    let all = parts(&article.text, MOST_CHARS);
    let Some(text) = all.get(part - 1) else {
        let problem = format!("article: {}~{part}: the article has {} parts", article.article, all.len());
        return Err(error_text::wrong(&problem, &visit.request_id, language));
    };
    let mut blocks = vec![format!("[{}] {}", article.id, article.title)];
    if !article.heading_path.is_empty() {
        blocks.push(article.heading_path.join(" > "));
    }
    blocks.push(text.trim_end().to_owned());
    if all.len() > 1 {
        blocks.push(articles_text::read_on(article, part, all.len(), language));
    }
    blocks.extend(beside(found, language));
    let mut structured = json!({
        "id": article.id,
        "source": article.source,
        "article": article.article,
        "title": article.title,
        "heading_path": article.heading_path,
        "part": part,
        "parts": all.len(),
        "refers_to": found.refers_to,
        "referred_by": found.referred_by,
        "request_id": found.request_id,
    });
    for (name, id) in [("previous", &found.previous), ("next", &found.next)] {
        if let Some(id) = id {
            structured[name] = json!(id);
        }
    }
    Ok(ToolReply::text(blocks.join("\n")).structured(structured))
}

/// What stands near it, in one line.
fn beside(found: &ArticleResponse, language: Language) -> Option<String> {
    let names = |ids: &[ArticleId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let words: [&str; 4] = if language.is_chinese() {
        ["前一條", "後一條", "提到", "被提到於"]
    } else {
        ["before", "after", "names", "named by"]
    };
    let lists = [found.previous.as_slice(), found.next.as_slice(), &found.refers_to, &found.referred_by];
    let told = words.iter().zip(lists).filter(|(_, ids)| !ids.is_empty());
    let told: Vec<String> = told.map(|(word, ids)| format!("{word}: {}", names(ids))).collect();
    (!told.is_empty()).then(|| format!("({})", told.join("; ")))
}
