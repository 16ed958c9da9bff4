//! `POST /ask` under keys, caps, caches and idempotency keys, over HTTP.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, http::Request};
use bylaw_contract::{Clock, MicroUsd};
use bylaw_gate::{Budget, KeyStore, Period, Role, RowFilter, RowKind, RowNumber, ServiceBudgets};
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

#[tokio::test]
async fn a_streamed_question_is_refused_with_the_status_of_its_refusal() {
    let door = Plan::new().model(script()).open().await;
    let streamed = QUESTION.replace('}', r#","stream":true}"#);
    for (field, status) in [(r#""max_cost":"-1""#, 422), (r#""max_twd":0"#, 422), (r#""source":"none.md""#, 404)] {
        let reply = door.post("/ask", &streamed.replace('}', &format!(",{field}}}"))).await;
        assert_eq!(reply.error().0, status, "{field}");
    }
    let json = ("content-type", "application/json");
    let send = async |body: &str| {
        let headers = [json, ("idempotency-key", "order-8")];
        door.call(axum::http::Method::POST, "/ask", &headers, body.as_bytes().to_vec()).await
    };
    assert_eq!(events(&send(&streamed).await.text()).last().unwrap().0, "done");
    let other = streamed.replace("最多", "至多");
    assert_eq!(send(&other).await.error().0, 409);
}

#[tokio::test]
async fn a_repeated_request_that_a_cache_answered_is_booked_once_for_each_time() {
    let door = Plan::new().model(script()).paid().open().await;
    let json = ("content-type", "application/json");
    let send = async || {
        let headers = [json, ("idempotency-key", "order-9")];
        door.call(axum::http::Method::POST, "/ask", &headers, QUESTION.as_bytes().to_vec()).await.json()
    };
    door.post("/ask", QUESTION).await;
    assert_eq!(send().await["usage"]["cached"], true);
    assert_eq!(kinds(&door).await, [RowKind::Spent, RowKind::Avoided]);
    send().await;
    assert_eq!(kinds(&door).await, [RowKind::Spent, RowKind::Avoided, RowKind::Avoided]);
}

#[tokio::test]
async fn how_much_the_whole_service_has_left_is_not_told_to_a_reader() {
    let budgets = ServiceBudgets {
        service: vec![Budget { limit: MicroUsd(77), period: Period::Day }],
        ..ServiceBudgets::UNLIMITED
    };
    let door = Plan::new().model(script()).paid().budgets(budgets).open().await;
    let (reader, admin) = (door.key(Role::Reader, None).await, door.key(Role::Admin, None).await);
    let told = async |key| {
        let answer = door.post_as(key, "/ask", QUESTION).await.json();
        answer["stop"]["message"].as_str().unwrap().to_owned()
    };
    let (reader, admin) = (told(&reader).await, told(&admin).await);
    assert!(reader.contains("整個服務") && !reader.contains("0.002464"), "{reader}");
    assert!(admin.contains("0.002464"), "{admin}");
}

#[tokio::test]
async fn a_call_that_was_cut_because_its_caller_left_is_counted() {
    let stalls = ScriptedReply::ending(["十四"], ScriptedEnd::Stalls);
    let door = Plan::new().model(Script::always(stalls).with_patience(Duration::from_secs(600))).open().await;
    let body = Body::from(QUESTION.replace('}', r#","stream":true}"#));
    let request = Request::post("/ask").header("content-type", "application/json").body(body).unwrap();
    let reply = bylaw_service::router(Arc::clone(&door.service)).oneshot(request).await.unwrap();
    let mut pieces = reply.into_body().into_data_stream();
    pieces.next().await.unwrap().unwrap();
    drop(pieces);
    while door.gate.live() > 0 {
        tokio::task::yield_now().await;
    }
    assert!(door.get("/metrics").await.text().contains("bylaw_upstream_cancelled_total 1"));
}
