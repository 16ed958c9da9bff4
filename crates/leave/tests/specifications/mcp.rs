//! The leave system as a model meets it: who comes in, what is offered, and the words of it.

use std::sync::Arc;

use bylaw_leave::domain::{ids::EmployeeId, store::LeaveStore};
use bylaw_mcp::{ClientOptions, Host, McpAddress, McpClient, McpServer, listen};
use serde_json::json;

use crate::{
    company::{Counting, principal},
    house::{APPROVED, Era, House, Human, RandomOf, call, text},
    wire,
};

#[tokio::test]
async fn the_seeds_two_calls_send_a_draft_for_review() {
    for era in [Era::Older, Era::Newer] {
        let house = House::open().await;
        let id = house.leave(&[], "2026-04-13").await;
        let (client, _) = house.client("ann", era, Human::IsNotThere).await;
        let submit = json!({ "leave_id": id, "status": "submitted" });
        let early = call(&client, "update_leave_status", submit.clone()).await;
        assert!(early.is_error && text(&early).contains("Look"), "{}", text(&early));
        let found = call(&client, "search_leaves", json!({ "keyword": "家庭旅遊" })).await;
        assert_eq!(found.structured.as_ref().unwrap()["leaves"][0]["leave_id"], id.as_str());
        let done = call(&client, "update_leave_status", submit).await;
        assert!(!done.is_error, "{}", text(&done));
        assert_eq!(done.structured.as_ref().unwrap()["status"], "submitted");
        let history = house.office.store.history(&id.parse().unwrap()).await.unwrap();
        let client = &history.last().unwrap().client;
        assert!(client.starts_with("bylaw ") && client.contains("HTTP, lk_"), "{client}");
    }
}

#[tokio::test]
async fn nobody_comes_in_without_a_key_or_with_a_revoked_one_and_no_argument_says_who_one_is() {
    let house = House::open().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(listen(listener, house.mount.router(), house.over.clone()));
    let host = || Host { elicit: None, clock: house.office.clock.clone(), randomness: Arc::new(Counting::default()) };
    let id = EmployeeId::new("ann").unwrap();
    let (key, secret) =
        bylaw_leave::keys::create(&*house.office.store, &id, &*house.office.clock, &RandomOf(7)).await.unwrap();
    house.office.store.revoke_key(&key.id, crate::company::NOW).await.unwrap();
    for bearer in [None, Some("leave_unknown".to_owned()), Some(secret.reveal().to_owned())] {
        let address = McpAddress::Http { url: url.clone(), bearer };
        let server = McpServer { name: "leaves".to_owned(), address };
        let refused = McpClient::connect(server, ClientOptions::default(), host()).await.map(drop).unwrap_err();
        assert!(refused.to_string().contains("key"), "{refused}");
    }
    let (client, _) = house.client("eve", Era::Newer, Human::IsNotThere).await;
    let tools = client.tools().await.unwrap();
    for tool in &tools {
        let properties = tool.input_schema["properties"].as_object().unwrap();
        assert!(properties.keys().all(|name| !["as", "employee", "applicant", "principal"].contains(&name.as_str())));
    }
    let acting = call(&client, "search_leaves", json!({ "keyword": "", "employee": "ann" })).await;
    assert!(acting.is_error, "{}", text(&acting));
}

#[tokio::test]
async fn every_tool_says_what_it_is_and_is_not_for_and_keeps_to_its_schema() {
    let house = House::open().await;
    let id = house.leave(APPROVED, "2026-04-13").await;
    let (client, _) = house.client("boss", Era::Newer, Human::IsNotThere).await;
    let tools = client.tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "search_leaves",
            "get_leave",
            "list_pending_approvals",
            "leave_balance",
            "list_leave_types",
            "create_leave",
            "update_leave",
            "update_leave_status",
            "cancel_approved_leave",
        ]
    );
    for tool in &tools {
        let description = tool.description.as_deref().unwrap();
        let says_not = description.contains("not ") || description.contains("not\u{a0}");
        assert!(says_not, "{}: {description}", tool.name);
        assert!(tool.title.is_some() && tool.output_schema.is_some(), "{}", tool.name);
        // An id in an example is one that a small model uses.
        let said = format!("{description} {:?}", tool.input_schema);
        let is_id = |after: &str| after.len() >= 6 && after.bytes().take(6).all(|byte| byte.is_ascii_hexdigit());
        assert!(!said.split("LV-").skip(1).any(is_id), "{said}");
    }
    // In debug builds the server holds replies against its output schemas.
    for (tool, arguments) in [
        ("search_leaves", json!({ "keyword": "特休" })),
        ("get_leave", json!({ "leave_id": id })),
        ("list_pending_approvals", json!({})),
        ("leave_balance", json!({ "type": "annual", "on": "2026-03-02" })),
        ("leave_balance", json!({})),
        ("list_leave_types", json!({})),
        (
            "create_leave",
            json!({ "type": "喪假", "title": "t", "start": "2026-03-16", "end": "2026-03-16", "event_case": "parent",
                    "event_date": "2026-03-01", "deputy": "dan" }),
        ),
    ] {
        let outcome = call(&client, tool, arguments).await;
        assert!(!outcome.is_error && !text(&outcome).is_empty(), "{tool}: {}", text(&outcome));
    }
    for (tool, arguments, told) in [
        ("create_leave", json!({ "type": "特休", "title": "t", "start": "2026-02-29", "end": "2026-03-02" }), "no day"),
        (
            "create_leave",
            json!({ "type": "特休", "title": "t", "start": "2026-03-10T25:00", "end": "2026-03-11" }),
            "no time",
        ),
        ("get_leave", json!({ "leave_id": "LV-000fff" }), "search_leaves"),
        ("update_leave_status", json!({ "leave_id": id, "status": "flying" }), "Use submitted"),
        ("cancel_approved_leave", json!({ "leave_id": id, "reason": "" }), "reason is empty"),
        ("cancel_approved_leave", json!({ "leave_id": id, "reason": "🏖".repeat(2_560) }), "2560 characters"),
        ("leave_balance", json!({ "type": "sabbatical" }), "Use one of"),
    ] {
        let outcome = call(&client, tool, arguments).await;
        assert!(outcome.is_error && text(&outcome).contains(told), "{tool}: {}", text(&outcome));
    }
    assert_eq!(principal("boss").employee.as_str(), "boss");
}

#[tokio::test]
async fn a_key_that_is_revoked_while_it_is_used_opens_nothing_a_tenth_of_a_second_later() {
    let house = House::open().await;
    let (url, key) = house.door("ann").await;
    let opens = async || {
        let told = wire::call(&url, &key, "list_leave_types", &json!({}), None).await;
        told["result"]["isError"] == false || told["result"]["structuredContent"]["types"].is_array()
    };
    assert!(opens().await);
    let made = house.office.store.keys().await.unwrap();
    house.office.store.revoke_key(&made[0].id, crate::company::NOW).await.unwrap();
    house.office.clock.tick(100);
    assert!(!opens().await);
    // A key that is made meanwhile opens at once.
    let (url, key) = house.door("ann").await;
    let told = wire::call(&url, &key, "list_leave_types", &json!({}), None).await;
    assert!(told["result"]["structuredContent"]["types"].is_array(), "{told}");
}
