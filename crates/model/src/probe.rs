//! How a model can be given tools.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    action::ActionMode,
    calls::is_object,
    chat::{ChatMessage, ChatRequest, ModelError},
    collect::ChatReply,
    meter::Purpose,
    model::ChatModel,
    tools::ToolDefinition,
};

/// Enough for one call, also with some thoughts before it.
const MAX_OUTPUT_TOKENS: u32 = 512;

const TOOL: &str = "report_word";

impl ChatModel {
    /// Finds out how this model can be given tools: asks for a call in each mode, the best first, and tells the first
    /// in which it comes; `None` if none does. Each question is a metered call.
    ///
    /// # Errors
    /// Those of [`ChatModel::chat`], except that an endpoint that refuses a mode is asked in the next.
    pub async fn probe_actions(&self, cancel: CancellationToken) -> Result<Option<ActionMode>, ModelError> {
        for mode in [ActionMode::Native, ActionMode::JsonSchema, ActionMode::Fenced] {
            let model = self.with_actions(mode);
            let replied = match model.chat(&question(), cancel.clone()).await {
                Ok(stream) => ChatReply::collect(stream).await,
                Err(failure) => Err(failure),
            };
            match replied {
                Ok(reply) => {
                    let mut calls = reply.tool_calls.iter();
                    if calls.any(|call| call.name == TOOL && is_object(&call.arguments)) {
                        return Ok(Some(mode));
                    }
                }
                // What servers say that do not know tools, or no such form of a reply.
                Err(ModelError::Status { status: 400 | 404 | 422 | 500 | 501, .. } | ModelError::Malformed { .. })
                    if mode != ActionMode::Fenced => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(None)
    }
}

fn question() -> ChatRequest {
    let tool = ToolDefinition {
        name: TOOL.to_owned(),
        description: "Reports one word.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"word": {"type": "string"}},
            "required": ["word"],
            "additionalProperties": false,
        }),
    };
    let messages = vec![ChatMessage::user("Call the tool report_word with the word ready.")];
    ChatRequest { tools: [tool].into(), ..ChatRequest::new(Purpose::Probe, messages, MAX_OUTPUT_TOKENS) }
}
