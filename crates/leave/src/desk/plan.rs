//! What a request leads to, before anything is written: the rules in the order in which they speak. Whether it was done
//! before is looked up by whoever asks for a plan; then shown first, no stays no, one step, ask first.

use bylaw_contract::Timestamp;

use super::{Desk, DeskError, Principal, requests::Patch, write::filled};
use crate::domain::{
    book::Book,
    decide::Wanted,
    effect::{Effect, Tool, asks_first, effect_of_replacing, effect_of_step},
    history::{Happening, HistoryEntry},
    ids::{EmployeeId, LeaveId, OnceKey},
    leave::Leave,
    refusal::Refusal,
    rules::{self, Asked, Confirmation, Decline, Question},
    status::{Status, Step},
    store::{Change, Ticket},
};

/// What is to be done, once parsed.
pub(super) enum Act<'a> {
    /// A new draft.
    Create(Box<Wanted>),
    /// Something with the leave of this id, as the caller wrote it.
    On(&'a str, Deed),
}

impl Act<'_> {
    /// The leave that it is about, where there is one already.
    pub(super) fn leave(&self) -> Option<&str> {
        match self {
            Self::Create(_) => None,
            Self::On(id, _) => Some(id),
        }
    }
}

/// What is to be done with a leave that is there.
pub(super) enum Deed {
    /// Edit it, with this deputy where one is named.
    Edit(Box<Patch>, Option<EmployeeId>),
    /// Move it.
    Step(Step),
    /// Move it where no step leads.
    Illegal(String),
}

/// A write, once parsed.
pub(super) struct Request<'a> {
    pub(super) tool: Tool,
    pub(super) act: Act<'a>,
    pub(super) version: Option<u32>,
    pub(super) reason: String,
    pub(super) once: Option<OnceKey>,
    /// Of the tool and its arguments.
    pub(super) fingerprint: String,
}

/// What is decided, before anything is written.
pub(super) enum Plan {
    /// Ask the person first.
    Ask(Question),
    /// Remember a no; the ticket is used up by it.
    No(Decline, Ticket, HistoryEntry),
    /// Write this; the book is for showing it.
    Write(Box<Change>, Box<Book>),
}

impl Desk {
    pub(super) async fn plan(
        &self,
        who: &Principal,
        request: &Request<'_>,
        confirmation: &Confirmation,
        now: Timestamp,
    ) -> Result<Plan, DeskError> {
        match &request.act {
            Act::Create(wanted) => self.plan_new(who, request, wanted, now).await,
            Act::On(id, deed) => self.plan_on(who, request, (id, deed), confirmation, now).await,
        }
    }

    async fn plan_new(
        &self,
        who: &Principal,
        request: &Request<'_>,
        wanted: &Wanted,
        now: Timestamp,
    ) -> Result<Plan, DeskError> {
        let Some(book) = self.store.book(&who.employee).await? else {
            return Err(Refusal::UnknownEmployee { asked: who.employee.to_string() }.into());
        };
        let leave = self.policy.draft(&book, self.asking(who, now), LeaveId::mint(&*self.random), wanted, None)?;
        let entry = self.entry(who, request, now, Happening::Created, &leave, "draft");
        self.plan_writing(who, leave, book, entry, None).await
    }

