//! `bylaw mcp`: the rules in the hands of another program, over pipes, over HTTP, and for a folder of one's own.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc,
};

use serde_json::{Value, json};

use crate::program::{Ended, Home, Serving};

/// A client of the older era that started the program.
struct Client {
    child: Child,
    replies: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let replies = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, replies, next: 0 };
        let info = json!({ "name": "tests", "version": "1" });
        let id = client
            .begin("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }));
        client.reply_to(id);
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        self.next
    }

    fn reply_to(&mut self, id: u64) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.replies.read_line(&mut line).unwrap() > 0, "the program has left");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message["result"].clone();
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.begin("tools/call", &json!({ "name": tool, "arguments": arguments }));
        self.reply_to(id)
    }

    /// Hangs up; how the program ended.
    fn hang_up(mut self) -> Option<i32> {
        drop(self.child.stdin.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}

/// One call of the newer era over HTTP.
fn over_http(serving: &Serving, tool: &str, arguments: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "tests", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let address = serving.url().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\naccept: \
         application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: \
         {tool}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    let (_, body) = reply.split_once("\r\n\r\n").unwrap();
    serde_json::from_str::<Value>(body).unwrap_or_else(|_| panic!("{reply}"))["result"].clone()
}

/// Without what differs from one call to the next: ids, times and money.
fn redacted(mut result: Value) -> Value {
    let named = |result: &Value, name: &str| result["structuredContent"][name].as_str().map(ToOwned::to_owned);
    let said = text(&result);
    let ids: Vec<String> = ["request_id", "run_id"].iter().filter_map(|name| named(&result, name)).collect();
    let plain = ids.iter().fold(said, |said, id| said.replace(id.as_str(), "[id]"));
    result["content"][0]["text"] = plain.into();
    if let Some(fields) = result["structuredContent"].as_object_mut() {
        for name in ["request_id", "run_id", "total_ms", "cost"] {
            fields.remove(name);
        }
        if let Some(error) = fields.get_mut("error").and_then(Value::as_object_mut) {
            error.remove("request_id");
        }
    }
    // The newer era says of each result that it is one.
    result.as_object_mut().unwrap().remove("resultType");
    result
}

#[test]
fn the_same_is_said_over_pipes_and_over_http() {
    let home = Home::new();
    let serving = Serving::start(&home, &["--sample"]);
    let mut client = Client::start(home.command(&["mcp"]).env("BYLAW_URL", serving.url()));
    for (tool, arguments) in [
        ("search_rules", json!({ "query": "特別休假", "k": 3 })),
        ("search_rules", json!({ "query": "remote work", "k": -1 })),
        ("read_article", json!({ "source": "員工工作規則.md", "article": "21" })),
        ("ask", json!({ "question": "特休幾天" })),
        ("ask", json!({ "question": "公司有健身房或運動補助嗎" })),
        ("ask", json!({ "question": "Is there a stock option plan?", "mode": "extract" })),
        ("ask", json!({ "question": "特休幾天", "mode": "agent", "max_steps": 99 })),
    ] {
        let (piped, http) = (client.call(tool, &arguments), over_http(&serving, tool, &arguments));
        assert!(!text(&piped).is_empty() && piped["isError"] != true, "{piped}");
        assert_eq!(redacted(piped), redacted(http), "{tool} {arguments}");
    }
    let error = redacted(client.call("read_article", &json!({ "source": "none.md", "article": "1" })));
    assert!(text(&error).contains("source_not_found"), "{error}");
    assert_eq!(client.hang_up(), Some(0));
    assert_eq!(serving.stop(), Some(0));
}

/// A server that answers one request after the other with these bytes, and then is gone.
fn saying(replies: Vec<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for reply in replies {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while line != "\r\n" {
                line.clear();
                request.read_line(&mut line).unwrap();
                if let Some(bytes) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = bytes.trim().parse().unwrap();
                }
            }
            request.take(length).read_to_end(&mut Vec::new()).unwrap();
            stream.write_all(reply.as_bytes()).unwrap();
        }
    });
    url
}

