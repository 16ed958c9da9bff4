//! The five rules as functions of values: nothing here waits, remembers or asks.

use std::time::Duration;

use bylaw_contract::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    effect::{Effect, Tool},
    ids::{EmployeeId, LeaveId, OnceKey},
    refusal::Refusal,
};

/// How long what was shown, asked or sent counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How long a leave that was shown may be touched.
    pub shown_for: Duration,
    /// How long an answer is waited for in the middle of a call.
    pub answer_within: Duration,
    /// How long a confirmation may be given with a call that is made again.
    pub confirm_for: Duration,
    /// How long an idempotency key is remembered.
    pub once_for: Duration,
}

impl Default for Terms {
    fn default() -> Self {
        const MINUTE: u64 = 60;
        Self {
            shown_for: Duration::from_secs(30 * MINUTE),
            answer_within: Duration::from_secs(2 * MINUTE),
            confirm_for: Duration::from_secs(10 * MINUTE),
            once_for: Duration::from_secs(7 * 24 * 60 * MINUTE),
        }
    }
}

/// A leave that a principal was shown by a read tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// In which version.
    pub version: u32,
    /// When.
    pub at: Timestamp,
}

/// Rule 1, *shown first*: a leave is touched only in the version that this principal was shown lately.
///
/// # Errors
/// If it was never shown, too long ago, or has changed since.
pub fn shown_first(
    id: &LeaveId,
    shown: Option<&Shown>,
    present_version: u32,
    now: Timestamp,
    terms: &Terms,
) -> Result<(), Refusal> {
    match shown {
        None => Err(Refusal::NotShown { id: id.clone() }),
        Some(shown) if shown.version != present_version => Err(Refusal::ChangedSince { id: id.clone() }),
        // A clock that went backwards makes nothing older.
        Some(shown) if now.since(shown.at) > terms.shown_for => Err(Refusal::ShownLongAgo { id: id.clone() }),
        Some(_) => Ok(()),
    }
}

/// A person's no, which stays until the person takes it back outside MCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decline {
    /// To which leave.
    pub leave: LeaveId,
    /// To what.
    pub effect: Effect,
    /// Whose no.
    pub by: EmployeeId,
    /// When.
    pub at: Timestamp,
    /// By which tool it was asked.
    pub tool: Tool,
}

/// Rule 4, *no stays no*: whatever tool would reach it, what a person declined is not done.
///
/// # Errors
/// If it was declined.
pub fn no_stays_no(declines: &[Decline], leave: &LeaveId, effect: Effect) -> Result<(), Refusal> {
    match declines.iter().find(|decline| decline.leave == *leave && decline.effect == effect) {
        Some(decline) => Err(Refusal::SaidNo { id: leave.clone(), effect, by: decline.by.clone() }),
        None => Ok(()),
    }
}

/// What a person answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes.
    Accepted,
    /// No; it is remembered.
    Declined,
    /// Neither; the question was put away.
    Dismissed,
}

/// How far the asking has come, as whoever speaks with the person reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// Nobody was asked yet.
    NotAsked,
    /// The client cannot ask a person.
    CannotAsk,
    /// Nobody answered in time.
    TimedOut,
    /// A person answered.
    Answered {
        /// The [`Question::binding`] of the question that was answered.
        binding: String,
        /// What makes this answer count once: unguessable, chosen by whoever asked.
        ticket: String,
        /// From when on it does not count.
        expires: Timestamp,
        /// The answer.
        answer: Answer,
    },
}

/// Rule 3, *ask first*: what a person is asked, and what their answer is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The leave.
    pub leave: LeaveId,
    /// What would be done to it.
    pub effect: Effect,
    /// The facts, as a sentence or two in the principal's language.
    pub message: String,
    /// Principal, tool, leave, version and arguments in one text. An answer to another question has another.
    pub binding: String,
}

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Ask this, and come back with the answer.
    Ask,
    /// Go on; the ticket is used up by it.
    Go {
        /// The ticket.
        ticket: String,
        /// From when on it would not have counted, and need not be remembered.
        expires: Timestamp,
    },
    /// A no, to be remembered; the ticket is used up by it.
    No {
        /// The ticket.
        ticket: String,
        /// As above.
        expires: Timestamp,
    },
}

/// Judges an answer. Whether its ticket is still unused is the store's to say, in the transaction that uses it.
///
/// # Errors
/// If there was no answer, no way to ask, or it answers another question or came too late.
pub fn ask_first(binding: &str, id: &LeaveId, confirmation: &Confirmation, now: Timestamp) -> Result<Asked, Refusal> {
    match confirmation {
        Confirmation::NotAsked => Ok(Asked::Ask),
        Confirmation::CannotAsk => Err(Refusal::CannotAsk { id: id.clone() }),
        Confirmation::TimedOut => Err(Refusal::NotAnswered { id: id.clone() }),
        Confirmation::Answered { binding: answered, ticket, expires, answer } => {
            if answered != binding {
                return Err(Refusal::AnswersAnother { id: id.clone() });
            }
            if now >= *expires {
                return Err(Refusal::AnswerExpired { id: id.clone() });
            }
            let (ticket, expires) = (ticket.clone(), *expires);
            match answer {
                Answer::Accepted => Ok(Asked::Go { ticket, expires }),
                Answer::Declined => Ok(Asked::No { ticket, expires }),
                Answer::Dismissed => Err(Refusal::Dismissed { id: id.clone() }),
            }
        }
    }
}

/// A write that was done under a client's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnceRecord {
    /// The key.
    pub key: OnceKey,
    /// Tool and arguments in one text.
    pub fingerprint: String,
    /// What was replied.
    pub reply: String,
    /// When.
    pub at: Timestamp,
}

/// Rule 5, *once*: the reply to give again, if this was done before.
///
/// # Errors
/// If the key was used for something else.
pub fn once(
    found: Option<&OnceRecord>,
    fingerprint: &str,
    now: Timestamp,
    terms: &Terms,
) -> Result<Option<String>, Refusal> {
    match found {
        Some(record) if now.since(record.at) > terms.once_for => Ok(None),
        Some(record) if record.fingerprint == fingerprint => Ok(Some(record.reply.clone())),
        Some(record) => Err(Refusal::KeyUsedOtherwise { key: record.key.clone() }),
        None => Ok(None),
    }
}
