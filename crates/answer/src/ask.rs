//! One question, top to bottom.

use std::{fmt, sync::Arc, time::Duration};

use bylaw_contract::{
    Clock, ErrorCode, Randomness, RequestId, RunEvent, RunId,
    ask::{Answer, AskRequest, FieldError},
};
use bylaw_gate::{Currency, Gate, GateConfig, MemoryLedger, Principal, ServiceBudgets};
use bylaw_model::Connection;
use bylaw_retrieval::{Generation, GenerationError};
use tokio_util::sync::CancellationToken;

use crate::{
    cache::{CacheSizes, Caches},
    call::CallFlights,
    caps::{Caps, Ceilings},
    keyed::{self, FreeRequests, KeyedFlights},
    memory::MemoryAnswers,
    meter::Purse,
    recall::Recalled,
    researcher::Researcher,
    store::{AnswerStore, AnswerStoreError, IdempotencyKey},
    tallies::{Tallies, TallySnapshot},
};

/// Where the events of a run go, as they happen.
pub trait EventSink: Send + Sync {
    /// Takes one event. Must not block.
    fn report(&self, event: RunEvent);

    /// Whether anyone looks at the events. Where nobody does, some are not made.
    fn listens(&self) -> bool {
        true
    }
}

/// A sink for callers that want the answer only.
#[derive(Clone, Copy, Debug)]
pub struct IgnoreEvents;

impl EventSink for IgnoreEvents {
    fn report(&self, _event: RunEvent) {}

    fn listens(&self) -> bool {
        false
    }
}

/// One question with what its run needs.
pub struct Ask<'a> {
    /// The question; its fields have been checked.
    pub request: &'a AskRequest,
    /// The generation it is answered from, start to end.
    pub generation: Arc<Generation>,
    /// Who asks: whose budgets pay, and which sources there are for them.
    pub principal: Principal,
    /// The caller's own name for this request, if it is not to cost twice.
    pub idempotency_key: Option<IdempotencyKey>,
    /// The request's label.
    pub request_id: RequestId,
    /// The run's id.
    pub run_id: RunId,
    /// `Clock::elapsed` when the request arrived.
    pub started: Duration,
    /// Fires when the caller leaves. Dropping the future means the same.
    pub cancel: CancellationToken,
    /// Where events go.
    pub events: &'a dyn EventSink,
}

/// Why there is not even an answer that says why there is none.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AnswerError {
    /// The source that was asked for does not exist, or not for this caller.
    #[error("there is no source named {0:?}; GET /sources lists them")]
    SourceNotFound(String),
    /// A field is out of its range.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// The index cannot be read.
    #[error("the index cannot be read")]
    Index(#[source] Arc<GenerationError>),
    /// The same `Idempotency-Key` came with another request.
    #[error("this Idempotency-Key was used for another request; take a new key for a new request")]
    IdempotencyConflict,
    /// It cannot be said whether this request was answered before.
    #[error("it cannot be said whether this request was answered before")]
    Store(#[from] AnswerStoreError),
    /// The run ended without a word.
    #[error("the run ended without an answer")]
    Lost,
    /// The caller left, or somebody stopped the run.
    #[error("the run was stopped on request")]
    Cancelled,
}

impl From<GenerationError> for AnswerError {
    fn from(error: GenerationError) -> Self {
        Self::Index(Arc::new(error))
    }
}

impl AnswerError {
    /// The stable code of this failure.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::SourceNotFound(_) => ErrorCode::SourceNotFound,
            Self::Field(_) => ErrorCode::InvalidRequest,
            Self::Index(_) => ErrorCode::NotReady,
            Self::IdempotencyConflict => ErrorCode::IdempotencyConflict,
            Self::Store(_) => ErrorCode::StorageFailed,
            Self::Cancelled => ErrorCode::Cancelled,
            Self::Lost => ErrorCode::InternalError,
        }
    }
}

