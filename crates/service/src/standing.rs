//! Whether whoever was let in would be let in again: for streams, which outlive that moment.

use std::{sync::Arc, time::Duration};

use bylaw_contract::ErrorCode;
use bylaw_gate::{KeyRing, Principal};

use crate::error::Failure;

/// How often a stream asks: as often as the ring looks for what has changed.
const EVERY: Duration = Duration::from_millis(100);

/// The standing of a principal.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    ring: Arc<KeyRing>,
    principal: Principal,
}

impl Standing {
    pub(crate) const fn new(ring: Arc<KeyRing>, principal: Principal) -> Self {
        Self { ring, principal }
    }

    /// Asked before each event: cheap, since the ring remembers.
    ///
    /// # Errors
    /// What the stream is to end with: `invalid_key` once the key no longer holds, `storage_failed` if that has been
    /// unknown for too long.
    pub(crate) async fn check(&self) -> Result<(), Failure> {
        match self.ring.holds(&self.principal).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Failure::new(ErrorCode::InvalidKey, "the key is not valid any more")),
            Err(error) => Err(Failure::storage(error)),
        }
    }

    /// Waits until [`Self::check`] fails, asking ten times a second. Never returns while the key holds.
    pub(crate) async fn lost(&self) -> Failure {
        loop {
            if let Err(failure) = self.check().await {
                return failure;
            }
            tokio::time::sleep(EVERY).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use bylaw_contract::{Clock, Randomness, Timestamp};
    use bylaw_gate::{KeyStore, MemoryKeys, NewKey, ReadableSources, Role, create_key};
    use tokio::time::Instant;

    use super::*;

    /// Tokio's clock, which the test runtime moves.
    struct Paused(Instant);

    impl Clock for Paused {
        fn now(&self) -> Timestamp {
            Timestamp(0).plus(self.elapsed())
        }

        fn elapsed(&self) -> Duration {
            self.0.elapsed()
        }
    }

    struct Sevens;

    impl Randomness for Sevens {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn standing_is_lost_a_moment_after_being_revoked_or_expired() {
        for expires_at in [None, Some(Timestamp(4_500))] {
            let clock = Arc::new(Paused(Instant::now()));
            let store = Arc::new(MemoryKeys::default());
            let new = NewKey {
                name: "reception".to_owned(),
                role: Role::Reader,
                sources: ReadableSources::All,
                budgets: Vec::new(),
                expires_at,
            };
            let (record, secret) = create_key(&*store, new, &*clock, &Sevens).await.unwrap();
            let ring = Arc::new(KeyRing::new(Arc::clone(&store) as _, Arc::clone(&clock) as _));
            let principal = ring.principal(Some(secret.reveal())).await.unwrap();
            let standing = Standing::new(ring, principal);
            assert!(standing.check().await.is_ok());
            let revoke = async {
                tokio::time::sleep(Duration::from_millis(4_500)).await;
                if expires_at.is_none() {
                    store.revoke(&record.id, clock.now()).await.unwrap();
                }
            };
            let lost = async {
                let failure = standing.lost().await;
                (failure.code(), clock.elapsed().as_millis())
            };
            let (lost, ()) = tokio::join!(lost, revoke);
            assert_eq!(lost.0, ErrorCode::InvalidKey, "{expires_at:?}");
            assert!((4_500..=4_700).contains(&lost.1), "{lost:?}");
        }
    }
}
