//! Errors: one sentence, with its code, the request's id and what to do.

use std::time::Duration;

use bylaw_contract::{ErrorCode, Language, SourceName, ask::StreamErrorEvent};
use bylaw_handover::{Advice, DoorError, HandoverSettings};
use serde_json::{Value, json};

use crate::support::{Called, Pipe, Reply, ScriptedDoor, refusal};

async fn failed(error: DoorError, tool: &str, arguments: Value) -> Called {
    let mut pipe = Pipe::open(ScriptedDoor::of([Reply::Fails(error)])).await;
    let called = pipe.call(tool, arguments).await;
    assert!(called.is_error);
    called
}

fn all() -> Vec<(&'static str, DoorError)> {
    vec![
        ("unreachable", DoorError::Unreachable("http://127.0.0.1:8024/: connection refused".to_owned())),
        ("foreign", DoorError::Foreign("HTTP status 200, \"<html>\" (expected value)".to_owned())),
        ("cut off", DoorError::CutOff("connection closed before message completed".to_owned())),
        ("late", DoorError::Late(Duration::from_secs(53))),
        ("full", refusal(ErrorCode::Overloaded, "too many questions are being answered; try again shortly")),
        ("key", refusal(ErrorCode::InvalidKey, "the key is not valid")),
        ("broken", refusal(ErrorCode::InternalError, "something broke")),
        ("model", refusal(ErrorCode::UpstreamTimeout, "the model did not answer")),
        ("wrong", refusal(ErrorCode::InvalidRequest, "question: empty; write the question in words")),
    ]
}

