//! Who stands behind a credential, without asking the store each time.

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use arc_swap::ArcSwapOption;
use bylaw_contract::{Clock, KeyId, Timestamp};
use tokio::{
    sync::{Mutex, MutexGuard},
    time::timeout,
};

use crate::{
    keys::{AuthenticateError, KeyRecord},
    principal::Principal,
    secret::{KeyHash, KeySecret},
    store::{KeyStore, KeyStoreError},
};

/// How long what is known is believed without asking whether it has changed: a revoked key opens the door for at most so
/// long, plus the time that the store takes to answer.
const FRESH: Duration = Duration::from_millis(100);

/// How long what is known is believed while the store does not answer. Afterwards nobody comes in.
const TRUSTED: Duration = Duration::from_secs(2);

/// How long one caller waits for the store while what is known may still be believed.
const PATIENCE: Duration = Duration::from_millis(250);

/// How long a caller waits for the store when nothing that is known may be believed.
const LAST_PATIENCE: Duration = Duration::from_secs(1);

/// The keys as they were at one revision.
struct Keys {
    revision: u64,
    by_hash: HashMap<KeyHash, Arc<KeyRecord>>,
    by_id: HashMap<KeyId, Arc<KeyRecord>>,
}

/// Keys, and when they were last found to be unchanged.
struct Known {
    keys: Arc<Keys>,
    /// `Clock::elapsed` before the store was asked: what has changed since may be missing.
    confirmed: Duration,
}

/// The last time that the store was asked in vain.
#[derive(Default)]
struct Attempt {
    failed: Option<(Duration, Arc<dyn std::error::Error + Send + Sync>)>,
}

/// Every key, in memory.
///
/// The store is asked for its revision at most every 100 ms, by one caller while the others go on with what is known, and
/// the keys are read again when it has changed. Time is the clock's; a store that hangs is waited for a moment only.
pub struct KeyRing {
    store: Arc<dyn KeyStore>,
    clock: Arc<dyn Clock>,
    known: ArcSwapOption<Known>,
    asking: Mutex<Attempt>,
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRing").finish_non_exhaustive()
    }
}

impl KeyRing {
    /// A ring over the keys of a store. Nothing is read yet.
    #[must_use]
    pub fn new(store: Arc<dyn KeyStore>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, known: ArcSwapOption::empty(), asking: Mutex::default() }
    }

    /// Who stands behind a credential: the holder of its key, or, where nobody presents one and there are no keys on
    /// record, whoever sits at this machine. A revoked or expired key is a key on record.
    ///
    /// # Errors
    /// [`AuthenticateError::InvalidKey`] for what is presented and opens nothing, and for nothing where a key is required;
    /// [`AuthenticateError::Store`] if it has been unknown for too long whether the keys have changed.
    pub async fn principal(&self, secret: Option<&str>) -> Result<Principal, AuthenticateError> {
        let keys = self.keys().await?;
        match secret {
            None if keys.by_hash.is_empty() => Ok(Principal::LocalDoor),
            None => Err(AuthenticateError::InvalidKey),
            Some(secret) => {
                let secret = KeySecret::parse(secret).ok_or(AuthenticateError::InvalidKey)?;
                let record = keys.by_hash.get(&secret.hash()).filter(|record| record.is_valid(self.now()));
                record.cloned().map(Principal::Key).ok_or(AuthenticateError::InvalidKey)
            }
        }
    }

    /// Whether a principal would be let in again: for streams, which outlive the moment at which they were let in. The
    /// local door is closed by the first key.
    ///
    /// # Errors
    /// If it has been unknown for too long whether the keys have changed.
    pub async fn holds(&self, principal: &Principal) -> Result<bool, KeyStoreError> {
        let keys = self.keys().await?;
        Ok(match principal.key_id() {
            None => keys.by_hash.is_empty(),
            Some(id) => keys.by_id.get(id).is_some_and(|record| record.is_valid(self.now())),
        })
    }

    /// Whether a key is required: whether any is on record.
    ///
    /// # Errors
    /// If it has been unknown for too long whether the keys have changed.
    pub async fn required(&self) -> Result<bool, KeyStoreError> {
        Ok(!self.keys().await?.by_hash.is_empty())
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The keys, no older than may be believed.
    async fn keys(&self) -> Result<Arc<Keys>, KeyStoreError> {
        if let Some(keys) = self.known_within(FRESH) {
            return Ok(keys);
        }
        if let Some(keys) = self.known_within(TRUSTED) {
            let Ok(attempt) = self.asking.try_lock() else { return Ok(keys) };
            return match timeout(PATIENCE, self.ask(attempt)).await {
                Ok(Ok(newer)) => Ok(newer),
                Ok(Err(_)) | Err(_) => self.known_within(TRUSTED).ok_or_else(|| unanswered(Late)),
            };
        }
        let asked = async { self.ask(self.asking.lock().await).await };
        // Whoever waited behind others in vain goes on with what one of them has found out meanwhile.
        match timeout(LAST_PATIENCE, asked).await {
            Ok(Ok(keys)) => Ok(keys),
            Ok(Err(error)) => self.known_within(TRUSTED).ok_or(error),
            Err(_late) => self.known_within(TRUSTED).ok_or_else(|| unanswered(Late)),
        }
    }

    fn known_within(&self, age: Duration) -> Option<Arc<Keys>> {
        let known = self.known.load();
        let known = known.as_ref()?;
        (self.clock.elapsed().saturating_sub(known.confirmed) < age).then(|| Arc::clone(&known.keys))
    }

    /// Asks the store, unless somebody else has just done so.
    async fn ask(&self, mut attempt: MutexGuard<'_, Attempt>) -> Result<Arc<Keys>, KeyStoreError> {
        if let Some(keys) = self.known_within(FRESH) {
            return Ok(keys);
        }
        let now = self.clock.elapsed();
        if let Some((at, cause)) = &attempt.failed
            && now.saturating_sub(*at) < FRESH
        {
            return Err(unanswered(Arc::clone(cause)));
        }
        // A question that is given up half-way counts as one that failed.
        attempt.failed = Some((now, Arc::new(Late)));
        match self.read().await {
            Ok(keys) => {
                self.known.store(Some(Arc::new(Known { keys: Arc::clone(&keys), confirmed: now })));
                attempt.failed = None;
                Ok(keys)
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the keys cannot be read");
                let cause: Arc<dyn std::error::Error + Send + Sync> = Arc::new(error);
                attempt.failed = Some((now, Arc::clone(&cause)));
                Err(unanswered(cause))
            }
        }
    }

    async fn read(&self) -> Result<Arc<Keys>, KeyStoreError> {
        // The revision first: what changes in between is read now, and read again next time.
        let revision = self.store.revision().await?;
        if let Some(known) = &*self.known.load()
            && known.keys.revision == revision
        {
            return Ok(Arc::clone(&known.keys));
        }
        let (mut by_hash, mut by_id) = (HashMap::new(), HashMap::new());
        for (hash, record) in self.store.entries().await? {
            let record = Arc::new(record);
            by_id.insert(record.id.clone(), Arc::clone(&record));
            by_hash.insert(hash, record);
        }
        Ok(Arc::new(Keys { revision, by_hash, by_id }))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the store did not answer in time")]
struct Late;

fn unanswered(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> KeyStoreError {
    KeyStoreError { operation: "asking whether the keys have changed", source: cause.into() }
}
