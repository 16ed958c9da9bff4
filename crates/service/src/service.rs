//! What every handler works with.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bylaw_agent::Runner;
use bylaw_answer::{AnswerError, Answerer};
use bylaw_contract::{Clock, Outcome, Randomness, ask::Answer};
use bylaw_library::Library;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{accounts::Accounts, handover::Handed, metrics::Metrics, settings::ServiceSettings};

/// Uploads that are received at once. Each is bounded by the upload limit; together they must not fill the disk.
const CONCURRENT_UPLOADS: usize = 4;
/// Comparisons of costs that are computed at once: each keeps a processor busy for a while.
const CONCURRENT_COMPARISONS: usize = 2;

/// The parts that the door stands on. Built once, shared by every request.
pub struct Service {
    pub(crate) library: Arc<Library>,
    pub(crate) answerer: Arc<Answerer>,
    pub(crate) runner: Runner,
    pub(crate) accounts: Accounts,
    pub(crate) metrics: Metrics,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Randomness>,
    pub(crate) settings: ServiceSettings,
    pub(crate) asks: Arc<Semaphore>,
    pub(crate) uploads: Semaphore,
    pub(crate) comparisons: Arc<Semaphore>,
    /// Fires when the service begins to stop: nothing new is accepted.
    pub(crate) closing: CancellationToken,
    /// Fires when the grace is over: what still runs is cancelled.
    pub(crate) cut: CancellationToken,
    /// What is under way at `/mcp`.
    pub(crate) handed: Handed,
    /// Process start to now, when everything below was ready.
    pub(crate) boot: Duration,
    model_problem: Mutex<Option<String>>,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Service {
    /// A service over an opened library. Remains of uploads that a crash cut off are removed.
    #[must_use]
    pub fn new(
        library: Arc<Library>,
        answerer: Arc<Answerer>,
        runner: Runner,
        accounts: Accounts,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Randomness>,
        settings: ServiceSettings,
    ) -> Arc<Self> {
        crate::upload::remove_remains(&settings.uploads);
        Arc::new(Self {
            asks: Arc::new(Semaphore::new(settings.concurrent_asks)),
            uploads: Semaphore::new(CONCURRENT_UPLOADS),
            comparisons: Arc::new(Semaphore::new(CONCURRENT_COMPARISONS)),
            closing: CancellationToken::new(),
            cut: CancellationToken::new(),
            handed: Handed::default(),
            boot: clock.elapsed(),
            model_problem: Mutex::new(None),
            metrics: Metrics::new(&*clock),
            library,
            answerer,
            runner,
            accounts,
            clock,
            random,
            settings,
        })
    }

    /// Remembers how the model did, so that `/healthz` can tell without asking it: a probe would cost money.
    pub(crate) fn remember_model(&self, result: &Result<Answer, AnswerError>) {
        let Ok(answer) = result else { return };
        // What came from a cache, or from the rules, says nothing about the model.
        let asked = answer.usage.model_calls > 0 || answer.outcome == Outcome::Degraded;
        if !asked || self.answerer.model().is_none() {
            return;
        }
        let failed = match (answer.outcome, &answer.stop) {
            (Outcome::Degraded, None) => answer.answer.is_none(),
            (_, Some(stop)) if stop.reason.is_breakdown() => true,
            (_, Some(_)) => return,
            (_, None) => false,
        };
        let said =
            || answer.stop.as_ref().map(|stop| stop.message.clone()).or_else(|| answer.warnings.first().cloned());
        let problem = failed.then(|| said().unwrap_or_else(|| "the last call to it failed".to_owned()));
        *self.model_problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    /// What was wrong with the model when it was last needed.
    pub(crate) fn model_problem(&self) -> Option<String> {
        self.model_problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
