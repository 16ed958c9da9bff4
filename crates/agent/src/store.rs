//! The port to wherever runs, conversations and artifacts are kept. Each method is one atomic operation.

use async_trait::async_trait;
use bylaw_contract::{
    ArtifactId, ConversationId, KeyId, LoopEvent, MicroUsd, OwnerId, RequestId, RunEvent, RunId, StopReason, Timestamp,
    TokenUsage,
    ask::Mode,
    loop_event::ReplyBy,
    runs::{ConversationSummary, NumberedEvent, RunKind, RunReply, RunStatus, RunSummary},
};
use serde::{Deserialize, Serialize};

use crate::{artifacts::Artifact, conversation::Conversation};

/// Why runs cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum RunStoreError {
    /// The store cannot be reached or written now: a full disk, a lost connection. Worth trying again.
    #[error("runs cannot be kept or read: {operation} failed")]
    Unavailable {
        /// What was being done.
        operation: &'static str,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What the store holds cannot be right. Trying again will not help.
    #[error("what is kept of runs is damaged: {what}")]
    Corrupt {
        /// What is wrong, and where.
        what: String,
    },
}

/// Whom a run, a conversation or an artifact belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Owner {
    /// Whoever sits at this machine while no keys are configured.
    LocalDoor,
    /// The holder of a key.
    Key(KeyId),
}

impl Owner {
    /// The key; none for the local door.
    #[must_use]
    pub const fn key(&self) -> Option<&KeyId> {
        match self {
            Self::LocalDoor => None,
            Self::Key(key) => Some(key),
        }
    }
}

impl From<Option<&KeyId>> for Owner {
    fn from(key: Option<&KeyId>) -> Self {
        key.cloned().map_or(Self::LocalDoor, Self::Key)
    }
}

/// What a run was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A question, in the mode that was asked for.
    Ask(Mode),
    /// Something to be done by the agent of this name.
    Agent(String),
}

impl Purpose {
    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> RunKind {
        match self {
            Self::Ask(_) => RunKind::Ask,
            Self::Agent(_) => RunKind::Agent,
        }
    }

    /// What `event` says of the end of a run of this kind; none if the run goes on. The loop's end is the end of an
    /// agent's run, while a question that was answered with the loop still has its answer to come.
    #[must_use]
    pub fn end(&self, event: &RunEvent, at: Timestamp) -> Option<Ended> {
        let (reason, code, usage, cost) = match (self.kind(), event) {
            (RunKind::Ask, RunEvent::Done { answer }) => {
                let reason = answer.stop.as_ref().map_or(StopReason::Completed, |stop| stop.reason);
                (reason, None, Some(answer.usage.tokens), Some(answer.usage.cost_micro_usd))
            }
            (RunKind::Ask, RunEvent::Failed { stop, code, .. }) => (stop.reason, Some(code.clone()), None, None),
            (RunKind::Agent, RunEvent::Loop(LoopEvent::Ended { reason, code, usage, .. })) => {
                (*reason, code.clone(), Some(*usage), None)
            }
            (RunKind::Ask | RunKind::Agent, _) => return None,
        };
        Some(Ended { at, reason, code, usage, cost })
    }
}

/// A run that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// Who began it, who alone may see it, and who pays.
    pub owner: Owner,
    /// What it is asked for.
    pub purpose: Purpose,
    /// The model, if it is known.
    pub model: Option<String>,
    /// The conversation that it belongs to: it has it for itself until it gives it back.
    pub conversation: Option<ConversationId>,
    /// The question, or what the person said.
    pub message: String,
    /// The label of the request that began it.
    pub request_id: RequestId,
    /// When it began.
    pub started_at: Timestamp,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: StopReason,
    /// A stable code, where something broke.
    pub code: Option<String>,
    /// Tokens of all its model calls, if its last event says so.
    pub usage: Option<TokenUsage>,
    /// What it cost, if its last event says so.
    pub cost: Option<MicroUsd>,
}

/// A run that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    /// How it began.
    pub run: NewRun,
    /// The process that it runs in.
    pub process: OwnerId,
    /// Whether it waits for a person.
    pub waits: bool,
    /// How it ended, if it has.
    pub ended: Option<Ended>,
}

impl RunRecord {
    /// What it is doing.
    #[must_use]
    pub const fn status(&self) -> RunStatus {
        match (&self.ended, self.waits) {
            (Some(_), _) => RunStatus::Ended,
            (None, true) => RunStatus::Waiting,
            (None, false) => RunStatus::Running,
        }
    }

