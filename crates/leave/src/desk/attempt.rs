//! From a request to what came of it: decided, written, and decided anew where somebody else wrote first.

use bylaw_contract::Timestamp;

use super::{
    Desk, DeskError, Principal,
    plan::{Plan, Request},
    read::canonical,
    requests::Reply,
    view,
};
use crate::domain::{
    effect::Tool,
    history::{Happening, HistoryEntry},
    ids::LeaveId,
    refusal::Refusal,
    rules::{self, Confirmation, OnceRecord},
    store::Applied,
};

/// How often a write is decided anew because others wrote to the same book meanwhile.
const ATTEMPTS: u32 = 8;
impl Desk {
    pub(super) async fn write(
        &self,
        who: &Principal,
        request: &Request<'_>,
        confirmation: &Confirmation,
    ) -> Result<Reply, DeskError> {
        let written = self.attempt(who, request, confirmation).await;
        self.or_record(who, request.tool, request.act.leave(), written).await
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

    /// Puts a refusal on the record before it is told.
    pub(super) async fn or_record<T>(
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