    async fn plan_on(
        &self,
        who: &Principal,
        request: &Request<'_>,
        (id, deed): (&str, &Deed),
        confirmation: &Confirmation,
        now: Timestamp,
    ) -> Result<Plan, DeskError> {
        let asking = self.asking(who, now);
        let (leave, book) = self.visible_leave(who, id).await?;
        let shown = self.store.shown(&who.employee, &leave.id).await?;
        rules::shown_first(&leave.id, shown.as_ref(), leave.version, now, &self.policy.terms)?;
        if request.version.is_some_and(|version| version != leave.version) {
            return Err(Refusal::ChangedSince { id: leave.id }.into());
        }
        let effect = match deed {
            Deed::Edit(..) | Deed::Illegal(_) => effect_of_replacing(leave.status),
            Deed::Step(step) => effect_of_step(leave.status, *step),
        };
        rules::no_stays_no(&book.declines, &leave.id, effect)?;
        let (after, what, detail) = match deed {
            Deed::Edit(..) if leave.status != Status::Draft => {
                return Err(Refusal::NotADraft { id: leave.id, status: leave.status }.into());
            }
            Deed::Edit(patch, deputy) => {
                let wanted = patched(&leave, patch, deputy.as_ref());
                let after = self.policy.draft(&book, asking, leave.id.clone(), &wanted, Some(&leave))?;
                (after, Happening::Edited, "draft")
            }
            Deed::Illegal(wanted) => {
                return Err(Refusal::IllegalMove {
                    legal: book.legal(&leave),
                    id: leave.id,
                    from: leave.status,
                    wanted: wanted.clone(),
                }
                .into());
            }
            // Cancelling needs a reason, which this tool does not take.
            Deed::Step(Step::Cancel) if leave.status == Status::Approved && request.tool == Tool::UpdateLeaveStatus => {
                return Err(Refusal::OtherTool { tool: Tool::CancelApprovedLeave }.into());
            }
            Deed::Step(step) => (self.policy.step(&book, asking, &leave, *step)?, Happening::Moved, step.as_str()),
        };
        let mut ticket = None;
        if asks_first(effect, &leave) {
            let with = (request.reason.as_str(), request.fingerprint.as_str());
            let question = self.policy.question(&book, asking, &leave, (request.tool, effect), with);
            match rules::ask_first(&question.binding, &leave.id, confirmation, now)? {
                Asked::Ask => return Ok(Plan::Ask(question)),
                Asked::Go { ticket: text, expires } => ticket = Some(Ticket { text, expires }),
                Asked::No { ticket: text, expires } => {
                    return Ok(self.no(who, request, now, &leave, effect, Ticket { text, expires }));
                }
            }
        }
        let entry = self.entry(who, request, now, what, &after, detail);
        self.plan_writing(who, after, book, entry, ticket).await
    }

    async fn plan_writing(
        &self,
        who: &Principal,
        leave: Leave,
        book: Book,
        entry: HistoryEntry,
        ticket: Option<Ticket>,
    ) -> Result<Plan, DeskError> {
        let change = Change { by: who.employee.clone(), leave, revision: book.revision, entry, ticket, once: None };
        let book = self.named(book, &change.leave).await?;
        Ok(Plan::Write(Box::new(change), Box::new(book)))
    }

    fn no(
        &self,
        who: &Principal,
        request: &Request<'_>,
        now: Timestamp,
        leave: &Leave,
        effect: Effect,
        ticket: Ticket,
    ) -> Plan {
        let entry = self.entry(who, request, now, Happening::Declined, leave, effect.as_str());
        let decline =
            Decline { leave: leave.id.clone(), effect, by: who.employee.clone(), at: now, tool: request.tool };
        Plan::No(decline, ticket, entry)
    }

    /// A book whose people are complete: a write may name a new deputy.
    async fn named(&self, mut book: Book, leave: &Leave) -> Result<Book, DeskError> {
        if let Some(deputy) = &leave.deputy
            && book.name_of(deputy) == deputy.as_str()
            && let Some(person) = self.store.employee(deputy).await?
        {
            book.people.push(person);
        }
        Ok(book)
    }

    fn entry(
        &self,
        who: &Principal,
        request: &Request<'_>,
        at: Timestamp,
        what: Happening,
        leave: &Leave,
        detail: &str,
    ) -> HistoryEntry {
        HistoryEntry {
            leave: Some(leave.id.clone()),
            at,
            actor: Some(who.employee.clone()),
            client: who.client.clone(),
            tool: request.tool.to_string(),
            what,
            version: leave.version,
            detail: detail.to_owned(),
            reason: request.reason.clone(),
        }
    }
}

/// A draft with what a patch replaces.
fn patched(leave: &Leave, patch: &Patch, deputy: Option<&EmployeeId>) -> Wanted {
    let before = Wanted::from_leave(leave);
    let or = |new: &Option<String>, old: String| new.clone().unwrap_or(old);
    // An event belongs to its type: another type does not inherit it.
    let event = if patch.kind.is_none() { (before.event_date, before.event_case) } else { (None, None) };
    Wanted {
        kind: or(&patch.kind, before.kind),
        start: or(&patch.start, before.start),
        end: or(&patch.end, before.end),
        title: or(&patch.title, before.title),
        reason: or(&patch.reason, before.reason),
        deputy: deputy.cloned().or(before.deputy),
        event_date: filled(patch.event_date.as_deref()).or(event.0),
        event_case: filled(patch.event_case.as_deref()).or(event.1),
    }
}
