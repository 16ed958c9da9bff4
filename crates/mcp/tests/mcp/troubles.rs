//! Calls that break in the middle.

use std::{
    sync::atomic::{AtomicI64, AtomicUsize, Ordering},
    time::Duration,
};

use bylaw_mcp::{ClientOptions, McpClient, McpError};
use serde_json::json;

use crate::support::{
    call, connect, host, options,
    raw::{Raw, Say, said},
    text,
};

/// A server whose first call of anything goes wrong in one way, and the second right.
async fn breaking(wrong: fn() -> Say) -> Raw {
    let calls = AtomicUsize::new(0);
    Raw::greeting(move |asked| match asked.method.as_str() {
        "tools/list" => Say::Result(json!({ "tools": [
            { "name": "search", "inputSchema": {}, "annotations": { "readOnlyHint": true } },
            { "name": "set", "inputSchema": {}, "annotations": { "idempotentHint": true } },
            { "name": "pay", "inputSchema": {} },
        ] })),
        _ if calls.fetch_add(1, Ordering::SeqCst) == 0 => wrong(),
        _ => said("fine"),
    })
    .await
}

/// A name, and what goes wrong.
type Way = (&'static str, fn() -> Say);

#[tokio::test]
async fn a_call_that_was_cut_off_is_made_again_only_if_its_tool_may_be_repeated() {
    let ways: [Way; 5] = [
        ("cut stream", || Say::Cut("data: {\"jsonrpc\":\"2")),
        ("ended stream", || Say::Bytes(200, "text/event-stream", b": bye\n\n".to_vec())),
        ("HTTP 500", || Say::Bytes(500, "text/plain", b"oops".to_vec())),
        ("junk", || Say::Bytes(200, "application/json", b"<xml/>".to_vec())),
        ("a page", || Say::Bytes(200, "text/html", b"<html/>".to_vec())),
    ];
    for (way, wrong) in ways {
        for (tool, repeated) in [("search", true), ("set", true), ("pay", false)] {
            let raw = breaking(wrong).await;
            let client = connect(raw.server()).await;
            client.tools().await.unwrap();
            let outcome = call(&client, tool).await;
            assert_eq!(raw.count("tools/call"), if repeated { 2 } else { 1 }, "{way} {tool}");
            match outcome {
                Ok(outcome) => assert_eq!((repeated, text(&outcome).as_str()), (true, "fine"), "{way} {tool}"),
                Err(error) => {
                    assert!(!repeated && matches!(error, McpError::Unknown { .. }), "{way} {tool}: {error}");
                    assert!(error.may_have_happened());
                }
            }
            assert_eq!(text(&call(&client, "pay").await.unwrap()), "fine", "{way} {tool}: the client goes on");
        }
    }
}

#[tokio::test]
async fn a_tool_that_nobody_listed_is_not_repeated() {
    let raw = breaking(|| Say::Bytes(500, "text/plain", b"oops".to_vec())).await;
    let client = McpClient::connect(raw.server(), options(), host()).await.unwrap();
    let error = call(&client, "search").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "nobody knows whether search of raw happened (HTTP 500: oops); look before calling again"
    );
}

#[tokio::test]
async fn what_is_refused_by_its_status_has_not_happened() {
    let check = async |wrong: fn() -> Say, expected: &str| {
        let raw = breaking(wrong).await;
        let error = call(&connect(raw.server()).await, "pay").await.unwrap_err();
        assert_eq!((error.to_string().as_str(), error.may_have_happened()), (expected, false));
    };
    let busy = "raw answered HTTP 503: busy; look into its log, or try again later";
    check(|| Say::Bytes(503, "text/plain", b"busy".to_vec()), busy).await;
    let many = "raw answered HTTP 429: Too Many Requests; look into its log, or try again later";
    check(|| Say::Bytes(429, "text/plain", vec![]), many).await;
    let key = "raw refused the key (HTTP 403); give it a valid bearer token";
    check(|| Say::Bytes(403, "text/plain", vec![]), key).await;
    let said = "raw refused pay: no such employee (-32602); correct the call";
    const ERROR: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no such employee"}}"#;
    check(|| Say::Bytes(400, "application/json", ERROR.into()), said).await;
}

#[tokio::test]
async fn a_server_that_went_away_is_absent_and_nothing_happened() {
    let raw = Raw::greeting(|_| said("fine")).await;
    let client = connect(raw.server()).await;
    assert!(call(&client, "pay").await.is_ok());
    raw.stop().await;
    let error = call(&client, "pay").await.unwrap_err();
    assert!(matches!(&error, McpError::Absent { .. }), "{error}");
    assert!(!error.may_have_happened());
}

#[tokio::test]
async fn a_stream_that_can_be_resumed_is_resumed() {
    let id = AtomicI64::new(0);
    let raw = Raw::greeting(move |asked| match asked.method.as_str() {
        "tools/call" => {
            id.store(asked.id.as_i64().unwrap(), Ordering::SeqCst);
            Say::Cut("id: 41\ndata:\n\ndata: {\"jsonrpc\":\"2")
        }
        "resume after 41" => {
            let result = json!({ "content": [{ "type": "text", "text": "paid once" }] });
            let reply = json!({ "jsonrpc": "2.0", "id": id.load(Ordering::SeqCst), "result": result });
            Say::Bytes(200, "text/event-stream", format!("id: 42\ndata: {reply}\n\n").into_bytes())
        }
        other => panic!("{other}"),
    })
    .await;
    let quick = ClientOptions { first_backoff: Duration::from_millis(1), ..options() };
    let client = McpClient::connect(raw.server(), quick, host()).await.unwrap();
    assert_eq!(text(&call(&client, "pay").await.unwrap()), "paid once");
    assert_eq!((raw.count("tools/call"), raw.count("resume after 41")), (1, 1));
}

#[tokio::test]
async fn a_stream_that_cannot_be_resumed_after_all_fails_its_call() {
    let raw = Raw::greeting(|asked| match asked.method.as_str() {
        "tools/call" => Say::Cut("id: 41\ndata:\n\n"),
        _ => Say::Bytes(500, "text/plain", vec![]),
    })
    .await;
    let quick = ClientOptions { first_backoff: Duration::from_millis(1), ..options() };
    let client = McpClient::connect(raw.server(), quick, host()).await.unwrap();
    assert!(matches!(call(&client, "pay").await, Err(McpError::Unknown { .. })));
    assert_eq!(raw.count("resume after 41"), 3);
}
