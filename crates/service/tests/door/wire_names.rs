//! The names that clients of the earlier service rely on.

use serde_json::Value;

use crate::door::{Plan, events};

fn has(value: &Value, names: &[&str]) {
    for name in names {
        assert!(value.get(name).is_some(), "{name} is missing in {value}");
    }
}

const CITATION: [&str; 5] = ["article_no", "title", "similarity", "text", "source"];
const USAGE: [&str; 6] = ["embedding_tokens", "input_tokens", "output_tokens", "cached", "cost_twd", "avoided_twd"];
const TIMING: [&str; 6] = ["embed_ms", "retrieve_ms", "llm_ms", "serialize_ms", "total_ms", "overhead_ms"];

#[tokio::test]
async fn an_answer_has_its_published_fields() {
    let door = Plan::new().open().await;
    let everything = r#"{"question":"事假幾天","k":3,"use_cache":true,"mode":"pipeline","self_check":false,
        "source":"work_rules.md","chapter_no":2,"max_steps":4,"max_twd":0.5,"max_wall_ms":20000,"stream":false}"#;
    let answer = door.post("/ask?retriever=lexical", everything).await.json();
    has(&answer, &["answer", "citations", "usage", "timing", "retriever", "mode", "agent"]);
    has(&answer["citations"][0], &CITATION);
    has(&answer["usage"], &USAGE);
    has(&answer["timing"], &TIMING);
    assert!(answer["agent"].is_null());
    assert_eq!(answer["citations"][0]["similarity"], 0.0);
}

#[tokio::test]
async fn a_stream_has_its_published_events() {
    let door = Plan::new().open().await;
    let reply = door.post("/ask", r#"{"question":"事假幾天","stream":true}"#).await;
    for (name, data) in events(&reply.text()) {
        match name.as_str() {
            "citations" => {
                has(&data, &["citations", "elapsed_ms"]);
                has(&data["citations"][0], &CITATION);
            }
            "token" => has(&data, &["text"]),
            "done" => has(&data, &["answer", "usage", "timing", "first_token_ms", "retriever"]),
            other => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn the_other_replies_have_their_published_fields() {
    let door = Plan::new().open().await;
    let search = door.post("/search", r#"{"question":"事假"}"#).await.json();
    has(&search, &["hits", "retriever", "k", "filtered", "embedding_tokens", "elapsed_ms"]);
    has(&search["hits"][0], &CITATION);
    has(&door.get("/sources").await.json()[0], &["source", "chunks", "articles"]);
    let health = door.get("/healthz").await.json();
    has(&health, &["version", "ready", "chunks", "boot_ms", "retrievers", "default_retriever"]);
    let deleted = door.call(axum::http::Method::DELETE, "/sources/handbook.md", &[], Vec::new()).await;
    has(&deleted.json(), &["source", "removed", "chunks_left"]);
}
