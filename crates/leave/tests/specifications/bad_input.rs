//! What nobody should send: a refusal with a sentence, and nothing has changed.

use std::{sync::Arc, time::Duration};

use bylaw_contract::Language;
use bylaw_leave::{
    desk::{DeskError, Patch, Update},
    domain::{book::Book, status::Status, store::LeaveStore},
};
use serde_json::{Value, json};

use crate::{
    company::{Office, id, people, principal},
    doors::{Door, Transport},
    house::{APPROVED, Era, House, Human},
    wire,
};

impl House {
    /// Everything that is on the books.
    async fn books(&self) -> Vec<Book> {
        let mut books = Vec::new();
        for person in people() {
            books.push(self.office.store.book(&person.id).await.unwrap().unwrap());
        }
        books
    }
}

#[tokio::test]
async fn arguments_that_cannot_be_are_refused_with_a_sentence_and_nothing_changes() {
    let house = House::open().await;
    let approved = house.leave(APPROVED, "2026-04-13").await;
    let draft = house.leave(&[], "2026-04-14").await;
    let of_another =
        house.office.create("eve", "annual", "2026-04-15", "2026-04-15").await.unwrap().leave_id.to_string();
    let mut door = Door::open(&house, "ann", Era::Newer, Transport::Http, Human::Accepts).await;
    for id in [&approved, &draft] {
        door.call("get_leave", json!({ "leave_id": id })).await;
    }
    let before = house.books().await;
    let create = |kind: &str, start: &str, end: &str, reason: &str| json!({ "type": kind, "title": "t", "start": start, "end": end, "reason": reason });
    let beach = "🏖".repeat(2_560);
    assert_eq!(beach.len(), 10_240);
    let rows: Vec<(&str, Value, &str)> = vec![
        // Unknown and foreign ids, and what is no id at all.
        ("get_leave", json!({ "leave_id": "LV-ffffff" }), "unknown_leave"),
        ("get_leave", json!({ "leave_id": of_another }), "unknown_leave"),
        ("get_leave", json!({ "leave_id": "' OR 1=1 --" }), "unknown_leave"),
        ("get_leave", json!({ "leave_id": "" }), "unknown_leave"),
        ("get_leave", json!({ "leave_id": beach }), "unknown_leave"),
        ("update_leave", json!({ "leave_id": of_another, "title": "mine" }), "unknown_leave"),
        ("update_leave_status", json!({ "leave_id": of_another, "status": "submitted" }), "unknown_leave"),
        ("cancel_approved_leave", json!({ "leave_id": of_another, "reason": "r" }), "unknown_leave"),
        // Days and times.
        ("create_leave", create("特休", "2026-05-12", "2026-05-11", ""), "reversed"),
        ("create_leave", create("病假", "2026-05-12T25:00", "2026-05-13", ""), "bad_time"),
        ("create_leave", create("特休", "2026-02-29", "2026-03-02", ""), "bad_time"),
        ("create_leave", create("病假", "2026-05-04", "2027-12-24", ""), "too_long"),
        ("create_leave", create("特休", "明天", "後天", ""), "bad_time"),
        ("create_leave", create("特休", "2026-05-09", "2026-05-10", ""), "nothing_to_take"),
        ("update_leave", json!({ "leave_id": draft, "end": "2026-04-01" }), "reversed"),
        ("update_leave", json!({ "leave_id": draft, "start": "2026-04-14T25:00" }), "bad_time"),
        ("update_leave", json!({ "leave_id": draft, "end": "2027-12-24" }), "too_long"),
        ("search_leaves", json!({ "keyword": "", "from": "2026-02-29" }), "bad_time"),
        ("leave_balance", json!({ "on": "2026-13-01" }), "bad_time"),
        // Texts.
        ("create_leave", create("特休", "2026-05-11", "2026-05-11", &beach), "bad_text"),
        ("update_leave", json!({ "leave_id": draft, "reason": beach }), "bad_text"),
        ("cancel_approved_leave", json!({ "leave_id": approved, "reason": beach }), "bad_text"),
        ("cancel_approved_leave", json!({ "leave_id": approved, "reason": " " }), "bad_text"),
        ("update_leave", json!({ "leave_id": draft, "title": "a\u{0}b" }), "bad_text"),
        // Types, people, statuses, keys.
        ("create_leave", create("sabbatical", "2026-05-11", "2026-05-11", ""), "unknown_type"),
        ("leave_balance", json!({ "type": "假" }), "unknown_type"),
        ("update_leave", json!({ "leave_id": draft, "deputy": "E999" }), "unknown_employee"),
        ("update_leave_status", json!({ "leave_id": draft, "status": "flying" }), "unknown_status"),
        ("search_leaves", json!({ "keyword": "", "status": "flying" }), "unknown_status"),
        ("update_leave", json!({ "leave_id": draft, "title": "t", "idempotency_key": "white space" }), "bad_argument"),
        ("list_pending_approvals", json!({}), "managers_only"),
    ];
    for (tool, arguments, code) in rows {
        let told = door.call(tool, arguments.clone()).await;
        let arguments: String = arguments.to_string().chars().take(80).collect();
        assert_eq!((told.is_error, told.refused.as_deref()), (true, Some(code)), "{tool} {arguments}: {}", told.text);
        assert!((20..500).contains(&told.text.chars().count()), "{tool} {arguments}: {}", told.text);
        assert_eq!(house.books().await, before, "{tool} {arguments}");
    }
    // What no schema lets in never reaches the desk.
    for (tool, arguments) in [
        ("get_leave", json!({})),
        ("get_leave", json!({ "leave_id": 7 })),
        ("search_leaves", json!({ "keyword": ["家庭"] })),
        ("update_leave_status", json!({ "leave_id": draft, "status": "submitted", "as": "boss" })),
        ("update_leave", json!({ "leave_id": draft, "version": -1 })),
        ("cancel_approved_leave", json!({ "leave_id": approved, "reason": null })),
    ] {
        let told = door.call(tool, arguments.clone()).await;
        assert!(told.is_error && told.text.contains("Correct them"), "{tool} {arguments}: {}", told.text);
        assert_eq!(house.books().await, before, "{tool} {arguments}");
    }
    assert!(door.asked().is_empty());
}

