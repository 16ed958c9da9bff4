//! The rule table: every rule, at every tool that it holds at, in either era, over HTTP and pipes, whatever the person does.

use bylaw_leave::domain::{
    rules::{Answer, Confirmation},
    status::Status,
};
use serde_json::{Value, json};

use crate::{
    desk::question,
    doors::{Door, Transport},
    house::{APPROVED, CONSENTED, Era, House, Human},
};

/// What lies before the call.
#[derive(Clone, Copy, Debug)]
enum Before {
    Shown,
    NeverShown,
    ChangedSinceShown,
    ShownLongAgo,
    /// The person said no to this tool, or to this status.
    SaidNo(&'static str, &'static str),
    /// The key `k` was used for another draft.
    KeyUsed,
}

/// What comes of the call.
#[derive(Clone, Copy, Debug)]
enum Ends {
    /// The same refusal whoever sits there, and nobody is asked.
    Refused(&'static str),
    /// The person is asked; a yes leads there.
    Asks(Status),
    /// Done, and nobody is asked; sent again it is done no second time.
    Once(Status),
}

/// The rule, how far ann's leave has come, what lies before, who calls which tool with what (the leave is filled in), and
/// what comes of it.
type Row = (u8, Steps, Before, &'static str, &'static str, Value, Ends);
type Steps = &'static [(&'static str, &'static str)];

const DRAFT: Steps = &[];
const SUBMITTED: Steps = &[("ann", "submitted")];

fn table() -> Vec<Row> {
    use Before::{ChangedSinceShown, KeyUsed, NeverShown, SaidNo, Shown, ShownLongAgo};
    use Ends::{Asks, Once, Refused};
    const UPDATE: &str = "update_leave";
    const SET: &str = "update_leave_status";
    const CANCEL: &str = "cancel_approved_leave";
    let status = |status: &str| json!({ "status": status });
    let title = || json!({ "title": "another" });
    let reason = || json!({ "reason": "plans changed" });
    let over = || json!({ "type": "sick", "title": "t", "start": "2026-04-13", "end": "2026-04-13" });
    let with = |mut arguments: Value, key: &str, value: Value| {
        arguments[key] = value;
        arguments
    };
    let mut rows = vec![
        // 2. One step.
        (2, DRAFT, Shown, "ann", SET, status("approved"), Refused("illegal_move")),
        (2, DRAFT, Shown, "ann", SET, status("taken"), Refused("illegal_move")),
        (2, DRAFT, Shown, "ann", SET, status("draft"), Refused("illegal_move")),
        (2, DRAFT, Shown, "ann", CANCEL, reason(), Refused("illegal_move")),
        (2, SUBMITTED, Shown, "ann", CANCEL, reason(), Refused("illegal_move")),
        (2, SUBMITTED, Shown, "ann", SET, status("approved"), Refused("not_yours")),
        (2, SUBMITTED, Shown, "dan", SET, status("rejected"), Refused("not_yours")),
        (2, SUBMITTED, Shown, "boss", SET, status("approved"), Refused("consent_first")),
        (2, SUBMITTED, Shown, "ann", UPDATE, title(), Refused("not_a_draft")),
        (2, APPROVED, Shown, "ann", UPDATE, title(), Refused("not_a_draft")),
        (2, APPROVED, Shown, "ann", SET, status("cancelled"), Refused("other_tool")),
        (2, APPROVED, Shown, "dan", CANCEL, reason(), Refused("not_yours")),
        // 3. Ask first.
        (3, APPROVED, Shown, "ann", CANCEL, reason(), Asks(Status::Cancelled)),
        (3, SUBMITTED, Shown, "boss", SET, status("rejected"), Asks(Status::Rejected)),
        (3, CONSENTED, Shown, "boss", SET, status("rejected"), Asks(Status::Rejected)),
        (3, CONSENTED, Shown, "ann", SET, status("withdrawn"), Asks(Status::Withdrawn)),
        // 4. No stays no: the same tool, another, editing, and another leave in its place.
        (4, APPROVED, SaidNo("ann", "cancelled"), "ann", CANCEL, reason(), Refused("said_no")),
        (4, APPROVED, SaidNo("ann", "cancelled"), "boss", CANCEL, reason(), Refused("said_no")),
        (4, APPROVED, SaidNo("ann", "cancelled"), "ann", SET, status("cancelled"), Refused("said_no")),
        (4, APPROVED, SaidNo("ann", "cancelled"), "ann", SET, status("withdrawn"), Refused("said_no")),
        (4, APPROVED, SaidNo("ann", "cancelled"), "boss", SET, status("rejected"), Refused("said_no")),
        (4, APPROVED, SaidNo("ann", "cancelled"), "ann", UPDATE, title(), Refused("said_no")),
        (4, APPROVED, SaidNo("ann", "cancelled"), "ann", "create_leave", over(), Refused("said_no")),
        (4, CONSENTED, SaidNo("ann", "withdrawn"), "ann", SET, status("withdrawn"), Refused("said_no")),
        (4, CONSENTED, SaidNo("ann", "withdrawn"), "ann", CANCEL, reason(), Refused("said_no")),
        (4, CONSENTED, SaidNo("ann", "withdrawn"), "ann", UPDATE, title(), Refused("said_no")),
        (4, CONSENTED, SaidNo("ann", "withdrawn"), "ann", "create_leave", over(), Refused("said_no")),
        (4, CONSENTED, SaidNo("boss", "rejected"), "boss", SET, status("rejected"), Refused("said_no")),
        // 5. Once: a key is for one thing, a version must be the present one, and what is sent again is done once.
        (5, DRAFT, KeyUsed, "ann", UPDATE, with(title(), "idempotency_key", json!("k")), Refused("key_used_otherwise")),
        (
            5,
            DRAFT,
            KeyUsed,
            "ann",
            SET,
            with(status("submitted"), "idempotency_key", json!("k")),
            Refused("key_used_otherwise"),
        ),
        (
            5,
            APPROVED,
            KeyUsed,
            "ann",
            CANCEL,
            with(reason(), "idempotency_key", json!("k")),
            Refused("key_used_otherwise"),
        ),
        (5, DRAFT, Shown, "ann", UPDATE, with(title(), "version", json!(7)), Refused("changed_since")),
        (5, DRAFT, Shown, "ann", SET, with(status("submitted"), "version", json!(7)), Refused("changed_since")),
        (5, APPROVED, Shown, "ann", CANCEL, with(reason(), "version", json!(1)), Refused("changed_since")),
        (5, DRAFT, Shown, "ann", UPDATE, with(title(), "idempotency_key", json!("k")), Once(Status::Draft)),
        (
            5,
            DRAFT,
            Shown,
            "ann",
            SET,
            with(status("submitted"), "idempotency_key", json!("k")),
            Once(Status::Submitted),
        ),
        (
            5,
            SUBMITTED,
            Shown,
            "dan",
            SET,
            with(status("consented"), "idempotency_key", json!("k")),
            Once(Status::Submitted),
        ),
    ];
    // 1. Shown first, at every tool that touches a leave.
    for (before, code) in
        [(NeverShown, "not_shown"), (ChangedSinceShown, "changed_since"), (ShownLongAgo, "shown_long_ago")]
    {
        rows.extend([
            (1, DRAFT, before, "ann", UPDATE, title(), Refused(code)),
            (1, DRAFT, before, "ann", SET, status("submitted"), Refused(code)),
            (1, CONSENTED, before, "boss", SET, status("rejected"), Refused(code)),
            // Whoever has an approved leave was shown it as a draft.
            (1, if code == "not_shown" { DRAFT } else { APPROVED }, before, "ann", CANCEL, reason(), Refused(code)),
        ]);
    }
    rows
}

impl House {
    /// One of ann's leaves, as it lies before the call of `who`.
    async fn prepared(&self, steps: Steps, before: Before, who: &str, door: &mut Door) -> String {
        let id = self.leave(steps, "2026-04-13").await;
        let office = &self.office;
        match before {
            Before::NeverShown => return id,
            Before::SaidNo(by, status) => {
                office.look(by, &id).await.unwrap();
                let ask = |with: Confirmation| {
                    let id = id.clone();
                    async move {
                        match status {
                            "cancelled" => office.cancel(by, &id, &with).await,
                            _ => office.set(by, &id, status, &with).await,
                        }
                    }
                };
                let asked = question(ask(Confirmation::NotAsked).await.unwrap());
                let no = office.answer(&asked, Answer::Declined);
                assert_eq!(ask(no).await.unwrap_err().code(), "declined");
            }
            Before::KeyUsed => {
                let other = json!({
                    "type": "sick", "title": "t", "start": "2026-05-04", "end": "2026-05-04", "idempotency_key": "k",
                });
                let made = door.call("create_leave", other).await;
                assert!(!made.is_error, "{made:?}");
            }
            Before::Shown | Before::ChangedSinceShown | Before::ShownLongAgo => {}
        }
        let seen = door.call("get_leave", json!({ "leave_id": id })).await;
        assert!(!seen.is_error, "{who}: {seen:?}");
        match before {
            Before::ChangedSinceShown => self.changed(&id).await,
            Before::ShownLongAgo => office.clock.forward(std::time::Duration::from_secs(30 * 60 + 1)),
            Before::Shown | Before::NeverShown | Before::SaidNo(..) | Before::KeyUsed => {}
        }
        id
    }

