//! What happens inside a run, as it happens.

use serde::{Deserialize, Serialize};

use crate::{
    ask::{Answer, StepEvent},
    citation::Citation,
    loop_event::LoopEvent,
    stop::Stop,
};

/// One event of a run, reported to the sink that its caller gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// The search is over. Sent before any model is called; of an agent, once it has read what it needs.
    Citations {
        /// What was found.
        citations: Vec<Citation>,
    },
    /// What an agent did with one tool, in short. Streamed, not logged: the loop's own events say it in full.
    Step(StepEvent),
    /// A piece of the answer. Streamed, not logged.
    Token {
        /// The piece.
        text: String,
    },
    /// The answer is whole.
    Done {
        /// The answer.
        answer: Box<Answer>,
    },
    /// The run broke after something had been sent.
    Failed {
        /// Why it ended.
        stop: Stop,
        /// A stable code.
        code: String,
        /// One sentence.
        message: String,
    },
    /// A step of a run with tools.
    #[serde(untagged)]
    Loop(LoopEvent),
}

impl RunEvent {
    /// Whether it belongs into the log. What does not is only shown to whoever watches.
    #[must_use]
    pub const fn is_logged(&self) -> bool {
        match self {
            Self::Step(_) | Self::Token { .. } => false,
            Self::Citations { .. } | Self::Done { .. } | Self::Failed { .. } => true,
            Self::Loop(event) => event.is_logged(),
        }
    }
}
