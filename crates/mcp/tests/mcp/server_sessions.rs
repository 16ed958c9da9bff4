//! Sessions of the older era: whose they are, how many, and for how long.

use std::time::Duration;

use bylaw_mcp::{Era, HttpOptions};
use serde_json::json;

use crate::support::{
    call,
    desk::{Mounted, client},
    text,
    wire::{self, calling},
};

#[tokio::test]
async fn a_session_belongs_to_who_opened_it() {
    let mounted = Mounted::start().await;
    let url = &mounted.url;
    let session = wire::session(url, "amy").await;
    for method in ["POST", "GET", "DELETE"] {
        let foreign = wire::in_session(url, "bob", &session, method, &calling("who")).await;
        let unknown = wire::in_session(url, "bob", "never-was", method, &calling("who")).await;
        assert_eq!((foreign.status, &foreign.body), (404, &unknown.body), "{method}");
    }
    let own = wire::in_session(url, "amy", &session, "POST", &calling("who")).await;
    assert_eq!(own.message()["result"]["content"][0]["text"], "amy through wire, older");
    assert_eq!(wire::in_session(url, "amy", &session, "DELETE", &calling("who")).await.status, 204);
    assert_eq!(wire::in_session(url, "amy", &session, "POST", &calling("who")).await.status, 404);
    assert_eq!(mounted.mount.sessions(), 0);
}

#[tokio::test]
async fn a_session_ends_when_nobody_used_it_for_too_long() {
    let mounted = Mounted::start().await;
    let (url, clock) = (&mounted.url, &mounted.desk.clock);
    let (used, idle) = (wire::session(url, "amy").await, wire::session(url, "amy").await);
    clock.advance(Duration::from_secs(1799));
    assert_eq!(wire::in_session(url, "amy", &used, "POST", &calling("who")).await.status, 200);
    clock.advance(Duration::from_secs(1));
    assert_eq!(wire::in_session(url, "amy", &used, "POST", &calling("who")).await.status, 200);
    assert_eq!(wire::in_session(url, "amy", &idle, "POST", &calling("who")).await.status, 404);
    assert_eq!(mounted.mount.sessions(), 1);
}

#[tokio::test]
async fn a_session_with_a_call_in_it_does_not_end_however_long_that_takes() {
    let mounted = Mounted::start().await;
    let waiting = client(&mounted, Era::Older, Some("amy"), None).await;
    let held = tokio::spawn({
        let waiting = waiting.clone();
        async move { text(&call(&waiting, "hold").await.unwrap()) }
    });
    mounted.desk.started.take().await;
    mounted.desk.clock.advance(Duration::from_secs(100_000));
    let _other = wire::session(&mounted.url, "bob").await;
    mounted.desk.go_on.give();
    assert_eq!(held.await.unwrap(), "held");
    assert_eq!(mounted.mount.sessions(), 2);
}

#[tokio::test]
async fn there_are_only_so_many_and_who_opens_too_many_loses_their_own_idlest() {
    let options = HttpOptions { max_sessions: 3, max_sessions_of_one: 2, ..HttpOptions::default() };
    let mounted = Mounted::start_with(options, |builder| builder).await;
    let (url, clock) = (&mounted.url, &mounted.desk.clock);
    let open = async |who| {
        clock.advance(Duration::from_secs(1));
        wire::session(url, who).await
    };
    let alive = async |who: &str, id: &str| wire::in_session(url, who, id, "POST", &calling("who")).await.status == 200;
    let bobs = open("bob").await;
    let (first, second) = (open("amy").await, open("amy").await);
    let third = open("amy").await;
    assert_eq!(mounted.mount.sessions(), 3);
    assert!(!alive("amy", &first).await, "her own idlest made room");
    assert!(alive("bob", &bobs).await && alive("amy", &second).await && alive("amy", &third).await);
    clock.advance(Duration::from_secs(1));
    assert!(alive("bob", &bobs).await);
    let anybodys = open("").await;
    assert_eq!(mounted.mount.sessions(), 3);
    assert!(alive("", &anybodys).await && alive("bob", &bobs).await);
}

