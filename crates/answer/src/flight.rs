//! Single flight: who asks the same at the same time shares one run.
//!
//! The first to come leads and pays; whoever comes while it runs follows, and gets everything from the start. The run ends
//! early only when nobody listens any more.

use std::{
    collections::HashMap,
    fmt,
    hash::Hash,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use bylaw_contract::RunEvent;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

type UnderWay<K, M, T> = HashMap<K, Arc<Flight<K, M, T>>>;

/// Flights under way, by what they are about.
pub(crate) struct Flights<K, M, T> {
    under_way: Mutex<UnderWay<K, M, T>>,
    /// Whether one that everyone has left can be boarded until it has landed.
    lingering: bool,
}

/// One run that several may listen to.
pub(crate) struct Flight<K, M, T> {
    key: Option<K>,
    /// What the leader brought along.
    pub(crate) manifest: M,
    /// Fires when nobody listens any more.
    pub(crate) cancel: CancellationToken,
    /// Whether everyone left because they had gone away, and not because their time was up.
    pub(crate) abandoned: Arc<AtomicBool>,
    log: Mutex<Log<T>>,
    /// Counts changes of the log.
    changes: watch::Sender<u64>,
}

struct Log<T> {
    events: Vec<RunEvent>,
    end: Option<T>,
    listeners: usize,
}

/// What a listener hears next.
#[derive(Debug)]
pub(crate) enum Heard<T> {
    Event(RunEvent),
    End(T),
}

impl<K, M, T> Default for Flights<K, M, T> {
    fn default() -> Self {
        Self { under_way: Mutex::default(), lingering: false }
    }
}

impl<K, M, T> Flights<K, M, T> {
    /// Flights that can be boarded until they have landed, also when they are being given up: whoever boards one of those
    /// waits for its end and then tries again, so that two of a kind are never under way.
    pub(crate) fn lingering() -> Self {
        Self { under_way: Mutex::default(), lingering: true }
    }
}

impl<K, M, T> fmt::Debug for Flights<K, M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flights").field("under_way", &lock(&self.under_way).len()).finish()
    }
}

impl<K: Clone + Eq + Hash, M, T: Clone> Flights<K, M, T> {
    /// Takes a seat in the flight for `key`. If there is none, one is made with `manifest`, and whoever made it has to fly
    /// it: see [`Seat::pilot`]. Without a key the flight is one's own.
    pub(crate) fn board(self: &Arc<Self>, key: Option<K>, manifest: impl FnOnce() -> M) -> Seat<K, M, T> {
        let mut under_way = lock(&self.under_way);
        if let Some(flight) = key.as_ref().and_then(|key| under_way.get(key)) {
            lock(&flight.log).listeners += 1;
            return Seat::new(self, Arc::clone(flight), None);
        }
        let flight = Arc::new(Flight {
            key,
            manifest: manifest(),
            cancel: CancellationToken::new(),
            abandoned: Arc::default(),
            log: Mutex::new(Log { events: Vec::new(), end: None, listeners: 1 }),
            changes: watch::Sender::new(0),
        });
        if let Some(key) = &flight.key {
            under_way.insert(key.clone(), Arc::clone(&flight));
        }
        let pilot = Pilot { flights: Arc::clone(self), flight: Arc::clone(&flight), end: None };
        Seat::new(self, flight, Some(pilot))
    }

    fn remove(&self, flight: &Arc<Flight<K, M, T>>) {
        let Some(key) = &flight.key else { return };
        let mut under_way = lock(&self.under_way);
        // Another may have begun under this key after everyone had left the first.
        if under_way.get(key).is_some_and(|known| Arc::ptr_eq(known, flight)) {
            under_way.remove(key);
        }
    }
}

/// Flies a flight: tells what happens, and in the end how it ended.
pub(crate) struct Pilot<K: Clone + Eq + Hash, M, T: Clone> {
    flights: Arc<Flights<K, M, T>>,
    pub(crate) flight: Arc<Flight<K, M, T>>,
    /// How it ended; until it has landed, what is told if it is lost.
    end: Option<T>,
}

impl<K, M, T> Flight<K, M, T> {
    /// Tells everyone who listens, now and later.
    pub(crate) fn tell(&self, event: RunEvent) {
        lock(&self.log).events.push(event);
        self.changes.send_modify(|count| *count += 1);
    }
}

impl<K: Clone + Eq + Hash, M, T: Clone> Pilot<K, M, T> {
    pub(crate) fn tell(&self, event: RunEvent) {
        self.flight.tell(event);
    }

    pub(crate) fn land(mut self, end: T) {
        self.end = Some(end);
    }
}

impl<K: Clone + Eq + Hash, M, T: Clone> Drop for Pilot<K, M, T> {
    fn drop(&mut self) {
        self.flights.remove(&self.flight);
        lock(&self.flight.log).end = self.end.take();
        self.flight.changes.send_modify(|count| *count += 1);
    }
}

/// A listener's place. Dropping it means that the listener has gone away.
pub(crate) struct Seat<K: Clone + Eq + Hash, M, T: Clone> {
    flights: Arc<Flights<K, M, T>>,
    pub(crate) flight: Arc<Flight<K, M, T>>,
    pilot: Option<Pilot<K, M, T>>,
    changes: watch::Receiver<u64>,
    heard: usize,
    seated: bool,
}

