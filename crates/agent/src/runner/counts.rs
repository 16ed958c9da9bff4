//! How many runs there were, by why they ended.

use std::sync::atomic::{AtomicU64, Ordering};

use bylaw_contract::StopReason;

/// How many runs there are and were since the process began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunCounts {
    /// Going on.
    pub active: u64,
    /// Questions that wait for people.
    pub waiting: u64,
    /// Over, by why they ended.
    pub ended: Vec<(StopReason, u64)>,
}

#[derive(Default)]
pub(crate) struct Counts([AtomicU64; StopReason::ALL.len()]);

impl Counts {
    pub(crate) fn ended(&self, reason: StopReason) {
        self.0[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self, active: u64, waiting: u64) -> RunCounts {
        let ended =
            StopReason::ALL.into_iter().zip(&self.0).map(|(reason, count)| (reason, count.load(Ordering::Relaxed)));
        RunCounts { active, waiting, ended: ended.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_own_count() {
        let counts = Counts::default();
        for (at, reason) in StopReason::ALL.into_iter().enumerate() {
            (0..=at).for_each(|_| counts.ended(reason));
        }
        let counted: Vec<u64> = counts.snapshot(0, 0).ended.into_iter().map(|(_, count)| count).collect();
        assert_eq!(counted, (1..=12).collect::<Vec<u64>>());
    }
}
