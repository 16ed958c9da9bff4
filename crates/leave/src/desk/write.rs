//! The operations that change something: from what was asked for to a request that can be decided.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    Desk, DeskError, Principal,
    plan::{Act, Deed, Request},
    requests::{Cancel, Create, Reply, SetStatus, Update},
    view::LeaveView,
};
use crate::domain::{
    decide::Wanted,
    effect::Tool,
    history::{Happening, HistoryEntry},
    ids::{EmployeeId, LeaveId, OnceKey},
    leave::MAX_REASON_CHARS,
    refusal::{Refusal, shortened},
    rules::{Confirmation, Decline},
    status::{Status, Step},
};

fn fingerprint(tool: Tool, arguments: &impl Serialize) -> String {
    let text = serde_json::to_string(arguments).unwrap_or_default();
    let digest = Sha256::new().chain_update(tool.as_str()).chain_update([0]).chain_update(text).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn once_key(text: Option<&str>) -> Result<Option<OnceKey>, Refusal> {
    let key = text.map(OnceKey::new).transpose();
    key.map_err(|invalid| Refusal::BadArgument { field: "idempotency_key", rule: invalid.rule })
}

impl Desk {
    /// Makes a draft of the principal's own.
    ///
    /// # Errors
    /// If the rules say no, or the store fails.
    pub async fn create(&self, who: &Principal, create: &Create) -> Result<LeaveView, DeskError> {
        let request = async {
            let deputy = self.person(create.deputy.as_deref()).await?;
            let wanted = Wanted {
                kind: create.kind.clone(),
                start: create.start.clone(),
                end: create.end.clone(),
                title: create.title.clone(),
                reason: create.reason.clone(),
                deputy,
                event_date: filled(create.event_date.as_deref()),
                event_case: filled(create.event_case.as_deref()),
            };
            Ok(Request {
                tool: Tool::CreateLeave,
                act: Act::Create(Box::new(wanted)),
                version: None,
                reason: create.reason.clone(),
                once: once_key(create.once.as_deref())?,
                fingerprint: fingerprint(Tool::CreateLeave, create),
            })
        };
        let request = self.or_record(who, Tool::CreateLeave, None, request.await).await?;
        done(self.write(who, &request, &Confirmation::NotAsked).await?)
    }

    /// Edits a draft of the principal's own.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn update(&self, who: &Principal, update: &Update) -> Result<LeaveView, DeskError> {
        let request = async {
            let deputy = self.person(update.patch.deputy.as_deref()).await?;
            Ok(Request {
                tool: Tool::UpdateLeave,
                act: Act::On(&update.leave_id, Deed::Edit(Box::new(update.patch.clone()), deputy)),
                version: update.version,
                reason: update.patch.reason.clone().unwrap_or_default(),
                once: once_key(update.once.as_deref())?,
                fingerprint: fingerprint(Tool::UpdateLeave, update),
            })
        };
        let request = self.or_record(who, Tool::UpdateLeave, Some(&update.leave_id), request.await).await?;
        done(self.write(who, &request, &Confirmation::NotAsked).await?)
    }

    /// Moves a leave one step.
    ///
    /// # Errors
    /// As [`Self::create`]; also if a person must be asked and was not, or did not accept.
    pub async fn set_status(
        &self,
        who: &Principal,
        set: &SetStatus,
        confirmation: &Confirmation,
    ) -> Result<Reply, DeskError> {
        let request = async {
            let named = Step::named(&set.status).or_else(|| Step::named(Status::named(&set.status)?.as_str()));
            let deed = match (named, Status::named(&set.status)) {
                (Some(step), _) => Deed::Step(step),
                (None, Some(status)) => Deed::Illegal(status.to_string()),
                (None, None) => return Err(Refusal::UnknownStatus { asked: shortened(&set.status) }.into()),
            };
            Ok(Request {
                tool: Tool::UpdateLeaveStatus,
                act: Act::On(&set.leave_id, deed),
                version: set.version,
                reason: String::new(),
                once: once_key(set.once.as_deref())?,
                fingerprint: fingerprint(Tool::UpdateLeaveStatus, set),
            })
        };
        let request = self.or_record(who, Tool::UpdateLeaveStatus, Some(&set.leave_id), request.await).await?;
        self.write(who, &request, confirmation).await
    }

    /// Cancels a leave that was granted. A person is always asked.
    ///
    /// # Errors
    /// As [`Self::set_status`].
    pub async fn cancel(
        &self,
        who: &Principal,
        cancel: &Cancel,
        confirmation: &Confirmation,
    ) -> Result<Reply, DeskError> {
        let request = async {
            let reason = cancel.reason.trim();
            let chars = reason.chars().count();
            if !(1..=MAX_REASON_CHARS).contains(&chars) || reason.chars().any(|c| c.is_control() && c != '\n') {
                return Err(Refusal::BadText { field: "reason", chars, most: MAX_REASON_CHARS }.into());
            }
            Ok(Request {
                tool: Tool::CancelApprovedLeave,
                act: Act::On(&cancel.leave_id, Deed::Step(Step::Cancel)),
                version: cancel.version,
                reason: reason.to_owned(),
                once: once_key(cancel.once.as_deref())?,
                fingerprint: fingerprint(Tool::CancelApprovedLeave, cancel),
            })
        };
        let request = self.or_record(who, Tool::CancelApprovedLeave, Some(&cancel.leave_id), request.await).await?;
        self.write(who, &request, confirmation).await
    }

    /// Takes back every no about a leave. For the person at the machine: no tool reaches this.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn reopen(&self, leave: &LeaveId, reason: &str) -> Result<Vec<Decline>, DeskError> {
        let entry = HistoryEntry {
            leave: Some(leave.clone()),
            at: self.clock.now(),
            actor: None,
            client: "bylaw leave".to_owned(),
            tool: "reopen".to_owned(),
            what: Happening::Reopened,
            version: self.store.leave(leave).await?.map_or(0, |leave| leave.version),
            detail: String::new(),
            reason: reason.to_owned(),
        };
        Ok(self.store.reopen(leave, &entry).await?)
    }

    /// An employee by id or full name.
    async fn person(&self, asked: Option<&str>) -> Result<Option<EmployeeId>, DeskError> {
        let Some(asked) = asked.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
        if let Ok(id) = EmployeeId::new(asked)
            && let Some(person) = self.store.employee(&id).await?
        {
            return Ok(Some(person.id));
        }
        let everyone = self.store.employees().await?;
        let mut named = everyone.into_iter().filter(|person| person.name == asked);
        match (named.next(), named.next()) {
            (Some(person), None) => Ok(Some(person.id)),
            (None | Some(_), _) => Err(Refusal::UnknownEmployee { asked: shortened(asked) }.into()),
        }
    }
}

fn done(reply: Reply) -> Result<LeaveView, DeskError> {
    match reply {
        Reply::Done(view) => Ok(*view),
        // Drafts concern nobody else: nothing about them is ever asked.
        Reply::Ask(question) => Err(Refusal::CannotAsk { id: question.leave }.into()),
    }
}

pub(super) fn filled(text: Option<&str>) -> Option<String> {
    text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}
