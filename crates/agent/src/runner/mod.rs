//! The runs of agents that go on in this process, tied to nobody's connection.
//!
//! ```text
//!   Errand ─► Runner::start ─► place? conversation free? ─► begun in the journal ─► a task of its own: Agent::run
//!                 │  reply ──► written down ──► the question that waits ─────────────────►│
//!                 │  cancel, a key that is lost, shutdown ──► token, with the cause ──────►│
//!                 └─ watch ◄── Journal ◄── events, each before its effect ◄────────────────┘
//! ```
//!
//! Each run has connections of its own to the servers of its agent, made in its first step, so that no question of a
//! server can reach anybody but the person whose run it is.

mod counts;
mod drive;
mod going;
mod log;
mod questions;
mod standing;

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bylaw_answer::Purse;
use bylaw_contract::{Clock, ConversationId, ErrorCode, MicroUsd, Randomness, RequestId, RunId, runs::RunReply};
use bylaw_gate::{KeyRing, Principal, Spender};
use bylaw_mcp::ElicitReply;
use bylaw_model::Connection;
use tokio_util::task::TaskTracker;

use self::{
    counts::Counts,
    drive::Drive,
    going::{Cause, NoPlace, Runs},
};
pub use self::{
    counts::RunCounts,
    going::Room,
    questions::{ReplyError, action_name},
};
use crate::{
    agent_file::AgentFile,
    ask::Question,
    catalogue::Catalogue,
    connect::ConnectWith,
    conversation::Conversation,
    journal::{BeginError, Journal},
    store::{GivenReply, NewRun, Owner, Purpose, Replied, RunStore, RunStoreError},
    tool::Tool,
};

/// What a runner is made of.
pub struct RunnerParts {
    /// Where runs are written down.
    pub journal: Journal,
    /// The agents there are.
    pub catalogue: Arc<Catalogue>,
    /// How the servers of an agent are connected.
    pub connect: ConnectWith,
    /// Tools of this process that every agent has.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The model that all of them ask.
    pub model: Option<Connection>,
    /// What pays for it.
    pub purse: Purse,
    /// Says whether a key still holds.
    pub keys: Arc<KeyRing>,
    /// How many runs there may be.
    pub room: Room,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// For ids.
    pub randomness: Arc<dyn Randomness>,
}

/// Something to be done by an agent.
#[derive(Clone, Debug)]
pub struct Errand {
    /// The agent; the conversation's, if none is named.
    pub agent: Option<String>,
    /// The conversation that it goes on with.
    pub conversation: Option<ConversationId>,
    /// What is to be done.
    pub message: String,
    /// Limits that hold where they are tighter than the agent's.
    pub limits: TighterLimits,
    /// Whose run it is, and who pays.
    pub principal: Principal,
    /// The label of the request.
    pub request_id: RequestId,
}

/// Limits of one run. The agent's own hold where they are tighter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TighterLimits {
    /// Most steps.
    pub steps: Option<u32>,
    /// Most calls of tools.
    pub tool_calls: Option<u32>,
    /// Longest wall time.
    pub wall_time: Option<Duration>,
    /// Most money; the budgets hold besides.
    pub cost: Option<MicroUsd>,
}

/// A run that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its id.
    pub run_id: RunId,
    /// Its agent.
    pub agent: String,
}

/// Why a run cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No agent is named, and the conversation has none.
    #[error("agent: is required{}", listed(.0))]
    NoAgent(Vec<String>),
    /// There is no such agent.
    #[error("there is no agent named {name:?}{}", listed(.known))]
    UnknownAgent {
        /// The name.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// There is no model that an agent could ask.
    #[error("no model is configured, and an agent needs one")]
    NoModel,
    /// There is no such conversation, or not for this caller.
    #[error("there is no conversation {0}")]
    NoConversation(ConversationId),
    /// A run goes on in the conversation.
    #[error("run {0} goes on in this conversation; wait until it has ended, or cancel it")]
    Busy(RunId),
    /// There is no room for another run.
    #[error("too many runs go on or wait for people; try again shortly")]
    Full,
    /// The process ends.
    #[error("the service is shutting down")]
    ShuttingDown,
    /// It cannot be written down.
    #[error(transparent)]
    Store(#[from] Arc<RunStoreError>),
}

impl StartError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NoAgent(_) => ErrorCode::InvalidRequest,
            Self::UnknownAgent { .. } => ErrorCode::AgentNotFound,
            Self::NoModel => ErrorCode::NoModel,
            Self::NoConversation(_) => ErrorCode::ConversationNotFound,
            Self::Busy(_) => ErrorCode::ConversationBusy,
            Self::Full => ErrorCode::Overloaded,
            Self::ShuttingDown => ErrorCode::ShuttingDown,
            Self::Store(_) => ErrorCode::StorageFailed,
        }
    }
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "; there are none: the configuration names the folder of agent files".to_owned(),
        names => format!("; there are {}", names.join(", ")),
    }
}

