//! Ten thousand calls at random, by four people and with every kind of answer, and a watcher who believes nothing that the
//! desk says of itself.

use std::{collections::BTreeMap, time::Duration};

use bylaw_contract::Timestamp;
use bylaw_leave::{
    desk::{Patch, Reply, Search, Update},
    domain::{
        decide::Policy,
        effect::{Effect, effect_of_step},
        ids::{EmployeeId, LeaveId},
        leave::Leave,
        refusal::Refusal,
        rules::{Answer, Confirmation},
        status::{MOVES, Move, Party, Status, Step},
        store::LeaveStore,
    },
};

use crate::company::{NOW, Office, id, policy, principal};

const WALKS: u64 = 20;
const CALLS: u32 = 500;
const PEOPLE: [&str; 4] = ["ann", "boss", "dan", "eve"];

/// Numbers that are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides).unwrap()).unwrap()
    }

    fn of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())]
    }
}

/// What the watcher has seen with their own eyes.
#[derive(Default)]
struct Watcher {
    leaves: BTreeMap<LeaveId, Leave>,
    /// Who was shown which version, and when.
    shown: BTreeMap<(EmployeeId, LeaveId), (u32, i64)>,
    declined: Vec<(LeaveId, Effect)>,
    used_tickets: Vec<String>,
    changes: u32,
    asked: u32,
}

/// One call that may have written something.
struct Call<'a> {
    who: &'a str,
    /// With a person's yes to this ticket.
    accepted: Option<String>,
}

impl Watcher {
    fn saw(&mut self, who: &str, views: &[bylaw_leave::desk::LeaveView], now: Timestamp) {
        for view in views {
            self.shown.insert((id(who), view.leave_id.clone()), (view.version, now.0));
        }
    }

    /// Compares what is on the books with what was, and judges each difference.
    async fn look(&mut self, office: &Office, policy: &Policy, call: &Call<'_>, now: Timestamp, trail: &str) {
        let mut books = Vec::new();
        for person in PEOPLE {
            books.push(office.store.book(&id(person)).await.unwrap().unwrap());
        }
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
                        self.changes += 1;
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
    }

