//! The arguments of tools, by the names that models use.

use serde::Deserialize;

use crate::desk::{Cancel, Create, Patch, Search, SetStatus, Update};

#[derive(Deserialize)]
pub(super) struct SearchLeaves {
    #[serde(default)]
    keyword: String,
    status: Option<String>,
    from: Option<String>,
    to: Option<String>,
}

impl From<SearchLeaves> for Search {
    fn from(arguments: SearchLeaves) -> Self {
        let SearchLeaves { keyword, status, from, to } = arguments;
        Self { keyword, status, from: filled(from), to: filled(to) }
    }
}

#[derive(Deserialize)]
pub(super) struct GetLeave {
    pub(super) leave_id: String,
}

#[derive(Deserialize)]
pub(super) struct Balance {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) on: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct CreateLeave {
    #[serde(rename = "type")]
    kind: String,
    title: String,
    start: String,
    end: String,
    #[serde(default)]
    reason: String,
    deputy: Option<String>,
    event_date: Option<String>,
    event_case: Option<String>,
    idempotency_key: Option<String>,
}

impl From<CreateLeave> for Create {
    fn from(arguments: CreateLeave) -> Self {
        let CreateLeave { kind, title, start, end, reason, deputy, event_date, event_case, idempotency_key } =
            arguments;
        Self { kind, start, end, title, reason, deputy, event_date, event_case, once: idempotency_key }
    }
}

#[derive(Deserialize)]
pub(super) struct UpdateLeave {
    leave_id: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    title: Option<String>,
    start: Option<String>,
    end: Option<String>,
    reason: Option<String>,
    deputy: Option<String>,
    event_date: Option<String>,
    event_case: Option<String>,
    version: Option<u32>,
    idempotency_key: Option<String>,
}

impl From<UpdateLeave> for Update {
    fn from(arguments: UpdateLeave) -> Self {
        let UpdateLeave {
            leave_id,
            kind,
            title,
            start,
            end,
            reason,
            deputy,
            event_date,
            event_case,
            version,
            idempotency_key,
        } = arguments;
        let patch = Patch { kind, start, end, title, reason, deputy, event_date, event_case };
        Self { leave_id, patch, version, once: idempotency_key }
    }
}

#[derive(Deserialize)]
pub(super) struct UpdateLeaveStatus {
    leave_id: String,
    status: String,
    version: Option<u32>,
    idempotency_key: Option<String>,
}

impl From<UpdateLeaveStatus> for SetStatus {
    fn from(arguments: UpdateLeaveStatus) -> Self {
        let UpdateLeaveStatus { leave_id, status, version, idempotency_key } = arguments;
        Self { leave_id, status, version, once: idempotency_key }
    }
}

#[derive(Deserialize)]
pub(super) struct CancelApprovedLeave {
    leave_id: String,
    reason: String,
    version: Option<u32>,
    idempotency_key: Option<String>,
}

impl From<CancelApprovedLeave> for Cancel {
    fn from(arguments: CancelApprovedLeave) -> Self {
        let CancelApprovedLeave { leave_id, reason, version, idempotency_key } = arguments;
        Self { leave_id, reason, version, once: idempotency_key }
    }
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}
