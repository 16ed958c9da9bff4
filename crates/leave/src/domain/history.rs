//! Who changed what, through which client, and why something was refused. Only ever added to.

use bylaw_contract::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    ids::{EmployeeId, LeaveId},
    status::words,
};

words! {
    /// What happened.
    Happening {
        /// A draft was made.
        Created = "created", "新增";
        /// A draft was edited.
        Edited = "edited", "修改";
        /// It moved one step.
        Moved = "moved", "推進";
        /// Something was refused.
        Refused = "refused", "拒絕執行";
        /// A person said no.
        Declined = "declined", "本人拒絕";
        /// The person's no was taken back, at the machine.
        Reopened = "reopened", "重新開放";
    }
}

/// One entry of the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HistoryEntry {
    /// Of which leave; none where it was about one that does not exist.
    pub leave: Option<LeaveId>,
    /// When.
    pub at: Timestamp,
    /// Who; none for the operator at the machine.
    pub actor: Option<EmployeeId>,
    /// Through which client: what it calls itself, and how it came in.
    pub client: String,
    /// By which tool or command.
    pub tool: String,
    /// What.
    pub what: Happening,
    /// The leave's version afterwards, 0 where there is none.
    pub version: u32,
    /// The step, the code of a refusal, or what was declined.
    pub detail: String,
    /// The reason that was given, or the sentence of a refusal.
    pub reason: String,
}
