//! A meter that admits everything and counts: for tests.
//!
//! A program that used it would spend without a limit. So there is one meter outside of tests, that of `bylaw-answer`, and
//! a specification of the command line holds that no other source mentions this one or has another.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bylaw_contract::TokenUsage;

use crate::meter::{Attempt, Meter, Permit, Refused, Settlement};

/// Admits every attempt and counts, for tests. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct CountingMeter {
    counts: Arc<Mutex<MeterCounts>>,
}

/// What a [`CountingMeter`] has seen. `attempts` less `settled` is what is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeterCounts {
    /// Attempts admitted.
    pub attempts: u64,
    /// Attempts settled, in whatever way.
    pub settled: u64,
    /// Attempts whose usage the provider reported.
    pub reported: u64,
    /// Attempts that were sent and whose usage nobody knows.
    pub unreported: u64,
    /// Attempts that never left.
    pub not_sent: u64,
    /// Tokens, as reported.
    pub usage: TokenUsage,
    /// Bytes of text received in the unreported attempts.
    pub text_bytes: u64,
}

impl CountingMeter {
    /// What was counted so far, all of one moment.
    #[must_use]
    pub fn snapshot(&self) -> MeterCounts {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, change: impl FnOnce(&mut MeterCounts)) {
        change(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[async_trait]
impl Meter for CountingMeter {
    async fn admit(&self, attempt: &Attempt) -> Result<Box<dyn Permit>, Refused> {
        self.count(|counts| counts.attempts += 1);
        Ok(Box::new(CountingPermit {
            meter: self.clone(),
            max_output_tokens: attempt.max_output_tokens,
            settlement: Settlement::Received { text_bytes: 0 },
        }))
    }
}

struct CountingPermit {
    meter: CountingMeter,
    max_output_tokens: u32,
    settlement: Settlement,
}

impl Permit for CountingPermit {
    fn max_output_tokens(&self) -> u32 {
        self.max_output_tokens
    }

    fn settle(mut self: Box<Self>, settlement: Settlement) {
        self.settlement = settlement;
    }
}

/// Counts in one place, whether the permit was settled or dropped.
impl Drop for CountingPermit {
    fn drop(&mut self) {
        let settlement = self.settlement;
        self.meter.count(|counts| {
            counts.settled += 1;
            match settlement {
                Settlement::Reported(usage) => {
                    counts.reported += 1;
                    counts.usage.add(usage);
                }
                Settlement::Received { text_bytes } => {
                    counts.unreported += 1;
                    counts.text_bytes = counts.text_bytes.saturating_add(text_bytes);
                }
                Settlement::NotSent => counts.not_sent += 1,
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;

    async fn admitted(meter: &CountingMeter) -> Box<dyn Permit> {
        let model = "small".to_owned();
        let attempt = Attempt { purpose: Purpose::Answer, model, prompt_token_bound: 80, max_output_tokens: 10 };
        meter.admit(&attempt).await.unwrap()
    }

    #[tokio::test]
    async fn every_way_to_end_is_counted_once() {
        let meter = CountingMeter::default();
        let usage = TokenUsage { input_tokens: 7, output_tokens: 3, ..TokenUsage::default() };
        admitted(&meter).await.settle(Settlement::Reported(usage));
        admitted(&meter).await.settle(Settlement::Received { text_bytes: 12 });
        admitted(&meter).await.settle(Settlement::NotSent);
        drop(admitted(&meter).await);
        let open = admitted(&meter).await;
        let expected =
            MeterCounts { attempts: 5, settled: 4, reported: 1, unreported: 2, not_sent: 1, usage, text_bytes: 12 };
        assert_eq!(meter.snapshot(), expected);
        drop(open);
    }
}
