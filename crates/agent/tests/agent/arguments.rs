//! Calls that are wrong: not made, and answered with what to fix.

use bylaw_agent::{Agent, Validation};
use bylaw_model::ChatMessage;

use crate::support::{Ran, agent, builder, calls, ping, run, says, search, update};

fn check_told(ran: &Ran, at: usize, parts: &[&str]) {
    let told = &ran.results()[at];
    for part in parts {
        assert!(told.contains(part), "{part:?} is not in {told}");
    }
}

#[tokio::test]
async fn arguments_that_are_no_json_are_told_with_the_place_and_the_schema() {
    let tool = search();
    let replies = [
        calls("a", &[("search_leaves", "{\"keyword\": \"家庭")]),
        calls("b", &[("search_leaves", "{\"keyword\": \"家庭\"}")]),
        says("DONE"),
    ];
    let ran = run(&agent([tool.clone()]).await, replies).await;
    assert_eq!((ran.answer(), tool.calls().len(), ran.end.steps), ("DONE", 1, 2));
    check_told(&ran, 0, &["not valid JSON", "line 1 column", "{\"keyword\": \"家庭", "Its schema:", "\"required\""]);
}

#[tokio::test]
async fn what_is_told_back_of_broken_arguments_is_short() {
    let long = format!("{{\"keyword\": \"{}", "x".repeat(50_000));
    let ran = run(&agent([search()]).await, [calls("a", &[("search_leaves", &long)]), says("DONE")]).await;
    assert!(ran.results()[0].len() < 2_000);
}

#[tokio::test]
async fn arguments_that_are_no_object_never_become_an_empty_one() {
    for arguments in ["[\"家庭\"]", "\"家庭\"", "7", "true"] {
        let tool = ping();
        let ran = run(&agent([tool.clone()]).await, [calls("a", &[("ping_hr", arguments)]), says("DONE")]).await;
        check_told(&ran, 0, &["must be a JSON object", arguments]);
        assert_eq!(tool.calls().len(), 0, "{arguments}");
    }
}

#[tokio::test]
async fn no_arguments_are_an_empty_object_where_nothing_is_required() {
    for arguments in ["", "  ", "null", "\"null\""] {
        let (free, bound) = (ping(), search());
        let both = [("ping_hr", arguments), ("search_leaves", arguments)];
        let ran = run(&agent([free.clone(), bound.clone()]).await, [calls("a", &both), says("DONE")]).await;
        assert_eq!((free.calls(), bound.calls().len()), (vec!["{}".to_owned()], 0), "{arguments:?}");
        check_told(&ran, 1, &["misses the required property \"keyword\""]);
        let sent = &ran.script.requests()[1].messages;
        assert!(sent.iter().flat_map(ChatMessage::tool_calls).all(|call| call.arguments == "{}"));
    }
}

#[tokio::test]
async fn what_violates_the_schema_is_not_called_and_each_place_is_named() {
    let tool = update();
    let wrong = calls("a", &[("update_leave_status", r#"{"leave_id": 7, "status": "teleported"}"#)]);
    let ran = run(&agent([tool.clone()]).await, [wrong, says("DONE")]).await;
    assert_eq!(tool.calls().len(), 0);
    check_told(&ran, 0, &["`leave_id`: must be of type string", "`status`", "\"draft\", \"submitted\", \"cancelled\""]);
}

#[tokio::test]
async fn how_strict_arguments_are_taken_can_be_chosen() {
    let check = async |validation, arguments: &str, expected: &[&str]| {
        let tool = update();
        let agent = Agent::new("", builder([tool.clone()]).validation(validation).build().await);
        let ran = run(&agent, [calls("a", &[("update_leave_status", arguments)]), says("DONE")]).await;
        assert_eq!((ran.answer(), tool.calls()), ("DONE", expected.iter().map(|s| (*s).to_owned()).collect()));
    };
    let number = r#"{"leave_id":7,"status":"draft"}"#;
    check(Validation::Strict, number, &[]).await;
    check(Validation::Coerce, number, &[r#"{"leave_id":"7","status":"draft"}"#]).await;
    check(Validation::Coerce, r#"{"leave_id":7,"status":"teleported"}"#, &[]).await;
    check(Validation::Off, number, &[number]).await;
}

#[tokio::test]
async fn an_unknown_tool_is_never_taken_for_the_one_that_looks_like_it() {
    let tool = search();
    let replies = [
        calls("a", &[("search_leave", "{\"keyword\": \"家庭\"}"), ("", "{}"), ("查詢.假", "{}")]),
        calls("b", &[("search_leaves", "{\"keyword\": \"家庭\"}")]),
        says("DONE"),
    ];
    let ran = run(&agent([tool.clone(), update()]).await, replies).await;
    assert_eq!((ran.answer(), tool.calls().len()), ("DONE", 1));
    check_told(&ran, 0, &["no tool `search_leave`", "`search_leaves`"]);
}

#[tokio::test]
async fn a_tool_that_is_always_called_wrongly_ends_the_run() {
    let wrong = (0..20).map(|n| calls(&format!("c{n}_"), &[("search_leaves", &format!("{{\"key\": {n}}}"))]));
    let ran = run(&agent([search()]).await, wrong).await;
    assert_eq!((ran.reason().as_str(), ran.end.steps, ran.end.tool_calls), ("repeated_call", 6, 0));
}
