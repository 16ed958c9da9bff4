//! How long to wait before trying again.

use std::{fmt, sync::Arc, time::Duration};

use bylaw_contract::Randomness;
use rmcp::transport::common::client_side_sse::SseRetryPolicy;

/// Doubling waits, of which each is somewhere between its half and its whole, so that many clients of a server that
/// comes back do not all return at once.
#[derive(Clone)]
pub(super) struct Backoff {
    pub(super) first: Duration,
    pub(super) max: Duration,
    pub(super) randomness: Arc<dyn Randomness>,
}

impl Backoff {
    /// The wait after `failures` failures in a row (from 1).
    pub(super) fn after(&self, failures: u32) -> Duration {
        let doubled = self.first.saturating_mul(2u32.saturating_pow(failures.saturating_sub(1)));
        let whole = doubled.min(self.max);
        let mut byte = [0u8; 1];
        self.randomness.fill(&mut byte);
        whole / 2 + (whole / 2) * u32::from(byte[0]) / 255
    }
}

impl fmt::Debug for Backoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backoff").field("first", &self.first).field("max", &self.max).finish_non_exhaustive()
    }
}

/// How often a response that was cut off is resumed before its call fails.
const RESUMES: usize = 3;

impl SseRetryPolicy for Backoff {
    fn retry(&self, current_times: usize) -> Option<Duration> {
        (current_times < RESUMES)
            .then(|| self.after(u32::try_from(current_times).unwrap_or(u32::MAX).saturating_add(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Always(u8);

    impl Randomness for Always {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    #[test]
    fn waits_double_up_to_the_longest_and_are_spread_over_their_upper_half() {
        let check = |failures: u32, byte: u8, expected: u64| {
            let backoff = Backoff {
                first: Duration::from_millis(500),
                max: Duration::from_secs(8),
                randomness: Arc::new(Always(byte)),
            };
            assert_eq!(backoff.after(failures), Duration::from_millis(expected), "{failures} {byte}");
        };
        check(1, 255, 500);
        check(1, 0, 250);
        check(2, 255, 1_000);
        check(4, 255, 4_000);
        check(5, 255, 8_000);
        check(99, 255, 8_000);
        check(99, 0, 4_000);
    }
}
