//! The port to whoever writes a run down.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use bylaw_contract::LoopEvent;

/// A run could not be written down.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the run's log failed: {0}")]
pub struct RunLogError(pub String);

/// The log of one run. What has an effect is written before it has it; a run whose log fails goes no further.
#[async_trait]
pub trait RunLog: Send + Sync {
    /// Writes events down, in this order and after all before. They are safe when this returns.
    async fn write(&self, events: Vec<LoopEvent>) -> Result<(), RunLogError>;

    /// Shows what is not worth writing down, to whoever watches. Must not block.
    fn show(&self, event: LoopEvent);
}

/// Keeps what was written, in memory.
#[derive(Debug, Default)]
pub struct MemoryLog {
    written: Mutex<Vec<LoopEvent>>,
}

impl MemoryLog {
    /// What was written so far.
    #[must_use]
    pub fn written(&self) -> Vec<LoopEvent> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl RunLog for MemoryLog {
    async fn write(&self, events: Vec<LoopEvent>) -> Result<(), RunLogError> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).extend(events);
        Ok(())
    }

    fn show(&self, _: LoopEvent) {}
}

/// Forgets everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLog;

#[async_trait]
impl RunLog for NoLog {
    async fn write(&self, _: Vec<LoopEvent>) -> Result<(), RunLogError> {
        Ok(())
    }

    fn show(&self, _: LoopEvent) {}
}
