//! What may be asked of the desk that changes something, as a front has read it from whoever asks.

use serde::Serialize;

use super::view::LeaveView;
use crate::domain::rules::Question;

/// Makes a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Create {
    /// Any name of a type.
    pub kind: String,
    /// First day, or moment.
    pub start: String,
    /// Last day, or moment.
    pub end: String,
    /// What its owner calls it.
    pub title: String,
    /// Why; may be empty.
    pub reason: String,
    /// Who stands in: an id or a full name; the usual person unless given.
    pub deputy: Option<String>,
    /// The day of the event.
    pub event_date: Option<String>,
    /// The case of the event.
    pub event_case: Option<String>,
    /// The client's own name for this write.
    #[serde(skip)]
    pub once: Option<String>,
}

/// Edits a draft: what is given replaces what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Patch {
    /// Any name of a type.
    pub kind: Option<String>,
    /// First day, or moment.
    pub start: Option<String>,
    /// Last day, or moment.
    pub end: Option<String>,
    /// What its owner calls it.
    pub title: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Who stands in.
    pub deputy: Option<String>,
    /// The day of the event.
    pub event_date: Option<String>,
    /// The case of the event.
    pub event_case: Option<String>,
}

/// Edits a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Update {
    /// Which.
    pub leave_id: String,
    /// What.
    pub patch: Patch,
    /// The version that the caller has in mind.
    pub version: Option<u32>,
    /// The client's own name for this write.
    #[serde(skip)]
    pub once: Option<String>,
}

/// Moves a leave one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SetStatus {
    /// Which.
    pub leave_id: String,
    /// To what: a status, or `consented`.
    pub status: String,
    /// The version that the caller has in mind.
    pub version: Option<u32>,
    /// The client's own name for this write.
    #[serde(skip)]
    pub once: Option<String>,
}

/// Cancels a leave that was granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cancel {
    /// Which.
    pub leave_id: String,
    /// Why.
    pub reason: String,
    /// The version that the caller has in mind.
    pub version: Option<u32>,
    /// The client's own name for this write.
    #[serde(skip)]
    pub once: Option<String>,
}

/// What came of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It is done, or was done before under the same key.
    Done(Box<LeaveView>),
    /// Put this to the person, and call again with the same arguments and the answer.
    Ask(Question),
}
