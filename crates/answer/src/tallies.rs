//! What an answerer has done since it was made, for whoever watches.

use std::sync::atomic::{AtomicU64, Ordering};

use bylaw_gate::{Closing, RowKind};

macro_rules! tallies {
    ($($(#[$meta:meta])* $name:ident,)+) => {
        /// Counters. They only grow.
        #[derive(Debug, Default)]
        pub(crate) struct Tallies {
            $(pub(crate) $name: Tally,)+
        }

        /// What the counters of an answerer say. Each only grows.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct TallySnapshot {
            $($(#[$meta])* pub $name: u64,)+
        }

        impl Tallies {
            pub(crate) fn snapshot(&self) -> TallySnapshot {
                TallySnapshot { $($name: self.$name.get(),)+ }
            }
        }
    };
}

tallies! {
    /// Answers given from the cache of answers.
    answer_hits,
    /// Questions that could have been there and were not.
    answer_misses,
    /// Model calls answered from the cache of calls.
    call_hits,
    /// Answers shared with somebody who asked the same at the same time.
    shared,
    /// Answers repeated for the same `Idempotency-Key`.
    repeated,
    /// Attempts whose usage the provider reported.
    calls_spent,
    /// Attempts that were charged by what was received.
    calls_estimated,
    /// Attempts whose caller had left: the connection was closed at once.
    calls_abandoned,
    /// Attempts charged at their whole reservation, because what was reported cannot be true.
    calls_unknown,
    /// Attempts that never left.
    calls_not_sent,
    /// Attempts that were not admitted.
    calls_refused,
    /// Rows about avoided costs that could not be written.
    unrecorded,
}

/// A counter.
#[derive(Debug, Default)]
pub(crate) struct Tally(AtomicU64);

impl Tally {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Tallies {
    pub(crate) fn call_closed(&self, closing: &Closing) {
        match closing {
            Closing::Release => &self.calls_not_sent,
            Closing::Settle(charge) => match charge.kind() {
                RowKind::Spent | RowKind::Avoided => &self.calls_spent,
                RowKind::Estimated => &self.calls_estimated,
                RowKind::Abandoned => &self.calls_abandoned,
                RowKind::Unknown => &self.calls_unknown,
            },
        }
        .add();
    }
}
