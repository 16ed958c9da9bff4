//! Changing things, with the five rules in the order in which they speak: once, shown first, no stays no, one step, ask
//! first.

use bylaw_contract::Timestamp;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    Desk, DeskError, Principal,
    read::canonical,
    view::{self, LeaveView},
};
use crate::domain::{
    decide::{Book, Wanted},
    effect::{Effect, Tool, asks_first, effect_of_replacing, effect_of_step},
    history::{Happening, HistoryEntry},
    ids::{EmployeeId, LeaveId, OnceKey},
    leave::{Leave, MAX_REASON_CHARS},
    refusal::{Refusal, shortened},
    rules::{self, Asked, Confirmation, Decline, OnceRecord, Question},
    status::{Status, Step},
    store::{Applied, Change, Ticket},
};

/// How often a write is decided anew because others wrote to the same book meanwhile.
const ATTEMPTS: u32 = 8;

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

/// What is to be done, once parsed.
enum Act {
    Create(Box<Wanted>),
    Update(Box<Patch>, Option<EmployeeId>),
    Step(Step),
    Illegal(String),
}

struct Request<'a> {
    tool: Tool,
    leave: Option<&'a str>,
    act: Act,
    version: Option<u32>,
    reason: String,
    once: Option<OnceKey>,
    /// Of the tool and its arguments.
    fingerprint: String,
}