    /// As lists show it.
    #[must_use]
    pub fn summary(&self) -> RunSummary {
        let status = self.status();
        let Self { run, ended, .. } = self;
        let (mode, agent) = match &run.purpose {
            Purpose::Ask(mode) => (Some(*mode), None),
            Purpose::Agent(name) => (None, Some(name.clone())),
        };
        RunSummary {
            run_id: run.id.clone(),
            status,
            kind: run.purpose.kind(),
            mode,
            agent,
            model: run.model.clone(),
            conversation_id: run.conversation.clone(),
            message: run.message.clone(),
            key: run.owner.key().cloned(),
            request_id: run.request_id.clone(),
            started_at: run.started_at,
            ended_at: ended.as_ref().map(|ended| ended.at),
            stop: ended.as_ref().map(|ended| ended.reason),
            code: ended.as_ref().and_then(|ended| ended.code.clone()),
            usage: ended.as_ref().and_then(|ended| ended.usage),
            cost_micro_usd: ended.as_ref().and_then(|ended| ended.cost),
        }
    }
}

/// One thing to be written of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunWrite {
    /// It begins, in a process.
    Begin(Box<NewRun>, OwnerId),
    /// Something happened in it.
    Event {
        /// The run.
        run: RunId,
        /// When.
        at: Timestamp,
        /// What.
        event: Box<RunEvent>,
    },
    /// It gives its conversation back, with what was said in it; without, if that is not known.
    GiveBack {
        /// The run.
        run: RunId,
        /// When.
        at: Timestamp,
        /// What was said, in all runs.
        conversation: Option<Box<Conversation>>,
    },
}

impl RunWrite {
    /// The run that is written about.
    #[must_use]
    pub const fn run(&self) -> &RunId {
        match self {
            Self::Begin(new, _) => &new.id,
            Self::Event { run, .. } | Self::GiveBack { run, .. } => run,
        }
    }
}

/// What came of one [`RunWrite`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is written.
    Done,
    /// The event is written, and this is its number.
    Event(u64),
    /// Nothing was written: there is such a run already.
    Exists,
    /// Nothing was written: there is no such run, or no more.
    NoSuchRun,
    /// Nothing was written: the run is over.
    Over,
    /// Nothing was written: there is no such conversation of this owner.
    NoSuchConversation,
    /// Nothing was written: another run has the conversation.
    Busy(RunId),
    /// Nothing was written: the run does not have the conversation any more.
    NotHeld,
}

/// Which runs to show. A run is shown if it agrees with everything that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunQuery {
    /// Of this owner.
    pub owner: Option<Owner>,
    /// Doing this.
    pub status: Option<RunStatus>,
    /// Of this kind.
    pub kind: Option<RunKind>,
    /// Of this agent.
    pub agent: Option<String>,
    /// Of this conversation.
    pub conversation: Option<ConversationId>,
    /// Of this request's label; callers choose it, so several may match.
    pub request_id: Option<RequestId>,
    /// Kept before this one. Nothing is before a run that is not kept.
    pub before: Option<RunId>,
    /// At most so many.
    pub limit: usize,
}

impl RunQuery {
    /// Whether `record` agrees with everything but `before` and `limit`.
    #[must_use]
    pub fn accepts(&self, record: &RunRecord) -> bool {
        let run = &record.run;
        let agent = match &run.purpose {
            Purpose::Ask(_) => None,
            Purpose::Agent(name) => Some(name),
        };
        self.owner.as_ref().is_none_or(|owner| *owner == run.owner)
            && self.status.is_none_or(|status| status == record.status())
            && self.kind.is_none_or(|kind| kind == run.purpose.kind())
            && self.agent.as_ref().is_none_or(|name| agent == Some(name))
            && self.conversation.as_ref().is_none_or(|id| run.conversation.as_ref() == Some(id))
            && self.request_id.as_ref().is_none_or(|id| run.request_id == *id)
    }
}

/// An answer to a question of a run, and who gave it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GivenReply {
    /// The answer.
    pub reply: RunReply,
    /// Who gave it; none where the run itself went on without one.
    pub by: Option<Owner>,
    /// When.
    pub at: Timestamp,
}

impl GivenReply {
    /// The answer that a run of this owner tells of: a [`LoopEvent::Reply`].
    #[must_use]
    pub fn told(event: &LoopEvent, owner: &Owner, at: Timestamp) -> Option<Self> {
        let LoopEvent::Reply { action, content, by, .. } = event else { return None };
        let by = match by {
            ReplyBy::Person => Some(owner.clone()),
            ReplyBy::Policy => None,
        };
        Some(Self { reply: RunReply { action: *action, content: content.clone() }, by, at })
    }
}

/// A question of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptQuestion {
    /// Its number in the run.
    pub number: u32,
    /// The question: a [`LoopEvent::Question`].
    pub question: LoopEvent,
    /// Its answer, if there is one.
    pub given: Option<GivenReply>,
}

/// What came of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Replied {
    /// It is the first, and kept.
    Taken,
    /// This one was first.
    AlreadyAnswered(GivenReply),
    /// The run is over.
    Over,
    /// There is no such run, or it has asked no such question.
    NoSuchQuestion,
}

