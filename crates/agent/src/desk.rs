//! Where a run asks its person: each question and each answer is written down, and no answer is forgotten.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bylaw_contract::{
    LoopEvent,
    loop_event::{QuestionKind, ReplyAction, ReplyBy},
};
use bylaw_mcp::{ElicitReply, Elicitation};
use serde_json::{Map, Value};

use crate::{
    approvals::Declined,
    ask::{Ask, Question},
    deadline::Deadline,
    log::{RunLog, RunLogError},
    toolbox::Entry,
};

pub(crate) struct Desk {
    pub(crate) ask: Option<Arc<dyn Ask>>,
    pub(crate) log: Arc<dyn RunLog>,
    pub(crate) deadline: Arc<Deadline>,
    pub(crate) wait: Duration,
    asked: AtomicU32,
    declined: Mutex<Declined>,
}

/// What a person, or the policy where there is none, says to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Approved,
    Declined,
    /// Nobody can be asked.
    Nobody,
    /// Nobody answered.
    Unanswered,
}

impl Desk {
    pub(crate) fn new(
        ask: Option<Arc<dyn Ask>>,
        log: Arc<dyn RunLog>,
        deadline: Arc<Deadline>,
        wait: Duration,
    ) -> Self {
        Self { ask, log, deadline, wait, asked: AtomicU32::new(0), declined: Mutex::default() }
    }

    pub(crate) fn declined(&self) -> MutexGuard<'_, Declined> {
        self.declined.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks whether a call may be made with exactly these arguments.
    pub(crate) async fn approve(&self, entry: &Entry, arguments: &Map<String, Value>) -> Result<Verdict, RunLogError> {
        let question = Question {
            id: self.next(),
            kind: QuestionKind::Approval,
            server: entry.server().map(str::to_owned),
            tool: Some(entry.info.name.clone()),
            arguments: Some(arguments.clone()),
            message: format!("May {} be called with these arguments?", entry.info.name),
            schema: None,
        };
        let reply = self.put(question, Some(self.wait)).await?;
        Ok(match reply {
            None => Verdict::Nobody,
            Some(ElicitReply::Accept(_)) => Verdict::Approved,
            Some(ElicitReply::Decline) => {
                self.declined().remember(&identity(entry), arguments);
                Verdict::Declined
            }
            Some(ElicitReply::Cancel) => Verdict::Unanswered,
        })
    }

    /// Passes a server's question on. `call` is the tool and the arguments of the call behind it.
    pub(crate) async fn elicit(
        &self,
        asked: Elicitation,
        call: Option<(&str, &Map<String, Value>)>,
    ) -> Result<ElicitReply, RunLogError> {
        let question = Question {
            id: self.next(),
            kind: QuestionKind::Elicitation,
            server: Some(asked.server),
            tool: asked.tool,
            arguments: None,
            message: asked.message,
            schema: Some(asked.schema),
        };
        // The client that asks has a limit of its own.
        let reply = self.put(question, None).await?.unwrap_or(ElicitReply::Cancel);
        if let (ElicitReply::Decline, Some((tool, arguments))) = (&reply, call) {
            self.declined().remember(tool, arguments);
        }
        Ok(reply)
    }

    /// Writes the question down, asks, and writes the answer down before anybody acts on it.
    async fn put(&self, question: Question, wait: Option<Duration>) -> Result<Option<ElicitReply>, RunLogError> {
        let id = question.id;
        self.log.write(vec![told(&question)]).await?;
        let reply = match &self.ask {
            None => None,
            Some(ask) => {
                let _pause = self.deadline.pause();
                let answered = ask.ask(question);
                Some(match wait {
                    Some(wait) => tokio::time::timeout(wait, answered).await.unwrap_or(ElicitReply::Cancel),
                    None => answered.await,
                })
            }
        };
        let (action, content) = match &reply {
            Some(ElicitReply::Accept(content)) => (ReplyAction::Accept, Some(content.clone())),
            Some(ElicitReply::Decline) => (ReplyAction::Decline, None),
            Some(ElicitReply::Cancel) | None => (ReplyAction::Cancel, None),
        };
        let by = if reply.is_some() { ReplyBy::Person } else { ReplyBy::Policy };
        self.log.write(vec![LoopEvent::Reply { id, action, content, by }]).await?;
        Ok(reply)
    }

    fn next(&self) -> u32 {
        self.asked.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// A tool's server and own name.
pub(crate) fn identity(entry: &Entry) -> String {
    format!("{}/{}", entry.server().unwrap_or_default(), entry.info.name)
}

fn told(question: &Question) -> LoopEvent {
    let Question { id, kind, server, tool, arguments, message, schema } = question.clone();
    LoopEvent::Question { id, kind, server, tool, arguments, message, schema }
}