#[tokio::test]
async fn when_all_are_in_use_a_newcomer_is_asked_to_come_back() {
    let options = HttpOptions { max_sessions: 1, ..HttpOptions::default() };
    let mounted = Mounted::start_with(options, |builder| builder).await;
    let waiting = client(&mounted, Era::Older, Some("amy"), None).await;
    let held = tokio::spawn(async move { text(&call(&waiting, "hold").await.unwrap()) });
    mounted.desk.started.take().await;
    let refused = wire::open(&mounted.url, "bob").await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("10")));
    mounted.desk.go_on.give();
    assert_eq!(held.await.unwrap(), "held");
}

#[tokio::test]
async fn the_newer_era_opens_none() {
    let mounted = Mounted::start().await;
    let client = client(&mounted, Era::Newer, Some("amy"), None).await;
    assert!(!call(&client, "who").await.unwrap().is_error);
    assert_eq!(mounted.mount.sessions(), 0);
}

#[tokio::test]
async fn no_headers_or_words_open_a_session_beside_the_bounds() {
    let options = HttpOptions { max_sessions: 1, ..HttpOptions::default() };
    let mounted = Mounted::start_with(options, |builder| builder).await;
    let waiting = client(&mounted, Era::Older, Some("amy"), None).await;
    let held = tokio::spawn(async move { text(&call(&waiting, "hold").await.unwrap()) });
    mounted.desk.started.take().await;
    let plain = json!({
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": { "protocolVersion": "2026-07-28", "capabilities": {}, "clientInfo": { "name": "w", "version": "1" } },
    })
    .to_string();
    let escaped = plain.replace("initialize", "initi\\u0061lize");
    for (body, headers) in [
        (&plain, vec![]),
        (&plain, vec![("mcp-protocol-version", "2026-07-28")]),
        (&escaped, vec![]),
        (&escaped, vec![("mcp-protocol-version", "2026-07-28")]),
    ] {
        let reply = wire::send(&mounted.url, "POST", &headers, body.as_bytes()).await;
        assert_eq!(reply.status, 503, "{body} {headers:?}");
        assert_eq!(reply.header("mcp-session-id"), None);
    }
    mounted.desk.go_on.give();
    assert_eq!(held.await.unwrap(), "held");
}

#[tokio::test]
async fn a_session_of_another_is_not_reached_by_speaking_the_newer_era() {
    let mounted = Mounted::start().await;
    let session = wire::session(&mounted.url, "amy").await;
    let headers =
        [("authorization", "Bearer bob"), ("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2026-07-28")];
    let reply = wire::send(&mounted.url, "POST", &headers, calling("who").to_string().as_bytes()).await;
    assert_eq!(reply.status, 404);
}

/// Pages of memory that this process holds, in bytes; nothing where that cannot be told.
fn held() -> Option<usize> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    statm.split(' ').nth(1)?.parse::<usize>().ok().map(|pages| pages * 4096)
}

#[tokio::test]
#[expect(clippy::print_stderr, reason = "what was not measured is said loudly")]
async fn a_thousand_sessions_fit_into_eighty_megabytes() {
    let options = HttpOptions { max_sessions_of_one: 1000, ..HttpOptions::default() };
    let mounted = Mounted::start_with(options, |builder| builder).await;
    wire::session(&mounted.url, "amy").await;
    let before = held();
    for _ in 0..999 {
        wire::session(&mounted.url, "amy").await;
    }
    assert_eq!(mounted.mount.sessions(), 1000);
    let (Some(before), Some(after)) = (before, held()) else {
        eprintln!("NOT MEASURED: this system does not tell how much memory a process holds");
        return;
    };
    let megabytes = after.saturating_sub(before) >> 20;
    assert!(megabytes <= 80, "{megabytes} MB");
}