#[test]
fn whatever_answers_instead_of_the_service_is_not_nothing_found() {
    let home = Home::new();
    let html = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: 26\r\n\r\n<html>Welcome home!</html>";
    let proxy = "HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: 13\r\n\r\n<h1>502</h1>\r\n";
    let half = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 900\r\n\r\n{\"hits\":[";
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nevent: token\ndata: {\"text\":\"特休\"}\n\n";
    let silent = "";
    let url = saying(vec![html, html, proxy, half, events, silent]);
    let mut client = Client::start(home.command(&["mcp", "--url", &url]).env("BYLAW_MCP_LANGUAGE", "en"));
    let search = json!({ "query": "leave" });
    let ask = json!({ "question": "How much leave?" });
    for (tool, arguments, expected) in [
        ("search_rules", &search, "not Bylaw"),
        ("ask", &ask, "not Bylaw"),
        ("search_rules", &search, "not Bylaw"),
        ("search_rules", &search, "broke off"),
        ("ask", &ask, "broke off"),
        ("search_rules", &search, "broke off"),
        // By now nobody is there.
        ("search_rules", &search, "does not answer"),
        ("ask", &ask, "does not answer"),
    ] {
        let result = client.call(tool, arguments);
        let said = text(&result);
        assert_eq!(result["isError"], true, "{said}");
        assert!(said.contains(expected) && said.contains("This is not \"nothing found\""), "{expected}: {said}");
        assert!(said.contains("service_unreachable") && said.contains("request_id="), "{said}");
    }
}

#[test]
fn a_call_that_is_cancelled_closes_the_connection_to_the_service() {
    let home = Home::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (told, tell) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = [0; 4096];
        let _ = stream.read(&mut bytes).unwrap();
        let step = "event: step\ndata: {\"step\":1,\"tool\":\"search\",\"query\":\"leave\",\"found\":[]}\n\n";
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{step}").unwrap();
        told.send("asked").unwrap();
        // Until the other end closes.
        while stream.read(&mut bytes).is_ok_and(|read| read > 0) {}
        told.send("left").unwrap();
    });
    let mut client = Client::start(&mut home.command(&["mcp", "--url", &url]));
    let id = client.begin("tools/call", &json!({ "name": "ask", "arguments": { "question": "特休幾天" } }));
    assert_eq!(tell.recv().unwrap(), "asked");
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    assert_eq!(tell.recv_timeout(std::time::Duration::from_secs(5)).unwrap(), "left");
}

#[test]
fn a_key_opens_the_door_and_a_wrong_one_is_told() {
    let home = Home::new();
    let serving = Serving::start(&home, &["--sample"]);
    let data = serving.announced["data"].as_str().unwrap();
    let key = home.json(&["key", "create", "agents", "--data", data]);
    let secret = key["secret"].as_str().unwrap();
    let mut keyed = Client::start(home.command(&["mcp"]).env("BYLAW_URL", serving.url()).env("BYLAW_KEY", secret));
    let search = json!({ "query": "特休" });
    // The service notices its first key within a tenth of a second; with it nobody is refused before or after.
    assert_ne!(keyed.call("search_rules", &search)["isError"], true);
    home.json(&["key", "revoke", key["key"]["id"].as_str().unwrap(), "--data", data]);
    let refused = loop {
        let result = keyed.call("search_rules", &search);
        if result["isError"] == true {
            break text(&result);
        }
    };
    assert!(refused.contains("invalid_key") && refused.contains("重試沒有用"), "{refused}");
}

#[test]
fn a_folder_is_served_by_whoever_comes_first_and_then_by_the_next() {
    let home = Home::new();
    home.write("rules/work.md", "# 規則\n\n### 第 27 條（事假）\n事假一年合計不得超過十四日。\n");
    let folder = home.path("rules").display().to_string();
    let start = || Client::start(&mut home.command(&["mcp", "--docs", &folder]));
    let search = json!({ "query": "事假" });
    let (mut first, mut second) = (start(), start());
    for client in [&mut first, &mut second] {
        assert!(text(&client.call("search_rules", &search)).contains("work.md#27"));
    }
    assert_eq!(first.hang_up(), Some(0));
    assert!(text(&second.call("search_rules", &search)).contains("十四日"), "the second has taken over");
    let mut third = start();
    assert!(text(&third.call("ask", &json!({ "question": "事假幾天" }))).contains("十四日"));
    // Killed, as a desktop does it.
    drop(second);
    assert!(text(&third.call("search_rules", &search)).contains("十四日"), "the third has taken over");
    assert_eq!(third.hang_up(), Some(0));
    let places = std::fs::read_dir(home.path(".local/share/bylaw/folders")).unwrap().count();
    assert_eq!(places, 1, "one place for one folder");
}