#[tokio::test]
async fn a_confirmation_that_is_forged_stolen_used_or_old_confirms_nothing() {
    let house = House::open().await;
    let (url, key) = house.door("ann").await;
    let (_, of_boss) = house.door("boss").await;
    let (first, second) = (house.leave(APPROVED, "2026-04-13").await, house.leave(APPROVED, "2026-04-14").await);
    let cancel = |id: &str| json!({ "leave_id": id, "reason": "plans changed" });
    for id in [&first, &second] {
        for key in [&key, &of_boss] {
            wire::call(&url, key, "get_leave", &json!({ "leave_id": id }), None).await;
        }
    }
    let asked = wire::call(&url, &key, "cancel_approved_leave", &cancel(&first), None).await;
    assert_eq!(wire::word(&asked), "asked", "{asked}");
    let state = asked["result"]["requestState"].as_str().unwrap().to_owned();
    let before = house.books().await;
    let (mut forged, cut) = (state.clone().into_bytes(), &state[..state.len() - 4]);
    let middle = forged.len() / 2;
    forged[middle] = if forged[middle] == b'A' { b'B' } else { b'A' };
    let forged = String::from_utf8(forged).unwrap();
    for (key, tool, arguments, state) in [
        (&key, "cancel_approved_leave", cancel(&first), forged.as_str()),
        (&key, "cancel_approved_leave", cancel(&first), cut),
        (&key, "cancel_approved_leave", cancel(&first), ""),
        (&key, "cancel_approved_leave", cancel(&first), "e30="),
        // Another leave, another reason, another tool, another principal.
        (&key, "cancel_approved_leave", cancel(&second), &state),
        (&key, "cancel_approved_leave", json!({ "leave_id": first, "reason": "another" }), &state),
        (&of_boss, "update_leave_status", json!({ "leave_id": first, "status": "rejected" }), &state),
        (&of_boss, "cancel_approved_leave", cancel(&first), &state),
    ] {
        let refused = wire::call(&url, key, tool, &arguments, Some((state, "accept"))).await;
        assert_ne!(wire::word(&refused), "done", "{tool} {arguments}: {refused}");
        assert_ne!(wire::word(&refused), "asked", "{tool} {arguments}: {refused}");
        assert_eq!(house.books().await, before, "{tool} {arguments}: {refused}");
    }
    // Used: it opens once, for whatever answer.
    let yes = async || wire::call(&url, &key, "cancel_approved_leave", &cancel(&first), Some((&state, "accept"))).await;
    assert_eq!(wire::word(&yes().await), "done");
    let after = house.books().await;
    wire::call(&url, &key, "get_leave", &json!({ "leave_id": first }), None).await;
    assert_ne!(wire::word(&yes().await), "done");
    assert_eq!(house.books().await, after);
    // Old.
    let asked = wire::call(&url, &key, "cancel_approved_leave", &cancel(&second), None).await;
    let state = asked["result"]["requestState"].as_str().unwrap();
    house.office.clock.forward(Duration::from_secs(601));
    for answer in ["accept", "decline"] {
        let late = wire::call(&url, &key, "cancel_approved_leave", &cancel(&second), Some((state, answer))).await;
        assert_eq!(wire::word(&late), "not_answered", "{answer}");
        assert_eq!(house.books().await, after, "{answer}");
    }
}

