//! What is asked of a chat model and what comes back.

use std::{pin::Pin, time::Duration};

use bylaw_contract::{ErrorCode, TokenUsage};
use futures_util::Stream;
use serde::{Deserialize, Serialize};

use crate::meter::{Purpose, Refused};

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
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: String,
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
}

/// Why one model response ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It reached `max_tokens`.
    Length,
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
            | Self::Malformed { .. }
            | Self::Cancelled => ErrorCode::UpstreamFailed,
        }
    }
}

/// The pieces of a reply, in order. Dropping it closes the connection.
pub type ChatStream = Pin<Box<dyn Stream<Item = Result<ChatDelta, ModelError>> + Send>>;
