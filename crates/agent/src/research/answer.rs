//! The tool that hands the answer in.

use async_trait::async_trait;
use bylaw_answer::Research;
use bylaw_mcp::ToolOutcome;
use serde_json::{Map, Value};

use super::{check, draft, say};
use crate::tool::{Tool, ToolContext, ToolInfo, text_outcome};

/// Hands the answer in, which ends the run.
pub(super) struct GiveAnswer(pub(super) Research);

#[async_trait]
impl Tool for GiveAnswer {
    fn info(&self) -> ToolInfo {
        let say = |chinese, english| say(&self.0, chinese, english);
        let schema = draft::schema(
            say(
                "答案，一到四句，句尾附 [id]；查不到就只寫 NOT_IN_RULES",
                "The answer, one to four sentences with [id] at their end; NOT_IN_RULES if there is no rule",
            ),
            say("答案引用的條文 id", "The ids of the articles it cites"),
        );
        ToolInfo::reading("answer", say("交出答案，工作就結束。", "Hands in the answer and ends the work."), schema)
    }

    async fn call(&self, arguments: Map<String, Value>, context: ToolContext) -> Result<ToolOutcome, String> {
        let research = &self.0;
        let text = draft::text(research, &arguments)?;
        // Checked once before it is given: by the tool for that, or else here. What is still wrong then is told to the reader.
        if research.self_check
            && research.notebook.notes().checks == 0
            && let Some(problems) = check::examine(research, &text)
        {
            return Err(format!("The answer was checked and not taken yet. Mend it and hand it in again.\n{problems}"));
        }
        let cited = draft::cited(&draft::check(research, &text));
        research.log.show(research.notebook.step("answer", &text, cited, None));
        context.answer(text);
        Ok(text_outcome(say(research, "答案已交出。", "The answer was handed in.")))
    }
}
