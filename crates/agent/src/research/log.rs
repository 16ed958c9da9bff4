//! The log of a run that researches: passed on, and put down in the notebook.

use std::sync::Arc;

use async_trait::async_trait;
use bylaw_answer::{Notebook, Research, ResearchLog};
use bylaw_contract::{LoopEvent, loop_event::ToolStatus};

use crate::log::{RunLog, RunLogError};

/// Passes a run's log on.
pub(super) struct Told {
    notebook: Arc<Notebook>,
    log: Arc<dyn ResearchLog>,
}

impl Told {
    pub(super) fn new(research: &Research) -> Self {
        Self { notebook: Arc::clone(&research.notebook), log: Arc::clone(&research.log) }
    }

    fn note(&self, event: &LoopEvent) {
        match event {
            LoopEvent::ModelCall { step, last, .. } => self.notebook.asks(*step, *last),
            LoopEvent::ModelReply { calls, .. } if !calls.is_empty() => self.notebook.calls(),
            // The others are told by the tools themselves, which know more.
            LoopEvent::ToolResult {
                tool,
                status: ToolStatus::Invalid | ToolStatus::Declined | ToolStatus::Skipped | ToolStatus::Unknown,
                text,
                ..
            } => self.log.show(self.notebook.step(tool, "", Vec::new(), Some(text))),
            LoopEvent::Started { .. }
            | LoopEvent::ModelReply { .. }
            | LoopEvent::ModelFailed { .. }
            | LoopEvent::TextDelta { .. }
            | LoopEvent::ToolCall { .. }
            | LoopEvent::ToolProgress { .. }
            | LoopEvent::ToolResult { .. }
            | LoopEvent::Question { .. }
            | LoopEvent::Reply { .. }
            | LoopEvent::Ended { .. } => {}
        }
    }
}

#[async_trait]
impl RunLog for Told {
    async fn write(&self, events: Vec<LoopEvent>) -> Result<(), RunLogError> {
        events.iter().for_each(|event| self.note(event));
        self.log.write(events).await.map_err(RunLogError)
    }

    fn show(&self, event: LoopEvent) {
        if let LoopEvent::TextDelta { text } = event {
            self.notebook.writes(&text);
        }
    }
}
