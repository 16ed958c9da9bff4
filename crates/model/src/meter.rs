//! The port through which every attempt is admitted and settled.

use std::fmt;

use async_trait::async_trait;
use bylaw_contract::TokenUsage;

/// What an attempt is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Answering a question.
    Answer,
    /// One turn of an agent.
    AgentTurn,
    /// Asking an endpoint what it can do.
    Probe,
}

impl Purpose {
    /// The purpose in a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::AgentTurn => "agent_turn",
            Self::Probe => "probe",
        }
    }
}

/// One HTTP request that is about to be made to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// What it is for.
    pub purpose: Purpose,
    /// The model that is asked for.
    pub model: String,
    /// Upper bound of the prompt's tokens: the bytes of the serialised request plus a template margin.
    pub prompt_token_bound: u64,
    /// `max_tokens` of the request: it is always set.
    pub max_output_tokens: u32,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// The provider said what it used.
    Reported(TokenUsage),
    /// The provider did not say; this much text was received.
    Received {
        /// Bytes of text received.
        text_bytes: u64,
    },
    /// Nothing was sent.
    NotSent,
}

/// Why an attempt may not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refused {
    /// One sentence: which limit, which scope, what is left.
    pub reason: String,
}

/// The right to make one attempt. Settled exactly once; a permit that is dropped counts as sent with nothing received.
pub trait Permit: Send {
    /// The most tokens that the attempt may ask for: those of the attempt, or fewer where not all of them can be paid.
    fn max_output_tokens(&self) -> u32;

    /// Books how the attempt ended.
    fn settle(self: Box<Self>, settlement: Settlement);
}

/// Admits attempts. Every client is built with one, and none can be built without.
#[async_trait]
pub trait Meter: Send + Sync + fmt::Debug {
    /// Admits an attempt, or says why not. Called before a byte leaves. A caller who leaves drops the future; an attempt
    /// whose permit was not handed out is not made, and nothing may stay reserved for it.
    async fn admit(&self, attempt: &Attempt) -> Result<Box<dyn Permit>, Refused>;
}
