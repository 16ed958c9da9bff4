//! Where the events of a run go: to whoever keeps them, then to the person or program that watches.

use std::sync::Arc;

use async_trait::async_trait;
use bylaw_agent::{RunLog, RunLogError};
use bylaw_contract::{LoopEvent, RunEvent};

use super::screen::Screen;
use crate::terminal;

/// Who watches a run.
#[derive(Clone)]
pub(super) enum Watcher {
    /// A person.
    Person(Arc<Screen>),
    /// A program: one JSON object a line.
    Program,
}

/// Writes events down, then shows them.
pub(super) struct Watched {
    pub(super) kept: Arc<dyn RunLog>,
    pub(super) watcher: Watcher,
}

impl Watcher {
    fn see(&self, event: LoopEvent) {
        match self {
            Self::Person(screen) => screen.show(&event),
            Self::Program => terminal::line(serde_json::to_string(&RunEvent::Loop(event)).unwrap_or_default()),
        }
    }
}

#[async_trait]
impl RunLog for Watched {
    async fn write(&self, events: Vec<LoopEvent>) -> Result<(), RunLogError> {
        self.kept.write(events.clone()).await?;
        events.into_iter().for_each(|event| self.watcher.see(event));
        Ok(())
    }

    fn show(&self, event: LoopEvent) {
        self.kept.show(event.clone());
        self.watcher.see(event);
    }
}
