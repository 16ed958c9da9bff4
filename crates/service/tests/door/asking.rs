//! `POST /ask` under keys, caps, caches and idempotency keys, over HTTP.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, http::Request};
use bylaw_contract::{Clock, MicroUsd};
use bylaw_gate::{Budget, KeyStore, Period, Role, RowFilter, RowKind, RowNumber};
use bylaw_model::scripted::{Script, ScriptedEnd, ScriptedReply};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::door::{Door, Plan, events};

const REPLY: &str = "十四日[work_rules.md#27]。";
const QUESTION: &str = r#"{"question":"事假一年最多幾天？","mode":"pipeline"}"#;

fn script() -> Script {
    Script::always(ScriptedReply::text(REPLY))
}

async fn kinds(door: &Door) -> Vec<RowKind> {
    use bylaw_gate::LedgerStore;
    assert!(door.gate.flush().await);
    let rows = door.ledger.rows(&RowFilter::default(), RowNumber(0), 100).await.unwrap();
    rows.into_iter().map(|stored| stored.row.kind).collect()
}

#[tokio::test]
async fn a_hit_is_told_like_the_first_answer_in_either_form() {
    let script = script();
    let door = Plan::new().model(script.clone()).open().await;
    let first = door.post("/ask", QUESTION).await.json();
    let second = door.post("/ask", QUESTION).await.json();
    let streamed = QUESTION.replace('}', r#","stream":true}"#);
    let told = events(&door.post("/ask", &streamed).await.text());
    assert_eq!(script.requests().len(), 1);
    assert_eq!((&second["answer"], &second["citations"]), (&first["answer"], &first["citations"]));
    assert_eq!((&first["usage"]["cached"], &second["usage"]["cached"]), (&json!(false), &json!(true)));
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["citations", "token", "done"]);
    assert_eq!((&told[1].1["text"], &told[2].1["answer"]), (&json!(REPLY), &json!(REPLY)));
    assert_eq!(kinds(&door).await, [RowKind::Spent, RowKind::Avoided, RowKind::Avoided]);
}

