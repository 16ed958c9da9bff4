//! What is asked of a chat model and what comes back.

use std::{pin::Pin, sync::Arc, time::Duration};

use bylaw_contract::{ErrorCode, TokenUsage};
use futures_util::Stream;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::{
    meter::{Purpose, Refused},
    tools::{ToolCallRequest, ToolChoice, ToolDefinition},
};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// The person, and data.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

/// One message. Its serialised form is this program's own, not that of the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum ChatMessage {
    /// Instructions.
    System {
        /// What is said.
        content: String,
    },
    /// The person, and data.
    User {
        /// What is said.
        content: String,
    },
    /// The model.
    Assistant {
        /// What it said; empty if it only called tools.
        content: String,
        /// What it thought before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<Reasoning>,
        /// The calls it asked for. Every one has to be answered by the [`ChatMessage::Tool`] messages that follow.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCallRequest>,
    },
    /// What became of a call.
    Tool {
        /// The call's id.
        call_id: String,
        /// Its result, or why there is none.
        content: String,
    },
}

impl ChatMessage {
    /// Instructions.
    pub fn system(content: impl Into<String>) -> Self {
        Self::System { content: content.into() }
    }

    /// What the person says.
    pub fn user(content: impl Into<String>) -> Self {
        Self::User { content: content.into() }
    }

    /// What the model said, without a call.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::Assistant { content: content.into(), reasoning: None, tool_calls: Vec::new() }
    }

    /// What became of the call with this id.
    pub fn tool(call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self::Tool { call_id: call_id.into(), content: content.into() }
    }

    /// Who speaks.
    #[must_use]
    pub const fn role(&self) -> Role {
        match self {
            Self::System { .. } => Role::System,
            Self::User { .. } => Role::User,
            Self::Assistant { .. } => Role::Assistant,
            Self::Tool { .. } => Role::Tool,
        }
    }

    /// What is said.
    #[must_use]
    pub fn content(&self) -> &str {
        match self {
            Self::System { content }
            | Self::User { content }
            | Self::Assistant { content, .. }
            | Self::Tool { content, .. } => content,
        }
    }

    /// The calls it asks for.
    #[must_use]
    pub fn tool_calls(&self) -> &[ToolCallRequest] {
        match self {
            Self::Assistant { tool_calls, .. } => tool_calls,
            Self::System { .. } | Self::User { .. } | Self::Tool { .. } => &[],
        }
    }
}

/// What a model thought before it answered. Some providers want it back as it was, under the name they gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// The text.
    pub text: String,
    /// What the provider calls it.
    pub field: ReasoningField,
}

/// The field of a message that holds reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningField {
    /// `reasoning_content`.
    ReasoningContent,
    /// `reasoning`.
    Reasoning,
}

/// One question to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatRequest {
    /// What it is for.
    pub purpose: Purpose,
    /// The conversation so far.
    pub messages: Vec<ChatMessage>,
    /// Most tokens the model may write. Always sent.
    pub max_output_tokens: u32,
    /// What it may call.
    pub tools: Arc<[ToolDefinition]>,
    /// Whether it has to.
    pub tool_choice: ToolChoice,
    /// Whether it may ask for several calls at once; `None` leaves that to the provider. Some pay no heed.
    pub parallel_tool_calls: Option<bool>,
    /// When the call must be over, retries and their waits included.
    pub deadline: Option<Instant>,
}

impl ChatRequest {
    /// A question without tools and without a deadline.
    #[must_use]
    pub fn new(purpose: Purpose, messages: Vec<ChatMessage>, max_output_tokens: u32) -> Self {
        Self {
            purpose,
            messages,
            max_output_tokens,
            tools: Arc::default(),
            tool_choice: ToolChoice::Auto,
            parallel_tool_calls: None,
            deadline: None,
        }
    }
}

/// Why one model response ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It reached `max_tokens`.
    Length,
    /// It waits for the results of its calls. Said of every reply that has whole calls, and of no other, whatever the
    /// provider says.
    ToolCalls,
    /// The provider held it back.
    ContentFilter,
    /// Something else, as the provider named it.
    Other(String),
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatDelta {
    /// Text. Never empty.
    Text(String),
    /// What the model thinks. Never empty.
    Reasoning(Reasoning),
    /// A call, whole. Comes when the reply is whole: a call of a reply that is cut off later is none.
    ToolCall(ToolCallRequest),
    /// A call that was cut off, or that belongs to a reply that was. It must not be made, however whole it looks, but
    /// the model may be told.
    CutToolCall(ToolCallRequest),
    /// The reply is whole. Always the last item of a stream that ended well.
    End {
        /// Why it ended.
        finish_reason: FinishReason,
        /// What was used, as reported; `None` where the provider did not say.
        usage: Option<TokenUsage>,
        /// The model's name for itself.
        model: String,
    },
}

/// Why a model call failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ModelError {
    /// The meter did not admit the attempt.
    #[error("the call was not admitted")]
    Refused(#[source] Refused),
    /// No connection, or one that broke before any reply.
    #[error("cannot reach the model at {url}: {problem}; check `model.base_url` and that the endpoint runs")]
    Unreachable {
        /// Host and path, without credentials.
        url: String,
        /// What happened.
        problem: String,
    },
    /// The endpoint answered with an error.
    #[error("the model's endpoint answered {status}: {message}")]
    Status {
        /// HTTP status.
        status: u16,
        /// Its message, at most 300 characters.
        message: String,
        /// How long it asked us to wait.
        retry_after: Option<Duration>,
    },
    /// The conversation is longer than the model can read.
    #[error("the conversation is too long for the model: {message}")]
    ContextTooLong {
        /// What the endpoint says, at most 300 characters.
        message: String,
    },
    /// Nothing came in time.
    #[error("the model did not answer within {waited:?}")]
    TimedOut {
        /// How long was waited.
        waited: Duration,
    },
    /// The reply ended without its end marker.
    #[error("the model's reply ended before it was complete")]
    Incomplete,
    /// The reply is not what the protocol says.
    #[error("the model's reply cannot be understood: {problem}")]
    Malformed {
        /// What is wrong.
        problem: String,
    },
    /// The caller left.
    #[error("the call was cancelled")]
    Cancelled,
}

impl ModelError {
    /// The stable code of this failure.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::TimedOut { .. } => ErrorCode::UpstreamTimeout,
            Self::Incomplete => ErrorCode::UpstreamIncomplete,
            Self::Refused(_)
            | Self::Unreachable { .. }
            | Self::Status { .. }
            | Self::ContextTooLong { .. }
            | Self::Malformed { .. }
            | Self::Cancelled => ErrorCode::UpstreamFailed,
        }
    }
}

/// The pieces of a reply, in order. Dropping it closes the connection.
pub type ChatStream = Pin<Box<dyn Stream<Item = Result<ChatDelta, ModelError>> + Send>>;