/// What an answerer is made of.
pub struct AnswererParts {
    /// The model that answers come from; without one, answers are extracts.
    pub model: Option<Connection>,
    /// Who researches the answers of agent mode with that model; without one, they are extracts.
    pub researcher: Option<Arc<dyn Researcher>>,
    /// What pays for it.
    pub purse: Purse,
    /// The most that any question may take.
    pub ceilings: Ceilings,
    /// Where answers are kept for repeated requests.
    pub answers: Arc<dyn AnswerStore>,
    /// How much may be remembered.
    pub caches: CacheSizes,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// What clones of an answerer share, and what goes on when a caller has left.
pub(crate) struct Inner {
    pub(crate) model: Option<Connection>,
    pub(crate) researcher: Option<Arc<dyn Researcher>>,
    pub(crate) purse: Purse,
    pub(crate) ceilings: Ceilings,
    pub(crate) answers: Arc<dyn AnswerStore>,
    pub(crate) caches: Caches,
    pub(crate) calls: Arc<CallFlights>,
    pub(crate) keyed: Arc<KeyedFlights>,
    pub(crate) free: FreeRequests,
    pub(crate) tallies: Arc<Tallies>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// Answers questions, with or without a model. Clones share caches and runs.
#[derive(Clone)]
pub struct Answerer(Arc<Inner>);

impl fmt::Debug for Answerer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answerer").field("model", &self.0.model).finish_non_exhaustive()
    }
}

impl Answerer {
    /// An answerer made of these parts.
    #[must_use]
    pub fn new(parts: AnswererParts) -> Self {
        let AnswererParts { model, researcher, purse, ceilings, answers, caches, clock } = parts;
        Self(Arc::new(Inner {
            model,
            researcher,
            purse,
            ceilings,
            answers,
            caches: Caches::new(caches),
            calls: Arc::default(),
            keyed: Arc::new(KeyedFlights::lingering()),
            free: keyed::free_requests(),
            tallies: Arc::default(),
            clock,
        }))
    }

    /// An answerer that has no model and keeps nothing: it gives extracts.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn without_model(clock: Arc<dyn Clock>, random: Arc<dyn Randomness>) -> Self {
        let ledger = Arc::new(MemoryLedger::default());
        let budgets = ServiceBudgets::UNLIMITED;
        Self::new(AnswererParts {
            model: None,
            researcher: None,
            purse: Purse {
                gate: Gate::open(ledger, budgets, GateConfig::default(), Arc::clone(&clock), random),
                prices: Arc::default(),
                currency: Currency::new("USD", 1_000_000).expect("three capital letters and a positive rate"),
                lowering: true,
            },
            ceilings: Ceilings::default(),
            answers: Arc::new(MemoryAnswers::default()),
            caches: CacheSizes::default(),
            clock,
        })
    }

    /// The model that pipeline answers come from.
    #[must_use]
    pub fn model(&self) -> Option<&Connection> {
        self.0.model.as_ref()
    }

    /// What pays for its calls.
    #[must_use]
    pub fn purse(&self) -> &Purse {
        &self.0.purse
    }

    /// What it has done since it was made.
    #[must_use]
    pub fn tallies(&self) -> TallySnapshot {
        self.0.tallies.snapshot()
    }

    /// The answer to a question that was answered before, ready to be sent; `None` if it has to be made. What it avoided is
    /// booked. No events are reported.
    ///
    /// # Errors
    /// If a cap makes no sense.
    pub async fn recall(&self, ask: &Ask<'_>) -> Result<Option<Recalled>, AnswerError> {
        let caps = Caps::of(ask.request, &self.0.ceilings, &self.0.purse.currency)?;
        Ok(self.0.recall(ask, &caps).await)
    }

    /// Answers a question.
    ///
    /// Reports `citations`, then `token`s, then exactly one of `done` and `failed` to the sink; the returned answer is
    /// the one of `done`. Agent mode reports its steps before. A model that fails, or that a cap or a budget forbids, is not an error here: the answer is then
    /// `degraded` or `stopped`, with the extract. Calls of a model go on for others who asked the same, and are settled
    /// whether or not this future is polled to its end.
    ///
    /// # Errors
    /// See [`AnswerError`].
    pub async fn ask(&self, ask: Ask<'_>) -> Result<Answer, AnswerError> {
        let caps = Caps::of(ask.request, &self.0.ceilings, &self.0.purse.currency)?;
        match &ask.idempotency_key {
            None => self.0.answer(&ask, &caps).await,
            Some(key) => self.0.once(&ask, caps, key).await,
        }
    }
}
