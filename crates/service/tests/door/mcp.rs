//! `/mcp`: other people's agents come in by the front door.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use bylaw_contract::{Clock, MicroUsd};
use bylaw_gate::{Budget, KeyStore, Period, Role};
use bylaw_model::scripted::{Script, ScriptedReply};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::door::{Door, Held, Plan, Reply};

const USUAL: [(&str, &str); 3] = [
    ("host", "localhost:8024"),
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
];

/// One request of the newer era, each of which stands alone.
async fn request(door: &Door, key: Option<&Held>, more: &[(&str, &str)], method: &str, mut params: Value) -> Reply {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let name = params["name"].as_str().or(params["uri"].as_str()).map(ToOwned::to_owned);
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let bearer = key.map(|key| format!("Bearer {}", key.secret));
    let mut headers = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    headers.extend(USUAL.iter().filter(|(name, _)| !more.iter().any(|(other, _)| other == name)));
    headers.extend(more);
    headers.extend(bearer.as_ref().map(|bearer| ("authorization", bearer.as_str())));
    headers.extend(name.as_ref().map(|name| ("mcp-name", name.as_str())));
    door.call(Method::POST, "/mcp", &headers, body.to_string().into_bytes()).await
}

async fn call(door: &Door, key: Option<&Held>, tool: &str, arguments: Value) -> Value {
    let reply = request(door, key, &[], "tools/call", json!({ "name": tool, "arguments": arguments })).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let body = reply.text();
    // A reply that had news before it comes as events.
    let last = body.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().unwrap_or(&body);
    serde_json::from_str::<Value>(last).unwrap_or_else(|_| panic!("{body}"))["result"].clone()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

fn ids(result: &Value) -> Vec<&str> {
    result["structuredContent"]["articles"].as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_search_finds_what_the_route_finds() {
    let door = Plan::new().open().await;
    let route = door.post("/search", r#"{"question":"事假","k":2}"#).await.json();
    let result = call(&door, None, "search_rules", json!({ "query": "事假", "k": 2 })).await;
    let expected: Vec<&str> = route["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect();
    assert_eq!(ids(&result), expected);
    assert!(text(&result).contains("事假一年合計不得超過十四日"));
    let read = call(&door, None, "read_article", json!({ "source": "work_rules.md", "article": "26-1" })).await;
    assert!(text(&read).contains("得遞延至次一年度") && text(&read).contains("work_rules.md#26"), "{read}");
}

#[tokio::test]
async fn a_question_is_on_the_books_as_any_other() {
    let script = Script::always(ScriptedReply::text("十四日[work_rules.md#27]。"));
    let door = Plan::new().model(script).paid().open().await;
    let key = door.key(Role::Reader, None).await;
    let asked = json!({ "question": "事假一年最多幾天？", "mode": "pipeline" });
    let result = call(&door, Some(&key), "ask", asked).await;
    assert!(text(&result).starts_with("十四日[work_rules.md#27]。"), "{result}");
    assert!(text(&result).contains("［答案用到］"), "{result}");
    let usage = door.get_as(&key, "/usage").await.json();
    assert!(usage.to_string().contains("\"paid_calls\":1"), "{usage}");
    let metrics = door.get_as(&door.key(Role::Admin, None).await, "/metrics").await.text();
    assert!(metrics.lines().any(|line| line.contains("/mcp") && line.contains("post")), "{metrics}");
}

#[tokio::test]
async fn without_keys_this_machine_comes_in_and_from_the_first_key_on_nobody_without_one() {
    let door = Plan::new().open().await;
    assert_eq!(request(&door, None, &[], "tools/list", json!({})).await.status, 200);
    let key = door.key(Role::Reader, None).await;
    let none = request(&door, None, &[], "tools/list", json!({})).await;
    assert_eq!((none.status.as_u16(), none.header("www-authenticate")), (401, Some("Bearer realm=\"bylaw\"")));
    assert!(none.text().contains("a key is needed") && none.text().contains("OAuth"), "{}", none.text());
    let stranger = Held { id: key.id.clone(), secret: format!("bylaw_{}", "0".repeat(64)) };
    let wrong = request(&door, Some(&stranger), &[], "tools/list", json!({})).await;
    assert_eq!(wrong.status, 401);
    assert!(wrong.header("www-authenticate").unwrap().contains("invalid_token"));
    assert_eq!(request(&door, Some(&key), &[], "tools/list", json!({})).await.status, 200);
    door.keys.revoke(&key.id, door.clock.now()).await.unwrap();
    door.clock.forward(Duration::from_millis(100));
    let revoked = request(&door, Some(&key), &[], "tools/list", json!({})).await;
    assert_eq!(revoked.status, 401);
    assert!(revoked.header("x-request-id").is_some());
}

#[tokio::test]
async fn a_key_reads_here_what_it_reads_elsewhere_and_nothing_else() {
    let door = Plan::new().open().await;
    let key = door.key(Role::Reader, Some(&["handbook.md"])).await;
    let found = call(&door, Some(&key), "search_rules", json!({ "query": "事假 remote work", "k": 10 })).await;
    assert!(ids(&found).iter().all(|id| id.starts_with("handbook.md#")), "{found}");
    let hidden = call(&door, Some(&key), "read_article", json!({ "source": "work_rules.md", "article": "27" })).await;
    assert_eq!(
        (&hidden["isError"], &hidden["structuredContent"]["error"]["code"]),
        (&json!(true), &json!("source_not_found"))
    );
    assert!(!text(&hidden).contains("work_rules.md,") && text(&hidden).contains("有的是：handbook.md"), "{hidden}");
    let listed = request(&door, Some(&key), &[], "resources/list", json!({})).await.text();
    assert!(listed.contains("rules://handbook.md") && !listed.contains("work_rules"), "{listed}");
}

#[tokio::test]
async fn pages_and_names_of_strangers_are_turned_away() {
    let door = Plan::new().open().await;
    let status = async |more: &[(&str, &str)], key: Option<&Held>| {
        request(&door, key, more, "tools/list", json!({})).await.status.as_u16()
    };
    assert_eq!(status(&[("origin", "http://localhost:8024")], None).await, 200);
    for hostile in ["http://evil.test", "http://localhost:3000", "null"] {
        assert_eq!(status(&[("origin", hostile)], None).await, 403, "{hostile}");
    }
    assert_eq!(status(&[("host", "evil.test")], None).await, 403);
    let key = door.key(Role::Reader, None).await;
    assert_eq!(status(&[("origin", "http://evil.test")], Some(&key)).await, 403);
    assert_eq!(status(&[("host", "evil.test")], Some(&key)).await, 403);
    assert_eq!(status(&[("host", "10.1.2.3:8024")], Some(&key)).await, 200);
}

/// A request in a session of the older era.
async fn older(door: &Door, key: &Held, session: Option<&str>, body: &Value) -> Reply {
    let bearer = format!("Bearer {}", key.secret);
    let mut headers = USUAL.to_vec();
    headers.push(("authorization", &bearer));
    headers.extend(session.map(|session| ("mcp-session-id", session)));
    door.call(Method::POST, "/mcp", &headers, body.to_string().into_bytes()).await
}

async fn session(door: &Door, key: &Held) -> String {
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    }});
    let opened = older(door, key, None, &hello).await;
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    older(door, key, Some(&session), &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    session
}

#[tokio::test]
async fn a_session_is_for_the_key_that_opened_it() {
    let door = Plan::new().open().await;
    let (ann, bob) = (door.key(Role::Reader, None).await, door.key(Role::Reader, None).await);
    let session = session(&door, &ann).await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    assert_eq!(older(&door, &bob, Some(&session), &list).await.status, 404);
    assert_eq!(older(&door, &ann, Some(&session), &list).await.status, 200);
}

#[tokio::test]
async fn a_stop_says_how_often_was_looked_up_and_never_more_than_that() {
    let script = Script::answering(|request| match request.tools.is_empty() {
        true => ScriptedReply::text("查到的條文沒有提到。"),
        false => ScriptedReply::calls(
            request.messages.len(),
            &[("search", &format!(r#"{{"query":"健身房 {}"}}"#, request.messages.len()))],
        ),
    });
    let door = Plan::new().model(script).open().await;
    let asked = json!({ "question": "公司有健身房或運動補助嗎", "mode": "agent", "max_steps": 2 });
    let result = call(&door, None, "ask", asked).await;
    let notice = text(&result).lines().next().unwrap();
    assert!(notice.starts_with("（被攔下來，查了 2 次：") && !notice.contains('3'), "{notice}");
    for word in ["根據", "依據"] {
        assert!(!text(&result).contains(word), "{result}");
    }
}

#[tokio::test]
async fn an_exhausted_budget_is_no_missing_rule() {
    let script = Script::always(ScriptedReply::text("十四日[work_rules.md#27]。"));
    let door = Plan::new().model(script).paid().open().await;
    let key = door.key_with(Role::Reader, None, vec![Budget { limit: MicroUsd(1), period: Period::Once }]).await;
    let asked = json!({ "question": "事假一年最多幾天？", "mode": "pipeline" });
    let result = call(&door, Some(&key), "ask", asked).await;
    assert_eq!(result["structuredContent"]["stop"]["reason"], "cost", "{result}");
    assert!(
        text(&result).starts_with("（被攔下來：花費到了上限") && text(&result).contains("不代表規章沒有規定"),
        "{result}"
    );
    assert!(text(&result).contains("十四日"), "the rules themselves are free: {result}");
}

/// Answers at once, but never what was asked by whoever holds everybody up.
fn patient() -> Script {
    let script = Script::answering(|request| {
        if request.messages.iter().any(|message| format!("{message:?}").contains("霸占")) {
            ScriptedReply::NeverAnswers
        } else {
            ScriptedReply::text("十四日[work_rules.md#27]。")
        }
    });
    script.with_patience(Duration::from_secs(600))
}

fn few(settings: &mut bylaw_service::ServiceSettings) {
    settings.concurrent_asks = 4;
}

#[tokio::test]
async fn sixty_four_questions_at_once_all_find_their_turn() {
    let door = Plan::new().model(patient()).settings(few).open().await;
    let ask = |n: u32| {
        let asked = json!({ "question": format!("第 {n} 個人的事假一年最多幾天？"), "mode": "pipeline" });
        call(&door, None, "ask", asked)
    };
    let all = tokio::time::timeout(Duration::from_secs(60), join_all((0..64).map(ask))).await.expect("no deadlock");
    for result in all {
        assert_ne!(result["isError"], true, "{result}");
    }
}

#[tokio::test]
async fn who_holds_up_sixty_four_questions_holds_up_nobody_else() {
    let script = patient();
    let door = Plan::new().model(script.clone()).settings(few).open().await;
    let (greedy, other) = (door.key(Role::Reader, None).await, door.key(Role::Reader, None).await);
    let hold = |n: u32| {
        let asked = json!({ "question": format!("霸占 {n} 事假幾天"), "mode": "pipeline" });
        call(&door, Some(&greedy), "ask", asked)
    };
    let held = join_all((0..64).map(hold));
    let others = async {
        while script.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        let asked = json!({ "question": "事假一年最多幾天？", "mode": "pipeline" });
        call(&door, Some(&other), "ask", asked).await
    };
    let result = tokio::select! {
        _ = held => unreachable!("nobody answers those"),
        result = others => result,
    };
    assert_ne!(result["isError"], true, "{result}");
}

async fn cancelled(door: &Door) {
    let left = tokio::time::Instant::now();
    while !door.service_metrics().await.contains("bylaw_upstream_cancelled_total 1") {
        assert!(left.elapsed() < Duration::from_millis(250), "the call goes on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

impl Door {
    async fn service_metrics(&self) -> String {
        let admin = self.key(Role::Admin, None).await;
        self.get_as(&admin, "/metrics").await.text()
    }
}

/// Once paused, time goes on only where everything waits for it.
#[tokio::test]
async fn a_client_of_the_newer_era_that_leaves_stops_the_spending() {
    let script = patient();
    let door = Plan::new().model(script.clone()).open().await;
    let key = door.key(Role::Reader, None).await;
    tokio::time::pause();
    let asked = json!({ "question": "霸占 事假幾天", "mode": "pipeline" });
    tokio::select! {
        _ = call(&door, Some(&key), "ask", asked) => unreachable!("nobody answers"),
        () = async {
            while script.requests().is_empty() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        } => {}
    }
    cancelled(&door).await;
}

#[tokio::test]
async fn a_client_of_the_older_era_that_says_so_stops_the_spending() {
    let script = patient();
    let door = Arc::new(Plan::new().model(script.clone()).open().await);
    let key = door.key(Role::Reader, None).await;
    let session = session(&door, &key).await;
    tokio::time::pause();
    let asked = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "ask", "arguments": { "question": "霸占 事假幾天", "mode": "pipeline" },
    }});
    let gone = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    tokio::select! {
        // The stream stays open: whether it brings anything after this is up to the library.
        _ = async { older(&door, &key, Some(&session), &asked).await; std::future::pending::<()>().await } => {}
        () = async {
            while script.requests().is_empty() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            assert_eq!(older(&door, &key, Some(&session), &gone).await.status, 202);
            cancelled(&door).await;
        } => {}
    }
}

#[tokio::test]
async fn hostile_arguments_are_a_sentence() {
    let door = Plan::new().open().await;
    let huge = "特".repeat(300_000);
    for (tool, arguments, expected) in [
        ("ask", json!({ "question": huge }), "longer than 500"),
        ("ask", json!({ "question": "事假", "mode": "magic" }), "mode"),
        ("ask", json!({ "question": "事假", "source": "work_rules.md" }), "source"),
        ("search_rules", json!({ "query": "\u{0}" }), "NUL"),
        ("read_article", json!({ "source": "../../etc/passwd", "article": "1" }), "source_not_found"),
        ("read_article", json!({ "source": "work_rules.md", "article": "１ ０" }), "article_not_found"),
    ] {
        let result = call(&door, None, tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        assert!(text(&result).contains(expected) && text(&result).chars().count() < 1500, "{result}");
    }
    for k in [json!(-1), json!(1_000_000_000)] {
        let result = call(&door, None, "search_rules", json!({ "query": "事假", "k": k })).await;
        assert!(text(&result).starts_with("（k 已改為"), "{result}");
    }
    let too_long = request(
        &door,
        None,
        &[],
        "tools/call",
        json!({ "name": "ask", "arguments": { "question": "a".repeat(2 << 20) } }),
    );
    assert_eq!(too_long.await.status, 413);
}
