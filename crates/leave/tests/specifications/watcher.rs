//! A watcher of random calls, who believes nothing that the desk says of itself and looks at the books instead.

use std::collections::BTreeMap;

use bylaw_contract::Timestamp;
use bylaw_leave::{
    desk::LeaveView,
    domain::{
        book::Book,
        decide::Policy,
        effect::{Effect, effect_of_replacing, effect_of_step},
        ids::{EmployeeId, LeaveId},
        leave::Leave,
        refusal::Refusal,
        status::{MOVES, Move, Party, Status, Step},
        store::LeaveStore,
    },
};

use crate::company::{Office, id};

const PEOPLE: [&str; 4] = ["ann", "boss", "dan", "eve"];

/// What the watcher has seen with their own eyes.
#[derive(Default)]
pub(crate) struct Watcher {
    pub(crate) leaves: BTreeMap<LeaveId, Leave>,
    /// Who was shown which version, and when.
    shown: BTreeMap<(EmployeeId, LeaveId), (u32, i64)>,
    pub(crate) declined: Vec<(LeaveId, Effect)>,
    pub(crate) used_tickets: Vec<String>,
    pub(crate) count: Count,
}

/// How far the walks got: one that gets nowhere proves nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) changes: u32,
    pub(crate) questions: u32,
    pub(crate) yeses: usize,
    pub(crate) declines: u32,
    pub(crate) said_no: u32,
    pub(crate) retries: u32,
    pub(crate) stale: u32,
}

/// One call that may have written something.
pub(crate) struct Call<'a> {
    pub(crate) who: &'a str,
    /// With a person's yes to this ticket.
    pub(crate) accepted: Option<String>,
    /// For this version.
    pub(crate) version: Option<u32>,
}

impl Watcher {
    pub(crate) fn saw(&mut self, who: &str, views: &[LeaveView], now: Timestamp) {
        for view in views {
            self.shown.insert((id(who), view.leave_id.clone()), (view.version, now.0));
        }
    }

    /// Compares what is on the books with what was, and judges each difference.
    pub(crate) async fn look(
        &mut self,
        office: &Office,
        policy: &Policy,
        call: &Call<'_>,
        now: Timestamp,
        trail: &str,
    ) {
        let mut books = Vec::new();
        for person in PEOPLE {
            books.push(office.store.book(&id(person)).await.unwrap().unwrap());
        }
        let mut made = 0;
        for book in &books {
            let mut has_changed = false;
            for leave in &book.leaves {
                has_changed |= self.leaves.get(&leave.id) != Some(leave);
                match self.leaves.get(&leave.id).cloned() {
                    Some(before) if before == *leave => {}
                    Some(before) => self.judge(&before, leave, book, call, now, policy, trail),
                    None => {
                        assert_eq!((leave.status, leave.version), (Status::Draft, 1), "{trail}");
                        assert_eq!(leave.applicant.as_str(), call.who, "{trail}: made for another");
                        self.count.changes += 1;
                        made += 1;
                    }
                }
                self.leaves.insert(leave.id.clone(), leave.clone());
            }
            if !has_changed {
                continue;
            }
            let counted: Vec<&Leave> = book.leaves.iter().filter(|leave| leave.is_counted()).collect();
            for (index, leave) in counted.iter().enumerate() {
                assert!(counted[index + 1..].iter().all(|other| !other.span.overlaps(leave.span)), "{trail}: overlap");
                assert_eq!(book.account(policy).shortfall(leave), None, "{trail}: {} is more than there is", leave.id);
            }
        }
        assert!(made <= 1, "{trail}: made twice");
    }

    /// Nobody is told to free days that a person said no to freeing.
    pub(crate) fn heard(&self, refusal: &Refusal, trail: &str) {
        if let Refusal::Overlaps { with, status, .. } = refusal {
            assert!(
                !self.declined.contains(&(with.clone(), effect_of_replacing(*status))),
                "{trail}: {with} was declined"
            );
        }
    }

    #[expect(clippy::too_many_arguments, reason = "everything there is to know about one difference")]
    fn judge(
        &mut self,
        before: &Leave,
        after: &Leave,
        book: &Book,
        call: &Call<'_>,
        now: Timestamp,
        policy: &Policy,
        trail: &str,
    ) {
        self.count.changes += 1;
        assert!(call.version.is_none_or(|version| version == before.version), "{trail}: a stale version");
        assert_eq!(after.version, before.version + 1, "{trail}: more than one step");
        let (version, at) = self.shown.get(&(id(call.who), after.id.clone())).copied().unwrap_or_default();
        assert_eq!(version, before.version, "{trail}: not shown to {}", call.who);
        assert!(now.0 - at <= 30 * 60 * 1_000, "{trail}: shown too long ago");
        if before.status == Status::Draft && after.status == Status::Draft {
            assert_eq!(after.applicant.as_str(), call.who, "{trail}: edited by another");
            return;
        }
        let consented = after.has_consent && !before.has_consent;
        let step = |row: &&Move| {
            row.from == before.status && row.to == after.status && (row.step == Step::Consent) == consented
        };
        let row = MOVES.iter().find(step).unwrap_or_else(|| panic!("{trail}: {before:?} became {after:?}"));
        let who = id(call.who);
        let has_part = row.by.iter().any(|party| match party {
            Party::Applicant => after.applicant == who,
            Party::Deputy => after.deputy.as_ref() == Some(&who),
            Party::Manager => book.applicant.manager.as_ref() == Some(&who),
        });
        assert!(has_part, "{trail}: {} is not for {}", row.step, call.who);
        assert_eq!((&after.days, after.span, &after.kind), (&before.days, before.span, &before.kind), "{trail}");
        if row.step == Step::Approve && policy.needs_deputy(after) {
            assert!(before.has_consent, "{trail}: approved without the deputy");
        }
        let effect = effect_of_step(before.status, row.step);
        assert!(!self.declined.contains(&(after.id.clone(), effect)), "{trail}: {effect} was declined");
        let must_ask = match effect {
            Effect::Revoke | Effect::TurnDown => true,
            Effect::TakeBack => before.has_consent,
            _ => false,
        };
        if must_ask {
            let ticket = call.accepted.clone().unwrap_or_else(|| panic!("{trail}: {effect} without a yes"));
            assert!(!self.used_tickets.contains(&ticket), "{trail}: a yes was used twice");
            self.used_tickets.push(ticket);
        }
    }
}