/// What is decided, before anything is written.
enum Plan {
    Ask(Question),
    No(Decline, Ticket, HistoryEntry),
    Write(Box<Change>, Box<Book>),
}

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
                leave: None,
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
                leave: Some(&update.leave_id),
                act: Act::Update(Box::new(update.patch.clone()), deputy),
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
            let act = match (named, Status::named(&set.status)) {
                (Some(step), _) => Act::Step(step),
                (None, Some(status)) => Act::Illegal(status.to_string()),
                (None, None) => return Err(Refusal::UnknownStatus { asked: shortened(&set.status) }.into()),
            };
            Ok(Request {
                tool: Tool::UpdateLeaveStatus,
                leave: Some(&set.leave_id),
                act,
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
                leave: Some(&cancel.leave_id),
                act: Act::Step(Step::Cancel),
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

    async fn write(
        &self,
        who: &Principal,
        request: &Request<'_>,
        confirmation: &Confirmation,
    ) -> Result<Reply, DeskError> {
        let written = self.attempt(who, request, confirmation).await;
        self.or_record(who, request.tool, request.leave, written).await
    }

    async fn attempt(
        &self,
        who: &Principal,
        request: &Request<'_>,
        confirmation: &Confirmation,
    ) -> Result<Reply, DeskError> {
        for _ in 0..ATTEMPTS {
            let now = self.clock.now();
            let terms = &self.policy.terms;
            if let Some(key) = &request.once {
                let found = self.store.once(&who.employee, key).await?;
                if let Some(reply) = rules::once(found.as_ref(), &request.fingerprint, now, terms)? {
                    return replayed(&reply);
                }
            }
            let (change, book) = match self.plan(who, request, confirmation, now).await? {
                Plan::Ask(question) => return Ok(Reply::Ask(question)),
                Plan::No(decline, ticket, entry) => {
                    let (id, effect) = (decline.leave.clone(), decline.effect);
                    return Err(match self.store.decline(&decline, &ticket, &entry).await? {
                        true => Refusal::Declined { id, effect },
                        false => Refusal::AnswerUsed { id },
                    }
                    .into());
                }
                Plan::Write(change, book) => (change, book),
            };
            let view = view::leave(&self.policy, &book, &change.leave, self.today(now), who.language);
            let mut change = *change;
            change.once = request.once.clone().map(|key| OnceRecord {
                key,
                fingerprint: request.fingerprint.clone(),
                reply: serde_json::to_string(&view).unwrap_or_default(),
                at: now,
            });
            let forget = i64::try_from(terms.once_for.as_millis()).unwrap_or(i64::MAX);
            match self.store.apply(&change, Timestamp(now.0.saturating_sub(forget))).await? {
                Applied::Done => return Ok(Reply::Done(Box::new(view))),
                Applied::Stale | Applied::IdTaken => {}
                Applied::TicketUsed => return Err(Refusal::AnswerUsed { id: change.leave.id }.into()),
                Applied::Before(record) => {
                    if let Some(reply) = rules::once(Some(&record), &request.fingerprint, now, terms)? {
                        return replayed(&reply);
                    }
                }
            }
        }
        Err(Refusal::Busy.into())
    }

    async fn plan(
        &self,
        who: &Principal,
        request: &Request<'_>,
        confirmation: &Confirmation,
        now: Timestamp,
    ) -> Result<Plan, DeskError> {
        let asking = self.asking(who, now);
        let Some(id) = request.leave else {
            let Some(book) = self.store.book(&who.employee).await? else {
                return Err(Refusal::UnknownEmployee { asked: who.employee.to_string() }.into());
            };
            let Act::Create(wanted) = &request.act else {
                return Err(Refusal::UnknownLeave { asked: String::new() }.into());
            };
            let leave = self.policy.draft(&book, asking, LeaveId::mint(&*self.random), wanted, None)?;
            let entry = self.entry(who, request, now, Happening::Created, &leave, "draft");
            let change = self.change(who, leave, &book, entry);
            let book = self.named(book, &change.leave).await?;
            return Ok(Plan::Write(Box::new(change), Box::new(book)));
        };
        let (leave, book) = self.visible_leave(who, id).await?;
        let shown = self.store.shown(&who.employee, &leave.id).await?;
        rules::shown_first(&leave.id, shown.as_ref(), leave.version, now, &self.policy.terms)?;
        if request.version.is_some_and(|version| version != leave.version) {
            return Err(Refusal::ChangedSince { id: leave.id }.into());
        }
        let effect = match &request.act {
            Act::Create(_) | Act::Update(..) | Act::Illegal(_) => effect_of_replacing(leave.status),
            Act::Step(step) => effect_of_step(leave.status, *step),
        };
        rules::no_stays_no(&book.declines, &leave.id, effect)?;
        let (after, what, detail) = match &request.act {
            Act::Create(_) | Act::Update(..) if leave.status != Status::Draft => {
                return Err(Refusal::NotADraft { id: leave.id, status: leave.status }.into());
            }
            Act::Create(wanted) => {
                (self.policy.draft(&book, asking, leave.id.clone(), wanted, Some(&leave))?, Happening::Edited, "draft")
            }
            Act::Update(patch, deputy) => {
                let wanted = patched(&leave, patch, deputy.as_ref());
                let after = self.policy.draft(&book, asking, leave.id.clone(), &wanted, Some(&leave))?;
                (after, Happening::Edited, "draft")
            }
            Act::Illegal(wanted) => {
                return Err(Refusal::IllegalMove {
                    legal: book.legal(&leave),
                    id: leave.id,
                    from: leave.status,
                    wanted: wanted.clone(),
                }
                .into());
            }
            // Cancelling needs a reason, which this tool does not take.
            Act::Step(Step::Cancel) if leave.status == Status::Approved && request.tool == Tool::UpdateLeaveStatus => {
                return Err(Refusal::OtherTool { tool: Tool::CancelApprovedLeave }.into());
            }
            Act::Step(step) => (self.policy.step(&book, asking, &leave, *step)?, Happening::Moved, step.as_str()),
        };
        let entry = self.entry(who, request, now, what, &after, detail);
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
        let mut change = self.change(who, after, &book, entry);
        change.ticket = ticket;
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

    fn change(&self, who: &Principal, leave: Leave, book: &Book, entry: HistoryEntry) -> Change {
        Change { by: who.employee.clone(), leave, revision: book.revision, entry, ticket: None, once: None }
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

    /// Puts a refusal on the record before it is told.
    async fn or_record<T>(
        &self,
        who: &Principal,
        tool: Tool,
        leave: Option<&str>,
        result: Result<T, DeskError>,
    ) -> Result<T, DeskError> {
        if let Err(DeskError::Refused(refusal)) = &result
            && !matches!(refusal, Refusal::Declined { .. })
        {
            let entry = HistoryEntry {
                leave: leave.and_then(|id| LeaveId::new(canonical(id)).ok()),
                at: self.clock.now(),
                actor: Some(who.employee.clone()),
                client: who.client.clone(),
                tool: tool.to_string(),
                what: Happening::Refused,
                version: 0,
                detail: refusal.code().to_owned(),
                reason: refusal.sentence(who.language),
            };
            self.store.record(&entry).await?;
        }
        result
    }
}

fn replayed(reply: &str) -> Result<Reply, DeskError> {
    let view = serde_json::from_str(reply);
    // Kept by a version of the program that showed leaves otherwise: it was done, and looking it up tells the rest.
    view.map(|view| Reply::Done(Box::new(view))).map_err(|_other_version| Refusal::Busy.into())
}

fn done(reply: Reply) -> Result<LeaveView, DeskError> {
    match reply {
        Reply::Done(view) => Ok(*view),
        // Drafts concern nobody else: nothing about them is ever asked.
        Reply::Ask(question) => Err(Refusal::CannotAsk { id: question.leave }.into()),
    }
}

fn filled(text: Option<&str>) -> Option<String> {
    text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
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
