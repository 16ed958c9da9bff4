//! Calling a tool.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bylaw_mcp::{CallOptions, ClientOptions, Content, McpClient, McpError, Progress, ResourceBody};
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;

use crate::support::{
    arguments, call, connect, host,
    leaves::{Era, Served},
    options,
    raw::{Raw, Say, said},
    text,
};

#[tokio::test]
async fn arguments_go_out_and_the_outcome_comes_back() {
    for era in [Era::Newer, Era::Older] {
        let served = Served::start(era).await;
        let client = connect(served.server()).await;
        let sent = json!({ "keyword": "家庭" });
        let outcome = client.call("echo", &arguments(sent.clone()), CallOptions::default()).await.unwrap();
        assert_eq!((outcome.is_error, outcome.structured), (false, Some(sent)), "{era:?}");

        let outcome = call(&client, "cancel_leave").await.unwrap();
        assert_eq!((outcome.is_error, text(&outcome).as_str()), (true, "403 not your own leave"), "{era:?}");

        let outcome = call(&client, "shapes").await.unwrap();
        let expected = [
            Content::Text("text".to_owned()),
            Content::Image { mime: "image/png".to_owned(), bytes: "image".into() },
            Content::Audio { mime: "audio/wav".to_owned(), bytes: "sound".into() },
            Content::Resource { uri: "leave://1".to_owned(), mime: None, body: ResourceBody::Bytes("bytes".into()) },
            Content::Resource {
                uri: "leave://2".to_owned(),
                mime: Some("text/plain".to_owned()),
                body: ResourceBody::Text("words".to_owned()),
            },
        ];
        assert_eq!(outcome.content, expected, "{era:?}");
    }
}

#[tokio::test]
async fn a_refused_call_says_why_and_has_not_happened() {
    for era in [Era::Newer, Era::Older] {
        let served = Served::start(era).await;
        let error = call(&connect(served.server()).await, "nonsense").await.unwrap_err();
        let expected = "leaves refused nonsense: there is no tool nonsense (-32602); correct the call";
        assert_eq!((error.to_string().as_str(), error.may_have_happened()), (expected, false), "{era:?}");
    }
}

#[tokio::test]
async fn progress_reaches_whoever_watches() {
    for era in [Era::Newer, Era::Older] {
        let served = Served::start(era).await;
        let client = connect(served.server()).await;
        let heard: Arc<Mutex<Vec<Progress>>> = Arc::default();
        let log = Arc::clone(&heard);
        let how = CallOptions {
            progress: Some(Arc::new(move |news| log.lock().unwrap().push(news))),
            ..CallOptions::default()
        };
        let outcome = client.call("steps", &Map::new(), how).await.unwrap();
        assert_eq!(text(&outcome), "done", "{era:?}");
        let heard = heard.lock().unwrap();
        assert!(!heard.is_empty() && heard.is_sorted_by(|a, b| a.done < b.done), "{era:?} {heard:?}");
        assert!(heard.iter().all(|news| news.total == Some(3.0)));
    }
}

#[tokio::test]
async fn a_cancelled_call_returns_at_once_and_its_server_hears() {
    for era in [Era::Newer, Era::Older] {
        let served = Served::start(era).await;
        let client = connect(served.server()).await;
        let cancel = CancellationToken::new();
        let how = CallOptions { cancel: cancel.clone(), ..CallOptions::default() };
        let none = Map::new();
        let stop = async {
            served.world.started.notified().await;
            cancel.cancel();
        };
        let (outcome, ()) = tokio::join!(client.call("slow", &none, how), stop);
        let error = outcome.unwrap_err();
        assert_eq!(
            error.to_string(),
            "slow of leaves was cancelled; it may have happened: look before calling again",
            "{era:?}"
        );
        served.world.cancelled.notified().await;
        assert!(call(&client, "echo").await.is_ok(), "{era:?}: the connection stays");
    }
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_too() {
    for era in [Era::Newer, Era::Older] {
        let served = Served::start(era).await;
        let client = connect(served.server()).await;
        tokio::select! {
            _ = call(&client, "slow") => panic!("it never ends"),
            () = served.world.started.notified() => {}
        }
        served.world.cancelled.notified().await;
    }
}

#[tokio::test]
async fn a_silent_tool_is_cancelled_and_its_outcome_is_unknown() {
    for era in [Era::Newer, Era::Older] {
        let served = Served::start(era).await;
        let client = connect(served.server()).await;
        let timeout = Duration::from_millis(50);
        let how = CallOptions { timeout: Some(timeout), ..CallOptions::default() };
        let error = client.call("slow", &Map::new(), how).await.unwrap_err();
        let expected = McpError::TimedOut { server: "leaves".to_owned(), tool: "slow".to_owned(), after: timeout };
        assert_eq!(error, expected, "{era:?}");
        assert!(error.may_have_happened());
        served.world.cancelled.notified().await;
    }
}

#[tokio::test]
async fn half_a_surrogate_pair_in_a_result_becomes_a_visible_mark() {
    let check = async |media: &'static str, frame: fn(String) -> String| {
        let raw = Raw::greeting(move |asked| {
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"type":"text","text":"a\ud83db"}}]}}}}"#,
                asked.id
            );
            Say::Bytes(200, media, frame(body).into_bytes())
        })
        .await;
        let outcome = call(&connect(raw.server()).await, "search").await.unwrap();
        assert_eq!(text(&outcome), "a\u{fffd}b", "{media}");
    };
    check("application/json", |body| body).await;
    check("text/event-stream", |body| format!("data: {body}\n\n")).await;
}

#[tokio::test]
async fn a_result_that_is_not_quite_one_is_read_as_far_as_it_goes() {
    let check = async |result: serde_json::Value, expected: Result<&str, &str>| {
        let raw = Raw::greeting(move |_| Say::Result(result.clone())).await;
        let outcome = call(&connect(raw.server()).await, "odd").await;
        let read = outcome.as_ref().map(text).map_err(ToString::to_string);
        assert_eq!(read.as_deref().map_err(String::as_str), expected);
    };
    check(json!({}), Ok("")).await;
    check(
        json!({ "content": [{ "type": "hologram" }, { "type": "text", "text": "七" }] }),
        Ok("{\"type\":\"hologram\"}\n七"),
    )
    .await;
    let unknown =
        "nobody knows whether odd of raw happened (its reply is no result of a tool); look before calling again";
    check(json!({ "answer": 42 }), Err(unknown)).await;
}

#[tokio::test]
async fn a_huge_result_is_thrown_away_as_it_arrives() {
    const SIZE: usize = 200 << 20;
    for media in ["application/json", "text/event-stream"] {
        let raw = Raw::greeting(move |asked| match asked.params["name"].as_str() {
            Some("huge") => Say::Huge(media, SIZE),
            _ => said("small"),
        })
        .await;
        let limits = ClientOptions { max_message_bytes: 1 << 20, ..options() };
        let client = McpClient::connect(raw.server(), limits, host()).await.unwrap();
        let error = call(&client, "huge").await.unwrap_err();
        let expected = McpError::TooLarge { server: "raw".to_owned(), tool: "huge".to_owned(), limit: 1 << 20 };
        assert_eq!((error.may_have_happened(), error), (true, expected), "{media}");
        let sent = raw.sent.load(std::sync::atomic::Ordering::SeqCst);
        assert!(sent < SIZE / 4, "{media}: {sent} bytes were fetched");
        assert_eq!(text(&call(&client, "next").await.unwrap()), "small", "{media}: the connection stays");
    }
}
