//! Servers that are child processes.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bylaw_mcp::{CallOptions, ClientOptions, ElicitReply, McpAddress, McpClient, McpError, McpServer};
use rmcp::ServiceExt;
use serde_json::json;

use crate::support::{
    Human, arguments, call, host, host_with,
    leaves::{Era, Leaves},
    options, text,
};

const ERA: &str = "BYLAW_TEST_SERVER_ERA";

/// No specification of its own: this binary, started as a child by those below, is a server. What the test harness
/// writes before is junk that a client must skip.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_when_started_as_a_child() {
    let era = match std::env::var(ERA).as_deref() {
        Ok("newer") => Era::Newer,
        Ok("older") => Era::Older,
        _ => return,
    };
    let server = Leaves::new(era, Arc::default()).serve(rmcp::transport::stdio()).await.unwrap();
    server.waiting().await.unwrap();
    std::process::exit(0);
}

fn child(era: &str) -> McpServer {
    let this = std::env::current_exe().unwrap().to_string_lossy().into_owned();
    let args = ["--exact", "pipes::serves_when_started_as_a_child", "--nocapture", "--test-threads", "2"];
    let env = BTreeMap::from([(ERA.to_owned(), era.to_owned())]);
    let address = McpAddress::Stdio { command: this, args: args.map(ToOwned::to_owned).into(), env };
    McpServer { name: "leaves".to_owned(), address }
}

#[tokio::test]
async fn a_child_is_spoken_to_in_either_era() {
    for (era, protocol) in [("newer", "2026-07-28"), ("older", "2025-11-25")] {
        let human = Human::answering(ElicitReply::Decline);
        let client = McpClient::connect(child(era), options(), host_with(&human)).await.unwrap();
        assert_eq!(client.protocol().await.as_deref(), Some(protocol));
        assert_eq!(client.tools().await.unwrap().len(), 10, "{era}");
        let sent = json!({ "keyword": "家庭" });
        let outcome = client.call("echo", &arguments(sent.clone()), CallOptions::default()).await.unwrap();
        assert_eq!(outcome.structured, Some(sent), "{era}");
        client.call("login", &arguments(json!({ "user": "王小明" })), CallOptions::default()).await.unwrap();
        assert_eq!(text(&call(&client, "whoami").await.unwrap()), "王小明", "{era}");
        assert_eq!(text(&call(&client, "confirm").await.unwrap()), "declined", "{era}");
        assert_eq!(human.asked.lock().unwrap()[0].tool.as_deref(), Some("confirm"), "{era}");
        client.close().await;
    }
}

fn shell(script: &str) -> McpServer {
    McpServer::stdio("sh", "/bin/sh", ["-c", script])
}

#[cfg(unix)]
#[tokio::test]
async fn a_child_that_cannot_be_used_is_one_clear_line() {
    let check = async |server: McpServer, expected: &str| {
        let patience = ClientOptions { connect_timeout: Duration::from_secs(3), ..options() };
        let error = McpClient::connect(server, patience, host()).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    check(
        McpServer::stdio("hr", "/nowhere/hr", ["serve"]),
        "hr: `/nowhere/hr` cannot be started: No such file or directory (os error 2); install it or correct the command",
    )
    .await;
    check(
        shell("echo 'no database' >&2; read line; exit 3"),
        "sh ended before it was ready: its process ended with exit status: 3, its last words: no database; \
         run its command by hand to see why",
    )
    .await;
    check(
        shell("echo 'usage: hr [serve]'; exec 1>&-; read line"),
        "sh does not speak MCP: it wrote `usage: hr [serve]`; check its address or command",
    )
    .await;
    check(shell("while :; do echo y; done"), "sh does not speak MCP: it wrote `y`; check its address or command").await;
    let patience = ClientOptions { connect_timeout: Duration::from_millis(100), ..options() };
    let error = McpClient::connect(shell("cat >/dev/null"), patience, host()).await.unwrap_err();
    assert!(matches!(error, McpError::Silent { .. }), "{error}");
}

/// A server in shell: answers the greetings, then does as told with each call.
fn scripted(on_call: &str) -> McpServer {
    let script = r#"
id() { printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/'; }
while read -r line; do case "$line" in
  *server/discover*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"?"}}\n' "$(id)";;
  *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}\n' "$(id)";;
  *tools/list*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"search","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}\n' "$(id)";;
  *tools/call*) ON_CALL;;
esac; done"#;
    shell(&script.replace("ON_CALL", on_call))
}

#[cfg(unix)]
#[tokio::test]
async fn a_child_that_dies_in_a_call_is_started_again() {
    let client = McpClient::connect(scripted("echo 'out of memory' >&2; exit 9"), options(), host()).await.unwrap();
    let error = call(&client, "pay").await.unwrap_err();
    let expected = "nobody knows whether pay of sh happened (its process ended with exit status: 9, \
                    its last words: out of memory); look before calling again";
    assert_eq!(error.to_string(), expected);
    assert_eq!(client.tools().await.unwrap().len(), 1, "a new child answers");
}

#[cfg(unix)]
#[tokio::test]
async fn a_line_that_is_too_long_fails_its_call_and_no_other() {
    let on_call = r#"case "$line" in
  *huge*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' "$(id)"; head -c 3000000 /dev/zero | tr '\0' x; printf '"}]}}\n';;
  *) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"small"}]}}\n' "$(id)";;
esac"#;
    let limits = ClientOptions { max_message_bytes: 1_000_000, ..options() };
    let client = McpClient::connect(scripted(on_call), limits, host()).await.unwrap();
    let expected = McpError::TooLarge { server: "sh".to_owned(), tool: "huge".to_owned(), limit: 1_000_000 };
    assert_eq!(call(&client, "huge").await, Err(expected));
    assert_eq!(text(&call(&client, "next").await.unwrap()), "small");
}

#[cfg(unix)]
#[tokio::test]
async fn a_child_sees_nothing_of_our_environment_but_what_it_needs() {
    let on_call = r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}\n' "$(id)" "$(env | cut -d= -f1 | sort | tr '\n' ' ')""#;
    let mut server = scripted(on_call);
    if let McpAddress::Stdio { env, .. } = &mut server.address {
        env.insert("HR_KEY".to_owned(), "s3cret".to_owned());
    }
    let client = McpClient::connect(server, options(), host()).await.unwrap();
    let seen = text(&call(&client, "env").await.unwrap());
    assert!(seen.contains("HR_KEY") && seen.contains("PATH"), "{seen}");
    // Cargo sets this for every test.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !seen.contains("CARGO"), "{seen}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_child_that_does_not_leave_is_killed() {
    let stubborn = ClientOptions { close_timeout: Duration::from_millis(50), ..options() };
    let on_call = r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}\n' "$(id)" $$; trap '' TERM; exec 0</dev/zero; while :; do :; done"#;
    let client = McpClient::connect(scripted(on_call), stubborn, host()).await.unwrap();
    let pid = text(&call(&client, "pid").await.unwrap());
    client.close().await;
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}
