//! The real clock and the real randomness.

use std::{
    cell::RefCell,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

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

/// Bytes that are asked of the system at once. Each byte is handed out once.
const POOL_BYTES: usize = 512;

struct Pool {
    bytes: [u8; POOL_BYTES],
    left: usize,
}

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { bytes: [0; POOL_BYTES], left: 0 }) };
}

/// The system's randomness, asked for in larger pieces: ids are minted for each request, and asking for each is a system
/// call.
pub(crate) struct SystemRandom;

impl Randomness for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        if bytes.len() > POOL_BYTES {
            return system(bytes);
        }
        POOL.with_borrow_mut(|pool| {
            if pool.left < bytes.len() {
                system(&mut pool.bytes);
                pool.left = POOL_BYTES;
            }
            let taken = &mut pool.bytes[pool.left - bytes.len()..pool.left];
            bytes.copy_from_slice(taken);
            // What has become a secret is not left lying about.
            taken.fill(0);
            pool.left -= bytes.len();
        });
    }
}

fn system(bytes: &mut [u8]) {
    // Without a working source of randomness no id is safe to mint: there is nothing sensible to go on with.
    getrandom::fill(bytes).expect("the operating system provides randomness");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_byte_is_handed_out_twice() {
        let mut seen = BTreeSet::new();
        for _ in 0..1_000 {
            let mut id = [0_u8; 24];
            SystemRandom.fill(&mut id);
            assert!(seen.insert(id));
        }
        let mut large = [0_u8; 3 * POOL_BYTES];
        SystemRandom.fill(&mut large);
        assert!(large.chunks(POOL_BYTES).all(|piece| piece.iter().any(|byte| *byte != 0)));
    }
}