#[tokio::test]
async fn a_stop_by_a_cap_is_an_answer_in_either_form() {
    let door = Plan::new().model(script()).paid().open().await;
    let capped = QUESTION.replace('}', r#","max_cost":"0.000001"}"#);
    let reply = door.post("/ask", &capped).await;
    assert_eq!(reply.status, 200);
    let answer = reply.json();
    assert_eq!((&answer["outcome"], &answer["stop"]["reason"]), (&json!("stopped"), &json!("cost")));
    assert!(answer["answer"].is_null() && !answer["extract"]["sentences"].as_array().unwrap().is_empty());
    let streamed = capped.replace('}', r#","stream":true}"#);
    let told = events(&door.post("/ask", &streamed).await.text());
    let (name, last) = told.last().unwrap();
    assert_eq!((name.as_str(), &last["stop"]["reason"]), ("done", &json!("cost")));
}

/// Once paused, time goes on only where everything waits for it.
#[tokio::test]
async fn what_time_has_cut_is_told_as_a_draft() {
    let stalls = ScriptedReply::ending(["十四日"], ScriptedEnd::Stalls);
    let door = Plan::new().model(Script::always(stalls).with_patience(Duration::from_secs(600))).open().await;
    tokio::time::pause();
    let streamed = QUESTION.replace('}', r#","stream":true,"max_wall_ms":2000}"#);
    let told = events(&door.post("/ask", &streamed).await.text());
    let (name, last) = told.last().unwrap();
    assert_eq!((name.as_str(), &last["stop"]["reason"]), ("done", &json!("time")));
    assert_eq!((&last["answer"], &last["draft"]), (&Value::Null, &json!("十四日")));
    assert_eq!(kinds(&door).await, [RowKind::Estimated]);
}

#[tokio::test]
async fn caps_that_make_no_sense_are_refused_by_name() {
    let door = Plan::new().model(script()).open().await;
    for (field, named) in [
        (r#""max_cost":"-1""#, "max_cost"),
        (r#""max_cost":0.5"#, "max_cost"),
        (r#""max_cost":"0.0000001""#, "max_cost"),
        (r#""max_cost":"9999999999999""#, "max_cost"),
        (r#""max_twd":0"#, "max_twd"),
        (r#""max_wall_ms":-5"#, "max_wall_ms"),
        (r#""max_steps":0"#, "max_steps"),
        (r#""budgett":5"#, "budgett"),
    ] {
        let (status, code, message) = door.post("/ask", &QUESTION.replace('}', &format!(",{field}}}"))).await.error();
        assert_eq!((status, code.as_str()), (422, "invalid_request"), "{field}");
        assert!(message.contains(named), "{field}: {message}");
    }
    assert!(kinds(&door).await.is_empty());
}

#[tokio::test]
async fn a_keys_own_budget_stops_it_and_nobody_else() {
    let door = Plan::new().model(script()).paid().open().await;
    let poor = door.key_with(Role::Reader, None, vec![Budget { limit: MicroUsd(1), period: Period::Day }]).await;
    let rich = door.key(Role::Reader, None).await;
    let stopped = door.post_as(&poor, "/ask", QUESTION).await.json();
    assert_eq!(stopped["stop"]["reason"], "cost");
    assert!(stopped["stop"]["message"].as_str().unwrap().contains("這把金鑰"), "{stopped}");
    assert_eq!(door.post_as(&rich, "/ask", QUESTION).await.json()["outcome"], "answered");
}

#[tokio::test]
async fn the_same_idempotency_key_is_one_answer_and_another_body_a_conflict() {
    let script = script();
    let door = Plan::new().model(script.clone()).open().await;
    let json = ("content-type", "application/json");
    let send = async |key: &str, body: &str| {
        door.call(axum::http::Method::POST, "/ask", &[json, ("idempotency-key", key)], body.as_bytes().to_vec()).await
    };
    let uncached = QUESTION.replace('}', r#","use_cache":false}"#);
    let first = send("order-7", &uncached).await.json();
    let mut second = send("order-7", &uncached).await.json();
    assert_ne!(first["request_id"], second["request_id"]);
    second["request_id"] = first["request_id"].clone();
    assert_eq!((script.requests().len(), first), (1, second));
    let (status, code, _) = send("order-7", QUESTION).await.error();
    assert_eq!((status, code.as_str()), (409, "idempotency_conflict"));
    let too_long = "x".repeat(256);
    for bad in ["", "a b", too_long.as_str()] {
        assert_eq!(send(bad, QUESTION).await.error().0, 422, "{bad:?}");
    }
}

/// Once paused, time goes on only where everything waits for it.
#[tokio::test]
async fn a_key_that_is_revoked_in_mid_stream_hears_no_more() {
    let stalls = ScriptedReply::ending(["十四", "日"], ScriptedEnd::Stalls);
    let script = Script::always(stalls).with_patience(Duration::from_secs(600));
    let door = Plan::new().model(script).open().await;
    let key = door.key(Role::Reader, None).await;
    tokio::time::pause();
    let request = Request::post("/ask")
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {}", key.secret))
        .body(Body::from(QUESTION.replace('}', r#","stream":true}"#)))
        .unwrap();
    let reply = bylaw_service::router(Arc::clone(&door.service)).oneshot(request).await.unwrap();
    let mut pieces = reply.into_body().into_data_stream();
    let mut told = String::new();
    while let Some(piece) = pieces.next().await {
        told.push_str(std::str::from_utf8(&piece.unwrap()).unwrap());
        if told.contains("event: token") && !told.contains("event: error") {
            door.keys.revoke(&key.id, door.clock.now()).await.unwrap();
            door.clock.forward(Duration::from_millis(200));
        }
    }
    let told = events(&told);
    let (name, last) = told.last().unwrap();
    assert_eq!((name.as_str(), &last["code"]), ("error", &json!("invalid_key")));
    assert_eq!(last["stop"]["reason"], "cancelled");
    while door.gate.live() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(kinds(&door).await, [RowKind::Abandoned]);
}
