//! The tool that finds articles.

use async_trait::async_trait;
use bylaw_answer::{Research, passage};
use bylaw_contract::{ArticleId, ask::check_question};
use bylaw_mcp::ToolOutcome;
use bylaw_retrieval::{GenerationError, Hit};
use serde_json::{Map, Value, json};

use super::say;
use crate::tool::{Tool, ToolContext, ToolInfo, text_outcome};

/// Most articles that one search gives, without those they name.
const MAX_K: usize = 15;

/// Characters of all articles of one search together, roughly.
const TOTAL_CHARS: usize = 12_000;

/// Characters of one article that are shown in any case.
const LEAST_CHARS: usize = 400;

/// Finds articles by words.
pub(super) struct Search(pub(super) Research);

#[async_trait]
impl Tool for Search {
    fn info(&self) -> ToolInfo {
        let say = |chinese, english| say(&self.0, chinese, english);
        let schema = json!({
            "type": "object", "required": ["query"], "additionalProperties": false,
            "properties": {
                "query": {
                    "type": "string",
                    "description": say("要找的事，用幾個詞或一句話，最多 500 字", "What to look for, in a few words or a sentence, at most 500 characters"),
                },
                "k": { "type": "integer", "description": say("要幾條，1 到 15", "How many articles, 1 to 15") },
            },
        });
        let description = say(
            "找規章的條文。傳回最相關的條文全文與它們的 id。",
            "Finds articles of the rules. Returns the most relevant ones with their ids.",
        );
        ToolInfo::reading("search", description, schema)
    }

    async fn call(&self, arguments: Map<String, Value>, _: ToolContext) -> Result<ToolOutcome, String> {
        let research = &self.0;
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default().trim();
        let k = arguments.get("k").and_then(Value::as_u64).and_then(|k| usize::try_from(k).ok());
        let k = k.unwrap_or(research.k).clamp(1, MAX_K);
        let told = self.search(query, k);
        let (found, problem) = match &told {
            Ok((_, found)) => (found.clone(), None),
            Err(problem) => (Vec::new(), Some(problem.as_str())),
        };
        research.log.show(research.notebook.step("search", query, found, problem));
        told.map(|(text, _)| text_outcome(text))
    }
}

impl Search {
    fn search(&self, query: &str, k: usize) -> Result<(String, Vec<ArticleId>), String> {
        let research = &self.0;
        check_question(query).map_err(|error| format!("query: {}.", error.problem))?;
        let found = research.window.search(query, k).map_err(|error| unreadable(&error))?;
        let hits: Vec<Hit> = found.hits.into_iter().chain(found.referenced).collect();
        research.notebook.searched(query, &hits);
        if hits.is_empty() {
            let nothing = say(research, "什麼都沒有找到，換個說法再找。", "Nothing was found. Try other words.");
            return Ok((nothing.to_owned(), Vec::new()));
        }
        let most = (TOTAL_CHARS / hits.len()).max(LEAST_CHARS);
        let mut text: String = hits.iter().map(|hit| passage(&hit.article, most)).collect();
        if hits.iter().any(|hit| hit.article.text.chars().nth(most).is_some()) {
            text.push_str(say(
                research,
                "（太長的條文只列開頭，全文用 read_article 讀。）",
                "(Long articles are shown in part; read the whole with read_article.)",
            ));
        }
        Ok((text, hits.iter().map(|hit| hit.article.id.clone()).collect()))
    }
}

/// What a model is told where the index cannot be read.
pub(super) fn unreadable(error: &GenerationError) -> String {
    tracing::error!(error = error as &dyn std::error::Error, "an agent could not read the index");
    "The rules cannot be read now. Answer with what you have.".to_owned()
}
