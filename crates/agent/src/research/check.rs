//! The tool that checks a draft.

use async_trait::async_trait;
use bylaw_answer::Research;
use bylaw_mcp::ToolOutcome;
use serde_json::{Map, Value};

use super::{draft, say};
use crate::tool::{Tool, ToolContext, ToolInfo, text_outcome};

/// Checks the citations of a draft, as those of every answer are checked.
pub(super) struct Check(pub(super) Research);

#[async_trait]
impl Tool for Check {
    fn info(&self) -> ToolInfo {
        let say = |chinese, english| say(&self.0, chinese, english);
        let schema = draft::schema(
            say("答案的草稿，句尾附 [id]", "The draft, with [id] at the end of its sentences"),
            say("草稿引用的條文 id", "The ids of the articles it cites"),
        );
        let description = say(
            "檢查草稿：每一句是不是都引用了查到的條文。",
            "Checks a draft: whether every sentence cites an article that was found.",
        );
        ToolInfo::reading("check", description, schema)
    }

    async fn call(&self, arguments: Map<String, Value>, _: ToolContext) -> Result<ToolOutcome, String> {
        let text = draft::text(&self.0, &arguments)?;
        let problems = examine(&self.0, &text);
        Ok(text_outcome(problems.unwrap_or_else(|| {
            say(&self.0, "沒有問題，可以交出答案。", "No problem was found. Hand in the answer.").to_owned()
        })))
    }
}

/// Checks a draft, puts it down, and says what is wrong with it.
pub(super) fn examine(research: &Research, text: &str) -> Option<String> {
    let checked = draft::check(research, text);
    let problems = draft::problems(research, &checked);
    research.notebook.checked(text, problems.is_some());
    let codes: Vec<&str> = checked.sentences.iter().flat_map(|s| &s.problems).map(String::as_str).collect();
    let codes = (!codes.is_empty()).then(|| codes.join(", "));
    research.log.show(research.notebook.step("check", text, draft::cited(&checked), codes.as_deref()));
    problems
}
