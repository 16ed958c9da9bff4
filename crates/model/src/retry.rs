//! When a call that failed is tried again.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bylaw_contract::Randomness;
use tokio::time::Instant;

use crate::chat::ModelError;

/// How often a call is tried, and how long is waited between two attempts. Every attempt has its own permit.
#[derive(Clone)]
pub struct Retries {
    max_attempts: u32,
    first_wait: Duration,
    longest_wait: Duration,
    random: Arc<dyn Randomness>,
}

impl Retries {
    /// At most so many attempts. Where the endpoint does not say how long to wait, it is half a second, then twice as
    /// long each time; a wait of more than half a minute is not waited, and the failure is told instead.
    #[must_use]
    pub fn new(max_attempts: u32, random: Arc<dyn Randomness>) -> Self {
        Self { max_attempts, first_wait: Duration::from_millis(500), longest_wait: Duration::from_secs(30), random }
    }

    /// With these waits: the first where the endpoint does not say, and the longest.
    #[must_use]
    pub fn with_waits(mut self, first: Duration, longest: Duration) -> Self {
        self.first_wait = first;
        self.longest_wait = longest;
        self
    }

    /// How long to wait after this failure of the `attempt`-th attempt; `None` if it was the last.
    pub(crate) fn wait(&self, failure: &ModelError, attempt: u32) -> Option<Duration> {
        if attempt >= self.max_attempts || !may_pass(failure) {
            return None;
        }
        match told(failure) {
            // Not a moment earlier than told, and not everyone at the same moment.
            Some(wait) => (wait <= self.longest_wait).then(|| wait + self.part_of(spread(wait))),
            None => {
                let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
                let wait = self.first_wait.saturating_mul(doubled).min(self.longest_wait);
                Some(wait / 2 + self.part_of(wait / 2))
            }
        }
    }

    /// A moment soon after `until`: everyone who waits for it goes on at another one.
    pub(crate) fn soon_after(&self, until: Instant) -> Instant {
        until + self.part_of(spread(until.saturating_duration_since(Instant::now())))
    }

    /// A random part of a span.
    fn part_of(&self, span: Duration) -> Duration {
        let mut bytes = [0; 4];
        self.random.fill(&mut bytes);
        let nanoseconds = span.as_nanos() * u128::from(u32::from_le_bytes(bytes)) / u128::from(u32::MAX);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }
}

impl fmt::Debug for Retries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retries")
            .field("max_attempts", &self.max_attempts)
            .field("first_wait", &self.first_wait)
            .field("longest_wait", &self.longest_wait)
            .finish_non_exhaustive()
    }
}

/// Until when everyone who shares a key keeps quiet.
#[derive(Debug, Default)]
pub(crate) struct Pause(Mutex<Option<Instant>>);

impl Pause {
    /// Keeps quiet as the endpoint asked, if it did.
    pub(crate) fn heed(&self, failure: &ModelError, longest: &Retries) {
        let limited = matches!(failure, ModelError::Status { status: 429, .. });
        if let Some(wait) = told(failure).filter(|&wait| limited && wait <= longest.longest_wait) {
            let mut until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            *until = (*until).max(Some(Instant::now() + wait));
        }
    }

    pub(crate) fn until(&self) -> Option<Instant> {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.filter(|&until| until > Instant::now())
    }
}

fn told(failure: &ModelError) -> Option<Duration> {
    match failure {
        ModelError::Status { retry_after, .. } => *retry_after,
        ModelError::Refused(_)
        | ModelError::Unreachable { .. }
        | ModelError::ContextTooLong { .. }
        | ModelError::TimedOut { .. }
        | ModelError::Incomplete
        | ModelError::Malformed { .. }
        | ModelError::Cancelled => None,
    }
}

/// How far those who wait that long are spread.
fn spread(wait: Duration) -> Duration {
    (wait / 10).min(Duration::from_secs(1))
}

/// Whether the same request may fare better a moment later.
fn may_pass(failure: &ModelError) -> bool {
    match failure {
        // Money that is used up does not come back by waiting, unless the endpoint says when it does.
        ModelError::Status { status: 429, message, retry_after: None } => !message.to_lowercase().contains("quota"),
        ModelError::Status { status, .. } => matches!(status, 429 | 500 | 502 | 503 | 504 | 529),
        ModelError::Unreachable { .. } | ModelError::Incomplete => true,
        // A model that was too slow is asked the same by whoever has the time.
        ModelError::TimedOut { .. }
        | ModelError::Refused(_)
        | ModelError::ContextTooLong { .. }
        | ModelError::Malformed { .. }
        | ModelError::Cancelled => false,
    }
}
