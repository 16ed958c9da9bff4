//! `/v1`, as programs that speak to OpenAI call it.

use std::{fmt::Write, sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{Method, Request},
};
use bylaw_answer::Ceilings;
use bylaw_contract::MicroUsd;
use bylaw_gate::{Budget, Period, Role};
use bylaw_model::scripted::{Script, ScriptedEnd, ScriptedReply};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::{
    door::{Door, Plan, Reply, shape},
    streaming::Faulty,
};

const CHAT: &str = "/v1/chat/completions";
const QUESTION: &str = "事假一年最多幾天？";
const REPLY: &str = "事假一年合計不得超過十四日[work_rules.md#27]，不給工資[work_rules.md#27]。";

fn asked(model: &str, question: &str, stream: bool) -> Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": question }], "stream": stream })
}

async fn chat(door: &Door, body: &Value) -> Reply {
    let headers = [("content-type", "application/json"), ("host", "localhost:8024")];
    door.call(Method::POST, CHAT, &headers, body.to_string().into_bytes()).await
}

/// The pieces of a stream, whose end is checked on the way.
fn chunks(reply: &Reply) -> Vec<Value> {
    assert_eq!((reply.status.as_u16(), reply.header("content-type")), (200, Some("text/event-stream")));
    let text = reply.text();
    let data = text.split_terminator("\n\n").filter(|block| !block.starts_with(':'));
    let mut data: Vec<&str> = data.map(|block| block.strip_prefix("data: ").unwrap()).collect();
    assert_eq!(data.pop(), Some("[DONE]"), "{text}");
    data.into_iter().map(|json| serde_json::from_str(json).unwrap()).collect()
}

fn content(completion: &Value) -> String {
    completion["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{completion}")).to_owned()
}

fn joined(chunks: &[Value]) -> String {
    chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect()
}

/// Content, finish reason and stop of both forms, which must be the same.
async fn told(door: &Door, model: &str, question: &str) -> (String, String, Value) {
    let whole = chat(door, &asked(model, question, false)).await;
    assert_eq!(whole.status, 200, "{}", whole.text());
    let whole = whole.json();
    let pieces = chunks(&chat(door, &asked(model, question, true)).await);
    let last = pieces.last().unwrap();
    let finish = &whole["choices"][0]["finish_reason"];
    assert_eq!(joined(&pieces), content(&whole), "{question}");
    assert_eq!(last["choices"][0]["finish_reason"], *finish);
    for field in ["outcome", "note", "citations", "extract", "stop", "messages_not_used", "notice"] {
        assert_eq!(last["bylaw"][field], whole["bylaw"][field], "{question} {field}");
    }
    (content(&whole), finish.as_str().unwrap().to_owned(), whole["bylaw"]["stop"]["reason"].clone())
}

fn script() -> Script {
    Script::always(ScriptedReply::text(REPLY))
}