/// The runs of agents that go on in this process. Clones share them.
#[derive(Clone)]
pub struct Runner(Arc<Inner>);

pub(crate) struct Inner {
    parts: RunnerParts,
    runs: Arc<Runs>,
    counts: Counts,
    tasks: TaskTracker,
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl Runner {
    /// A runner in which nothing goes on yet.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn new(parts: RunnerParts) -> Self {
        let runs = Arc::new(Runs::new(parts.room));
        let inner = Inner { parts, runs, counts: Counts::default(), tasks: TaskTracker::new() };
        let runner = Self(Arc::new(inner));
        tokio::spawn(standing::watch(Arc::downgrade(&runner.0)));
        runner
    }

    /// Where runs are written down and watched.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.0.parts.journal
    }

    /// Where runs are kept.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn RunStore> {
        self.journal().store()
    }

    /// The agent of this name.
    ///
    /// # Errors
    /// [`StartError::UnknownAgent`], which names those there are.
    pub fn agent(&self, name: &str) -> Result<&Arc<AgentFile>, StartError> {
        self.0
            .parts
            .catalogue
            .get(name)
            .ok_or_else(|| StartError::UnknownAgent { name: name.to_owned(), known: self.names() })
    }

    /// The names of all agents, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.0.parts.catalogue.names().map(str::to_owned).collect()
    }

    /// Starts a run. It is written down when this returns, and goes on whatever becomes of the caller.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn start(&self, errand: Errand) -> Result<Started, StartError> {
        let parts = &self.0.parts;
        let owner = Owner::from(errand.principal.key_id());
        let (spoken_with, said) = match &errand.conversation {
            None => (None, Conversation::default()),
            Some(id) => self.conversation(id, &owner).await?,
        };
        let name = errand.agent.clone().or(spoken_with).ok_or_else(|| StartError::NoAgent(self.names()))?;
        let file = self.agent(&name)?;
        let model = parts.model.as_ref().ok_or(StartError::NoModel)?;
        let run_id = RunId::mint(&*parts.randomness);
        let place = self.0.runs.enter(&run_id, &errand.principal).map_err(|no_place| match no_place {
            NoPlace::Full => StartError::Full,
            NoPlace::Closing => StartError::ShuttingDown,
        })?;
        let new = NewRun {
            id: run_id.clone(),
            owner,
            purpose: Purpose::Agent(name.clone()),
            model: Some(model.name().to_owned()),
            conversation: errand.conversation.clone(),
            message: errand.message.clone(),
            request_id: errand.request_id.clone(),
            started_at: parts.clock.now(),
        };
        let open = parts.journal.begin(new).await.map_err(|error| match (error, &errand.conversation) {
            (BeginError::Busy(run), _) => StartError::Busy(run),
            (BeginError::NoSuchConversation, Some(id)) => StartError::NoConversation(id.clone()),
            (BeginError::NoSuchConversation | BeginError::Closed, _) => StartError::ShuttingDown,
            (BeginError::Store(error), _) => StartError::Store(error),
        })?;
        let spender = Spender {
            principal: errand.principal,
            request_id: errand.request_id,
            run_id: run_id.clone(),
            mode: None,
            max_cost: errand.limits.cost,
        };
        let drive = Drive {
            file: Arc::clone(file),
            name: name.clone(),
            model: model.metered(parts.purse.meter(spender)),
            limits: errand.limits,
            said,
            message: errand.message,
            in_conversation: errand.conversation.is_some(),
            open,
            place,
        };
        self.0.tasks.spawn(drive.run(Arc::clone(&self.0)));
        Ok(Started { run_id, agent: name })
    }

    /// What was said in a conversation of this owner, and the agent that it is held with.
    async fn conversation(
        &self,
        id: &ConversationId,
        owner: &Owner,
    ) -> Result<(Option<String>, Conversation), StartError> {
        let found = self.store().conversation(id).await.map_err(Arc::new)?;
        let (record, said) =
            found.filter(|(record, _)| record.owner == *owner).ok_or_else(|| StartError::NoConversation(id.clone()))?;
        // So that nobody goes on with what was said before the run that goes on now.
        match record.busy {
            Some(run) => Err(StartError::Busy(run)),
            None => Ok((record.agent, said)),
        }
    }

    /// Answers a question of a run. The first answer counts, and the run goes on when it is written down.
    ///
    /// # Errors
    /// See [`ReplyError`].
    pub async fn reply(&self, run_id: &RunId, question: u32, reply: RunReply, by: Owner) -> Result<(), ReplyError> {
        let going = self.0.runs.get(run_id);
        let asked = going.as_ref().and_then(|going| going.questions.get(question));
        let (Some(going), Some(asked)) = (going, asked) else {
            return Err(self.why_not(run_id, question).await?);
        };
        let answer: ElicitReply = questions::read(&asked, reply.clone())?;
        let given = GivenReply { reply, by: Some(by), at: self.0.parts.clock.now() };
        match self.store().reply(run_id, question, &given).await? {
            Replied::Taken if going.questions.hand_over(question, answer) => Ok(()),
            Replied::Taken | Replied::Over => Err(ReplyError::Closed(question)),
            Replied::AlreadyAnswered(first) => Err(ReplyError::Answered { id: question, action: first.reply.action }),
            Replied::NoSuchQuestion => Err(ReplyError::Unknown(question)),
        }
    }

    /// Why a question that does not wait here cannot be answered.
    async fn why_not(&self, run_id: &RunId, question: u32) -> Result<ReplyError, RunStoreError> {
        let kept = self.store().questions(run_id).await?;
        Ok(match kept.into_iter().find(|kept| kept.number == question) {
            None => ReplyError::Unknown(question),
            Some(kept) => match kept.given {
                Some(given) => ReplyError::Answered { id: question, action: given.reply.action },
                None => ReplyError::Closed(question),
            },
        })
    }

    /// Tells a run of an agent, or a question that can be [stopped](crate::OpenRun::that_stops_with), to stop. Whether it
    /// goes on here: then it ends within a fifth of a second.
    #[must_use]
    pub fn cancel(&self, run_id: &RunId) -> bool {
        match self.0.runs.get(run_id) {
            Some(going) => going.end(Cause::Asked),
            None => return self.journal().stop(run_id),
        }
        true
    }

    /// What a run that goes on here waits for a person to answer; `None` if it does not go on here.
    #[must_use]
    pub fn open_questions(&self, run_id: &RunId) -> Option<Vec<Question>> {
        self.0.runs.get(run_id).map(|going| going.questions.all())
    }

    /// How many runs go on and have been.
    #[must_use]
    pub fn counts(&self) -> RunCounts {
        let going = self.0.runs.count() as u64;
        let waiting = self.0.runs.waiting.load(Ordering::SeqCst) as u64;
        self.0.counts.snapshot(going, waiting)
    }

    /// Starts no more runs, ends those that wait for people, and waits for the others as long as the future is polled.
    pub async fn finish(&self) {
        self.0.runs.close();
        self.0.tasks.close();
        for going in self.0.runs.all() {
            if !going.questions.all().is_empty() {
                going.end(Cause::ShuttingDown);
            }
        }
        self.0.tasks.wait().await;
    }

    /// Starts no more runs, ends those that go on, and waits until each has said so. What they spent is booked.
    pub async fn shut_down(&self) {
        self.0.runs.close();
        self.0.tasks.close();
        for going in self.0.runs.all() {
            going.end(Cause::ShuttingDown);
        }
        self.0.tasks.wait().await;
        self.journal().flush().await;
    }
}
