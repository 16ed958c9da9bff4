//! How a run ended.

use bylaw_contract::{RunId, Stop, StopReason, TokenUsage};
use bylaw_model::{ChatMessage, FinishReason, ModelError};

use crate::log::RunLogError;

/// The end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// The run.
    pub run_id: RunId,
    /// The answer, if there is one; also where a limit stopped the run and the model answered with what it had.
    pub answer: Option<String>,
    /// Why it ended, and after how many steps.
    pub stop: Stop,
    /// A stable code, where something broke.
    pub code: Option<&'static str>,
    /// Turns that used tools.
    pub steps: u32,
    /// Calls of tools that were made.
    pub tool_calls: u32,
    /// Tokens of all model calls.
    pub usage: TokenUsage,
    /// Whether a part of `usage` is an estimate, because the provider did not say.
    pub usage_is_estimated: bool,
    /// What the model called itself in its last reply, and why that ended; none if there was no reply.
    pub last_reply: Option<(String, FinishReason)>,
    /// The messages of this run, the person's first; all there is, however it ended.
    pub transcript: Vec<ChatMessage>,
}

/// Why a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) reason: StopReason,
    pub(crate) code: Option<&'static str>,
    pub(crate) message: String,
    /// Text that came before the end.
    pub(crate) answer: Option<String>,
}

impl Ending {
    pub(crate) fn stop(reason: StopReason, message: String) -> Self {
        Self { reason, code: None, message, answer: None }
    }

    pub(crate) fn failed(code: &'static str, message: String) -> Self {
        Self { reason: StopReason::Failed, code: Some(code), message, answer: None }
    }

    pub(crate) fn answered(answer: String, message: &str) -> Self {
        Self { answer: Some(answer), ..Self::stop(StopReason::Completed, message.to_owned()) }
    }

    pub(crate) fn cancelled() -> Self {
        Self::stop(StopReason::Cancelled, "the run was cancelled".to_owned())
    }

    pub(crate) fn declined() -> Self {
        Self::stop(StopReason::Cancelled, "the person said no, and that ends this run".to_owned())
    }

    /// `time_is_up` tells whether the run's own time was over when the call failed.
    pub(crate) fn of_model(error: &ModelError, time_is_up: Option<Self>) -> Self {
        let message = match error {
            ModelError::Refused(refused) => refused.to_string(),
            other => other.to_string(),
        };
        let failed =
            |reason| Self { reason, code: Some(error.code().as_str()), message: message.clone(), answer: None };
        match error {
            ModelError::Refused(_) => Self::stop(StopReason::Cost, message),
            ModelError::Cancelled => Self::cancelled(),
            ModelError::ContextTooLong { .. } => Self::stop(StopReason::Context, message),
            ModelError::TimedOut { .. } => time_is_up.unwrap_or_else(|| failed(StopReason::UpstreamTimeout)),
            ModelError::Incomplete => failed(StopReason::UpstreamIncomplete),
            ModelError::Unreachable { .. } | ModelError::Status { .. } | ModelError::Malformed { .. } => {
                failed(StopReason::Failed)
            }
        }
    }
}

impl From<RunLogError> for Ending {
    fn from(error: RunLogError) -> Self {
        Self::failed("storage_failed", error.to_string())
    }
}
