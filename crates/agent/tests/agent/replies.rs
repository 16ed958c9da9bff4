//! Replies of every kind: cut off, empty, with a wrong finish reason, streamed in odd pieces.

use std::{sync::Arc, time::Duration};

use bylaw_agent::{Agent, Limits};
use bylaw_contract::TokenUsage;
use bylaw_model::{
    Connection, FinishReason, Retries, Role, ToolCallRequest,
    scripted::{Script, ScriptedEnd, ScriptedReply},
};

use crate::support::{Highest, Ran, agent, calls, run, says, search, setup, update};

const GOOD: &str = r#"{"leave_id":"LV-1","status":"submitted"}"#;

fn finishing(reason: &str, arguments: &str, id: &str) -> ScriptedReply {
    let (name, arguments) = ("update_leave_status".to_owned(), arguments.to_owned());
    let calls = vec![ToolCallRequest { id: id.to_owned(), name, arguments }];
    ScriptedReply::ToolCalls { text: String::new(), reasoning: None, calls, finish_reason: reason.to_owned() }
}

#[tokio::test]
async fn calls_of_a_reply_that_was_cut_off_are_not_made_however_whole_they_look() {
    let tool = update();
    let ran = run(&agent([tool.clone()]).await, [finishing("length", GOOD, "c1"), says("DONE")]).await;
    assert_eq!((ran.answer(), tool.calls().len(), ran.end.tool_calls), ("DONE", 0, 0));
    assert!(ran.results()[0].contains("cut off") && ran.results()[0].contains("again"), "{}", ran.results()[0]);
}

#[tokio::test]
async fn replies_that_are_cut_off_again_and_again_end_the_run() {
    let cut = (0..9).map(|n| finishing("length", "{\"leave_id\":\"LV", &format!("c{n}")));
    let ran = run(&agent([update()]).await, cut).await;
    assert_eq!((ran.reason().as_str(), ran.end.steps, ran.results().len()), ("upstream_incomplete", 4, 4));
}

#[tokio::test]
async fn calls_that_used_all_tokens_were_cut_off_whatever_the_reply_says() {
    let body = r#"{"choices":[{"message":{"tool_calls":[{"id":"c1","function":{"name":"update_leave_status","arguments":"{\"leave_id\":\"LV-1\",\"status\":\"draft\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":2048}}"#;
    let tool = update();
    let ran = run(&agent([tool.clone()]).await, [ScriptedReply::Raw(body.to_owned()), says("DONE")]).await;
    assert_eq!((ran.answer(), tool.calls().len()), ("DONE", 0));
}

#[tokio::test]
async fn calls_decide_and_not_the_finish_reason() {
    for reason in ["stop", "function_call", "tool_use", ""] {
        let tool = update();
        let ran = run(&agent([tool.clone()]).await, [finishing(reason, GOOD, "c1"), says("DONE")]).await;
        assert_eq!((ran.answer(), tool.calls().len()), ("DONE", 1), "{reason:?}");
    }
}

