//! Servers that fail: the model is told, and the others go on.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use bylaw_agent::{Agent, ServerTools, Toolbox};
use bylaw_contract::{LoopEvent, loop_event::ToolStatus};
use bylaw_mcp::{ClientOptions, McpClient};
use serde_json::json;

use crate::support::{
    Ran, calls,
    raw::{Raw, Say, said, tool},
    run, says, search,
};

fn tools() -> serde_json::Value {
    json!([tool("look", true, json!({})), tool("change", false, json!({}))])
}

async fn toolbox(server: McpClient) -> Toolbox {
    Toolbox::builder().tool(search()).server(server, ServerTools::default()).build().await
}

async fn calling(server: McpClient, wanted: &[(&str, &str)]) -> Ran {
    run(&Agent::new("", toolbox(server).await), [calls("c", wanted), says("DONE")]).await
}

fn statuses(ran: &Ran) -> Vec<ToolStatus> {
    let results = ran.events.iter().filter_map(|event| match event {
        LoopEvent::ToolResult { status, .. } => Some(*status),
        _ => None,
    });
    results.collect()
}

#[tokio::test]
async fn a_session_that_expired_is_made_anew() {
    let server = Raw::tools(tools(), |asked| match asked.session.as_deref() {
        Some("s1") => Say::Status(404, "Session not found"),
        _ => said("done"),
    })
    .await;
    let ran = calling(server.client("hr"), &[("change", "{}")]).await;
    assert_eq!(
        (ran.answer(), ran.results()),
        ("DONE", vec!["done".to_owned()]),
        "what was refused unread is sent again"
    );
    assert_eq!((server.count("initialize"), server.calls().len()), (2, 2));
}

#[tokio::test]
async fn one_session_serves_a_whole_run() {
    let server = Raw::tools(tools(), |asked| said(asked.session.as_deref().unwrap_or("none"))).await;
    let agent = Agent::new("", toolbox(server.client("hr")).await);
    let ran = run(&agent, [calls("a", &[("change", "{}")]), calls("b", &[("look", "{}")]), says("DONE")]).await;
    assert_eq!(ran.results(), ["s1", "s1"]);
}

#[tokio::test]
async fn an_error_of_a_server_is_told_and_other_tools_go_on() {
    let server = Raw::tools(tools(), |asked| match asked.tool() {
        "look" => Say::Error(-32603, "internal error: db down"),
        _ => Say::Status(500, "boom"),
    })
    .await;
    let wanted = [("look", "{}"), ("change", "{}"), ("search_leaves", "{\"keyword\":\"a\"}")];
    let ran = calling(server.client("hr"), &wanted).await;
    let results = ran.results();
    assert!(results[0].contains("db down"), "{}", results[0]);
    assert!(results[1].contains("hr"), "{}", results[1]);
    assert_eq!((ran.answer(), results[2].as_str()), ("DONE", "found \"a\""));
}

#[tokio::test]
async fn a_tool_that_never_answers_is_given_up_and_what_it_did_is_unknown() {
    let server = Raw::tools(tools(), |asked| match asked.tool() {
        "change" => Say::Nothing,
        _ => said("ok"),
    })
    .await;
    let options = ClientOptions { call_timeout: Duration::from_millis(50), ..ClientOptions::default() };
    let ran = calling(server.client_with("hr", options, None), &[("change", "{}"), ("look", "{}")]).await;
    assert_eq!((ran.answer(), statuses(&ran)), ("DONE", vec![ToolStatus::Unknown, ToolStatus::Succeeded]));
    assert!(ran.results()[0].contains("may have happened"), "{}", ran.results()[0]);
}

#[tokio::test]
async fn how_long_a_tool_may_be_silent_can_be_said_for_each() {
    let server = Raw::tools(tools(), |_| Say::Nothing).await;
    let timeouts = [("look".to_owned(), Duration::from_millis(50))].into();
    let how = ServerTools { timeouts, ..ServerTools::default() };
    let agent = Agent::new("", Toolbox::builder().server(server.client("hr"), how).build().await);
    let ran = run(&agent, [calls("c", &[("look", "{}")]), says("DONE")]).await;
    assert!(ran.results()[0].contains("said nothing for 50ms"), "{:?}", ran.results());
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_of_a_call_is_told() {
    let asked = AtomicUsize::new(0);
    let server = Raw::tools(tools(), move |_| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => Say::Raw("{\"content\":[{\"type\":\"te".to_owned()),
        _ => said("ok"),
    })
    .await;
    let ran = calling(server.client("hr"), &[("change", "{}"), ("look", "{}")]).await;
    assert_eq!(ran.answer(), "DONE");
    assert_eq!(statuses(&ran), [ToolStatus::Unknown, ToolStatus::Succeeded], "{:?}", ran.results());
}

#[tokio::test]
async fn a_server_that_is_absent_stops_nobody() {
    let absent = Raw::tools(tools(), |_| said("ok")).await;
    let there = Raw::tools(tools(), |_| said("ok")).await;
    let gone = absent.client("gone");
    drop(absent);
    let toolbox = Toolbox::builder()
        .server(gone, ServerTools::default())
        .server(there.client("hr"), ServerTools::default())
        .build()
        .await;
    assert_eq!((toolbox.names().len(), toolbox.problems().len()), (2, 1));
    assert!(toolbox.problems()[0].starts_with("gone "), "{:?}", toolbox.problems());
    let ran = run(&Agent::new("", toolbox), [calls("c", &[("look", "{}")]), says("DONE")]).await;
    assert_eq!(ran.results(), ["ok"]);
}

#[tokio::test]
async fn a_server_of_the_newer_era_is_spoken_to_as_well() {
    let server = Raw::newer(tools(), |_| {
        Say::Result(json!({ "resultType": "complete", "content": [{ "type": "text", "text": "new" }] }))
    })
    .await;
    let ran = calling(server.client("hr"), &[("look", "{}")]).await;
    assert_eq!((ran.results(), server.count("initialize")), (vec!["new".to_owned()], 0));
}
