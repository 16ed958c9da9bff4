//! A whole reply.

use bylaw_contract::TokenUsage;
use futures_util::{Stream, StreamExt};

use crate::{
    chat::{ChatDelta, ChatMessage, FinishReason, ModelError, Reasoning},
    tools::ToolCallRequest,
};

/// A reply in one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatReply {
    /// All text.
    pub text: String,
    /// What the model thought before, if it tells.
    pub reasoning: Option<Reasoning>,
    /// The calls it asks for, all of them whole.
    pub tool_calls: Vec<ToolCallRequest>,
    /// Calls that were cut off, or belong to a reply that was. They must not be made, however whole they look.
    pub cut_tool_calls: Vec<ToolCallRequest>,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// What was used, as reported; `None` where the provider did not say.
    pub usage: Option<TokenUsage>,
    /// The model's name for itself.
    pub model: String,
}

impl ChatReply {
    /// Collects a stream up to its end.
    ///
    /// # Errors
    /// The stream's own, and [`ModelError::Incomplete`] if it ends without [`ChatDelta::End`].
    pub async fn collect(
        mut stream: impl Stream<Item = Result<ChatDelta, ModelError>> + Unpin,
    ) -> Result<Self, ModelError> {
        let mut collector = ReplyCollector::default();
        while let Some(delta) = stream.next().await {
            if let Some(reply) = collector.push(delta?) {
                return Ok(reply);
            }
        }
        Err(ModelError::Incomplete)
    }

    /// The reply as a message of the conversation, cut calls included: each of its calls has to be answered.
    #[must_use]
    pub fn message(&self) -> ChatMessage {
        ChatMessage::Assistant {
            content: self.text.clone(),
            reasoning: self.reasoning.clone(),
            tool_calls: self.tool_calls.iter().chain(&self.cut_tool_calls).cloned().collect(),
        }
    }
}

/// Collects the pieces of a reply while its reader passes them on.
#[derive(Clone, Debug, Default)]
pub struct ReplyCollector {
    text: String,
    reasoning: Option<Reasoning>,
    tool_calls: Vec<ToolCallRequest>,
    cut_tool_calls: Vec<ToolCallRequest>,
}

impl ReplyCollector {
    /// Takes the next piece; [`ChatDelta::End`] gives the reply.
    pub fn push(&mut self, delta: ChatDelta) -> Option<ChatReply> {
        match delta {
            ChatDelta::Text(text) => self.text.push_str(&text),
            ChatDelta::Reasoning(piece) => match &mut self.reasoning {
                Some(reasoning) => reasoning.text.push_str(&piece.text),
                None => self.reasoning = Some(piece),
            },
            ChatDelta::ToolCall(call) => self.tool_calls.push(call),
            ChatDelta::CutToolCall(call) => self.cut_tool_calls.push(call),
            ChatDelta::End { finish_reason, usage, model } => {
                let Self { text, reasoning, tool_calls, cut_tool_calls } = std::mem::take(self);
                return Some(ChatReply { text, reasoning, tool_calls, cut_tool_calls, finish_reason, usage, model });
            }
        }
        None
    }

    /// The text so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}
