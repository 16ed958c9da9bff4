//! What a change does to the people concerned, whatever tool it is reached by.
//!
//! A person's no is about an effect, not about a tool: so the two are kept apart here, and related by one table.

use serde::{Deserialize, Serialize};

use super::{
    leave::Leave,
    status::{Status, Step, words},
};

words! {
    /// What a change does to one leave. A decline is remembered for a leave and one of these.
    Effect {
        /// A draft is made or edited.
        Arrange = "arrange", "安排假單";
        /// A draft is thrown away.
        Discard = "discard", "捨棄草稿";
        /// A draft is put forward.
        Submit = "submit", "送審";
        /// The deputy agrees.
        Consent = "consent", "代理人同意";
        /// The manager grants it.
        Approve = "approve", "核准";
        /// It is over.
        Conclude = "conclude", "銷假";
        /// The manager turns a request down.
        TurnDown = "turn_down", "駁回申請";
        /// A request stops being one, by its owner.
        TakeBack = "take_back", "撤回申請";
        /// A leave that was granted does not stand any more.
        Revoke = "revoke", "取消已核准的假";
    }
}

words! {
    /// The tools of the leave system.
    Tool {
        /// Finds leaves.
        SearchLeaves = "search_leaves", "查詢假單";
        /// Shows one.
        GetLeave = "get_leave", "檢視假單";
        /// Shows what waits for a manager.
        ListPendingApprovals = "list_pending_approvals", "待審清單";
        /// Shows what is left.
        LeaveBalance = "leave_balance", "假別餘額";
        /// Shows the leave types.
        ListLeaveTypes = "list_leave_types", "假別一覽";
        /// Makes a draft.
        CreateLeave = "create_leave", "新增假單";
        /// Edits a draft.
        UpdateLeave = "update_leave", "修改草稿";
        /// Moves a leave one step.
        UpdateLeaveStatus = "update_leave_status", "更新假單狀態";
        /// Cancels a leave that was granted.
        CancelApprovedLeave = "cancel_approved_leave", "取消已核准假單";
    }
}

impl Tool {
    /// Every effect that this tool can reach, or could be bent to reach: the table that declines are held against.
    #[must_use]
    pub const fn effects(self) -> &'static [Effect] {
        use Effect::{Approve, Arrange, Conclude, Consent, Discard, Revoke, Submit, TakeBack, TurnDown};
        match self {
            Self::SearchLeaves
            | Self::GetLeave
            | Self::ListPendingApprovals
            | Self::LeaveBalance
            | Self::ListLeaveTypes => &[],
            // Another leave over the same days would replace the one that has them.
            Self::CreateLeave => &[Arrange, TakeBack, Revoke],
            // Editing a request takes it back; editing what was granted revokes it.
            Self::UpdateLeave => &[Arrange, TakeBack, Revoke],
            Self::UpdateLeaveStatus => &[Discard, Submit, Consent, Approve, Conclude, TurnDown, TakeBack, Revoke],
            Self::CancelApprovedLeave => &[Discard, TakeBack, Revoke],
        }
    }

    /// Whether it changes nothing.
    #[must_use]
    pub const fn is_read_only(self) -> bool {
        self.effects().is_empty()
    }
}

/// What a step does to a leave that stands there, legal or not.
#[must_use]
pub const fn effect_of_step(from: Status, step: Step) -> Effect {
    match (step, from) {
        (Step::Submit, _) => Effect::Submit,
        (Step::Consent, _) => Effect::Consent,
        (Step::Approve, _) => Effect::Approve,
        (Step::Take, _) => Effect::Conclude,
        (Step::Reject | Step::Withdraw | Step::Cancel, Status::Approved | Status::Taken) => Effect::Revoke,
        (
            Step::Reject,
            Status::Draft | Status::Submitted | Status::Rejected | Status::Withdrawn | Status::Cancelled,
        ) => Effect::TurnDown,
        (Step::Withdraw | Step::Cancel, Status::Draft) => Effect::Discard,
        (
            Step::Withdraw | Step::Cancel,
            Status::Submitted | Status::Rejected | Status::Withdrawn | Status::Cancelled,
        ) => Effect::TakeBack,
    }
}

/// What giving the days of a leave to something else does to it: by editing it, or by another leave over them.
#[must_use]
pub const fn effect_of_replacing(status: Status) -> Effect {
    match status {
        Status::Draft => Effect::Arrange,
        Status::Submitted | Status::Rejected | Status::Withdrawn | Status::Cancelled => Effect::TakeBack,
        Status::Approved | Status::Taken => Effect::Revoke,
    }
}

/// Whether a person is asked first: what was granted is lost, what someone hopes for is refused, or what a deputy has
/// agreed to is called off.
#[must_use]
pub const fn asks_first(effect: Effect, leave: &Leave) -> bool {
    match effect {
        Effect::Revoke | Effect::TurnDown => true,
        Effect::TakeBack => leave.has_consent,
        Effect::Arrange | Effect::Discard | Effect::Submit | Effect::Consent | Effect::Approve | Effect::Conclude => {
            false
        }
    }
}
