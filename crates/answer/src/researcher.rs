//! The port to whoever researches an answer with tools.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use bylaw_contract::{Language, LoopEvent, RunId, StopReason, ask::StepEvent};
use bylaw_model::{ChatModel, FinishReason};
use tokio_util::sync::CancellationToken;

use crate::{notebook::Notebook, window::Window};

/// Researches an answer: a model that decides itself what to search for and what to read.
#[async_trait]
pub trait Researcher: Send + Sync {
    /// Does so. Never fails: whatever happens is an end with a reason. Nothing is asked of any other model than the one that
    /// is given, and nothing is read but through the window that is given; what is read is put down in the notebook at once.
    ///
    /// There is no limit on time: whoever waits for the answer has one, and `cancel` fires when the last has left.
    async fn research(&self, research: Research) -> Researched;
}

/// What is to be researched, with what, and how far.
#[derive(Clone)]
pub struct Research {
    /// The question.
    pub question: String,
    /// Its language.
    pub language: Language,
    /// What there is to be seen of the rules.
    pub window: Window,
    /// Articles per search, unless the model says otherwise.
    pub k: usize,
    /// Whether the answer has to be checked before it is given.
    pub self_check: bool,
    /// Most steps: turns that use tools.
    pub max_steps: u32,
    /// The model, metered for whoever pays.
    pub model: ChatModel,
    /// The run.
    pub run_id: RunId,
    /// Where everything is put down that is read and done.
    pub notebook: Arc<Notebook>,
    /// Where it is told as it happens.
    pub log: Arc<dyn ResearchLog>,
    /// Ends it, whatever it is doing.
    pub cancel: CancellationToken,
}

impl fmt::Debug for Research {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Research").field("run_id", &self.run_id).field("model", &self.model).finish_non_exhaustive()
    }
}

/// Where research is told as it happens.
#[async_trait]
pub trait ResearchLog: Send + Sync {
    /// Writes events down, in this order and after all before. They are safe when this returns: what has an effect is
    /// told before it.
    ///
    /// # Errors
    /// What went wrong; nothing with an effect may follow then.
    async fn write(&self, events: Vec<LoopEvent>) -> Result<(), String>;

    /// Shows what was done with a tool, to whoever watches. Must not block.
    fn show(&self, step: StepEvent);
}

/// The code of research that ended because the model wrote nothing, again and again.
pub const EMPTY_ANSWER: &str = "empty_answer";

/// How research ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Researched {
    /// The answer as the model wrote it, if it wrote one; also where a limit stopped it and it answered with what it had.
    pub answer: Option<String>,
    /// Why it ended.
    pub reason: StopReason,
    /// A stable code, where something broke; [`EMPTY_ANSWER`] where the model wrote nothing.
    pub code: Option<&'static str>,
    /// One sentence for whoever runs the service.
    pub message: String,
    /// The model's name for itself; empty if it never replied.
    pub model: String,
    /// Why its last reply ended.
    pub finish_reason: FinishReason,
}
