//! Where a leave stands, and the single steps between.
//!
//! ```text
//!            submit            approve           take
//!   draft ──────────► submitted ───────► approved ────► taken
//!     │ withdraw       │  │ reject          │ cancel
//!     ▼                │  ▼                 ▼
//!   withdrawn ◄────────┘  rejected        cancelled          (all three, and taken, are final)
//! ```
//!
//! While a leave is submitted its deputy may consent, which changes no status.

use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal, $zh:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$each])* $variant,)+ }

        impl $name {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word for programs, also in English sentences.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The word in Chinese sentences.
            #[must_use]
            pub const fn zh(self) -> &'static str {
                match self { $(Self::$variant => $zh,)+ }
            }

            /// The one that this word names, in either language.
            #[must_use]
            pub fn named(text: &str) -> Option<Self> {
                let text = text.trim();
                Self::ALL.iter().copied().find(|each| each.as_str().eq_ignore_ascii_case(text) || each.zh() == text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Where a leave stands.
    Status {
        /// Only its owner works on it.
        Draft = "draft", "草稿";
        /// Its owner has asked for it.
        Submitted = "submitted", "審核中";
        /// The manager has granted it.
        Approved = "approved", "已核准";
        /// It is over, and was taken.
        Taken = "taken", "已休畢";
        /// The manager has turned it down.
        Rejected = "rejected", "已駁回";
        /// Its owner has taken the request back.
        Withdrawn = "withdrawn", "已撤回";
        /// It had been granted, and does not stand any more.
        Cancelled = "cancelled", "已取消";
    }
}

words! {
    /// A part someone has in one leave.
    Party {
        /// Whose leave it is.
        Applicant = "applicant", "申請人";
        /// Who stands in.
        Deputy = "deputy", "職務代理人";
        /// The applicant's manager.
        Manager = "manager", "主管";
    }
}

words! {
    /// One step. Its word is the status that it is asked for by.
    Step {
        /// draft → submitted.
        Submit = "submitted", "送審";
        /// The deputy agrees; the status stays.
        Consent = "consented", "代理人同意";
        /// submitted → approved.
        Approve = "approved", "核准";
        /// approved → taken.
        Take = "taken", "銷假（已休畢）";
        /// submitted → rejected.
        Reject = "rejected", "駁回";
        /// draft or submitted → withdrawn.
        Withdraw = "withdrawn", "撤回";
        /// approved → cancelled.
        Cancel = "cancelled", "取消";
    }
}

/// One row of the table of legal moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// From here.
    pub from: Status,
    /// By this.
    pub step: Step,
    /// To there.
    pub to: Status,
    /// By any of these.
    pub by: &'static [Party],
}

/// Every legal move. What is not here cannot be done.
pub const MOVES: &[Move] = &[
    Move { from: Status::Draft, step: Step::Submit, to: Status::Submitted, by: &[Party::Applicant] },
    Move { from: Status::Draft, step: Step::Withdraw, to: Status::Withdrawn, by: &[Party::Applicant] },
    Move { from: Status::Submitted, step: Step::Consent, to: Status::Submitted, by: &[Party::Deputy] },
    Move { from: Status::Submitted, step: Step::Approve, to: Status::Approved, by: &[Party::Manager] },
    Move { from: Status::Submitted, step: Step::Reject, to: Status::Rejected, by: &[Party::Manager] },
    Move { from: Status::Submitted, step: Step::Withdraw, to: Status::Withdrawn, by: &[Party::Applicant] },
    Move { from: Status::Approved, step: Step::Take, to: Status::Taken, by: &[Party::Applicant, Party::Manager] },
    Move { from: Status::Approved, step: Step::Cancel, to: Status::Cancelled, by: &[Party::Applicant, Party::Manager] },
];

/// The legal moves from a status.
pub fn moves_from(status: Status) -> impl Iterator<Item = &'static Move> {
    MOVES.iter().filter(move |row| row.from == status)
}