#[test]
fn what_is_wrong_with_how_it_is_started_is_said_at_once() {
    let home = Home::new();
    for (arguments, variable, code) in [
        (&["mcp", "--docs", "nowhere"][..], ("A", "b"), 3),
        (&["mcp", "--url", "nonsense"], ("A", "b"), 2),
        (&["mcp", "--url", "http://127.0.0.1:1", "--docs", "."], ("A", "b"), 2),
        (&["mcp"], ("BYLAW_KEY", "nonsense"), 2),
        (&["mcp"], ("BYLAW_MCP_MAX_STEPS", "13"), 2),
        (&["mcp"], ("BYLAW_MCP_MAX_STEPS", "0"), 2),
        (&["mcp"], ("BYLAW_MCP_MAX_WALL_MS", "999"), 2),
        (&["mcp"], ("BYLAW_MCP_SOURCE", "../x"), 2),
        (&["mcp"], ("BYLAW_MCP_LANGUAGE", "fr"), 2),
        (&["mcp", "install", "emacs"], ("A", "b"), 2),
        (&["mcp", "install", "cursor", "--name", "a b"], ("A", "b"), 2),
    ] {
        let ended = Ended::of(home.command(arguments).env(variable.0, variable.1));
        assert_eq!(ended.code, Some(code), "{arguments:?} {variable:?}: {}", ended.stderr);
        assert!(ended.stdout.is_empty(), "{}", ended.stdout);
    }
    // Whoever starts it and hangs up has done nothing wrong.
    assert_eq!(home.run(&["mcp"]).code, Some(0));
}

#[test]
fn clients_are_shown_what_to_write_and_keep_what_they_had() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_bylaw");
    home.write("rules/a.md", "# a");
    let shown: Vec<String> = ["claude-desktop", "cursor", "vscode", "codex"]
        .iter()
        .map(|client| {
            let arguments = ["mcp", "install", client, "--print", "--url", "https://rules.example"];
            let ended = Ended::of(home.command(&arguments).env("BYLAW_KEY", format!("bylaw_{}", "0".repeat(64))));
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
            home.redact(&ended.stdout).replace(program, "[program]")
        })
        .collect();
    assert!(!shown.concat().contains("bylaw_0"), "a key is not printed");
    #[cfg(target_os = "linux")]
    insta::assert_snapshot!(shown.join("\n----\n"));
    assert!(!home.path(".cursor").exists(), "nothing is written");

    let before = "{\n\t\"mcpServers\": { \"other\": { \"url\": \"http://x\" } },\n\t\"z\": 1,\n\t\"a\": 2\n}\n";
    let file = home.write(".cursor/mcp.json", before);
    let done = home.json(&["mcp", "install", "cursor", "--docs", "rules"]);
    assert_eq!((&done["changed"], &done["with_key"]), (&json!(true), &json!(false)));
    assert_eq!(std::fs::read_to_string(done["kept"].as_str().unwrap()).unwrap(), before);
    let after = std::fs::read_to_string(&file).unwrap();
    let written: Value = serde_json::from_str(&after).unwrap();
    assert_eq!(written["mcpServers"]["other"]["url"], "http://x");
    let rules = home.path("rules").canonicalize().unwrap().display().to_string();
    assert_eq!(written["mcpServers"]["bylaw"]["args"], json!(["mcp", "--docs", rules]));
    assert!(after.find("\"z\"").unwrap() < after.find("\"a\"").unwrap(), "{after}");
    let again = home.json(&["mcp", "install", "cursor", "--docs", "rules"]);
    assert_eq!((&again["changed"], &again["kept"]), (&json!(false), &json!(null)));
    home.json(&["mcp", "install", "cursor", "--url", "http://127.0.0.1:9"]);
    assert!(home.path(".cursor/mcp.json.before-bylaw-2").exists());
    assert_eq!(std::fs::read_to_string(home.path(".cursor/mcp.json.before-bylaw")).unwrap(), before);

    home.write(".codex/config.toml", "a = ");
    let refused = home.run(&["mcp", "install", "codex"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("nothing was changed") && refused.stderr.contains("--print"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(home.path(".codex/config.toml")).unwrap(), "a = ");
}
