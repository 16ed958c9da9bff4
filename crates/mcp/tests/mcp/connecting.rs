//! Finding a server, in whichever era it lives.

use std::{sync::Arc, time::Duration};

use bylaw_mcp::{ClientOptions, McpAddress, McpClient, McpClients, McpError, McpServer, ServerState};

use crate::support::{
    HandClock, call, connect, host, host_at,
    leaves::{Era, Served},
    options,
    raw::{Raw, Say},
    text,
};

#[tokio::test]
async fn the_newest_protocol_that_both_speak_is_spoken() {
    for (era, expected) in
        [(Era::Newer, "2026-07-28"), (Era::Older, "2025-11-25"), (Era::OlderThatDiscovers, "2025-11-25")]
    {
        let served = Served::start(era).await;
        let client = connect(served.server()).await;
        assert_eq!(client.protocol().await.as_deref(), Some(expected), "{era:?}");
        assert_eq!(client.instructions().await.as_deref(), Some("Search before you change."), "{era:?}");
        assert_eq!(*client.state().borrow(), ServerState::Ready);
        client.close().await;
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_used_is_one_clear_line() {
    let check = async |server: McpServer, expected: &str| {
        let patience = ClientOptions { connect_timeout: Duration::from_millis(300), ..options() };
        let error = McpClient::connect(server, patience, host()).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(!error.may_have_happened());
    };
    let raw = async |say: fn() -> Say| Raw::start(move |_| say()).await;

    check(McpServer::http("hr", "leaves"), "hr: `leaves` is no http:// or https:// address; correct it").await;
    check(McpServer::http("hr", "ftp://hr/mcp"), "hr: `ftp://hr/mcp` is no http:// or https:// address; correct it")
        .await;

    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let refused = std::net::TcpStream::connect(gone).unwrap_err();
    let absent = format!("hr cannot be reached: {refused}; start it or correct its address");
    check(McpServer::http("hr", format!("http://{gone}/mcp")), &absent).await;

    let silent = raw(|| Say::Nothing).await;
    let expected = "raw did not introduce itself within 300ms; check that it speaks MCP, or raise connect_timeout";
    check(silent.server(), expected).await;

    let page = raw(|| Say::Bytes(200, "text/html; charset=utf-8", b"<html>".to_vec())).await;
    check(page.server(), "raw does not speak MCP: it replied with text/html; check its address or command").await;

    let missing = raw(|| Say::Bytes(404, "text/plain", b"no such page".to_vec())).await;
    let expected = "raw does not speak MCP: it answered HTTP 404: no such page; check its address or command";
    check(missing.server(), expected).await;

    let junk = raw(|| Say::Bytes(200, "application/json", b"[1, 2".to_vec())).await;
    let error = McpClient::connect(junk.server(), options(), host()).await.unwrap_err();
    assert!(matches!(&error, McpError::NotMcp { why, .. } if why.ends_with("in its reply `[1, 2`")), "{error}");

    let other = raw(|| Say::Result(serde_json::json!({ "hello": "world" }))).await;
    let error = McpClient::connect(other.server(), options(), host()).await.unwrap_err();
    assert!(matches!(error, McpError::NotMcp { .. }), "{error}");

    let broken = raw(|| Say::Bytes(500, "text/plain", b"\nTraceback\nmore".to_vec())).await;
    check(broken.server(), "raw answered HTTP 500: Traceback; look into its log, or try again later").await;

    let locked = raw(|| Say::Bytes(401, "application/json", b"{}".to_vec())).await;
    check(locked.server(), "raw refused the key (HTTP 401); give it a valid bearer token").await;

    let refusing = raw(|| Say::Error(-32000, "not today")).await;
    let expected = "raw does not speak MCP: it refused the greeting: not today (-32000); check its address or command";
    check(refusing.server(), expected).await;
}

#[tokio::test]
async fn the_key_is_shown_to_the_server() {
    let served = Served::start(Era::Newer).await;
    *served.world.bearer.lock().unwrap() = Some("right".to_owned());
    let with = |bearer: Option<&str>| McpServer {
        name: "leaves".to_owned(),
        address: McpAddress::Http { url: served.url.clone(), bearer: bearer.map(ToOwned::to_owned) },
    };
    let client = connect(with(Some("right"))).await;
    assert!(call(&client, "echo").await.is_ok());
    for wrong in [None, Some("wrong")] {
        let error = McpClient::connect(with(wrong), options(), host()).await.unwrap_err();
        assert!(matches!(error, McpError::Unauthorized { status: 401, .. }), "{error}");
    }
    // A key that is withdrawn in the middle is said just as clearly.
    *served.world.bearer.lock().unwrap() = Some("another".to_owned());
    let error = call(&client, "echo").await.unwrap_err();
    assert!(matches!(error, McpError::Unauthorized { status: 401, .. }), "{error}");
}

#[tokio::test]
async fn one_bad_server_never_stops_the_others() {
    let (newer, older) = (Served::start(Era::Newer).await, Served::start(Era::Older).await);
    let (silent, junk) =
        (Raw::start(|_| Say::Nothing).await, Raw::start(|_| Say::Bytes(200, "text/html", vec![])).await);
    let named = |name: &str, server: McpServer| McpServer { name: name.to_owned(), ..server };
    let servers = vec![
        named("silent", silent.server()),
        named("new", newer.server()),
        named("junk", junk.server()),
        named("old", older.server()),
        McpServer::stdio("missing", "/nowhere/leaves", ["serve"]),
    ];
    let patience = ClientOptions { connect_timeout: Duration::from_secs(1), ..options() };
    let clients = McpClients::connect(servers, &patience, &host()).await;

    let states: Vec<(String, bool)> =
        clients.states().into_iter().map(|(name, state)| (name, state == ServerState::Ready)).collect();
    let expected = [("silent", false), ("new", true), ("junk", false), ("old", true), ("missing", false)];
    assert_eq!(states, expected.map(|(name, ready)| (name.to_owned(), ready)));
    for (client, tools) in clients.tools().await {
        let ready = *client.state().borrow() == ServerState::Ready;
        assert_eq!(tools.is_ok(), ready, "{}", client.name());
    }
    assert!(call(clients.get("old").unwrap(), "echo").await.is_ok());
    clients.close().await;
    assert!(clients.states().iter().all(|(_, state)| *state == ServerState::Closed));
}

#[tokio::test]
async fn a_server_that_failed_is_tried_again_when_it_is_time() {
    let clock = Arc::new(HandClock::default());
    let spot = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let server = McpServer::http("hr", format!("http://{spot}/mcp"));
    let client = McpClient::new(server, options(), host_at(&clock));
    assert_eq!(*client.state().borrow(), ServerState::Connecting);

    assert!(matches!(call(&client, "echo").await, Err(McpError::Absent { .. })));
    let mut wait = Duration::from_millis(500);
    for _ in 0..3 {
        let error = call(&client, "echo").await.unwrap_err();
        assert!(matches!(&error, McpError::Waiting { wait: told, .. } if *told == wait), "{error}");
        clock.advance(wait);
        assert!(matches!(call(&client, "echo").await, Err(McpError::Absent { .. })));
        wait *= 2;
    }
    assert!(matches!(&*client.state().borrow(), ServerState::Failed { why: McpError::Absent { .. } }));

    let _served = Served::start_at(&spot.to_string(), Era::Newer).await;
    clock.advance(wait);
    assert!(call(&client, "whoami").await.is_ok());
    assert_eq!(*client.state().borrow(), ServerState::Ready);
}

#[tokio::test]
async fn a_closed_client_stays_closed() {
    let served = Served::start(Era::Older).await;
    let client = connect(served.server()).await;
    assert_eq!(text(&call(&client, "whoami").await.unwrap()), "nobody");
    client.close().await;
    assert_eq!(call(&client, "whoami").await, Err(McpError::Closed { server: "leaves".to_owned() }));
    assert_eq!(client.tools().await, Err(McpError::Closed { server: "leaves".to_owned() }));
    assert_eq!(*client.state().borrow(), ServerState::Closed);
}