    /// Somebody else makes another version of it, in the same status.
    async fn changed(&self, id: &str) {
        use bylaw_leave::domain::store::LeaveStore;
        let store = &self.office.store;
        let leave = store.leave(&id.parse().unwrap()).await.unwrap().unwrap();
        let revision = store.book(&leave.applicant).await.unwrap().unwrap().revision;
        let history = store.history(&leave.id).await.unwrap();
        let next = bylaw_leave::domain::leave::Leave { version: leave.version + 1, ..leave };
        let change = bylaw_leave::domain::store::Change {
            by: next.applicant.clone(),
            entry: history.last().unwrap().clone(),
            leave: next,
            revision,
            ticket: None,
            once: None,
        };
        let done = store.apply(&change, bylaw_contract::Timestamp(0)).await.unwrap();
        assert_eq!(done, bylaw_leave::domain::store::Applied::Done);
    }

    async fn version(&self, id: &str) -> u32 {
        use bylaw_leave::domain::store::LeaveStore;
        self.office.store.leave(&id.parse().unwrap()).await.unwrap().unwrap().version
    }
}

async fn holds(era: Era, transport: Transport) {
    for (rule, steps, before, who, tool, arguments, ends) in table() {
        for does in [Human::Accepts, Human::Declines, Human::Dismisses, Human::Waits, Human::IsNotThere] {
            let told = format!("rule {rule}: {before:?}, {who} {tool} {arguments}, {does:?}");
            let house = House::open().await;
            let mut door = Door::open(&house, who, era, transport, does).await;
            let id = house.prepared(steps, before, who, &mut door).await;
            let (status, version) = (house.status(&id).await, house.version(&id).await);
            let mut arguments = arguments.clone();
            if tool != "create_leave" {
                arguments["leave_id"] = id.as_str().into();
            }
            let first = door.call(tool, arguments.clone()).await;
            let (code, then, end) = match (ends, does) {
                (Ends::Refused(code), _) => (Some(code), Some(code), status),
                (Ends::Once(end), _) => (None, None, end),
                (Ends::Asks(end), Human::Accepts) => (None, Some("changed_since"), end),
                (Ends::Asks(_), Human::Declines) => (Some("declined"), Some("said_no"), status),
                (Ends::Asks(_), Human::Dismisses) => (Some("dismissed"), Some("dismissed"), status),
                (Ends::Asks(_), Human::Waits) => (Some("not_answered"), Some("not_answered"), status),
                (Ends::Asks(_), Human::IsNotThere) => (Some("cannot_ask"), Some("cannot_ask"), status),
            };
            assert_eq!((first.is_error, first.refused.as_deref()), (code.is_some(), code), "{told}: {}", first.text);
            assert_eq!(house.status(&id).await, end, "{told}");
            let asked = door.asked();
            let must_ask = matches!(ends, Ends::Asks(_)) && does != Human::IsNotThere;
            assert_eq!(asked.len(), usize::from(must_ask), "{told}: {asked:?}");
            assert!(asked.iter().all(|message| message.contains("name of ann") && message.contains(&id)), "{told}");

            // The same call once more: no refusal is worn down, no write is done twice.
            let again = door.call(tool, arguments).await;
            assert_eq!((again.is_error, again.refused.as_deref()), (then.is_some(), then), "{told}: {}", again.text);
            if let Ends::Once(_) = ends {
                assert_eq!(again.structured, first.structured, "{told}");
            }
            let steps = u32::from(code.is_none());
            assert_eq!((house.status(&id).await, house.version(&id).await), (end, version + steps), "{told}");
        }
    }
}

#[tokio::test]
async fn every_rule_holds_at_every_tool_in_the_older_era_over_http() {
    holds(Era::Older, Transport::Http).await;
}

#[tokio::test]
async fn every_rule_holds_at_every_tool_in_the_older_era_over_pipes() {
    holds(Era::Older, Transport::Stdio).await;
}

#[tokio::test]
async fn every_rule_holds_at_every_tool_in_the_newer_era_over_http() {
    holds(Era::Newer, Transport::Http).await;
}

#[tokio::test]
async fn every_rule_holds_at_every_tool_in_the_newer_era_over_pipes() {
    holds(Era::Newer, Transport::Stdio).await;
}
