//! How many calls run at once, and how many of one principal.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Limits of calls. A call that waits for the human does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// Calls that run at once.
    pub running: usize,
    /// Of these, calls of one principal.
    pub running_of_one: usize,
    /// Calls that may wait for their turn; more are refused.
    pub waiting: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { running: 64, running_of_one: 16, waiting: 512 }
    }
}

pub(super) struct Slots {
    limits: CallLimits,
    all: Arc<Semaphore>,
    of_one: Mutex<HashMap<Arc<str>, Weak<Semaphore>>>,
    waiting: AtomicUsize,
}

/// A place among the calls that run; dropped, it is free.
pub(super) struct Slot {
    _all: OwnedSemaphorePermit,
    _of_one: OwnedSemaphorePermit,
}

impl Slots {
    pub(super) fn new(limits: CallLimits) -> Self {
        let all = Arc::new(Semaphore::new(limits.running.max(1)));
        Self { limits, all, of_one: Mutex::default(), waiting: AtomicUsize::new(0) }
    }

    /// Waits for a place; nothing if too many wait already.
    pub(super) async fn take(&self, principal: &str) -> Option<Slot> {
        let waiting = Waiting::enter(&self.waiting, self.limits.waiting)?;
        let of_one = self.of_one(principal);
        let _of_one = of_one.acquire_owned().await.ok()?;
        let _all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        drop(waiting);
        Some(Slot { _all, _of_one })
    }

    fn of_one(&self, principal: &str) -> Arc<Semaphore> {
        let mut of_one = self.of_one.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slots) = of_one.get(principal).and_then(Weak::upgrade) {
            return slots;
        }
        of_one.retain(|_, slots| slots.strong_count() > 0);
        let slots = Arc::new(Semaphore::new(self.limits.running_of_one.max(1)));
        of_one.insert(Arc::from(principal), Arc::downgrade(&slots));
        slots
    }
}

struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn enter(count: &'a AtomicUsize, most: usize) -> Option<Self> {
        let entered = Self(count);
        // One that finds a place at once counts too, so that `most` of zero still lets calls in one at a time.
        (count.fetch_add(1, Ordering::SeqCst) <= most).then_some(entered)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn one_principal_does_not_take_the_places_of_others() {
        let slots = Slots::new(CallLimits { running: 3, running_of_one: 2, waiting: 1 });
        let take = |principal| slots.take(principal).now_or_never();
        let first = take("amy").unwrap().unwrap();
        let _second = take("amy").unwrap().unwrap();
        assert!(take("amy").is_none(), "her third waits");
        let _third = take("bob").unwrap().unwrap();
        assert!(take("eve").is_none(), "all places are taken");
        drop(first);
        assert!(take("eve").unwrap().is_some());
    }

    #[test]
    fn too_many_are_refused_and_who_stops_waiting_makes_room() {
        let slots = Slots::new(CallLimits { running: 1, running_of_one: 1, waiting: 1 });
        let _running = slots.take("amy").now_or_never().unwrap().unwrap();
        let (mut first, mut second) = (Box::pin(slots.take("amy")), Box::pin(slots.take("amy")));
        assert!((&mut first).now_or_never().is_none());
        assert!((&mut second).now_or_never().is_none());
        assert!(slots.take("bob").now_or_never().unwrap().is_none());
        drop((first, second));
        assert!(slots.take("bob").now_or_never().is_none(), "waits");
    }

    #[test]
    fn who_has_no_call_is_forgotten() {
        let slots = Slots::new(CallLimits::default());
        for n in 0..100 {
            let _ = slots.take(&format!("principal {n}")).now_or_never();
        }
        assert_eq!(slots.of_one.lock().unwrap().len(), 1);
    }
}
