//! The door over HTTP: who is let in, and what is read of those who are not.

use std::time::Duration;

use bylaw_mcp::HttpOptions;
use serde_json::json;

use crate::support::{desk::Mounted, wire};

fn initialize() -> String {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "wire", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string()
}

#[tokio::test]
async fn strangers_are_kept_out_by_the_head_of_their_request() {
    let mounted = Mounted::start().await;
    for (headers, expected) in [
        (vec![], 200),
        (vec![("authorization", "Bearer amy")], 200),
        (vec![("authorization", "bearer amy")], 200),
        (vec![("authorization", "Bearer nobody")], 401),
        (vec![("authorization", "Bearer down")], 503),
        (vec![("origin", "http://evil.example")], 403),
        (vec![("origin", "null")], 403),
        (vec![("origin", "http://localhost.evil.example")], 403),
        (vec![("origin", "http://localhost:6274")], 200),
        (vec![("host", "evil.example")], 403),
        (vec![("host", "evil.example:8090")], 403),
        (vec![("host", "localhost:8090")], 200),
        (vec![("accept", "application/json")], 406),
        (vec![("content-type", "text/plain")], 415),
        (vec![("mcp-session-id", "never-was")], 404),
    ] {
        let reply = wire::send(&mounted.url, "POST", &headers, initialize().as_bytes()).await;
        assert_eq!(reply.status, expected, "{headers:?}: {}", reply.body);
    }
}

#[tokio::test]
async fn who_is_refused_is_told_that_a_key_is_wanted() {
    let mounted = Mounted::start().await;
    let reply = wire::send(&mounted.url, "POST", &[("authorization", "Bearer x")], initialize().as_bytes()).await;
    assert_eq!(reply.header("www-authenticate"), Some("Bearer realm=\"desk\", error=\"invalid_token\""));
    assert_eq!(reply.body, "this key is not known: ask for one");
    let down = wire::send(&mounted.url, "POST", &[("authorization", "Bearer down")], initialize().as_bytes()).await;
    assert_eq!(down.header("retry-after"), Some("5"));
}

#[tokio::test]
async fn nothing_of_a_strangers_body_is_waited_for() {
    let mounted = Mounted::start().await;
    let stream = wire::begin(&mounted.url, "POST", &[("authorization", "Bearer x")], b"{", 1 << 20).await;
    assert_eq!(wire::finish(stream).await.status, 401);
}

#[tokio::test]
async fn a_body_is_neither_too_long_nor_too_slow() {
    let options = HttpOptions { max_body_bytes: 1000, ..HttpOptions::default() };
    let mounted = Mounted::start_with(options, |builder| builder).await;
    let long = format!("{}{}", initialize(), " ".repeat(1000));
    assert_eq!(wire::send(&mounted.url, "POST", &[], long.as_bytes()).await.status, 413);
    assert_eq!(wire::send(&mounted.url, "POST", &[], initialize().as_bytes()).await.status, 200);
    let options = HttpOptions { body_timeout: Duration::ZERO, ..HttpOptions::default() };
    let mounted = Mounted::start_with(options, |builder| builder).await;
    let stream = wire::begin(&mounted.url, "POST", &[], b"{", 10).await;
    assert_eq!(wire::finish(stream).await.status, 408);
}

#[tokio::test]
async fn junk_is_refused_and_leaves_nothing_behind() {
    let mounted = Mounted::start().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for junk in [
        "",
        "{",
        "null",
        "7",
        "[]",
        "{}",
        r#"{"jsonrpc":"1.0","id":1,"method":"initialize"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":7}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        "\u{0}\u{1}\u{2}",
        &deep,
    ] {
        let reply = wire::send(&mounted.url, "POST", &[], junk.as_bytes()).await;
        assert!((400..500).contains(&reply.status), "{}: {}", &junk[..junk.len().min(40)], reply.status);
    }
    assert_eq!(wire::send(&mounted.url, "PUT", &[], b"{}").await.status, 405);
    assert_eq!(mounted.mount.sessions(), 0);
}

#[tokio::test]
async fn it_answers_on_its_own_path_and_to_its_own_names() {
    let options = HttpOptions {
        path: "/leave".to_owned(),
        hosts: vec!["leave.example".to_owned()],
        origins: vec!["https://app.example:443".to_owned()],
        ..HttpOptions::default()
    };
    let mounted = Mounted::start_with(options, |builder| builder).await;
    let url = mounted.url.replace("/mcp", "/leave");
    for (url, host, origin, expected) in [
        (&url, "leave.example", "https://app.example", 200),
        (&url, "leave.example", "http://localhost:1", 403),
        (&url, "localhost", "https://app.example", 403),
        (&mounted.url, "leave.example", "https://app.example", 404),
    ] {
        let reply = wire::send(url, "POST", &[("host", host), ("origin", origin)], initialize().as_bytes()).await;
        assert_eq!(reply.status, expected, "{url} {host} {origin}");
    }
}
