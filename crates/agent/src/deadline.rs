//! The wall time of a run. It stands still while a person is asked.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

pub(crate) struct Deadline {
    state: Mutex<State>,
    /// Whether a person is being asked.
    asking: watch::Sender<u32>,
}

struct State {
    at: Instant,
    since: Option<Instant>,
}

impl Deadline {
    pub(crate) fn after(wall_time: Duration) -> Self {
        const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        let at = Instant::now() + wall_time.min(CENTURY);
        Self { state: Mutex::new(State { at, since: None }), asking: watch::Sender::new(0) }
    }

    pub(crate) fn at(&self) -> Instant {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).at
    }

    pub(crate) fn has_passed(&self) -> bool {
        *self.asking.borrow() == 0 && Instant::now() >= self.at()
    }

    /// Ends when the time is up.
    pub(crate) async fn passed(&self) {
        let mut asking = self.asking.subscribe();
        loop {
            // The sender is ours, so it is never closed.
            let _ = asking.wait_for(|asking| *asking == 0).await;
            tokio::select! {
                () = sleep_until(self.at()) => if self.has_passed() { return },
                _ = asking.wait_for(|asking| *asking > 0) => {}
            }
        }
    }

    /// Stops the time until what is returned is dropped.
    pub(crate) fn pause(&self) -> Pause<'_> {
        self.asking.send_modify(|asking| {
            *asking += 1;
            if *asking == 1 {
                self.state.lock().unwrap_or_else(PoisonError::into_inner).since = Some(Instant::now());
            }
        });
        Pause(self)
    }
}

pub(crate) struct Pause<'a>(&'a Deadline);

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        self.0.asking.send_modify(|asking| {
            *asking -= 1;
            if *asking == 0 {
                let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(since) = state.since.take() {
                    state.at += since.elapsed();
                }
            }
        });
    }
}
