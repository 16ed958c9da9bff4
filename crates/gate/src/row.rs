//! Rows of the ledger. They are only ever added; none holds a word of a question or an answer.

use std::fmt;

use bylaw_contract::{KeyId, MicroUsd, RequestId, ReservationId, RunId, Timestamp, TokenUsage, ask::Mode};
use serde::{Deserialize, Serialize};

use crate::{account::Posting, budget::BudgetKey, period::Day};

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// The provider said what it used, and that was charged.
    Spent,
    /// The provider did not say; what was received was charged.
    Estimated,
    /// The caller left before the provider said; what was received was charged.
    Abandoned,
    /// A cache answered; the amount is what that saved, and nothing was charged.
    Avoided,
    /// Nobody knows; the whole reservation was charged.
    Unknown,
}

impl RowKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Spent, Self::Estimated, Self::Abandoned, Self::Avoided, Self::Unknown];

    /// The kind as text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spent => "spent",
            Self::Estimated => "estimated",
            Self::Abandoned => "abandoned",
            Self::Avoided => "avoided",
            Self::Unknown => "unknown",
        }
    }
}

/// What else there is to say about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// The provider's report cannot be true.
    ImpossibleUsage,
    /// The attempt turned out never to have been sent, after its lease had run out.
    NotSent,
}

impl Note {
    /// Every note.
    pub const ALL: [Self; 2] = [Self::ImpossibleUsage, Self::NotSent];

    /// The note as text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ImpossibleUsage => "impossible_usage",
            Self::NotSent => "not_sent",
        }
    }
}

/// The place of a row in the ledger. The first is 1; there are no gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RowNumber(pub u64);

impl RowNumber {
    /// The next place.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for RowNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Who caused a row, and with what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// The request's label; callers may choose it, so several requests may share one.
    pub request_id: RequestId,
    /// The run; `None` for a hit in a cache, which creates none.
    pub run_id: Option<RunId>,
    /// The key; `None` for the local door.
    pub key: Option<KeyId>,
    /// The model.
    pub model: String,
    /// How the answer was to be made; `None` for what is no answer.
    pub mode: Option<Mode>,
    /// What the call was for, in a word.
    pub purpose: String,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// What it is about.
    pub kind: RowKind,
    /// When it was written.
    pub at: Timestamp,
    /// The day it counts for: that of the reservation, in the configured time zone.
    pub day: Day,
    /// Who and what.
    #[serde(flatten)]
    pub labels: Labels,
    /// The reservation that it settles.
    pub reservation: Option<ReservationId>,
    /// What had been reserved.
    pub reserved: MicroUsd,
    /// What was still held for it when this row was written: the reservation; for a correction, only what the corrected row
    /// had kept of it, since the rest may have been given to others. What is charged beyond that is debt.
    pub covered: MicroUsd,
    /// What is charged; for [`RowKind::Avoided`], what was saved.
    pub amount: MicroUsd,
    /// The tokens that are charged.
    pub tokens: TokenUsage,
    /// The accounts that it is charged to.
    pub budgets: Vec<BudgetKey>,
    /// The row that this one replaces: that row no longer counts.
    pub corrects: Option<RowNumber>,
    /// For [`RowKind::Avoided`], the run whose result was given again.
    pub repeats: Option<RunId>,
    /// What else there is to say.
    pub note: Option<Note>,
}

#[derive(Serialize, Deserialize)]
struct Numbered<R> {
    number: RowNumber,
    #[serde(flatten)]
    row: R,
}

/// A row with its place, and the text that it was written as.
///
/// The text is what is stored, sealed and exported, and everything else about the row is read from it. So a row keeps its
/// seal when a later version of the program knows more fields, and a store that keeps columns beside the text for its
/// queries should let the database derive them from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRow {
    /// Its place.
    pub number: RowNumber,
    /// The row.
    pub row: Row,
    text: String,
}

/// A text that is no row.
#[derive(Debug, thiserror::Error)]
#[error("not a row of a ledger")]
pub struct InvalidRow(#[from] serde_json::Error);

impl StoredRow {
    /// A row that is written at `number`.
    #[must_use]
    pub fn new(number: RowNumber, row: Row) -> Self {
        let text = serde_json::to_string(&Numbered { number, row: &row });
        // Only maps with odd keys and failing `Serialize` implementations can fail, and there are none in a row.
        Self { number, row, text: text.expect("a row has only text, numbers and lists") }
    }

    /// Reads a row from the text that it was written as.
    ///
    /// # Errors
    /// If it is none.
    pub fn from_text(text: String) -> Result<Self, InvalidRow> {
        let Numbered { number, row } = serde_json::from_str(&text)?;
        Ok(Self { number, row, text })
    }

    /// The text of the row: one line of JSON.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) const fn posting(&self) -> Posting {
        Posting { covered: self.row.covered, amount: self.row.amount }
    }
}

/// How much is known about what an attempt used. A row is replaced only by one that knows more, so that a settlement that
/// arrives twice, or an estimate that arrives after the truth, changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Evidence {
    Nothing,
    Received,
    Truth,
}

pub(crate) const fn evidence(kind: RowKind, note: Option<Note>) -> Evidence {
    match (kind, note) {
        (_, Some(Note::NotSent)) | (RowKind::Spent | RowKind::Avoided, _) => Evidence::Truth,
        (RowKind::Estimated | RowKind::Abandoned, _) => Evidence::Received,
        (RowKind::Unknown, _) => Evidence::Nothing,
    }
}

impl StoredRow {
    /// What was charged beyond what was held: debt.
    #[must_use]
    pub fn overrun(&self) -> MicroUsd {
        match self.row.kind {
            RowKind::Avoided => MicroUsd::ZERO,
            RowKind::Spent | RowKind::Estimated | RowKind::Abandoned | RowKind::Unknown => {
                MicroUsd(self.posting().beyond())
            }
        }
    }
}
