//! The runs that are going on in this process.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use bylaw_contract::{ErrorCode, RunId};
use bylaw_gate::Principal;
use tokio_util::sync::CancellationToken;

use super::questions::Questions;

/// Why a run was ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Somebody who may said so.
    Asked,
    /// The key whose run it is does not hold any more.
    KeyLost,
    /// The process ends.
    ShuttingDown,
}

impl Cause {
    pub(crate) const fn message(self) -> &'static str {
        match self {
            Self::Asked => "the run was cancelled",
            Self::KeyLost => "the key whose run this was is not valid any more",
            Self::ShuttingDown => "the service was shut down",
        }
    }

    pub(crate) const fn code(self) -> Option<ErrorCode> {
        match self {
            Self::Asked => None,
            Self::KeyLost => Some(ErrorCode::InvalidKey),
            Self::ShuttingDown => Some(ErrorCode::ShuttingDown),
        }
    }
}

/// One run that goes on.
pub(crate) struct Going {
    pub(crate) run_id: RunId,
    pub(crate) principal: Principal,
    pub(crate) questions: Arc<Questions>,
    pub(crate) cancel: CancellationToken,
    cause: OnceLock<Cause>,
}

impl Going {
    /// Ends it. The first cause is the one that counts.
    pub(crate) fn end(&self, cause: Cause) {
        // Fails if it was ended before.
        let _ = self.cause.set(cause);
        self.cancel.cancel();
    }

    /// Why it was ended from outside, if it was.
    pub(crate) fn cause(&self) -> Option<Cause> {
        self.cause.get().copied()
    }
}

/// How many runs there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Runs that work at once; with so many, no more are started.
    pub working: usize,
    /// Questions that wait for people at once; with so many, no more runs are started.
    pub waiting: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { working: 1_000, waiting: 1_000 }
    }
}

/// There is no place for another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPlace {
    Full,
    Closing,
}

/// All runs that go on.
pub(crate) struct Runs {
    state: Mutex<State>,
    pub(crate) waiting: Arc<AtomicUsize>,
    room: Room,
}

#[derive(Default)]
struct State {
    going: HashMap<RunId, Arc<Going>>,
    closing: bool,
}

impl Runs {
    pub(crate) fn new(room: Room) -> Self {
        Self { state: Mutex::default(), waiting: Arc::default(), room }
    }

    /// Takes a place for a run, which it has until what is returned is dropped.
    pub(crate) fn enter(self: &Arc<Self>, run_id: &RunId, principal: &Principal) -> Result<Place, NoPlace> {
        let mut state = self.lock();
        let waiting = self.waiting.load(Ordering::SeqCst);
        if state.closing {
            return Err(NoPlace::Closing);
        }
        if waiting >= self.room.waiting || state.going.len().saturating_sub(waiting) >= self.room.working {
            return Err(NoPlace::Full);
        }
        let going = Arc::new(Going {
            run_id: run_id.clone(),
            principal: principal.clone(),
            questions: Arc::new(Questions::counted(&self.waiting)),
            cancel: CancellationToken::new(),
            cause: OnceLock::new(),
        });
        state.going.insert(run_id.clone(), Arc::clone(&going));
        Ok(Place { runs: Arc::clone(self), going })
    }

    pub(crate) fn get(&self, run_id: &RunId) -> Option<Arc<Going>> {
        self.lock().going.get(run_id).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Going>> {
        self.lock().going.values().cloned().collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().going.len()
    }

    /// Lets no more in.
    pub(crate) fn close(&self) {
        self.lock().closing = true;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run's place among those that go on.
pub(crate) struct Place {
    runs: Arc<Runs>,
    pub(crate) going: Arc<Going>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.runs.lock().going.remove(&self.going.run_id);
    }
}