#[tokio::test]
async fn the_models_are_the_modes_that_can_be_asked() {
    let names = |list: Value| -> Vec<String> {
        list["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap().to_owned()).collect()
    };
    let door = Plan::new().model(script()).open().await;
    let list = door.get("/v1/models").await.json();
    insta::assert_json_snapshot!(list);
    let alone = Plan::new().without_documents().open().await.get("/v1/models").await.json();
    assert_eq!(names(alone), ["bylaw-auto", "bylaw-extract"]);
}

#[tokio::test]
async fn an_answer_has_the_shape_of_a_chat_completion() {
    let door = Plan::new().model(script()).open().await;
    let mut completion = chat(&door, &asked("bylaw-pipeline", QUESTION, false)).await.json();
    let answer = door.post("/ask", &format!(r#"{{"question":"{QUESTION}","mode":"pipeline"}}"#)).await.json();
    let beside = completion["bylaw"].take();
    insta::assert_json_snapshot!(completion);
    for (field, value) in answer.as_object().unwrap() {
        // What was asked again was remembered.
        if !["request_id", "run_id", "timing", "usage"].contains(&field.as_str()) {
            assert_eq!(beside[field], *value, "{field}");
        }
    }
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let mut expected = names(&answer);
    expected.extend(["messages_not_used".to_owned(), "notice".to_owned()]);
    expected.sort_unstable();
    assert_eq!(names(&beside), expected);
}

#[tokio::test]
async fn a_stream_has_the_shape_of_chat_completion_chunks() {
    let door = Plan::new()
        .model(Script::always(ScriptedReply::pieces(["十四日", "[work_rules", ".md#27]", "。"])))
        .open()
        .await;
    let mut body = asked("bylaw-pipeline", QUESTION, true);
    let mut without: Vec<Value> = chunks(&chat(&door, &body).await);
    body["stream_options"] = json!({ "include_usage": true });
    let mut with: Vec<Value> = chunks(&chat(&door, &body).await);
    for chunk in without.iter_mut().chain(&mut with) {
        if let Some(beside) = chunk.get_mut("bylaw") {
            *beside = shape(beside)["outcome"].take();
        }
    }
    insta::assert_json_snapshot!(json!({ "without usage": without, "with usage": with }));
}

/// Everything that an answer can be, in either form.
#[tokio::test]
async fn what_is_said_is_the_same_in_either_form_and_says_what_it_is() {
    let door = Plan::new().open().await;
    let mut text = String::new();
    for question in [QUESTION, "公司有健身房嗎", "May I work remotely?", "Is there a gym?", "zxqv", "第 26 條之 1"]
    {
        let (content, finish, stop) = told(&door, "bylaw-extract", question).await;
        assert_eq!((finish.as_str(), stop), ("stop", Value::Null), "{question}");
        writeln!(text, "{question}\n---\n{content}\n").unwrap();
    }
    let (content, ..) = told(&door, "bylaw-pipeline", QUESTION).await;
    writeln!(text, "{QUESTION} (without a model)\n---\n{content}\n").unwrap();
    let (content, ..) = told(&Plan::new().model(script()).open().await, "bylaw-pipeline", QUESTION).await;
    writeln!(text, "{QUESTION} (by a model)\n---\n{content}").unwrap();
    insta::assert_snapshot!(text);
}

#[tokio::test]
async fn what_was_retrieved_is_never_called_grounds() {
    let door = Plan::new().open().await;
    for question in ["公司有健身房嗎", "Is there a gym?", "zxqv"] {
        let (content, ..) = told(&door, "bylaw-auto", question).await;
        for word in ["根據", "依據", "引用的條文", "based on", "Cited"] {
            assert!(!content.contains(word), "{content}");
        }
    }
}

/// Searches as long as it may, and then answers.
fn searching() -> Script {
    Script::answering(|request| match request.tools.is_empty() {
        true => ScriptedReply::text(REPLY),
        false => {
            let query = format!(r#"{{"query":"事假 {}"}}"#, request.messages.len());
            ScriptedReply::calls(request.messages.len(), &[("search", &query)])
        }
    })
}

#[tokio::test]
async fn a_stop_by_steps_is_a_sentence_and_the_length() {
    let door = Plan::new().model(searching()).ceilings(Ceilings { max_steps: 2, ..Ceilings::default() }).open().await;
    let (content, finish, stop) = told(&door, "bylaw-agent", QUESTION).await;
    assert_eq!((finish.as_str(), stop), ("length", json!("steps")));
    assert!(content.starts_with("事假一年合計不得超過十四日[1]，不給工資[1]。\n\n步驟上限到了"), "{content}");
}

#[tokio::test]
async fn a_stop_by_cost_is_a_sentence_and_no_error() {
    let ceilings = Ceilings { max_cost: Some(MicroUsd(1)), ..Ceilings::default() };
    let door = Plan::new().model(script()).paid().ceilings(ceilings).open().await;
    let (content, finish, stop) = told(&door, "bylaw-pipeline", QUESTION).await;
    assert_eq!((finish.as_str(), stop), ("length", json!("cost")));
    assert!(content.starts_with("沒有呼叫模型：這個問題的預算是"), "{content}");
    assert!(content.contains("不代表規章沒有規定") && content.contains("> "), "{content}");
    let (content, ..) = told(&door, "bylaw-pipeline", "May I work remotely?").await;
    assert!(content.starts_with("No model was called") && content.contains("does not mean"), "{content}");
}

#[tokio::test]
async fn a_key_whose_budget_is_used_up_hears_so() {
    let door = Plan::new().model(script()).paid().open().await;
    let budget = Budget { limit: MicroUsd(1), period: Period::Day };
    let key = door.key_with(Role::Reader, None, vec![budget]).await;
    let reply = door.post_as(&key, CHAT, &asked("bylaw-pipeline", QUESTION, false).to_string()).await;
    assert_eq!(reply.status, 200);
    let completion = reply.json();
    assert_eq!(completion["bylaw"]["stop"]["reason"], "cost");
    assert!(content(&completion).contains("這把金鑰的每日預算"), "{}", content(&completion));
    assert_eq!(completion["usage"]["total_tokens"], 0);
}

/// Once paused, time goes on only where everything waits for it.
#[tokio::test]
async fn a_stop_by_time_is_a_sentence_with_what_there_is() {
    let script = Script::always(ScriptedReply::ending(
        ["事假一年合計不得超過十四日[work_rules.md#27]。", "另"],
        ScriptedEnd::Stalls,
    ));
    let ceilings = Ceilings { max_wall: Duration::from_secs(2), ..Ceilings::default() };
    let door = Plan::new().model(script.with_patience(Duration::from_secs(600))).ceilings(ceilings).open().await;
    tokio::time::pause();
    let (content, finish, stop) = told(&door, "bylaw-pipeline", QUESTION).await;
    assert_eq!((finish.as_str(), stop), ("length", json!("time")));
    assert!(content.starts_with("事假一年合計不得超過十四日[1]。"), "{content}");
    assert!(content.contains("時間上限到了") && content.contains("不代表規章沒有規定"), "{content}");
}

/// `/ask` ends such a stream in an error, with the extract in it. Clients here would show the error alone.
#[tokio::test]
async fn a_reply_that_breaks_off_leaves_nobody_empty_handed() {
    for pieces in [vec![], vec!["事假一年合計不得超過", "十四日[work_rules.md#27]。", "另外"]] {
        let script = Script::always(ScriptedReply::ending(pieces.clone(), ScriptedEnd::Cut));
        let door = Plan::new().model(script).open().await;
        let (content, finish, stop) = told(&door, "bylaw-pipeline", QUESTION).await;
        assert_eq!((finish.as_str(), stop), ("length", json!("upstream_incomplete")), "{content}");
        assert!(content.contains("中途斷線") && content.contains("不代表規章沒有規定"), "{content}");
        assert!(content.contains("> 事假一年合計不得超過十四日"), "{content}");
    }
}

/// What leaves nothing to tell is raised by clients as an error is.
#[tokio::test]
async fn a_fault_inside_is_an_error_in_either_form() {
    let door = Plan::new().answers(Arc::new(Faulty)).open().await;
    let ask = async |stream: bool| {
        let headers = [("content-type", "application/json"), ("idempotency-key", "one")];
        door.call(Method::POST, CHAT, &headers, asked("bylaw-auto", QUESTION, stream).to_string().into_bytes()).await
    };
    let whole = ask(false).await;
    assert!(refused(&whole).starts_with("500 server_error internal_error -: "));
    let streamed = ask(true).await;
    let pieces = chunks(&streamed);
    let [error] = &pieces[..] else { panic!("{pieces:?}") };
    let error = &error["error"];
    assert_eq!((&error["type"], &error["code"]), (&json!("server_error"), &json!("internal_error")));
    assert_eq!(error["request_id"].as_str(), streamed.header("x-request-id"));
    assert!(!streamed.text().contains("fault"), "{}", streamed.text());
}

/// Every refusal, in OpenAI's shape.
#[tokio::test]
async fn every_refusal_has_openais_shape_and_names_the_field() {
    let door = Plan::new().settings(|settings| settings.json_limit_bytes = 1_024).open().await;
    let user = |content: Value| json!([{ "role": "user", "content": content }]);
    let ask = |field: &str, value: Value| {
        let mut body = asked("bylaw-auto", QUESTION, false);
        body[field] = value;
        body.to_string()
    };
    let say = |content: Value| ask("messages", user(content));
    let image = json!([{ "type": "text", "text": "?" }, { "type": "image_url", "image_url": { "url": "data:," } }]);
    let bodies = [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        ask("model", json!("gpt-4o")),
        ask("model", json!(null)),
        ask("model", json!(3)),
        ask("messages", json!([])),
        ask("messages", json!("hello")),
        ask("messages", json!(["hello"])),
        ask("messages", json!([["user", "hello"]])),
        ask("messages", json!([{ "role": "system", "content": "hello" }])),
        ask("messages", json!([{ "content": "hello" }])),
        ask("messages", json!([{ "role": "user" }])),
        say(json!(null)),
        say(json!(3)),
        say(json!("")),
        say(json!(" 　")),
        say(json!("？")),
        say(json!([])),
        say(json!("a\u{0}")),
        say(json!("假".repeat(501))),
        say(json!(["text"])),
        say(json!([{ "text": "a" }])),
        say(json!([{ "type": "text" }])),
        say(image),
        say(json!([{ "type": "input_audio", "input_audio": {} }])),
        ask("tools", json!([{ "type": "function" }])),
        ask("tools", json!({})),
        ask("functions", json!([{ "name": "f" }])),
        ask("n", json!(2)),
        ask("n", json!(0)),
        ask("n", json!("1")),
        ask("stream", json!("yes")),
        ask("stream_options", json!(true)),
        ask("anything", json!("a".repeat(20_000))),
    ];
    let mut table = String::new();
    for body in bodies {
        let json = [("content-type", "application/json")];
        let reply = door.call(Method::POST, CHAT, &json, body.clone().into_bytes()).await;
        let shown: String = body.chars().take(120).collect();
        writeln!(table, "{shown}\n  {}", refused(&reply)).unwrap();
    }
    let json = ("content-type", "application/json");
    for (method, path, headers) in [
        (Method::POST, CHAT, vec![("content-type", "text/plain")]),
        (Method::POST, CHAT, vec![json, ("origin", "https://evil.test"), ("host", "localhost")]),
        (Method::POST, CHAT, vec![json, ("host", "evil.test")]),
        (Method::GET, CHAT, vec![]),
        (Method::POST, "/v1/models", vec![]),
        (Method::POST, "/v1/embeddings", vec![json]),
        (Method::GET, "/v1", vec![]),
        (Method::GET, "/v1/models", vec![("authorization", "Bearer sk-nonsense")]),
    ] {
        let reply = door.call(method.clone(), path, &headers, b"{}".to_vec()).await;
        writeln!(table, "{method} {path} {headers:?}\n  {}", refused(&reply)).unwrap();
    }
    door.key(Role::Reader, None).await;
    writeln!(table, "without a key\n  {}", refused(&chat(&door, &asked("bylaw-auto", QUESTION, true)).await)).unwrap();
    insta::assert_snapshot!(table);
}

/// Status, type, param, code and message, whose shape is checked on the way.
fn refused(reply: &Reply) -> String {
    let body = reply.json();
    let error = &body["error"];
    assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
    assert_eq!(error["request_id"].as_str(), reply.header("x-request-id"), "{body}");
    for field in ["type", "code", "message"] {
        assert!(error[field].is_string(), "{field} in {body}");
    }
    assert!(error.as_object().unwrap().contains_key("param"), "{body}");
    let text = |name: &str| error[name].as_str().unwrap_or("-").to_owned();
    let [kind, param, code, message] = ["type", "param", "code", "message"].map(text);
    format!("{} {kind} {code} {param}: {message}", reply.status.as_u16())
}

#[tokio::test]
async fn a_conversation_may_be_long_though_its_question_may_not() {
    let door = Plan::new().open().await;
    let mut body = asked("bylaw-extract", QUESTION, false);
    let before = json!({ "role": "assistant", "content": "長".repeat(100_000) });
    body["messages"].as_array_mut().unwrap().insert(0, before);
    let completion = chat(&door, &body).await.json();
    assert_eq!(completion["bylaw"]["messages_not_used"], 1, "{completion}");
    assert!(completion["bylaw"]["notice"].as_str().unwrap().contains("最後一則訊息"));
}

#[tokio::test]
async fn a_key_is_told_nothing_that_it_may_not_read() {
    let door = Plan::new().model(script()).open().await;
    let key = door.key(Role::Reader, Some(&["handbook.md"])).await;
    for stream in [false, true] {
        for model in ["bylaw-extract", "bylaw-pipeline"] {
            let reply = door.post_as(&key, CHAT, &asked(model, QUESTION, stream).to_string()).await;
            assert_eq!(reply.status, 200);
            assert!(!reply.text().contains("work_rules"), "{}", reply.text());
        }
    }
}

/// What is asked here is asked at `/ask`: one call for both, and both on the books.
#[tokio::test]
async fn a_question_that_was_answered_at_ask_is_not_paid_for_again() {
    let script = script();
    let door = Plan::new().model(script.clone()).paid().open().await;
    let first = door.post("/ask", &format!(r#"{{"question":"{QUESTION}","mode":"pipeline"}}"#)).await.json();
    let second = chat(&door, &asked("bylaw-pipeline", QUESTION, false)).await.json();
    assert_eq!(script.requests().len(), 1);
    assert_eq!((&second["bylaw"]["run_id"], &second["bylaw"]["usage"]["cached"]), (&first["run_id"], &json!(true)));
    assert!(door.gate.flush().await);
    assert_eq!(door.get("/usage").await.json()["total"]["cache_hits"], 1);
}

#[tokio::test]
async fn a_full_service_says_so_in_openais_shape() {
    let door = Plan::new().settings(|settings| settings.concurrent_asks = 0).open().await;
    let reply = chat(&door, &asked("bylaw-auto", QUESTION, false)).await;
    assert_eq!((reply.status.as_u16(), reply.header("retry-after")), (503, Some("1")));
    assert!(refused(&reply).starts_with("503 server_error overloaded -: "));
}

/// Once paused, time goes on only where everything waits for it.
#[tokio::test]
async fn a_client_that_leaves_stops_its_run_in_either_form() {
    for stream in [true, false] {
        let script = Script::always(ScriptedReply::NeverAnswers).with_patience(Duration::from_secs(600));
        let door = Plan::new().model(script.clone()).open().await;
        tokio::time::pause();
        let body = Body::from(asked("bylaw-pipeline", QUESTION, stream).to_string());
        let request = Request::post(CHAT).header("content-type", "application/json").body(body).unwrap();
        let asking = bylaw_service::router(Arc::clone(&door.service)).oneshot(request);
        let asking = tokio::spawn(async move {
            let mut pieces = asking.await.unwrap().into_body().into_data_stream();
            while pieces.next().await.is_some() {}
        });
        while script.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        asking.abort();
        let left = tokio::time::Instant::now();
        while !door.get("/metrics").await.text().contains("bylaw_upstream_cancelled_total 1") {
            assert!(left.elapsed() < Duration::from_millis(250), "the call goes on");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::resume();
    }
}
