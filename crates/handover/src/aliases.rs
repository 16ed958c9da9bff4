//! `search` and `fetch`: the two names that some clients insist on, in the form that these expect: one text, which is JSON.

use async_trait::async_trait;
use bylaw_contract::ArticleId;
use bylaw_mcp::{CallContext, Caller, ServerTool, ToolReply, ToolSpec, ToolStop};
use serde_json::{Value, json};

use crate::{
    articles_text, describe, error_text,
    read_article::read,
    resources,
    room::{MOST_CHARS, named_part, parts},
    search_rules::find,
    spoken::spoken,
    visit::Desk,
};

pub(crate) struct Search(pub(crate) Desk);

#[async_trait]
impl ServerTool for Search {
    fn spec(&self) -> ToolSpec {
        describe::search()
    }

    fn wrong(&self, caller: &Caller, problems: &str) -> ToolStop {
        self.0.wrong(caller, problems)
    }

    async fn call(&self, call: CallContext) -> Result<ToolReply, ToolStop> {
        let visit = self.0.visit(&call.caller, &call.cancel);
        let query = call.arguments["query"].as_str().unwrap_or_default();
        let language = spoken(query, call.caller.language);
        let found = find(&self.0, &visit, query, describe::MOST_FOUND, language).await?;
        let result = |hit: &bylaw_contract::Citation| json!({ "id": hit.id, "title": hit.title, "url": resources::uri(&hit.source, Some(&hit.article)) });
        let results: Vec<Value> = found.hits.iter().map(result).collect();
        Ok(ToolReply::text(json!({ "results": results }).to_string()))
    }
}

pub(crate) struct Fetch(pub(crate) Desk);

#[async_trait]
impl ServerTool for Fetch {
    fn spec(&self) -> ToolSpec {
        describe::fetch()
    }

    fn wrong(&self, caller: &Caller, problems: &str) -> ToolStop {
        self.0.wrong(caller, problems)
    }

    async fn call(&self, call: CallContext) -> Result<ToolReply, ToolStop> {
        let visit = self.0.visit(&call.caller, &call.cancel);
        let language = call.caller.language;
        let given = call.arguments["id"].as_str().unwrap_or_default();
        let (id, part) = named_part(given.trim());
        let id: ArticleId =
            id.parse().map_err(|error| error_text::wrong(&format!("id: {error}"), &visit.request_id, language))?;
        let read = read(&self.0, &visit, id.source.as_str(), id.article.as_str()).await;
        let article = read.map_err(|error| error_text::told(&error, &visit, language, None))?.article;
        let all = parts(&article.text, MOST_CHARS);
        let Some(text) = all.get(part - 1) else {
            let problem = format!("id: the article has {} parts", all.len());
            return Err(error_text::wrong(&problem, &visit.request_id, language));
        };
        let mut text = (*text).to_owned();
        if all.len() > 1 {
            text = format!("{}\n{}", text.trim_end(), articles_text::read_on(&article, part, all.len(), language));
        }
        let document = json!({
            "id": given.trim(),
            "title": article.title,
            "text": text,
            "url": resources::uri(&article.source, Some(&article.article)),
            "metadata": { "source": article.source, "article": article.article, "part": part, "parts": all.len() },
        });
        Ok(ToolReply::text(document.to_string()))
    }
}
