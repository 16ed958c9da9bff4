//! An agent: a prompt, tools, and limits. And what one run of it is given.

use std::{fmt, sync::Arc};

use bylaw_contract::{Randomness, RunId};
use bylaw_model::ChatModel;
use tokio_util::sync::CancellationToken;

use crate::{
    approvals::Approvals,
    artifacts::{ArtifactStore, MemoryArtifacts},
    ask::Ask,
    elicitations::Elicitations,
    limits::Limits,
    log::{NoLog, RunLog},
    toolbox::Toolbox,
};

/// Runs are made of it; made once and shared by all of them.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its name, for the log.
    pub name: String,
    /// What it is told before every conversation.
    pub prompt: String,
    /// What it may call.
    pub toolbox: Arc<Toolbox>,
    /// How far a run may go.
    pub limits: Limits,
    /// What a person has to allow.
    pub approvals: Approvals,
    /// Most tokens of one reply.
    pub max_output_tokens: u32,
    /// Whether calls that only read are made at the same time.
    pub in_parallel: bool,
}

impl Agent {
    /// An agent with the default limits, whose tools ask for themselves.
    #[must_use]
    pub fn new(prompt: impl Into<String>, toolbox: Toolbox) -> Self {
        Self {
            name: "agent".to_owned(),
            prompt: prompt.into(),
            toolbox: Arc::new(toolbox),
            limits: Limits::default(),
            approvals: Approvals::default(),
            max_output_tokens: 2_048,
            in_parallel: true,
        }
    }
}

/// What one run is given.
#[derive(Clone)]
pub struct RunWith {
    /// The model, metered for whoever pays.
    pub model: ChatModel,
    /// The run's id.
    pub run_id: RunId,
    /// Where it is written down.
    pub log: Arc<dyn RunLog>,
    /// The person behind it. Without one, what needs an approval is not made.
    pub ask: Option<Arc<dyn Ask>>,
    /// What the clients in the toolbox were given to ask with.
    pub elicitations: Option<Elicitations>,
    /// Where large parts of results are kept.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// For ids.
    pub randomness: Arc<dyn Randomness>,
    /// Ends the run, whatever it is doing.
    pub cancel: CancellationToken,
}

impl RunWith {
    /// A run that nobody writes down and nobody can be asked in.
    #[must_use]
    pub fn new(model: ChatModel, randomness: Arc<dyn Randomness>) -> Self {
        Self {
            model,
            run_id: RunId::mint(&*randomness),
            log: Arc::new(NoLog),
            ask: None,
            elicitations: None,
            artifacts: Arc::new(MemoryArtifacts::default()),
            randomness,
            cancel: CancellationToken::new(),
        }
    }
}

impl fmt::Debug for RunWith {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunWith").field("run_id", &self.run_id).field("model", &self.model).finish_non_exhaustive()
    }
}
