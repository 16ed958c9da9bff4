//! The log of a run whose last event is held back until its conversation has been given back.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bylaw_contract::LoopEvent;

use crate::{
    journal::OpenRun,
    log::{RunLog, RunLogError},
};

pub(super) struct Held {
    log: Arc<OpenRun>,
    end: Mutex<Option<LoopEvent>>,
}

impl Held {
    pub(super) fn new(log: Arc<OpenRun>) -> Self {
        Self { log, end: Mutex::default() }
    }

    /// The last event, if it has come.
    pub(super) fn end(&self) -> Option<LoopEvent> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[async_trait]
impl RunLog for Held {
    async fn write(&self, mut events: Vec<LoopEvent>) -> Result<(), RunLogError> {
        if matches!(events.last(), Some(LoopEvent::Ended { .. })) {
            *self.end.lock().unwrap_or_else(PoisonError::into_inner) = events.pop();
        }
        if events.is_empty() { Ok(()) } else { self.log.write(events).await }
    }

    fn show(&self, event: LoopEvent) {
        self.log.show(event);
    }
}
