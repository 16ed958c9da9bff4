//! One prompt: answering from the rules.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bylaw_mcp::{Caller, Content, PromptArgument, PromptMessage, PromptRole, PromptSpec, ServerPrompt, Words};

use crate::spoken::spoken;

pub(crate) struct FromTheRules;

#[async_trait]
impl ServerPrompt for FromTheRules {
    fn spec(&self) -> PromptSpec {
        PromptSpec {
            name: "answer_from_rules".to_owned(),
            title: Some(Words::new("Answer from the rules", "用規章回答")),
            description: Some(Words::new(
                "Looks a question up in the rules and answers with the articles that say so.",
                "查規章回答一個問題，並寫出是哪一條。",
            )),
            arguments: vec![PromptArgument {
                name: "question".to_owned(),
                description: Some(Words::new("The question.", "問題。")),
                required: true,
            }],
        }
    }

    async fn render(
        &self,
        caller: &Caller,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Vec<PromptMessage>, String> {
        let question = arguments.get("question").map_or("", |text| text.trim());
        let text = if spoken(question, caller.language).is_chinese() {
            format!(
                "{question}\n\n請先用 search_rules 查規章，讀過查到的條文再回答：只寫條文真正寫到的內容，每一句後面附上條文編號，數字與單位照抄。條文提到別條而且有關時，用 read_article 讀那一條。查到的條文都沒有寫到這件事，就直接說規章沒有寫到，不要硬套最接近的條文。"
            )
        } else {
            format!(
                "{question}\n\nLook it up with search_rules and read what was found before you answer. Say only what the \
                 articles say, put the article's id after each sentence, and copy numbers and units as they are. If an \
                 article names another one that matters here, read that with read_article. If none of the articles speaks \
                 of this, say that the rules do not mention it; do not make the nearest article fit."
            )
        };
        Ok(vec![PromptMessage { role: PromptRole::User, content: Content::Text(text) }])
    }
}
