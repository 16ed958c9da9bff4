//! The real clock and the real randomness.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bylaw_contract::{Clock, Randomness, Timestamp};

/// The system's clock.
pub(crate) struct SystemClock {
    start: Instant,
}

impl SystemClock {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// The system's randomness.
pub(crate) struct SystemRandom;

impl Randomness for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        // Without a working source of randomness no id is safe to mint: there is nothing sensible to go on with.
        getrandom::fill(bytes).expect("the operating system provides randomness");
    }
}
