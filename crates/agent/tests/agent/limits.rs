//! Every limit ends a run with its reason, and what was done is not lost.

use std::time::Duration;

use async_trait::async_trait;
use bylaw_agent::{Agent, Limits, ServerTools, ToolInfo, Toolbox, text_outcome};
use bylaw_model::{
    Attempt, ChatModel, Meter, Permit, Refused,
    scripted::{Script, ScriptedReply},
};
use serde_json::json;

use crate::support::{
    Ran, Scripted, agent, calls,
    raw::{Raw, said, tool},
    run, says, search, setup,
};

async fn limited(limits: Limits, script: Script) -> (Ran, Scripted) {
    let tool = search();
    let agent = Agent { limits, ..agent([tool.clone()]).await };
    (setup(script).run(&agent, &mut Default::default()).await, tool)
}

/// A model that searches for something new in each turn, and answers when it has no tools.
fn restless() -> Script {
    Script::answering(|request| match request.tools.is_empty() {
        true => says("as far as I got"),
        false => {
            let n = request.messages.len();
            calls(&format!("c{n}_"), &[("search_leaves", &format!("{{\"keyword\":\"{n}\"}}"))])
        }
    })
}

#[tokio::test]
async fn at_the_limit_of_steps_the_model_answers_once_without_tools_and_that_is_no_step() {
    for steps in [0, 2, 3] {
        let (ran, tool) = limited(Limits { steps, ..Limits::default() }, restless()).await;
        assert_eq!((ran.answer(), ran.reason().as_str()), ("as far as I got", "steps"));
        assert_eq!((ran.end.steps, ran.end.stop.at_step, tool.calls().len()), (steps, steps, steps as usize));
        assert_eq!(ran.script.requests().len(), steps as usize + 1);
        let told = serde_json::to_string(&ran.events).unwrap() + &ran.end.stop.message;
        assert!(steps != 2 || !told.contains("\"step\":3"), "nothing says 3");
    }
}

#[tokio::test]
async fn a_model_that_still_calls_tools_when_it_has_none_gives_no_answer() {
    let script = Script::answering(|request| {
        let n = request.messages.len();
        calls(&format!("c{n}_"), &[("search_leaves", &format!("{{\"keyword\":\"{n}\"}}"))])
    });
    let (ran, tool) = limited(Limits { steps: 2, ..Limits::default() }, script).await;
    assert_eq!((ran.answer(), ran.reason().as_str(), tool.calls().len()), ("(none)", "steps", 2));
    assert_eq!(ran.results().len(), 2, "what was done is there");
}

#[tokio::test]
async fn at_the_limit_of_tool_calls_the_rest_of_a_reply_is_not_made() {
    let three = [
        ("search_leaves", "{\"keyword\":\"a\"}"),
        ("search_leaves", "{\"keyword\":\"b\"}"),
        ("search_leaves", "{\"keyword\":\"c\"}"),
    ];
    let script = Script::new([calls("c", &three), says("as far as I got")]);
    let (ran, tool) = limited(Limits { tool_calls: 2, ..Limits::default() }, script).await;
    assert_eq!((ran.answer(), ran.reason().as_str(), tool.calls().len()), ("as far as I got", "tool_calls", 2));
    assert!(ran.results()[2].contains("not made"), "{:?}", ran.results());
}

#[tokio::test]
async fn the_same_call_again_and_again_is_told_its_result_and_then_ends_the_run() {
    let forms = ["{\"keyword\":\"家庭\"}", "{ \"keyword\" : \"家庭\" }", "{\"keyword\":\"\\u5bb6庭\"}"];
    let same = (0..30).map(move |n| calls(&format!("c{n}_"), &[("search_leaves", forms[n % 3])]));
    let (ran, tool) = limited(Limits::default(), Script::new(same)).await;
    assert_eq!((ran.reason().as_str(), tool.calls().len(), ran.end.steps), ("repeated_call", 2, 6));
    assert!(
        ran.results()[2].contains("3 times") && ran.results()[2].ends_with("found \"家庭\""),
        "{:?}",
        ran.results()
    );
}

#[tokio::test]
async fn two_calls_that_take_turns_are_repeated_calls_as_well() {
    let by_turns = (0..60).map(|n| {
        let keyword = if n % 2 == 0 { "a" } else { "b" };
        calls(&format!("c{n}_"), &[("search_leaves", &format!("{{\"keyword\":\"{keyword}\"}}"))])
    });
    let (ran, tool) = limited(Limits { steps: 50, ..Limits::default() }, Script::new(by_turns)).await;
    assert_eq!((ran.reason().as_str(), tool.calls().len(), ran.end.steps), ("repeated_call", 4, 11));
}

