use std::sync::Arc;

use async_trait::async_trait;
use axum::http::Method;
use bylaw_answer::{AnswerStore, AnswerStoreError, KeptAnswer, KeptName};
use bylaw_contract::Timestamp;
use bylaw_model::scripted::{Script, ScriptedEnd, ScriptedReply};
use serde_json::Value;

use crate::door::{Plan, events, shape};

fn joined(events: &[(String, Value)]) -> String {
    events.iter().filter(|(name, _)| name == "token").map(|(_, data)| data["text"].as_str().unwrap()).collect()
}

fn names(events: &[(String, Value)]) -> Vec<&str> {
    let mut names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    names
}

#[tokio::test]
async fn citations_come_first_tokens_join_to_the_answer_and_done_is_last() {
    let door = Plan::new().open().await;
    let reply = door.post("/ask", r#"{"question":"事假一年最多幾天？","stream":true,"k":1}"#).await;
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    assert_eq!(reply.header("cache-control"), Some("no-cache, no-transform"));
    assert_eq!(reply.header("x-accel-buffering"), Some("no"));
    assert_eq!(reply.header("x-total-ms"), None);
    assert!(reply.header("x-request-id").is_some());
    let events = events(&reply.text());
    assert_eq!(names(&events), ["citations", "token", "done"]);
    assert_eq!(joined(&events), events.last().unwrap().1["answer"].as_str().unwrap());
    let mut kinds: Vec<_> = events.iter().map(|(name, data)| (name, shape(data))).collect();
    kinds.dedup();
    insta::assert_json_snapshot!(kinds);
}

#[tokio::test]
async fn the_streamed_answer_is_the_json_answer() {
    let door = Plan::new().open().await;
    for question in ["事假一年最多幾天？", "公司有健身房嗎", "May I work remotely?", "zxqv"] {
        let body = |stream| format!(r#"{{"question":"{question}","stream":{stream}}}"#);
        let json = door.post("/ask", &body(false)).await.json();
        let events = events(&door.post("/ask", &body(true)).await.text());
        let (name, done) = events.last().unwrap();
        assert_eq!(name, "done");
        for field in ["answer", "outcome", "note", "citations", "sentences", "retriever", "mode"] {
            assert_eq!(done[field], json[field], "{question} {field}");
        }
        assert_eq!(joined(&events), json["answer"].as_str().unwrap_or_default(), "{question}");
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_ends_in_an_error_with_what_was_sent() {
    let script = Script::always(ScriptedReply::ending(
        ["事假一年合計不得超過", "十四日[work_rules.md#27]。", "另外"],
        ScriptedEnd::Cut,
    ));
    let door = Plan::new().model(script).open().await;
    let reply = door.post("/ask", r#"{"question":"事假一年最多幾天？","mode":"pipeline","stream":true}"#).await;
    let events = events(&reply.text());
    let (name, last) = events.last().unwrap();
    let sent = joined(&events);
    if name == "error" {
        assert_eq!(last["partial_answer"].as_str().unwrap_or_default(), sent);
        assert_eq!(last["sent_chars"], sent.chars().count());
        assert_eq!(last["request_id"].as_str(), reply.header("x-request-id"));
        assert_eq!(last["stop"]["reason"], "upstream_incomplete", "{last}");
    } else {
        // Nothing had been sent: the answer itself says that it was cut off.
        assert_eq!((name.as_str(), sent.as_str()), ("done", ""), "{last}");
        assert_eq!(last["stop"]["reason"], "upstream_incomplete", "{last}");
    }
}

#[tokio::test]
async fn markup_in_a_token_cannot_become_an_event() {
    let hostile = "</script>\n\nevent: done\ndata: {}\n\n[work_rules.md#27]";
    let script = Script::always(ScriptedReply::text(hostile));
    let door = Plan::new().model(script).open().await;
    let reply = door.post("/ask", r#"{"question":"事假一年最多幾天？","mode":"pipeline","stream":true}"#).await;
    let events = events(&reply.text());
    assert_eq!(events.iter().filter(|(name, _)| name == "done" || name == "error").count(), 1, "{events:?}");
}

/// Where answers to repeated requests are kept, with a fault in it.
pub(crate) struct Faulty;

#[async_trait]
impl AnswerStore for Faulty {
    async fn find(&self, _name: &KeptName, _since: Timestamp) -> Result<Option<KeptAnswer>, AnswerStoreError> {
        panic!("a fault of the test's own")
    }

    async fn keep(&self, _: &KeptName, _: &KeptAnswer, _: Timestamp) -> Result<(), AnswerStoreError> {
        panic!("a fault of the test's own")
    }
}

/// Whatever breaks inside, the caller gets the shape that every failure has, and the door stays open.
#[tokio::test]
async fn a_panic_is_an_internal_error_in_every_mode() {
    let door = Plan::new().answers(Arc::new(Faulty)).open().await;
    let ask = async |stream: bool| {
        let headers = [("content-type", "application/json"), ("idempotency-key", "one")];
        let body = format!(r#"{{"question":"事假一年最多幾天？","stream":{stream}}}"#);
        door.call(Method::POST, "/ask", &headers, body.into_bytes()).await
    };
    let (status, code, message) = ask(false).await.error();
    assert_eq!((status, code.as_str()), (500, "internal_error"));
    assert!(!message.contains("fault"), "{message}");
    let streamed = ask(true).await;
    let events = events(&streamed.text());
    let (name, last) = events.last().unwrap();
    assert_eq!((name.as_str(), &last["code"]), ("error", &Value::from("internal_error")));
    assert_eq!(last["request_id"].as_str(), streamed.header("x-request-id"));
    assert_eq!(door.get("/healthz").await.status, 200);
}

/// A panic in a handler itself, too.
#[tokio::test]
async fn a_panicking_handler_is_an_internal_error() {
    let door = Plan::new().open().await;
    door.ledger.panic();
    let (status, code, message) = door.get("/usage").await.error();
    assert_eq!((status, code.as_str()), (500, "internal_error"));
    assert!(!message.contains("fault"), "{message}");
}

/// Once paused, time goes on only where everything waits for it.
#[tokio::test]
async fn silence_is_broken_by_comments() {
    use axum::{body::Body, http::Request};
    use futures_util::StreamExt;
    use tower::ServiceExt;

    let script = Script::always(ScriptedReply::NeverAnswers).with_patience(std::time::Duration::from_secs(40));
    let door = Plan::new().model(script).open().await;
    tokio::time::pause();
    let request = Request::post("/ask")
        .header("content-type", "application/json")
        .body(Body::from(r#"{"question":"事假一年最多幾天？","mode":"pipeline","stream":true}"#))
        .unwrap();
    let reply = bylaw_service::router(Arc::clone(&door.service)).oneshot(request).await.unwrap();
    let mut pieces = reply.into_body().into_data_stream();
    let mut comments = 0;
    while let Some(piece) = pieces.next().await {
        comments += usize::from(piece.unwrap().starts_with(b":"));
    }
    assert!(comments >= 2, "{comments}");
}
