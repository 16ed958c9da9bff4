//! One question, top to bottom.

use std::{sync::Arc, time::Duration};

use bylaw_contract::{Clock, ErrorCode, RequestId, RunEvent, RunId, ask::Answer, ask::AskRequest};
use bylaw_model::ChatModel;
use bylaw_retrieval::Generation;
use tokio_util::sync::CancellationToken;

/// Where the events of a run go, as they happen.
pub trait EventSink: Send + Sync {
    /// Takes one event. Must not block.
    fn report(&self, event: RunEvent);
}

/// A sink for callers that want the answer only.
#[derive(Clone, Copy, Debug)]
pub struct IgnoreEvents;

impl EventSink for IgnoreEvents {
    fn report(&self, _event: RunEvent) {}
}

/// One question with what its run needs.
pub struct Ask<'a> {
    /// The question; its fields have been checked.
    pub request: &'a AskRequest,
    /// The generation it is answered from, start to end.
    pub generation: Arc<Generation>,
    /// The request's label.
    pub request_id: RequestId,
    /// The run's id.
    pub run_id: RunId,
    /// `Clock::elapsed` when the request arrived.
    pub started: Duration,
    /// Fires when the caller leaves.
    pub cancel: CancellationToken,
    /// Where events go.
    pub events: &'a dyn EventSink,
}

/// Why there is not even an answer that says why there is none.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// The source that was asked for does not exist.
    #[error("there is no source named {0:?}; GET /sources lists them")]
    SourceNotFound(String),
    /// Agent mode does not exist in this build.
    #[error("mode \"agent\" is not available; use \"auto\", \"extract\" or \"pipeline\"")]
    ModeUnavailable,
    /// The index cannot be read.
    #[error("the index cannot be read")]
    Index(#[from] bylaw_retrieval::GenerationError),
    /// The caller left.
    #[error("the request was cancelled")]
    Cancelled,
}

impl AnswerError {
    /// The stable code of this failure.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::SourceNotFound(_) => ErrorCode::SourceNotFound,
            Self::ModeUnavailable => ErrorCode::ModeUnavailable,
            Self::Index(_) => ErrorCode::NotReady,
            Self::Cancelled => ErrorCode::InternalError,
        }
    }
}

/// Answers questions, with or without a model.
pub struct Answerer {
    model: Option<ChatModel>,
    clock: Arc<dyn Clock>,
}

impl Answerer {
    /// An answerer; without a model it gives extracts.
    #[must_use]
    pub fn new(model: Option<ChatModel>, clock: Arc<dyn Clock>) -> Self {
        Self { model, clock }
    }

    /// The model that pipeline answers come from.
    #[must_use]
    pub fn model(&self) -> Option<&ChatModel> {
        self.model.as_ref()
    }

    /// Answers a question.
    ///
    /// Reports `citations`, then `token`s, then exactly one of `done` and `failed` to the sink; the returned answer is
    /// the one of `done`. A model that fails is not an error here: the answer is then `degraded` or `stopped`, with the
    /// extract.
    ///
    /// # Errors
    /// See [`AnswerError`].
    pub async fn ask(&self, ask: Ask<'_>) -> Result<Answer, AnswerError> {
        crate::run::run(self.model.as_ref(), &*self.clock, ask).await
    }
}
