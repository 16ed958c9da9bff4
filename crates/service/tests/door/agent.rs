//! `POST /ask` in agent mode, over HTTP.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, http::Request};
use bylaw_gate::Role;
use bylaw_model::scripted::{Script, ScriptedReply};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::door::{Plan, events};

const QUESTION: &str = r#"{"question":"事假一年最多幾天？","mode":"agent","k":1}"#;

/// Searches, reads and answers.
fn script() -> Script {
    Script::answering(|request| match request.results().len() {
        0 => ScriptedReply::calls(1, &[("search", r#"{"query":"事假"}"#)]),
        1 => ScriptedReply::calls(2, &[("read_article", r#"{"article":"work_rules.md#28"}"#)]),
        _ => ScriptedReply::calls(
            3,
            &[("answer", r#"{"text":"十四日[work_rules.md#27]。不給工資[work_rules.md#27]。"}"#)],
        ),
    })
}

fn streamed(body: &str) -> String {
    body.replace('}', r#","stream":true}"#)
}

#[tokio::test]
async fn steps_come_first_then_citations_tokens_and_done() {
    let door = Plan::new().model(script()).open().await;
    let answer = door.post("/ask", QUESTION).await.json();
    assert_eq!((&answer["outcome"], &answer["mode"]), (&json!("answered"), &json!("agent")));
    let door = Plan::new().model(script()).open().await;
    let told = events(&door.post("/ask", &streamed(QUESTION)).await.text());
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["step", "step", "step", "citations", "token", "token", "done"]);
    let done = &told.last().unwrap().1;
    for field in ["answer", "outcome", "note", "citations", "sentences", "agent", "mode"] {
        assert_eq!(done[field], answer[field], "{field}");
    }
    assert_eq!(told[3].1["citations"], done["citations"]);
    let flags = |citation: &Value| {
        json!([citation["id"], citation["retrieved"], citation["referenced"], citation["used"], citation["similarity"]])
    };
    let citations: Vec<Value> = done["citations"].as_array().unwrap().iter().map(flags).collect();
    let steps: Vec<&Value> = told[..3].iter().map(|(_, step)| step).collect();
    insta::assert_json_snapshot!(json!({ "steps": steps, "citations": citations, "agent": done["agent"] }));
}

#[tokio::test]
async fn under_max_steps_two_nothing_says_three() {
    let script = Script::answering(|request| match request.tools.is_empty() {
        true => ScriptedReply::text("十四日[work_rules.md#27]。"),
        false => ScriptedReply::calls(
            request.messages.len(),
            &[("search", &format!(r#"{{"query":"事假 {}"}}"#, request.messages.len()))],
        ),
    });
    let door = Plan::new().model(script).open().await;
    let capped = QUESTION.replace('}', r#","max_steps":2}"#);
    let told = events(&door.post("/ask", &streamed(&capped)).await.text());
    let (name, done) = told.last().unwrap();
    assert_eq!((name.as_str(), &done["answer"]), ("done", &json!("十四日[work_rules.md#27]。")));
    assert_eq!((&done["stop"]["reason"], &done["stop"]["at_step"]), (&json!("steps"), &json!(2)));
    assert_eq!((&done["agent"]["steps"], &done["agent"]["stopped_at_step"]), (&json!(2), &json!(2)));
    assert!(told.iter().filter(|(name, _)| name == "step").all(|(_, step)| step["step"].as_u64().unwrap() <= 2));
}

#[tokio::test]
async fn a_key_finds_nothing_that_it_may_not_read() {
    let door = Plan::new().model(script()).open().await;
    let key = door.key(Role::Reader, Some(&["handbook.md"])).await;
    let answer = door.post_as(&key, "/ask", QUESTION).await;
    let answer = answer.json();
    let cited = answer["citations"].as_array().unwrap();
    assert!(cited.iter().all(|citation| citation["source"] == "handbook.md"), "{answer}");
    assert_eq!((&answer["outcome"], &answer["answer"]), (&json!("degraded"), &json!("十四日。不給工資。")));
}

#[tokio::test]
async fn without_a_model_the_rules_answer() {
    let door = Plan::new().open().await;
    let told = events(&door.post("/ask", &streamed(QUESTION)).await.text());
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["citations", "done"]);
    assert_eq!((&told[1].1["outcome"], &told[1].1["mode"]), (&json!("degraded"), &json!("agent")));
    assert!(!told[1].1["extract"]["sentences"].as_array().unwrap().is_empty());
}

/// Once paused, time goes on only where everything waits for it.
#[tokio::test]
async fn a_client_that_leaves_stops_its_run_within_a_quarter_of_a_second() {
    let search = ScriptedReply::calls(1, &[("search", r#"{"query":"事假"}"#)]);
    let script = Script::new([search, ScriptedReply::NeverAnswers]).with_patience(Duration::from_secs(600));
    let door = Plan::new().model(script.clone()).open().await;
    tokio::time::pause();
    let request =
        Request::post("/ask").header("content-type", "application/json").body(Body::from(streamed(QUESTION))).unwrap();
    let reply = bylaw_service::router(Arc::clone(&door.service)).oneshot(request).await.unwrap();
    let mut body = reply.into_body().into_data_stream();
    let first = body.next().await.unwrap().unwrap();
    assert!(first.starts_with(b"event: step"), "{first:?}");
    while script.requests().len() < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(body);
    let left = tokio::time::Instant::now();
    while !door.get("/metrics").await.text().contains("bylaw_upstream_cancelled_total 1") {
        assert!(left.elapsed() < Duration::from_millis(250), "the call goes on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
