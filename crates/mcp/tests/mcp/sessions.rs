//! Sessions: kept, lost, and found again.

use bylaw_mcp::{CallOptions, McpClient};
use serde_json::json;

use crate::support::{
    arguments, call, connect, host,
    leaves::{Era, Served},
    options,
    raw::{self, Raw, Say, said},
    text,
};

#[tokio::test]
async fn all_calls_of_a_client_are_in_one_session() {
    let served = Served::start(Era::Older).await;
    let client = connect(served.server()).await;
    client.call("login", &arguments(json!({ "user": "王小明" })), CallOptions::default()).await.unwrap();
    assert_eq!(text(&call(&client.clone(), "whoami").await.unwrap()), "王小明");
}

#[tokio::test]
async fn a_forgotten_session_is_made_anew_and_the_call_repeated_once() {
    let served = Served::start(Era::Older).await;
    let client = connect(served.server()).await;
    client.tools().await.unwrap();
    let changes = client.list_changes();
    client.call("login", &arguments(json!({ "user": "王小明" })), CallOptions::default()).await.unwrap();
    served.forget_sessions().await;
    // It may not be repeated by its own word, but it was refused unread.
    assert!(call(&client, "cancel_leave").await.is_ok());
    assert_eq!(*served.world.calls.lock().unwrap(), ["login", "cancel_leave"]);
    assert_eq!(text(&call(&client, "whoami").await.unwrap()), "nobody");
    assert!(changes.has_changed().unwrap(), "whoever lists tools must list them again");
}

#[tokio::test]
async fn a_server_that_forgets_every_session_is_not_asked_for_ever() {
    let raw = Raw::greeting(|_| Say::Bytes(404, "text/plain", vec![])).await;
    let error = call(&connect(raw.server()).await, "search").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "raw answered HTTP 404: it forgot this session; look into its log, or try again later"
    );
    assert!(!error.may_have_happened());
    assert_eq!((raw.count("tools/call"), raw.count("initialize")), (2, 2));
    assert_eq!(raw.count("server/discover"), 1, "an era that is known is not asked for again");
}

#[tokio::test]
async fn a_new_session_is_asked_for_without_the_old_one() {
    let raw = Raw::start(|asked| match (asked.method.as_str(), asked.session.as_deref()) {
        ("server/discover", _) => Say::Bytes(400, "text/plain", b"missing session".to_vec()),
        ("initialize", None) => Say::ResultInSession("s", raw::greeting()),
        ("notifications/initialized", Some("s")) => Say::Bytes(202, "", vec![]),
        ("tools/call", Some("s")) => said("found"),
        _ => Say::Bytes(400, "text/plain", vec![]),
    })
    .await;
    let client = McpClient::connect(raw.server(), options(), host()).await.unwrap();
    assert_eq!(text(&call(&client, "search").await.unwrap()), "found");
}
