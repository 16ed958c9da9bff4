//! Questions of a server to the human.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bylaw_mcp::{CallOptions, ClientOptions, ElicitReply, Elicitation, McpClient, McpError};
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;

use crate::support::{
    Human, call, connect, host_with,
    leaves::{Era, Served},
    options, text,
};

#[tokio::test]
async fn an_answer_reaches_the_tool_in_either_era() {
    for era in [Era::Newer, Era::Older] {
        let check = async |reply: ElicitReply, expected: &str| {
            let served = Served::start(era).await;
            let human = Human::answering(reply);
            let client = McpClient::connect(served.server(), options(), host_with(&human)).await.unwrap();
            assert_eq!(text(&call(&client, "confirm").await.unwrap()), expected, "{era:?}");
            let asked = human.asked.lock().unwrap().clone();
            let schema =
                json!({ "type": "object", "properties": { "yes": { "type": "boolean" } }, "required": ["yes"] });
            let question = Elicitation {
                server: "leaves".to_owned(),
                tool: Some("confirm".to_owned()),
                message: "Really cancel LV-1?".to_owned(),
                schema,
            };
            assert_eq!(asked, [question], "{era:?}");
        };
        check(ElicitReply::Accept(json!({ "yes": true })), r#"cancelled: {"yes":true}"#).await;
        check(ElicitReply::Decline, "declined").await;
        check(ElicitReply::Cancel, "put away").await;
    }
}

#[tokio::test]
async fn without_somebody_to_ask_a_server_is_told_so() {
    for era in [Era::Newer, Era::Older] {
        let served = Served::start(era).await;
        let outcome = call(&connect(served.server()).await, "confirm").await.unwrap();
        assert_eq!((outcome.is_error, text(&outcome).as_str()), (true, "nobody can be asked"), "{era:?}");
    }
}

#[tokio::test]
async fn the_time_a_human_takes_is_not_the_tools() {
    let check = async |era: Era| {
        let served = Served::start(era).await;
        let human = Human::silent();
        // The human has more time than the tool, and lets it pass.
        let patience = ClientOptions {
            call_timeout: Duration::from_millis(400),
            call_limit: Duration::from_millis(400),
            elicit_timeout: Duration::from_millis(900),
            ..options()
        };
        let client = McpClient::connect(served.server(), patience, host_with(&human)).await.unwrap();
        assert_eq!(text(&call(&client, "confirm").await.unwrap()), "put away", "{era:?}");
    };
    tokio::join!(check(Era::Newer), check(Era::Older));
}

#[tokio::test]
async fn a_question_is_put_away_when_its_call_is_cancelled() {
    for era in [Era::Newer, Era::Older] {
        let served = Served::start(era).await;
        let human = Human::silent();
        let client = McpClient::connect(served.server(), options(), host_with(&human)).await.unwrap();
        let cancel = CancellationToken::new();
        let how = CallOptions { cancel: cancel.clone(), ..CallOptions::default() };
        let watched = Arc::clone(&human);
        let stop = async {
            watched.heard.notified().await;
            cancel.cancel();
        };
        let none = Map::new();
        let (outcome, ()) = tokio::join!(client.call("confirm", &none, how), stop);
        assert!(matches!(outcome, Err(McpError::Cancelled { .. })), "{era:?} {outcome:?}");
        if human.put_away.load(Ordering::SeqCst) == 0 {
            human.heard.notified().await;
        }
        assert_eq!(human.put_away.load(Ordering::SeqCst), 1, "{era:?}");
    }
}

#[tokio::test]
async fn a_call_that_never_has_enough_is_given_up() {
    let served = Served::start(Era::Newer).await;
    let patience = ClientOptions { max_rounds: 2, first_backoff: Duration::from_millis(1), ..options() };
    let client = McpClient::connect(served.server(), patience, host_with(&Human::silent())).await.unwrap();
    let error = call(&client, "never_enough").await.unwrap_err();
    let expected = "leaves asked for more input 2 times in one call of never_enough; it was given up";
    assert_eq!(error.to_string(), expected);
    assert_eq!(served.world.calls.lock().unwrap().len(), 3);
}
