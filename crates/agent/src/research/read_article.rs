//! The tool that reads one article.

use async_trait::async_trait;
use bylaw_answer::{Research, passage};
use bylaw_contract::{ArticleAddress, ArticleId, SourceName};
use bylaw_mcp::ToolOutcome;
use bylaw_retrieval::{GenerationError, Hit};
use serde_json::{Map, Value, json};

use super::{say, search::unreadable};
use crate::tool::{Tool, ToolContext, ToolInfo, text_outcome};

/// Longest text of an article, in characters.
const MAX_CHARS: usize = 6_000;

/// Most names that are listed for a model that named none, or the wrong one.
const MAX_LISTED: usize = 20;

/// Reads one article by its address.
pub(super) struct ReadArticle(pub(super) Research);

#[async_trait]
impl Tool for ReadArticle {
    fn info(&self) -> ToolInfo {
        let say = |chinese, english| say(&self.0, chinese, english);
        let schema = json!({
            "type": "object", "required": ["article"], "additionalProperties": false,
            "properties": {
                "source": { "type": "string", "description": say("文件名稱，例如 work_rules.md", "The document, such as work_rules.md") },
                "article": { "type": "string", "description": say("條號，例如 26 或 26-1；也可以是完整的 id", "The article's number, such as 26 or 26-1, or its whole id") },
            },
        });
        let description =
            say("讀一條條文的全文，以及它提到哪些條文。", "Reads one article whole, and says which articles it names.");
        ToolInfo::reading("read_article", description, schema)
    }

    async fn call(&self, arguments: Map<String, Value>, _: ToolContext) -> Result<ToolOutcome, String> {
        let research = &self.0;
        let field = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::trim).filter(|s| !s.is_empty());
        let (source, article) = (field("source"), field("article").unwrap_or_default());
        let read = self.read(source, article);
        let (found, problem) = match &read {
            Ok((id, _)) => (vec![id.clone()], None),
            Err(problem) => (Vec::new(), Some(problem.as_str())),
        };
        let asked = source.map_or_else(|| article.to_owned(), |source| format!("{source}#{article}"));
        research.log.show(research.notebook.step("read_article", &asked, found, problem));
        read.map(|(_, text)| text_outcome(text))
    }
}

impl ReadArticle {
    fn read(&self, source: Option<&str>, article: &str) -> Result<(ArticleId, String), String> {
        let research = &self.0;
        let hit = self.look_up(source, article)?;
        let generation_failed = |error: GenerationError| unreadable(&error);
        let id = hit.article.id.clone();
        let mut text = passage(&hit.article, MAX_CHARS);
        let names = research.window.refers_to(hit.ordinal).map_err(generation_failed)?;
        if !names.is_empty() {
            let names: Vec<String> = names.iter().take(MAX_LISTED).map(ToString::to_string).collect();
            text.push_str(say(research, "提到：", "It names: "));
            text.push_str(&names.join(", "));
        }
        let ordinal = hit.ordinal;
        let named_by = |read: &Hit| {
            research.window.refers_to(read.ordinal).is_ok_and(|named| named.contains(&id)) && read.ordinal != ordinal
        };
        research.notebook.read(hit, named_by);
        Ok((id, text))
    }

    /// The article that was meant, however it was written; else what to do.
    fn look_up(&self, source: Option<&str>, article: &str) -> Result<Hit, String> {
        let window = &self.0.window;
        let candidates = match address(source, article) {
            (Some(source), addresses) => {
                if !window.sources().any(|name| *name == source) {
                    return Err(format!("There is no document {source:?}. {}", self.listed()));
                }
                pairs(std::iter::once(&source), &addresses)
            }
            (None, addresses) => pairs(window.sources(), &addresses),
        };
        let mut found = Vec::new();
        for id in candidates {
            found.extend(window.article(&id).map_err(|error| unreadable(&error))?);
        }
        match found.len() {
            1 => found.pop().ok_or_else(|| self.listed()),
            0 => Err(format!("There is no such article. Find it with search, or name it by its id. {}", self.listed())),
            _ => Err(format!(
                "Several documents have that article. Say which one you mean: {}.",
                found.iter().take(MAX_LISTED).map(|hit| hit.article.id.to_string()).collect::<Vec<_>>().join(", ")
            )),
        }
    }

    fn listed(&self) -> String {
        let names: Vec<String> = self.0.window.sources().take(MAX_LISTED).map(ToString::to_string).collect();
        format!("The documents are: {}.", names.join(", "))
    }
}

/// Every article that this may mean: as an id, as an address, or in words.
fn address(source: Option<&str>, article: &str) -> (Option<SourceName>, Vec<ArticleAddress>) {
    let article = article.trim_matches(['[', ']', '【', '】']);
    if let Ok(id) = article.parse::<ArticleId>() {
        return (Some(id.source), vec![id.article]);
    }
    let source = source.and_then(|name| SourceName::new(name).ok());
    let article = article.trim_start_matches('#');
    let in_words = bylaw_corpus::article_mentions(article).into_iter().map(|mention| mention.address).take(1);
    let mut addresses: Vec<ArticleAddress> = ArticleAddress::new(article).into_iter().collect();
    addresses.extend(in_words.filter(|address| !addresses.contains(address)).collect::<Vec<_>>());
    (source, addresses)
}

fn pairs<'a>(sources: impl Iterator<Item = &'a SourceName>, addresses: &[ArticleAddress]) -> Vec<ArticleId> {
    sources.flat_map(|name| addresses.iter().map(|address| ArticleId::new(name.clone(), address.clone()))).collect()
}