fn empty() -> ScriptedReply {
    ScriptedReply::Raw(r#"{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}"#.to_owned())
}

#[tokio::test]
async fn an_empty_answer_is_asked_for_once_more_and_then_the_run_has_failed() {
    let tool = search();
    let call = || calls("a", &[("search_leaves", "{\"keyword\":\"k\"}")]);
    let ran = run(&agent([tool.clone()]).await, [call(), empty(), says("DONE")]).await;
    assert_eq!((ran.answer(), ran.reason().as_str(), tool.calls().len()), ("DONE", "completed", 1));
    let ran = run(&agent([tool.clone()]).await, [call(), empty(), empty()]).await;
    assert_eq!((ran.answer(), ran.reason().as_str(), ran.end.code), ("(none)", "failed", Some("empty_answer")));
}

#[tokio::test]
async fn what_a_model_thought_goes_back_to_it_as_it_was() {
    let thinking = ScriptedReply::ToolCalls {
        text: String::new(),
        reasoning: Some("think-42".to_owned()),
        calls: vec![ToolCallRequest {
            id: "c1".to_owned(),
            name: "search_leaves".to_owned(),
            arguments: "{\"keyword\":\"k\"}".to_owned(),
        }],
        finish_reason: "tool_calls".to_owned(),
    };
    let ran = run(&agent([search()]).await, [thinking, says("DONE")]).await;
    let sent = serde_json::to_string(&ran.script.requests()[1].messages).unwrap();
    assert!(sent.contains("think-42"), "{sent}");
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_reply_at_the_output_limit() {
    let mut conversation = Default::default();
    let usage = Some(TokenUsage { input_tokens: 9, output_tokens: 9, ..TokenUsage::default() });
    let end = ScriptedEnd::Finished { finish_reason: FinishReason::Length, usage };
    let agent = agent([search()]).await;
    let script = Script::new([ScriptedReply::ending(["七日，因"], end)]);
    let ran = setup(script).run(&agent, &mut conversation).await;
    assert_eq!((ran.answer(), ran.end.stop.message.as_str()), ("七日，因", "the answer was cut at its length limit"));
    let script = Script::new([says("DONE")]);
    let ran = setup(script).run(&agent, &mut conversation).await;
    assert_eq!((ran.answer(), conversation.messages().len()), ("DONE", 4));
}

#[tokio::test]
async fn a_stream_in_odd_pieces_reads_the_same() {
    let tool = search();
    let events = [
        r#": hello"#,
        r#"data:{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"search_leaves","arguments":""}}]}}],"usage":null}"#,
        r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"","function":{"arguments":"{\"keyword\":\"杭州\"}"}}]}}],"usage":null}"#,
        r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"search_leaves","arguments":"{\"keyword\":\"家\"}"}}]}}]}"#,
        r#"data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5,"completion_tokens":null}}"#,
        "data: [DONE]",
    ];
    let body = events.join("\r\n\r\n") + "\r\n";
    let ran = run(&agent([tool.clone()]).await, [ScriptedReply::Raw(body), says("DONE")]).await;
    assert_eq!(tool.calls(), [r#"{"keyword":"杭州"}"#, r#"{"keyword":"家"}"#]);
    assert_eq!(ran.answer(), "DONE");
    assert!(ran.end.usage_is_estimated && ran.end.usage.output_tokens > 4, "{:?}", ran.end.usage);
}

#[tokio::test]
async fn a_model_that_fails_ends_the_run_with_its_reason_and_what_was_said_is_kept() {
    let check = async |reply: ScriptedReply, reason: &str, code: Option<&str>| {
        let first = calls("a", &[("search_leaves", "{\"keyword\":\"k\"}")]);
        let ran = run(&agent([search()]).await, [first, reply]).await;
        assert_eq!((ran.answer(), ran.reason().as_str(), ran.end.code), ("(none)", reason, code));
        assert_eq!((ran.end.steps, ran.results().len()), (1, 1));
        ran
    };
    let status =
        |status, message: &str| ScriptedReply::Status { status, message: message.to_owned(), retry_after: None };
    check(status(500, "down"), "failed", Some("upstream_failed")).await;
    check(status(400, "This model's maximum context length is 8192 tokens"), "context", None).await;
    check(ScriptedReply::Unreachable, "failed", Some("upstream_failed")).await;
    check(ScriptedReply::NeverAnswers, "upstream_timeout", Some("upstream_timeout")).await;
    let cut = ScriptedReply::ending(["Seven"], ScriptedEnd::Cut);
    let ran = check(cut, "upstream_incomplete", Some("upstream_incomplete")).await;
    let last = ran.end.transcript.last().unwrap();
    assert_eq!((last.role(), last.content()), (Role::Assistant, "Seven"));
}

/// With a model that is asked again, as a real one is.
async fn retried(limits: Limits, replies: Vec<ScriptedReply>) -> (Ran, Duration) {
    let script = Script::new(replies).with_patience(Duration::from_secs(100));
    let mut setup = setup(script.clone());
    let connection = Connection::scripted(script).with_retries(Retries::new(4, Arc::new(Highest)));
    setup.with.model = connection.metered(Arc::new(setup.meter.clone()));
    let agent = Agent { limits, ..agent([search()]).await };
    let started = tokio::time::Instant::now();
    (setup.run(&agent, &mut Default::default()).await, started.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_asks_to_wait_is_waited_for_within_the_runs_time_and_others_are_not_asked_again() {
    let status = |status, seconds: Option<u64>| ScriptedReply::Status {
        status,
        message: "no".to_owned(),
        retry_after: seconds.map(Duration::from_secs),
    };
    let call = || calls("a", &[("search_leaves", "{\"keyword\":\"k\"}")]);
    let (ran, took) = retried(Limits::default(), vec![call(), status(429, Some(3)), says("DONE")]).await;
    assert_eq!((ran.answer(), took.as_secs()), ("DONE", 3));
    let (ran, took) = retried(Limits::default(), vec![call(), status(400, None), says("DONE")]).await;
    assert_eq!((ran.reason().as_str(), ran.script.requests().len(), took.as_secs()), ("failed", 2, 0));
    let short = Limits { wall_time: Duration::from_secs(2), ..Limits::default() };
    let (ran, took) = retried(short, vec![call(), status(429, Some(3)), says("DONE")]).await;
    assert_eq!((ran.answer(), ran.end.code, took.as_secs()), ("(none)", Some("upstream_failed"), 0));
}
