//! One prompt: planning a leave.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bylaw_mcp::{Caller, Content, PromptArgument, PromptMessage, PromptRole, PromptSpec, ServerPrompt, Words};

pub(super) struct Plan;

#[async_trait]
impl ServerPrompt for Plan {
    fn spec(&self) -> PromptSpec {
        let argument = |name: &str, english: &str, chinese: &str, required| PromptArgument {
            name: name.to_owned(),
            description: Some(Words::new(english, chinese)),
            required,
        };
        PromptSpec {
            name: "plan_leave".to_owned(),
            title: Some(Words::new("Plan a leave", "安排休假")),
            description: Some(Words::new(
                "Finds out what is left, proposes days, and makes a draft.",
                "查詢餘額、建議日期，並建立草稿。",
            )),
            arguments: vec![
                argument("what", "What the leave is for.", "休假的用途。", true),
                argument("when", "Roughly when.", "大概的時間。", false),
            ],
        }
    }

    async fn render(
        &self,
        caller: &Caller,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Vec<PromptMessage>, String> {
        let given = |name: &str| arguments.get(name).map_or("", |text| text.trim());
        let (what, when) = (given("what"), given("when"));
        let text = if caller.language.is_chinese() {
            let when = if when.is_empty() { String::new() } else { format!("，時間大約是{when}") };
            format!(
                "我想請假：{what}{when}。請先用 leave_balance 查我的餘額，必要時看 leave://calendar，再建議日期；我同意之後才用 create_leave 建立草稿，不要送審。"
            )
        } else {
            let when = if when.is_empty() { String::new() } else { format!(", around {when}") };
            format!(
                "I want to take leave: {what}{when}. First see what I have left with leave_balance, and leave://calendar if \
                 needed; then propose days. Make a draft with create_leave only when I agree, and do not submit it."
            )
        };
        Ok(vec![PromptMessage { role: PromptRole::User, content: Content::Text(text) }])
    }
}
