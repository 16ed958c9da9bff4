//! Whatever a model says, the next request is valid, and the run ends within its limits.

use bylaw_agent::{Agent, Conversation, Limits};
use bylaw_model::{
    FinishReason, ToolCallRequest,
    scripted::{Script, ScriptedEnd, ScriptedReply},
};
use proptest::prelude::*;

use crate::support::{agent, ping, search, setup, update};

fn call() -> impl Strategy<Value = ToolCallRequest> {
    let name = prop::sample::select(vec![
        "search_leaves",
        "update_leave_status",
        "ping_hr",
        "search_leave",
        "",
        "查詢.假",
        "read_artifact",
    ]);
    let arguments = prop::sample::select(vec![
        "",
        "null",
        "{}",
        "[1]",
        "7",
        "\"x\"",
        "{\"keyword\": \"家",
        "{\"keyword\":\"家\"}",
        "{\"keyword\":7}",
        "{\"leave_id\":\"LV-1\",\"status\":\"draft\"}",
        "{\"leave_id\":7,\"status\":\"x\"}",
        "{\"a\":1}{\"b\":2}",
        "\u{0}",
    ]);
    let id = prop::sample::select(vec!["c1", "c2", "", "call_1_0"]);
    (id, name, arguments).prop_map(|(id, name, arguments)| ToolCallRequest {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    })
}

fn reply() -> impl Strategy<Value = ScriptedReply> {
    let finish = prop::sample::select(vec!["tool_calls", "stop", "length", "content_filter", "odd", ""]);
    let calls = (prop::sample::select(vec!["", " ", "I look."]), prop::collection::vec(call(), 0..5), finish).prop_map(
        |(text, calls, finish)| ScriptedReply::ToolCalls {
            text: text.to_owned(),
            reasoning: None,
            calls,
            finish_reason: finish.to_owned(),
        },
    );
    let end = |finish_reason| ScriptedEnd::Finished { finish_reason, usage: None };
    let others = prop::sample::select(vec![
        ScriptedReply::text("DONE"),
        ScriptedReply::ending([""], end(FinishReason::Stop)),
        ScriptedReply::ending(["half"], end(FinishReason::Length)),
        ScriptedReply::ending(["half"], ScriptedEnd::Cut),
        ScriptedReply::ending(["half"], ScriptedEnd::Error("oops".to_owned())),
        ScriptedReply::Raw("{".to_owned()),
        ScriptedReply::Status { status: 400, message: "no".to_owned(), retry_after: None },
    ]);
    prop_oneof![12 => calls, 1 => others]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_run_ends_within_its_limits_and_every_request_is_valid(
        runs in prop::collection::vec(prop::collection::vec(reply(), 0..12), 1..4),
        steps in 0_u32..8,
        tool_calls in 0_u32..10,
        in_parallel in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut conversation = Conversation::default();
            for replies in runs {
                let tools = [search(), update(), ping()];
                let limits = Limits { steps, tool_calls, ..Limits::default() };
                let agent = Agent { limits, in_parallel, ..agent(tools.clone()).await };
                // It asserts that a strict provider takes every request.
                let ran = setup(Script::new(replies)).run(&agent, &mut conversation).await;
                let made: usize = tools.iter().map(|tool| tool.calls().len()).sum();
                assert!(ran.end.steps <= steps && ran.end.tool_calls <= tool_calls);
                assert!(made <= ran.end.tool_calls as usize);
                assert!(ran.end.answer.as_ref().is_none_or(|answer| !answer.trim().is_empty()));
                assert!(ran.end.answer.is_some() || ran.reason() != "completed");
                let asked: usize = ran.end.transcript.iter().map(|message| message.tool_calls().len()).sum();
                assert_eq!(asked, ran.results().len());
            }
        });
    }
}