impl<K: Clone + Eq + Hash, M, T: Clone> Seat<K, M, T> {
    fn new(flights: &Arc<Flights<K, M, T>>, flight: Arc<Flight<K, M, T>>, pilot: Option<Pilot<K, M, T>>) -> Self {
        let changes = flight.changes.subscribe();
        Self { flights: Arc::clone(flights), flight, pilot, changes, heard: 0, seated: true }
    }

    /// For whoever made the flight, once: the flight is theirs to fly. `lost` is how it ends if its task panics.
    pub(crate) fn pilot(&mut self, lost: T) -> Option<Pilot<K, M, T>> {
        let mut pilot = self.pilot.take()?;
        pilot.end = Some(lost);
        Some(pilot)
    }

    /// Waits for what comes next.
    pub(crate) async fn next(&mut self) -> Heard<T> {
        loop {
            self.changes.borrow_and_update();
            {
                let log = lock(&self.flight.log);
                if let Some(event) = log.events.get(self.heard) {
                    self.heard += 1;
                    return Heard::Event(event.clone());
                }
                if let Some(end) = &log.end {
                    return Heard::End(end.clone());
                }
            }
            // Never an error: the flight, which this seat holds, has the sender.
            let _changed = self.changes.changed().await;
        }
    }

    /// Leaves, because time is up. Whether anyone else still listens.
    pub(crate) fn leave(&mut self) -> bool {
        self.unseat(false)
    }

    fn unseat(&mut self, gone: bool) -> bool {
        if !std::mem::replace(&mut self.seated, false) {
            return false;
        }
        // Nobody boards while it is decided whether this was the last.
        let mut under_way = lock(&self.flights.under_way);
        let mut log = lock(&self.flight.log);
        log.listeners -= 1;
        if log.listeners > 0 || log.end.is_some() {
            return log.listeners > 0;
        }
        drop(log);
        if !self.flights.lingering
            && let Some(key) = &self.flight.key
            && under_way.get(key).is_some_and(|known| Arc::ptr_eq(known, &self.flight))
        {
            under_way.remove(key);
        }
        drop(under_way);
        self.flight.abandoned.store(gone, Ordering::SeqCst);
        self.flight.cancel.cancel();
        false
    }
}

impl<K: Clone + Eq + Hash, M, T: Clone> Drop for Seat<K, M, T> {
    fn drop(&mut self) {
        self.unseat(true);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing is left half-done under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Sky = Flights<u8, &'static str, u32>;

    fn token(text: &str) -> RunEvent {
        RunEvent::Token { text: text.to_owned() }
    }

    async fn all(seat: &mut Seat<u8, &'static str, u32>) -> (String, u32) {
        let mut text = String::new();
        loop {
            match seat.next().await {
                Heard::Event(RunEvent::Token { text: piece }) => text.push_str(&piece),
                Heard::Event(_) => {}
                Heard::End(end) => return (text, end),
            }
        }
    }

    #[tokio::test]
    async fn whoever_comes_late_hears_everything() {
        let sky = Arc::new(Sky::default());
        let mut leader = sky.board(Some(1), || "leader");
        let pilot = leader.pilot(0).unwrap();
        pilot.tell(token("a"));
        let mut follower = sky.board(Some(1), || unreachable!());
        assert!(follower.pilot(0).is_none());
        pilot.tell(token("b"));
        pilot.land(7);
        assert_eq!(all(&mut leader).await, ("ab".to_owned(), 7));
        assert_eq!(all(&mut follower).await, ("ab".to_owned(), 7));
        assert!(sky.board(Some(1), || "another").pilot(0).is_some());
    }

    #[tokio::test]
    async fn it_ends_when_the_last_listener_leaves_and_not_before() {
        let sky = Arc::new(Sky::default());
        let mut leader = sky.board(Some(1), || "leader");
        let pilot = leader.pilot(0).unwrap();
        let follower = sky.board(Some(1), || unreachable!());
        drop(leader);
        assert!(!pilot.flight.cancel.is_cancelled());
        drop(follower);
        assert!(pilot.flight.cancel.is_cancelled());
        assert!(pilot.flight.abandoned.load(Ordering::SeqCst));
        // Nobody boards a flight that is being given up.
        assert!(sky.board(Some(1), || "another").pilot(0).is_some());
    }

    #[tokio::test]
    async fn one_that_lingers_is_the_only_one_of_its_kind_until_it_has_landed() {
        let sky = Arc::new(Sky::lingering());
        let mut leader = sky.board(Some(1), || "leader");
        let pilot = leader.pilot(0).unwrap();
        drop(leader);
        let mut late = sky.board(Some(1), || unreachable!());
        assert!(late.pilot(0).is_none() && pilot.flight.cancel.is_cancelled());
        pilot.land(5);
        assert_eq!(all(&mut late).await.1, 5);
        assert!(sky.board(Some(1), || "another").pilot(0).is_some());
    }

    #[tokio::test]
    async fn leaving_because_time_is_up_is_not_going_away() {
        let sky = Arc::new(Sky::default());
        let mut seat = sky.board(None, || "alone");
        let pilot = seat.pilot(0).unwrap();
        assert!(!seat.leave());
        assert!(pilot.flight.cancel.is_cancelled() && !pilot.flight.abandoned.load(Ordering::SeqCst));
        pilot.land(3);
        assert_eq!(all(&mut seat).await.1, 3);
    }

    #[tokio::test]
    async fn a_pilot_that_is_lost_is_told() {
        let sky = Arc::new(Sky::default());
        let mut seat = sky.board(Some(1), || "leader");
        drop(seat.pilot(9).unwrap());
        assert_eq!(all(&mut seat).await.1, 9);
    }
}
