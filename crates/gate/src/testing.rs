//! Time and chance for tests.

use std::{sync::Mutex, time::Duration};

use bylaw_contract::{Clock, Randomness, Timestamp};

/// The splitmix64 sequence of Steele, Lea and Flood ("Fast splittable pseudorandom number generators", 2014).
#[derive(Debug)]
pub(crate) struct SeededRandomness(Mutex<u64>);

impl SeededRandomness {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }

    /// A number below `end`.
    pub(crate) fn below(&self, end: u64) -> u64 {
        self.next() % end
    }

    /// Whether something happens that happens `percent` times in a hundred.
    pub(crate) fn chance(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn next(&self) -> u64 {
        let mut state = self.0.lock().unwrap();
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Randomness for SeededRandomness {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}

/// A clock that stands where it is put.
#[derive(Debug)]
pub(crate) struct StandingClock(Mutex<Timestamp>);

impl StandingClock {
    pub(crate) fn at(now: Timestamp) -> Self {
        Self(Mutex::new(now))
    }

    pub(crate) fn set(&self, now: Timestamp) {
        *self.0.lock().unwrap() = now;
    }
}

impl Clock for StandingClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}
