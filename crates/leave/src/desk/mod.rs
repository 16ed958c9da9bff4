//! The desk: every operation of the leave system, with every rule enforced, for whatever front speaks to people.
//!
//! A front says who asks, what for, and how far the asking of the person has come; the desk answers with a view, with a
//! question to put to the person, or with a refusal. It knows no protocol.

mod attempt;
mod plan;
mod read;
mod requests;
pub mod view;
mod write;

use std::sync::Arc;

use bylaw_contract::{Clock, Language, Randomness, Timestamp};

pub use self::{
    read::{Found, MOST_SHOWN, Search},
    requests::{Cancel, Create, Patch, Reply, SetStatus, Update},
    view::{BalanceLine, BalanceView, CaseView, LeaveView, NextStep, TypeView},
};
use crate::domain::{
    decide::{Asking, Policy},
    ids::EmployeeId,
    refusal::Refusal,
    store::{LeaveStore, StoreError},
    time::Day,
};

/// Who asks. Comes from a key or from whoever started the program, never from a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The employee.
    pub employee: EmployeeId,
    /// Through which client; for the history.
    pub client: String,
    /// The language of views and questions.
    pub language: Language,
}

/// Why an operation did not happen.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// The rules say no. [`Refusal::sentence`] says what to do next.
    #[error("refused: {}", .0.code())]
    Refused(Refusal),
    /// What is kept cannot be read or written; nothing was changed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Refusal> for DeskError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The desk. Cloning is cheap.
#[derive(Clone)]
pub struct Desk {
    store: Arc<dyn LeaveStore>,
    policy: Arc<Policy>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Randomness>,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}

impl Desk {
    /// A desk over a store.
    #[must_use]
    pub fn new(
        store: Arc<dyn LeaveStore>,
        policy: Arc<Policy>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Randomness>,
    ) -> Self {
        Self { store, policy, clock, random }
    }

    /// The policy it decides by.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The store behind it.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn LeaveStore> {
        &self.store
    }

    fn today(&self, now: Timestamp) -> Day {
        Day::of(now, self.policy.calendar.offset_minutes()).day
    }

    fn asking<'a>(&self, who: &'a Principal, now: Timestamp) -> Asking<'a> {
        Asking { who: &who.employee, now, language: who.language }
    }
}
