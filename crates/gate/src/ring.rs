//! Who stands behind a credential, without asking the store each time.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwapOption;
use bylaw_contract::{Clock, KeyId, Timestamp};
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

use crate::{
    keys::{AuthenticateError, KeyRecord},
    principal::Principal,
    secret::{KeyHash, KeySecret},
    store::{KeyStore, KeyStoreError},
};

/// How long nobody asks whether what is known has changed. From then on until it is stale, it is asked while everyone goes
/// on, so that nobody waits as long as requests keep coming.
const NEW: Duration = Duration::from_millis(50);

/// How long what is known is believed without an answer of the store: a revoked key opens the door for at most so long,
/// plus the time that the store takes to answer. After a question that failed, none is asked for as long.
const FRESH: Duration = Duration::from_millis(100);

/// How long what is known is believed while the store does not answer. Afterwards nobody comes in.
const TRUSTED: Duration = Duration::from_secs(2);

/// How long after the begin of a question callers wait for its answer while what is known may still be believed.
const PATIENCE: Duration = Duration::from_millis(250);

/// How long they wait when nothing that is known may be believed. A question that takes longer has failed: the next one
/// is asked while what was known may still be believed.
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

/// A question to the store, as those see it who wait for its end.
#[derive(Clone)]
struct Question {
    began: Instant,
    /// Closed when the question has ended, however it did.
    ended: watch::Receiver<()>,
}

impl Question {
    fn is_open(&self) -> bool {
        self.ended.has_changed().is_ok()
    }

    /// Waits until the question has ended, which it has at the latest when it is as old as [`LAST_PATIENCE`].
    async fn end(mut self) {
        let _closed = self.ended.changed().await;
    }

    /// Waits until the question has ended, or is as old as [`PATIENCE`].
    async fn end_soon(self) {
        let _whether_it_ended = timeout_at(self.began + PATIENCE, self.end()).await;
    }
}

type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// The last question, and since when and why there is no answer, if it has failed.
#[derive(Default)]
struct Asked {
    question: Option<Question>,
    failed: Option<(Duration, Cause)>,
}

/// Every key, in memory.
///
/// The store is asked for its revision, by one question at a time, and the keys are read again when it has changed. While
/// requests keep coming that happens in the background, every 50 to 100 ms; after a pause they wait for the answer
/// together. A question belongs to nobody: it goes on when whoever began it leaves. Time is the clock's; a store that
/// hangs is waited for a moment only.
///
/// It must be used within a Tokio runtime.
pub struct KeyRing {
    inner: Arc<Inner>,
}

/// What the ring shares with the question that is open.
struct Inner {
    store: Arc<dyn KeyStore>,
    clock: Arc<dyn Clock>,
    known: ArcSwapOption<Known>,
    asked: Mutex<Asked>,
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
        Self { inner: Arc::new(Inner { store, clock, known: ArcSwapOption::empty(), asked: Mutex::default() }) }
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
        self.inner.clock.now()
    }

    /// The keys, no older than may be believed.
    async fn keys(&self) -> Result<Arc<Keys>, KeyStoreError> {
        let inner = &self.inner;
        if let Some(keys) = inner.known_within(NEW) {
            return Ok(keys);
        }
        let question = inner.ask();
        if let Some(keys) = inner.known_within(FRESH) {
            return Ok(keys);
        }
        match question {
            Some(question) if inner.known_within(TRUSTED).is_some() => question.end_soon().await,
            Some(question) => question.end().await,
            None => {}
        }
        inner.known_within(TRUSTED).ok_or_else(|| inner.unanswered())
    }
}

impl Inner {
    fn known_within(&self, age: Duration) -> Option<Arc<Keys>> {
        let known = self.known.load();
        let known = known.as_ref()?;
        (self.clock.elapsed().saturating_sub(known.confirmed) < age).then(|| Arc::clone(&known.keys))
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open question, which is begun unless there is one. `None` if one has failed or was answered just now.
    fn ask(self: &Arc<Self>) -> Option<Question> {
        let mut asked = self.asked();
        if let Some(open) = asked.question.as_ref().filter(|question| question.is_open()) {
            return Some(open.clone());
        }
        let now = self.clock.elapsed();
        if asked.failed.as_ref().is_some_and(|(at, _)| now.saturating_sub(*at) < FRESH)
            || self.known_within(NEW).is_some()
        {
            return None;
        }
        let (end, ended) = watch::channel(());
        let question = Question { began: Instant::now(), ended };
        let (inner, limit) = (Arc::clone(self), question.began + LAST_PATIENCE);
        tokio::spawn(async move {
            inner.answer(limit).await;
            drop(end);
        });
        asked.question = Some(question.clone());
        Some(question)
    }

    /// Asks the store, and keeps what it says.
    async fn answer(&self, limit: Instant) {
        let now = self.clock.elapsed();
        let read = timeout_at(limit, self.read()).await;
        let cause: Cause = match read {
            Ok(Ok(keys)) => {
                self.known.store(Some(Arc::new(Known { keys, confirmed: now })));
                self.asked().failed = None;
                return;
            }
            Ok(Err(error)) => Arc::new(error),
            Err(_late) => Arc::new(Late),
        };
        tracing::warn!(error = &*cause as &dyn std::error::Error, "the keys cannot be read");
        self.asked().failed = Some((self.clock.elapsed(), cause));
    }

    /// Why nothing that is known may be believed.
    fn unanswered(&self) -> KeyStoreError {
        let cause =
            self.asked().failed.as_ref().map_or_else(|| Arc::new(Late) as Cause, |(_, cause)| Arc::clone(cause));
        KeyStoreError { operation: "asking whether the keys have changed", source: cause.into() }
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
