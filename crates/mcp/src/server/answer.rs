//! How a call ends: with a reply, or with a reason why there is none.

use std::fmt;

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData, InputRequiredResult};
use serde_json::Value;

use super::content;
use crate::client::Content;

/// What a tool brings back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolReply {
    /// For the model to read, in its order.
    pub content: Vec<Content>,
    /// For a program, as the tool's output schema says.
    pub structured: Option<Value>,
}

impl ToolReply {
    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::Text(text.into())], structured: None }
    }

    /// The same, with what a program reads. It must be an object: older clients know no other.
    #[must_use]
    pub fn structured(mut self, structured: Value) -> Self {
        self.structured = Some(structured);
        self
    }

    pub(super) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::success(self.content.into_iter().map(content::block).collect());
        result.structured_content = self.structured;
        result
    }
}

/// Why a call ends without a reply. Handlers pass it on with `?`.
#[derive(Debug)]
pub struct ToolStop(pub(super) Stop);

#[derive(Debug)]
pub(super) enum Stop {
    /// A tool error, which the model reads.
    Refused { sentence: String, structured: Option<Value> },
    /// The human is asked; the client calls again with the answer.
    Asking(Box<InputRequiredResult>),
    /// The request is not one of the protocol.
    Protocol(ErrorData),
}

impl ToolStop {
    /// A tool error. The sentence says what is wrong and what to do next.
    #[must_use]
    pub fn refused(sentence: impl Into<String>) -> Self {
        Self(Stop::Refused { sentence: sentence.into(), structured: None })
    }

    /// With what a program reads, if this is a tool error. The tool's output schema does not speak of it.
    #[must_use]
    pub fn with_structured(mut self, value: Value) -> Self {
        if let Stop::Refused { structured, .. } = &mut self.0 {
            *structured = Some(value);
        }
        self
    }

    /// Whether the human is being asked: the call is not over, but made again with the answer.
    #[must_use]
    pub fn is_question(&self) -> bool {
        matches!(self.0, Stop::Asking(_))
    }
}

impl ToolStop {
    pub(super) fn into_response(self) -> Result<CallToolResponse, ErrorData> {
        match self.0 {
            Stop::Refused { sentence, structured } => Ok(tool_error(sentence, structured).into()),
            Stop::Asking(question) => Ok((*question).into()),
            Stop::Protocol(error) => Err(error),
        }
    }
}

pub(super) fn tool_error(sentence: String, structured: Option<Value>) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(sentence)]);
    result.structured_content = structured;
    result
}

impl fmt::Display for ToolStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Stop::Refused { sentence, .. } => f.write_str(sentence),
            Stop::Asking(_) => f.write_str("the human is being asked"),
            Stop::Protocol(error) => f.write_str(&error.message),
        }
    }
}

impl std::error::Error for ToolStop {}
