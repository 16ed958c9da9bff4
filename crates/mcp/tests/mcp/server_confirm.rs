//! The gate: nothing is done before the human said yes to exactly that, and one yes is good for one time.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bylaw_mcp::{CallLimits, CallOptions, ElicitReply, Era, HttpOptions, McpClient, McpError, Question, ToolOutcome};
use serde_json::{Value, json};

use crate::support::{
    Human, arguments, call,
    desk::{Desk, Mounted, builder, client, patient},
    text, wire,
};

const BOTH: [Era; 2] = [Era::Older, Era::Newer];

async fn on(client: &McpClient, tool: &str, id: &str) -> Result<ToolOutcome, McpError> {
    client.call(tool, &arguments(json!({ "id": id })), CallOptions::default()).await
}

#[tokio::test]
async fn each_answer_of_the_human_reaches_the_tool_in_either_era() {
    for era in BOTH {
        for (reply, expected) in [
            (ElicitReply::Accept(json!({})), "cancel LV-1"),
            (ElicitReply::Decline, "the person said no to LV-1"),
            (ElicitReply::Cancel, "put away"),
        ] {
            let mounted = Mounted::start().await;
            let human = Human::answering(reply);
            let client = client(&mounted, era, Some("amy"), Some(&human)).await;
            assert_eq!(text(&on(&client, "cancel", "LV-1").await.unwrap()), expected, "{era:?}");
            assert_eq!(mounted.desk.done(), [expected], "{era:?}");
            let asked = human.asked.lock().unwrap();
            assert_eq!(asked.len(), 1);
            assert_eq!(asked[0].message, "Cancel LV-1, version 0?");
            assert_eq!(asked[0].tool.as_deref(), Some("cancel"));
        }
    }
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_refused_and_told_how_else() {
    let mounted = Mounted::start().await;
    for era in BOTH {
        let client = client(&mounted, era, Some("amy"), None).await;
        let refused = on(&client, "cancel", "LV-1").await.unwrap();
        assert!(refused.is_error, "{era:?}");
        assert_eq!(text(&refused), "Your client cannot ask. Cancel it on the web page instead.");
    }
    assert!(mounted.desk.done().is_empty());
}

#[tokio::test]
async fn in_the_older_era_an_answer_is_waited_for_and_no_longer_than_that() {
    let desk = Arc::new(Desk::default());
    let server = builder(&desk).gate(patient(&desk, Duration::ZERO)).build().unwrap();
    let mounted = Mounted::mount(desk, server, HttpOptions::default()).await;
    let human = Human::silent();
    let client = client(&mounted, Era::Older, Some("amy"), Some(&human)).await;
    assert_eq!(text(&on(&client, "cancel", "LV-1").await.unwrap()), "nobody answered");
    while human.asked.lock().unwrap().len() as u64 > human.put_away.load(Ordering::SeqCst) {
        human.heard.notified().await;
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_takes_its_question_back_and_does_nothing() {
    let mounted = Mounted::start().await;
    let human = Human::silent();
    let client = client(&mounted, Era::Older, Some("amy"), Some(&human)).await;
    let how = CallOptions::default();
    let cancel = how.cancel.clone();
    let id = arguments(json!({ "id": "LV-1" }));
    let (called, ()) = tokio::join!(client.call("cancel", &id, how), async {
        human.heard.notified().await;
        cancel.cancel();
    });
    assert!(matches!(called, Err(McpError::Cancelled { .. })));
    assert!(mounted.desk.done().is_empty());
}

#[tokio::test]
async fn a_call_that_waits_for_the_human_holds_nobody_up() {
    let limits = CallLimits { running: 1, running_of_one: 1, waiting: 0 };
    let mounted = Mounted::start_with(HttpOptions::default(), |builder| builder.limits(limits)).await;
    let human = Human::silent();
    let asking = client(&mounted, Era::Older, Some("amy"), Some(&human)).await;
    let waiting = tokio::spawn(async move { on(&asking, "cancel", "LV-1").await });
    human.heard.notified().await;
    let other = client(&mounted, Era::Older, Some("amy"), None).await;
    assert_eq!(text(&call(&other, "who").await.unwrap()), "amy through bylaw, older");
    waiting.abort();
}

#[tokio::test]
async fn a_form_is_checked_before_the_tool_sees_it() {
    for era in BOTH {
        let mounted = Mounted::start().await;
        let human = Human::answering(ElicitReply::Accept(json!({ "days": 2 })));
        let asked = client(&mounted, era, Some("amy"), Some(&human)).await;
        assert_eq!(text(&on(&asked, "shorten", "LV-1").await.unwrap()), "shortened by 2", "{era:?}");
        for wrong in [json!({}), json!({ "days": 0 }), json!({ "days": "two" })] {
            let human = Human::answering(ElicitReply::Accept(wrong.clone()));
            let asked = client(&mounted, era, Some("amy"), Some(&human)).await;
            let refused = on(&asked, "shorten", "LV-1").await;
            match era {
                Era::Older => {
                    let refused = refused.unwrap();
                    assert!(refused.is_error && text(&refused).starts_with("The form was not filled in properly"));
                }
                Era::Newer => assert!(matches!(refused, Err(McpError::TooManyRounds { .. })), "{refused:?}"),
            }
            let asked = human.asked.lock().unwrap();
            assert_eq!(asked[0].message, "By how many days?", "{era:?} {wrong}");
            assert!(asked[1].message.starts_with("By how many days?\n\n("), "the person is told what is wrong");
        }
    }
}

#[tokio::test]
async fn a_tool_that_asks_twice_in_one_call_has_a_mistake() {
    let mounted = Mounted::start().await;
    for era in BOTH {
        let human = Human::answering(ElicitReply::Accept(json!({})));
        let client = client(&mounted, era, Some("amy"), Some(&human)).await;
        let refused = call(&client, "ask_twice").await.unwrap();
        assert!(refused.is_error && text(&refused).starts_with("This server made a mistake"), "{era:?}");
        assert_eq!(human.asked.lock().unwrap().len(), 1);
    }
}

/// What came of a call, in one word.
fn word(message: &Value) -> String {
    let result = &message["result"];
    if let Some(code) = message["error"]["code"].as_i64() {
        return format!("error {code}");
    }
    if result["resultType"] == "input_required" {
        return "asked".to_owned();
    }
    let told = result["content"][0]["text"].as_str().unwrap().to_owned();
    if result["isError"] == true { told.split(',').next().unwrap().to_owned() } else { told }
}

/// A cancellation in the newer era, with an answer if there is one.
async fn cancel(url: &str, who: &str, tool: &str, id: &str, answer: Option<(&str, &str)>) -> Value {
    let mut params = json!({ "name": tool, "arguments": { "id": id } });
    if let Some((state, action)) = answer {
        params["requestState"] = json!(state);
        params["inputResponses"] = json!({ "confirm": { "action": action, "content": {} } });
    }
    wire::newer(url, who, "tools/call", params).await
}

async fn asked(url: &str) -> String {
    let message = cancel(url, "amy", "cancel", "LV-1", None).await;
    assert_eq!(word(&message), "asked", "{message}");
    let shown = &message["result"]["inputRequests"]["confirm"]["params"]["message"];
    assert!(shown.as_str().unwrap().starts_with("Cancel LV-1, version"), "{message}");
    message["result"]["requestState"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_yes_is_good_for_its_principal_tool_and_arguments_alone() {
    let mounted = Mounted::start().await;
    let url = &mounted.url;
    let state = asked(url).await;
    let tampered = format!("{state}-TAMPERED");
    for (who, tool, id, state) in [
        ("bob", "cancel", "LV-1", state.as_str()),
        ("amy", "reject", "LV-1", &state),
        ("amy", "cancel", "LV-2", &state),
        ("amy", "cancel", "LV-1", &tampered),
        ("amy", "cancel", "LV-1", ""),
        ("amy", "cancel", "LV-1", "AAAA"),
    ] {
        assert_eq!(
            word(&cancel(url, who, tool, id, Some((state, "accept"))).await),
            "error -32602",
            "{who} {tool} {id}"
        );
    }
    assert!(mounted.desk.done().is_empty());
    assert_eq!(word(&cancel(url, "amy", "cancel", "LV-1", Some((&state, "accept"))).await), "cancel LV-1");
}

#[tokio::test]
async fn an_answer_is_good_once_whatever_it_was() {
    for (first, expected) in
        [("accept", "cancel LV-1"), ("decline", "the person said no to LV-1"), ("cancel", "put away")]
    {
        let mounted = Mounted::start().await;
        let state = asked(&mounted.url).await;
        let answer = |action| cancel(&mounted.url, "amy", "cancel", "LV-1", Some((&state, action)));
        assert_eq!(word(&answer(first).await), expected);
        for again in ["accept", "decline", "cancel"] {
            assert_eq!(word(&answer(again).await), "This confirmation was used before", "{first}, then {again}");
        }
        assert_eq!(mounted.desk.done(), [expected]);
        let seen = mounted.desk.uses.seen.lock().unwrap();
        assert_eq!((seen[0].principal.as_str(), seen[0].subject.as_str()), ("amy", "LV-1"));
        assert_eq!(seen[0].id.as_str().len(), 32);
    }
}

#[tokio::test]
async fn many_who_bring_the_same_yes_at_once_do_it_once() {
    let mounted = Mounted::start().await;
    let state = asked(&mounted.url).await;
    let answers = (0..8).map(|_| cancel(&mounted.url, "amy", "cancel", "LV-1", Some((&state, "accept"))));
    let words: Vec<_> = futures_util::future::join_all(answers).await.iter().map(word).collect();
    assert_eq!(words.iter().filter(|word| *word == "cancel LV-1").count(), 1, "{words:?}");
    assert_eq!(mounted.desk.done(), ["cancel LV-1"]);
}

#[tokio::test]
async fn an_answer_that_comes_too_late_is_none() {
    let mounted = Mounted::start().await;
    let state = asked(&mounted.url).await;
    mounted.desk.clock.advance(Duration::from_secs(601));
    for action in ["accept", "decline"] {
        let late = cancel(&mounted.url, "amy", "cancel", "LV-1", Some((&state, action))).await;
        assert_eq!(word(&late), "nobody answered", "{action}");
    }
}

#[tokio::test]
async fn a_yes_to_what_has_changed_is_asked_for_anew_but_a_no_stays() {
    let mounted = Mounted::start().await;
    let state = asked(&mounted.url).await;
    mounted.desk.version.store(1, Ordering::SeqCst);
    let again = cancel(&mounted.url, "amy", "cancel", "LV-1", Some((&state, "accept"))).await;
    assert_eq!(word(&again), "asked");
    let shown = &again["result"]["inputRequests"]["confirm"]["params"]["message"];
    assert_eq!(shown, "Cancel LV-1, version 1?");
    assert!(mounted.desk.done().is_empty());
    let no = cancel(&mounted.url, "amy", "cancel", "LV-1", Some((&state, "decline"))).await;
    assert_eq!(word(&no), "the person said no to LV-1");
}

#[tokio::test]
async fn a_call_that_comes_without_an_answer_is_asked_again() {
    let mounted = Mounted::start().await;
    let state = asked(&mounted.url).await;
    for responses in
        [json!({}), json!({ "confirm": 7 }), json!({ "confirm": {} }), json!({ "other": { "action": "accept" } })]
    {
        let params = json!({
            "name": "cancel",
            "arguments": { "id": "LV-1" },
            "requestState": state,
            "inputResponses": responses,
        });
        assert_eq!(word(&wire::newer(&mounted.url, "amy", "tools/call", params).await), "asked");
    }
    let params = json!({
        "name": "cancel",
        "arguments": { "id": "LV-1" },
        "inputResponses": { "confirm": { "action": "accept", "content": {} } },
    });
    let message = wire::newer(&mounted.url, "amy", "tools/call", params).await;
    assert_eq!(word(&message), "asked", "a yes to nothing");
    assert!(mounted.desk.done().is_empty());
}

#[tokio::test]
async fn a_question_outlives_a_restart_and_its_answer_is_still_good_once() {
    let first = Mounted::start().await;
    let state = asked(&first.url).await;
    let desk = Arc::clone(&first.desk);
    drop(first);
    let server = builder(&desk).build().unwrap();
    let second = Mounted::mount(desk, server, HttpOptions::default()).await;
    let answer = || cancel(&second.url, "amy", "cancel", "LV-1", Some((&state, "accept")));
    assert_eq!(word(&answer().await), "cancel LV-1");
    assert_eq!(word(&answer().await), "This confirmation was used before");
}

#[tokio::test]
async fn what_cannot_be_written_down_is_not_taken() {
    let mounted = Mounted::start().await;
    let state = asked(&mounted.url).await;
    mounted.desk.uses.broken.store(true, Ordering::SeqCst);
    let answer = || cancel(&mounted.url, "amy", "cancel", "LV-1", Some((&state, "accept")));
    assert_eq!(word(&answer().await), "The person's answer could not be recorded");
    assert!(mounted.desk.done().is_empty());
    mounted.desk.uses.broken.store(false, Ordering::SeqCst);
    assert_eq!(word(&answer().await), "cancel LV-1");
}

#[test]
fn a_question_without_a_form_wants_a_yes_or_no_alone() {
    let question = Question::new("LV-1", "3", "Sure?");
    assert_eq!(question.schema, json!({ "type": "object", "properties": {} }));
}