    #[expect(clippy::too_many_arguments, reason = "everything there is to know about one difference")]
    fn judge(
        &mut self,
        before: &Leave,
        after: &Leave,
        book: &bylaw_leave::domain::book::Book,
        call: &Call<'_>,
        now: Timestamp,
        policy: &Policy,
        trail: &str,
    ) {
        self.changes += 1;
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

/// Days in March and April, so that leaves meet.
fn a_day(dice: &mut Dice) -> String {
    format!("2026-{:02}-{:02}", 3 + dice.roll(2), 1 + dice.roll(28))
}

fn a_leave(dice: &mut Dice, watcher: &Watcher) -> String {
    // Mostly one with which something can still be done.
    let any = dice.roll(10) == 0;
    let open = |leave: &&Leave| any || MOVES.iter().any(|row| row.from == leave.status);
    let known: Vec<&LeaveId> = watcher.leaves.values().filter(open).map(|leave| &leave.id).collect();
    if known.is_empty() || dice.roll(40) == 0 { "LV-ffffff".to_owned() } else { dice.of(&known).to_string() }
}

/// Whom the next step of a leave is for, and which it is: without help a walk would hardly get anywhere.
fn a_good_step(dice: &mut Dice, leave: &Leave) -> Option<(&'static str, Step)> {
    let rows: Vec<&Move> = MOVES.iter().filter(|row| row.from == leave.status).collect();
    let row = if rows.is_empty() { return None } else { dice.of(&rows) };
    let applicant = PEOPLE.iter().find(|person| **person == leave.applicant.as_str())?;
    let who = match dice.of(row.by) {
        Party::Applicant => applicant,
        Party::Deputy => {
            if *applicant == "ann" {
                "dan"
            } else {
                "ann"
            }
        }
        Party::Manager => "boss",
    };
    Some((who, row.step))
}

async fn walk(seed: u64) -> (u32, u32, usize) {
    let office = Office::open().await;
    let policy = policy();
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut watcher = Watcher::default();
    let mut yeses: Vec<Confirmation> = Vec::new();
    let mut trail: std::collections::VecDeque<String> = std::collections::VecDeque::new();
    for number in 0..CALLS {
        let mut who = dice.of(&["ann", "ann", "dan", "boss", "eve"]);
        let now = bylaw_contract::Clock::now(&*office.clock);
        let leave = a_leave(&mut dice, &watcher);
        let kind = dice.roll(16);
        let known = leave.parse().ok().and_then(|id: LeaveId| watcher.leaves.get(&id).cloned());
        let good = known.filter(|_| kind >= 8 && dice.roll(3) > 0);
        let good = good.and_then(|leave| a_good_step(&mut dice, &leave));
        if let Some((party, _)) = good {
            who = party;
            // A step that is for them, on what they have mostly seen.
            if dice.roll(5) > 0
                && let Ok(view) = office.look(who, &leave).await
            {
                watcher.saw(who, std::slice::from_ref(&view), now);
            }
        }
        let mut call = Call { who, accepted: None };
        let said = match kind {
            0 | 1 => {
                let kind = dice.of(&["annual", "sick", "personal", "compensatory", "official"]);
                let start = a_day(&mut dice);
                let end = if dice.roll(2) == 0 { start.clone() } else { a_day(&mut dice) };
                let made = office.create(who, kind, &start, &end).await;
                format!(
                    "create {kind} {start} {end}: {:?}",
                    made.as_ref().map(|view| &view.leave_id).map_err(Refusal::code)
                )
            }
            2 | 3 => {
                let found = office.desk.search(&principal(who), &Search::default()).await.unwrap();
                watcher.saw(who, &found.leaves, now);
                format!("search: {}", found.total)
            }
            4 | 5 => {
                let seen = office.look(who, &leave).await;
                if let Ok(view) = &seen {
                    watcher.saw(who, std::slice::from_ref(view), now);
                }
                format!("get {leave}: {:?}", seen.map(|view| view.version).map_err(|refusal| refusal.code()))
            }
            6 => {
                let patch = Patch { end: Some(a_day(&mut dice)), ..Patch::default() };
                let update = Update { leave_id: leave.clone(), patch, ..Update::default() };
                let done = office.desk.update(&principal(who), &update).await;
                format!("update {leave}: {:?}", done.map(|view| view.version).map_err(|error| error.to_string()))
            }
            7 if dice.roll(4) == 0 => {
                office.clock.forward(Duration::from_secs(60 * dice.of(&[5, 20, 40, 24 * 60])));
                "time passes".to_owned()
            }
            7 if dice.roll(4) == 0 => {
                let reopened = leave.parse::<LeaveId>().unwrap();
                office.desk.reopen(&reopened, "").await.unwrap();
                watcher.declined.retain(|(leave, _)| *leave != reopened);
                format!("reopen {leave}")
            }
            chance => {
                let cancels = chance == 8 || good.is_some_and(|(_, step)| step == Step::Cancel && chance < 15);
                let status = good.map_or("", |(_, step)| step.as_str());
                let any = dice.of(&[
                    "submitted",
                    "submitted",
                    "consented",
                    "approved",
                    "approved",
                    "rejected",
                    "withdrawn",
                    "cancelled",
                    "taken",
                    "draft",
                ]);
                let status = if status.is_empty() { any } else { status };
                let first = match yeses.is_empty() || dice.roll(5) > 0 {
                    true => Confirmation::NotAsked,
                    false => yeses[dice.roll(yeses.len())].clone(),
                };
                let send = async |with: &Confirmation| match cancels {
                    true => office.cancel(who, &leave, with).await,
                    false => office.set(who, &leave, status, with).await,
                };
                call.accepted = ticket_of(&first);
                let mut reply = send(&first).await;
                if let Ok(Reply::Ask(question)) = &reply {
                    watcher.asked += 1;
                    let effect = (question.leave.clone(), question.effect);
                    let answer = dice.of(&[Answer::Accepted, Answer::Declined, Answer::Dismissed]);
                    let with = match dice.roll(8) {
                        0 => Confirmation::CannotAsk,
                        1 => Confirmation::TimedOut,
                        2 => Confirmation::Answered {
                            binding: question.binding.clone(),
                            ticket: office.ticket(),
                            expires: NOW,
                            answer,
                        },
                        _ => {
                            let mut with = office.answer(question, answer);
                            if let Confirmation::Answered { expires, .. } = &mut with {
                                *expires = Timestamp(now.0 + 600_000);
                            }
                            with
                        }
                    };
                    if matches!(&with, Confirmation::Answered { answer: Answer::Accepted, .. }) {
                        yeses.push(with.clone());
                    }
                    call.accepted = ticket_of(&with);
                    reply = send(&with).await;
                    if matches!(&reply, Err(Refusal::Declined { .. })) {
                        watcher.declined.push(effect);
                    }
                }
                let said = reply.map(|reply| matches!(reply, Reply::Done(_))).map_err(|refusal| refusal.code());
                format!("{} {leave}: {said:?}", if cancels { "cancel" } else { status })
            }
        };
        trail.push_back(format!("{number} {who} {said}"));
        if trail.len() > 25 {
            trail.pop_front();
        }
        let told = trail.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
        // Looking costs more than calling: after what only reads, the watcher looks now and then.
        if matches!(kind, 2..=5) && number % 8 != 0 {
            continue;
        }
        watcher.look(&office, &policy, &call, now, &format!("walk {seed}\n{told}")).await;
    }
    (watcher.changes, watcher.asked, watcher.used_tickets.len())
}

fn ticket_of(with: &Confirmation) -> Option<String> {
    match with {
        Confirmation::Answered { ticket, answer: Answer::Accepted, .. } => Some(ticket.clone()),
        Confirmation::Answered { .. } | Confirmation::NotAsked | Confirmation::CannotAsk | Confirmation::TimedOut => {
            None
        }
    }
}

#[tokio::test]
async fn ten_thousand_calls_never_reach_a_forbidden_state_nor_a_declined_effect() {
    let (mut changes, mut asked, mut yeses) = (0, 0, 0);
    for seed in 1..=WALKS {
        let walked = walk(seed).await;
        changes += walked.0;
        asked += walked.1;
        yeses += walked.2;
    }
    // The walk is worth something only if it gets anywhere.
    assert!(changes > 1_000 && asked > 150 && yeses > 30, "{changes} changes, {asked} questions, {yeses} yeses");
}