#[tokio::test]
async fn three_equal_calls_in_one_reply_are_two_calls() {
    let (name, keyword) = ("search_leaves", "{\"keyword\":\"a\"}");
    let script = Script::new([calls("c", &[(name, keyword), (name, keyword), (name, keyword)]), says("DONE")]);
    let (ran, tool) = limited(Limits::default(), script).await;
    assert_eq!((ran.answer(), tool.calls().len()), ("DONE", 2));
    assert!(ran.results()[2].ends_with("found \"a\""), "{}", ran.results()[2]);
}

#[tokio::test]
async fn a_tool_that_polls_may_be_called_again_and_again() {
    let server = Raw::tools(json!([tool("status", true, json!({}))]), |_| said("waiting")).await;
    let how = ServerTools { polls: vec!["status".to_owned()], ..ServerTools::default() };
    let agent = Agent::new("", Toolbox::builder().server(server.client("hr"), how).build().await);
    let polls = (0..10).map(|n| calls(&format!("c{n}_"), &[("status", "{}")])).chain([says("DONE")]);
    let ran = run(&agent, polls).await;
    assert_eq!((ran.answer(), server.calls().len()), ("DONE", 10));
}

#[derive(Debug)]
struct Poor;

#[async_trait]
impl Meter for Poor {
    async fn admit(&self, attempt: &Attempt) -> Result<Box<dyn Permit>, Refused> {
        Err(Refused { reason: format!("{} tokens cannot be paid", attempt.max_output_tokens) })
    }
}

#[tokio::test]
async fn money_is_the_meters_and_its_refusal_ends_the_run_before_anything_is_sent() {
    let script = restless();
    let mut poor = setup(script.clone());
    poor.with.model = ChatModel::scripted(script.clone(), std::sync::Arc::new(Poor));
    let ran = poor.run(&agent([search()]).await, &mut Default::default()).await;
    assert_eq!((ran.reason().as_str(), ran.end.stop.message.as_str()), ("cost", "2048 tokens cannot be paid"));
    assert_eq!(script.requests().len(), 0);
}

#[tokio::test]
async fn tokens_and_context_are_checked_before_each_call_with_what_is_known_by_then() {
    let check = async |limits: Limits, reason: &str| {
        let (ran, _) = limited(limits, restless()).await;
        assert_eq!((ran.answer(), ran.reason().as_str()), ("(none)", reason), "{}", ran.end.stop.message);
        ran.script.requests().len()
    };
    // Each call is reported with 100 tokens in and some out.
    assert_eq!(check(Limits { total_tokens: Some(400), ..Limits::default() }, "cost").await, 3);
    assert_eq!(check(Limits { total_tokens: Some(10), ..Limits::default() }, "cost").await, 0);
    assert_eq!(check(Limits { context_tokens: Some(2_060), ..Limits::default() }, "context").await, 0);
    let long =
        Scripted::new(ToolInfo::reading("search_leaves", "", json!({})), |_| Ok(text_outcome("x".repeat(3_000))));
    let limits = Limits { context_tokens: Some(8_192), ..Limits::default() };
    let agent = Agent { limits, ..agent([long]).await };
    let ran = setup(restless()).run(&agent, &mut Default::default()).await;
    assert_eq!((ran.reason().as_str(), ran.end.steps > 3), ("context", true), "{}", ran.end.stop.message);
}

#[tokio::test(start_paused = true)]
async fn the_wall_time_ends_a_model_call_and_a_tool_call() {
    let limits = || Limits { wall_time: Duration::from_secs(2), ..Limits::default() };
    let slow = ScriptedReply::after(says("late"), Duration::from_secs(60));
    let script = Script::new([slow]).with_patience(Duration::from_secs(120));
    let started = tokio::time::Instant::now();
    let (ran, _) = limited(limits(), script).await;
    assert_eq!((ran.reason().as_str(), started.elapsed().as_secs()), ("time", 2));

    let mut tool = search();
    tool.hangs = true;
    let agent = Agent { limits: limits(), ..agent([tool]).await };
    let started = tokio::time::Instant::now();
    let ran = setup(restless()).run(&agent, &mut Default::default()).await;
    assert_eq!((ran.reason().as_str(), started.elapsed().as_millis()), ("time", 2_100));
    assert!(ran.results()[0].contains("the time of this run was up"), "{:?}", ran.results());
}