/// A conversation that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationRecord {
    /// Its id.
    pub id: ConversationId,
    /// Whom it belongs to.
    pub owner: Owner,
    /// What it is called.
    pub title: String,
    /// The agent that it is held with.
    pub agent: Option<String>,
    /// When it began.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The run that has it.
    pub busy: Option<RunId>,
}

impl ConversationRecord {
    /// As lists show it.
    #[must_use]
    pub fn summary(&self) -> ConversationSummary {
        ConversationSummary {
            conversation_id: self.id.clone(),
            title: self.title.clone(),
            agent: self.agent.clone(),
            key: self.owner.key().cloned(),
            created_at: self.created_at,
            updated_at: self.updated_at,
            busy: self.busy.clone(),
        }
    }
}

/// Which conversations to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversationQuery {
    /// Of this owner.
    pub owner: Option<Owner>,
    /// Begun before this one. Nothing is before a conversation that is not kept.
    pub before: Option<ConversationId>,
    /// At most so many.
    pub limit: usize,
}

/// What came of deleting a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// It is gone, with its runs and their artifacts.
    Done,
    /// Nothing was done: this run has it.
    Busy(RunId),
    /// There is none.
    NoSuchConversation,
}

/// An artifact that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptArtifact {
    /// The run it came from.
    pub run: RunId,
    /// Whose run that is.
    pub owner: Owner,
    /// The artifact.
    pub artifact: Artifact,
}

/// What came of keeping an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactPut {
    /// It is kept.
    Kept,
    /// Nothing was kept: the artifacts of this run would be more than it may have.
    Full,
    /// Nothing was kept: there is no such run.
    NoSuchRun,
}

/// Runs with their events, questions, conversations and artifacts.
///
/// What a process of its own may write beside others: numbers of events are given out by the store, without gaps.
#[async_trait]
pub trait RunStore: Send + Sync {
    /// Writes a batch in one transaction, in its order, durable when it returns. What came of each, in their order. What
    /// cannot be done is left out; it does not keep the rest from being written. If this fails, nothing was written, or
    /// all of it.
    ///
    /// Events are numbered per run, from 1, without gaps. Nothing is written of a run that is over ([`Purpose::end`]),
    /// except that it gives its conversation back. A [`LoopEvent::Question`] opens a question, and a [`LoopEvent::Reply`]
    /// closes it, unless it is answered already.
    async fn write(&self, batch: Vec<RunWrite>) -> Result<Vec<Written>, RunStoreError>;

    /// One run.
    async fn run(&self, id: &RunId) -> Result<Option<RunRecord>, RunStoreError>;

    /// Runs, the newest first.
    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunRecord>, RunStoreError>;

    /// Events after the given number, in their order; none for a run that is not kept.
    async fn events(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<NumberedEvent>, RunStoreError>;

    /// The questions of a run, in their order.
    async fn questions(&self, run: &RunId) -> Result<Vec<KeptQuestion>, RunStoreError>;

    /// Answers a question, durable when it returns. The first answer wins.
    async fn reply(&self, run: &RunId, question: u32, given: &GivenReply) -> Result<Replied, RunStoreError>;

    /// Says until when the runs of a process are its own.
    async fn keep_process(&self, process: &OwnerId, until: Timestamp) -> Result<(), RunStoreError>;

    /// Runs that are not over and whose process is gone: it never said until when its runs are its own, or that was
    /// before `now`. The oldest first.
    async fn lost(&self, now: Timestamp, limit: usize) -> Result<Vec<RunRecord>, RunStoreError>;

    /// Keeps a new conversation, empty. Whether its id was new.
    async fn create_conversation(&self, record: &ConversationRecord) -> Result<bool, RunStoreError>;

    /// A conversation, and what was said in it.
    async fn conversation(
        &self,
        id: &ConversationId,
    ) -> Result<Option<(ConversationRecord, Conversation)>, RunStoreError>;

    /// Conversations, the newest first.
    async fn conversations(&self, query: &ConversationQuery) -> Result<Vec<ConversationRecord>, RunStoreError>;

    /// Deletes a conversation with its runs, unless a run has it.
    async fn delete_conversation(&self, id: &ConversationId) -> Result<Deleted, RunStoreError>;

    /// Keeps an artifact of a run, if all that the run then has is at most `most_bytes`.
    async fn put_artifact(
        &self,
        run: &RunId,
        artifact: &Artifact,
        most_bytes: u64,
    ) -> Result<ArtifactPut, RunStoreError>;

    /// An artifact.
    async fn artifact(&self, id: &ArtifactId) -> Result<Option<KeptArtifact>, RunStoreError>;

    /// Forgets runs that ended before `before`, the oldest first, with their events and artifacts, at most `limit`. A
    /// conversation is kept whole: its runs are forgotten with it, once it has not changed since and no run has it. How
    /// many runs and conversations were forgotten.
    async fn prune(&self, before: Timestamp, limit: usize) -> Result<usize, RunStoreError>;
}