#[tokio::test]
async fn a_session_of_another_principal_is_not_there() {
    let house = House::open().await;
    let (url, key) = house.door("ann").await;
    let (_, of_boss) = house.door("boss").await;
    let id = house.leave(APPROVED, "2026-04-13").await;
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "wire", "version": "1" },
    } });
    let bearer = |key: &str| format!("Bearer {key}");
    let (status, session, _) = wire::post(&url, &[("authorization", &bearer(&key))], &hello).await;
    let session = session.unwrap();
    assert_eq!(status, 200);
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "get_leave", "arguments": { "leave_id": id },
    } });
    let mut statuses = Vec::new();
    for key in [bearer(&of_boss), "Bearer leave_nobody".to_owned(), bearer(&key)] {
        let headers = [("authorization", key.as_str()), ("mcp-session-id", session.as_str())];
        statuses.push(wire::post(&url, &headers, &call).await.0);
    }
    assert_eq!(statuses, [404, 401, 200]);
}

#[tokio::test]
async fn of_eight_updates_at_once_one_is_made_and_the_others_look_again() {
    let office = Arc::new(Office::open().await);
    let draft = office.create("ann", "annual", "2026-03-16", "2026-03-17").await.unwrap().leave_id.to_string();
    office.look("ann", &draft).await.unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            let (office, leave_id) = (office.clone(), draft.clone());
            tokio::spawn(async move {
                let patch = Patch { title: Some(format!("trip {number}")), ..Patch::default() };
                let update = Update { leave_id, patch, ..Update::default() };
                office.desk.update(&principal("ann"), &update).await
            })
        })
        .collect();
    let (mut made, mut refused) = (Vec::new(), 0);
    for task in tasks {
        match task.await.unwrap() {
            Ok(view) => made.push(view.title),
            Err(DeskError::Refused(refusal)) => {
                assert_eq!(refusal.code(), "changed_since");
                assert!(refusal.sentence(Language::English).contains("Look it up again"));
                refused += 1;
            }
            Err(DeskError::Store(error)) => panic!("{error:?}"),
        }
    }
    let leave = office.store.leave(&draft.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((made, refused), (vec![leave.title], 7));
    assert_eq!((leave.version, leave.status, leave.applicant), (2, Status::Draft, id("ann")));
}