#[tokio::test]
async fn each_error_is_one_sentence_with_its_code_its_id_and_what_to_do() {
    let mut lines = Vec::new();
    for question in ["事假幾天", "How many days?"] {
        for (name, error) in all() {
            let called = failed(error, "ask", json!({ "question": question })).await;
            lines.push(format!("{name}: {}", called.text));
            let told = &called.structured["error"];
            let (code, id) = (told["code"].as_str().unwrap(), told["request_id"].as_str().unwrap());
            assert!(called.text.contains(code) && called.text.contains(id), "{}", called.text);
            assert!(["fix", "wait", "retry", "give_up"].contains(&told["advice"].as_str().unwrap()));
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn a_service_that_is_down_is_never_nothing_found() {
    for tool in ["search_rules", "ask"] {
        let argument = if tool == "ask" { "question" } else { "query" };
        for (question, expected) in [("事假幾天", "這不是查無資料"), ("How many days?", "not \"nothing found\"")]
        {
            let down = DoorError::Unreachable("http://127.0.0.1:8024/: refused".to_owned());
            let called = failed(down, tool, json!({ argument: question })).await;
            assert!(called.text.contains(expected) && called.text.contains("127.0.0.1:8024"), "{}", called.text);
        }
    }
}

#[tokio::test]
async fn the_id_is_that_under_which_the_door_was_asked() {
    let door = ScriptedDoor::of([Reply::Fails(DoorError::Unreachable("gone".to_owned()))]);
    let mut pipe = Pipe::open(door.clone()).await;
    let called = pipe.call("search_rules", json!({ "query": "事假" })).await;
    let sent = door.visits.lock().unwrap()[0].request_id.to_string();
    assert_eq!(called.structured["error"]["request_id"], sent);
}

#[tokio::test]
async fn wrong_arguments_are_told_without_asking_the_door() {
    let long = "假".repeat(501);
    let rows = [
        ("ask", json!({ "question": "事假", "mode": "magic" }), "mode"),
        ("ask", json!({ "question": "事假", "max_wall_ms": 5 }), "max_wall_ms"),
        ("ask", json!({}), "question"),
        ("ask", json!({ "question": "" }), "question: empty"),
        ("ask", json!({ "question": "？" }), "question: has no word"),
        ("ask", json!({ "question": long }), "longer than 500"),
        ("ask", json!({ "question": "a".repeat(1_000_000) }), "longer than 500"),
        ("ask", json!({ "question": "x", "mode": "m".repeat(100_000) }), "mode"),
        ("search_rules", json!({ "query": "  " }), "query: empty"),
        ("search_rules", json!({ "query": "事假", "k": "five" }), "k"),
        ("search_rules", json!({ "query": 7 }), "query"),
        ("read_article", json!({ "source": "a.md" }), "article"),
    ];
    let door = ScriptedDoor::of([]);
    let mut pipe = Pipe::open(door.clone()).await;
    for (tool, arguments, expected) in rows {
        let called = pipe.call(tool, arguments).await;
        assert!(called.is_error && called.text.contains(expected), "{expected}: {}", called.text);
        assert_eq!(called.structured["error"]["code"], "invalid_request");
        assert_eq!(called.structured["error"]["advice"], "fix");
        assert!(called.text.contains("request_id=") && called.text.chars().count() < 1200, "{}", called.text);
    }
    assert_eq!(door.asked(), Vec::<String>::new());
}

fn sources() -> Value {
    let source = |name: &str| {
        json!({
            "source": name, "title": null, "chunks": 2, "articles": ["40", "41"], "structure": "articles",
            "version": "0".repeat(64), "ingested_at": 0,
        })
    };
    json!([source("salary.md"), source("work_rules.md")])
}

#[tokio::test]
async fn a_wrong_name_is_answered_with_those_that_there_are() {
    let rows = [(ErrorCode::SourceNotFound, "salary.md, work_rules.md"), (ErrorCode::ArticleNotFound, "40, 41")];
    for (code, expected) in rows {
        let door = ScriptedDoor::of([Reply::Fails(refusal(code, "there is none")), Reply::Gives(sources())]);
        let mut pipe = Pipe::open(door).await;
        let called = pipe.call("read_article", json!({ "source": "work_rules.md", "article": "9" })).await;
        assert!(called.is_error && called.text.contains(expected), "{}", called.text);
    }
}

#[tokio::test]
async fn what_the_operator_does_not_show_does_not_exist() {
    let settings =
        HandoverSettings { source: Some(SourceName::new("work_rules.md").unwrap()), ..HandoverSettings::default() };
    let door = ScriptedDoor::of([Reply::Gives(sources()), Reply::Gives(sources())]);
    let mut pipe = Pipe::open_with(door.clone(), settings).await;
    let called = pipe.call("read_article", json!({ "source": "salary.md", "article": "40" })).await;
    assert!(called.is_error && called.text.contains("source_not_found"), "{}", called.text);
    assert!(!called.text.contains("salary.md,") && called.text.contains("有的是：work_rules.md"), "{}", called.text);
    let listed = pipe.request("resources/list", json!({})).await["result"]["resources"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    for uri in ["rules://salary.md", "rules://salary.md/40"] {
        let read = pipe.request("resources/read", json!({ "uri": uri })).await;
        assert!(read["error"]["message"].as_str().unwrap().contains("there is no resource"), "{read}");
    }
    assert_eq!(door.asked(), ["sources", "sources"], "nothing of it was asked for");
}

#[tokio::test]
async fn an_answer_that_broke_off_leaves_nobody_with_empty_hands() {
    let event: StreamErrorEvent = serde_json::from_value(json!({
        "code": "upstream_incomplete", "message": "the model's reply ended early", "partial_answer": "住宿", "sent_chars": 2,
        "request_id": "req-of-the-service", "stop": { "reason": "upstream_incomplete", "at_step": 0, "message": "m" },
        "extract": { "sentences": [{ "id": "work_rules.md#40", "span": { "start": 0, "end": 3 }, "text": "住宿費每日上限新臺幣 2,400 元。" }] },
    }))
    .unwrap();
    let called = failed(DoorError::Broken(Box::new(event)), "ask", json!({ "question": "住宿費" })).await;
    assert!(called.text.contains("這不代表規章沒有規定") && called.text.contains("2,400"), "{}", called.text);
    assert_eq!(called.structured["error"]["advice"], "retry");
}

#[test]
fn every_code_has_advice_and_every_advice_its_words() {
    for code in ErrorCode::ALL {
        let advice = Advice::about(*code);
        assert!(!advice.sentence(Language::English).is_empty());
    }
    let words = |language| Advice::ALL.map(|advice| advice.sentence(language));
    let mut all = [words(Language::TraditionalChinese), words(Language::English)].concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 8);
    assert_eq!(Advice::about(ErrorCode::ServiceUnreachable), Advice::Wait);
    assert_eq!(Advice::about(ErrorCode::InvalidKey), Advice::GiveUp);
}
