//! `bylaw leave`: keys, reopening, the demonstration, and the program on either end of a pipe.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::{
    peers::Peers,
    program::{Ended, Home, Serving},
};

#[test]
fn a_demonstration_company_is_put_into_an_empty_file_once() {
    let home = Home::new();
    let seeded = home.json(&["leave", "seed"]);
    let employees: Vec<&str> =
        seeded["keys"].as_array().unwrap().iter().map(|key| key["employee"].as_str().unwrap()).collect();
    assert_eq!(employees, ["E001", "E005"]);
    let again = home.run(&["leave", "seed"]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("nothing has changed"), "{}", again.stderr);
}

#[test]
fn keys_are_the_leave_systems_own_and_are_revoked_one_by_one_or_by_person() {
    let home = Home::new();
    home.run(&["leave", "seed"]);
    let key = home.json(&["leave", "key", "create", "--employee", "E002"]);
    assert!(key["secret"].as_str().unwrap().starts_with("leave_"));
    assert!(home.json(&["key", "list"]).as_array().unwrap().is_empty(), "a key of the leave system opens nothing else");
    let list = home.json(&["leave", "key", "list"]);
    assert_eq!(list.as_array().unwrap().len(), 3);
    assert!(!list.to_string().contains(key["secret"].as_str().unwrap()));
    let revoked = home.json(&["leave", "key", "revoke", key["id"].as_str().unwrap()]);
    assert_eq!((revoked[0]["valid"].as_bool(), revoked[0]["employee"].as_str()), (Some(false), Some("E002")));
    assert_eq!(home.json(&["leave", "key", "revoke", "--employee", "E001"]).as_array().unwrap().len(), 1);
    for (arguments, code) in [
        (&["leave", "key", "create", "--employee", "E999"][..], 2),
        (&["leave", "key", "create", "--employee", "E 1"], 2),
        (&["leave", "key", "revoke", "lk_000000000000"], 3),
        (&["leave", "key", "revoke", "--employee", "E009"], 3),
        (&["leave", "key", "revoke"], 2),
        (&["leave", "reopen", "LV-ffffff"], 3),
        (&["leave", "reopen", "7f3a91"], 2),
        (&["leave", "stdio"], 2),
        (&["leave", "stdio", "--as", "E999"], 2),
        (&["leave", "seed", "--calendar", "nowhere.toml"], 2),
    ] {
        let ended = home.run(arguments);
        assert_eq!(ended.code, Some(code), "{arguments:?}: {}", ended.stderr);
    }
}

/// Speaks JSON-RPC of the older era over pipes, as any client would.
struct Pipe {
    child: std::process::Child,
    replies: BufReader<std::process::ChildStdout>,
    next: u64,
}

impl Pipe {
    fn open(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let replies = BufReader::new(child.stdout.take().unwrap());
        let mut pipe = Self { child, replies, next: 0 };
        let capabilities = json!({ "elicitation": {} });
        let info = json!({ "name": "tests", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info });
        pipe.ask("initialize", &hello, "accept");
        pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        pipe
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// One request; a question in between is answered like this.
    fn ask(&mut self, method: &str, params: &Value, answer: &str) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert!(self.replies.read_line(&mut line).unwrap() > 0, "the program has left");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "elicitation/create" {
                let result = if answer == "accept" {
                    json!({ "action": "accept", "content": {} })
                } else {
                    json!({ "action": answer })
                };
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
            } else if message["id"] == id && message.get("method").is_none() {
                return message["result"].clone();
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value, answer: &str) -> Value {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }), answer)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn over_a_pipe_a_draft_is_sent_for_review_and_a_no_is_final_until_it_is_reopened() {
    let home = Home::new();
    let mut pipe = Pipe::open(&mut home.command(&["leave", "stdio", "--seed", "--lang", "en"]));
    let found = pipe.call("search_leaves", &json!({ "keyword": "家庭旅遊" }), "accept");
    assert_eq!(found["structuredContent"]["leaves"][0]["leave_id"], "LV-7f3a91", "{found}");
    let submit = json!({ "leave_id": "LV-7f3a91", "status": "submitted" });
    let done = pipe.call("update_leave_status", &submit, "accept");
    assert_eq!(done["structuredContent"]["status"], "submitted", "{done}");

    let cancel = json!({ "leave_id": "LV-2c40d8", "reason": "plans" });
    pipe.call("get_leave", &json!({ "leave_id": "LV-2c40d8" }), "accept");
    let no = pipe.call("cancel_approved_leave", &cancel, "decline");
    assert_eq!(no["structuredContent"]["refused"], "declined", "{no}");
    let again = pipe.call("cancel_approved_leave", &cancel, "accept");
    assert_eq!(again["structuredContent"]["refused"], "said_no", "{again}");
    let reopened = home.json(&["leave", "reopen", "LV-2c40d8", "--reason", "ill"]);
    assert_eq!(reopened["reopened"], json!(["revoke"]));
    let done = pipe.call("cancel_approved_leave", &cancel, "accept");
    assert_eq!(done["structuredContent"]["status"], "cancelled", "{done}");
}

#[test]
fn the_door_on_http_lets_in_nobody_without_a_key() {
    let home = Home::new();
    let serving =
        Serving::of(&mut home.command(&["--json", "leave", "serve", "--port", "0", "--seed", "--lang", "en"]));
    assert!(serving.announced["keys"][0]["secret"].as_str().unwrap().starts_with("leave_"));
    let address = serving.url().trim_end_matches("/mcp").to_owned();
    assert!(address.starts_with("http://127.0.0.1:"));
    let mut stream = std::net::TcpStream::connect(address.trim_start_matches("http://")).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\ncontent-type: \
         application/json\r\naccept: application/json, text/event-stream\r\n\r\n{{}}"
    )
    .unwrap();
    let mut reply = String::new();
    BufReader::new(stream).read_line(&mut reply).unwrap();
    assert!(reply.contains(" 401 "), "{reply}");
    assert_eq!(serving.stop(), Some(0));
}

/// A file that comes with the source.
fn shipped(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn the_agents_that_come_along_send_the_family_trip_for_review() {
    for agent in ["leave", "leave-long"] {
        let (home, peers) = (Home::new(), Peers::start());
        peers.configure(&home);
        let serving = Serving::of(&mut home.command(&["--json", "leave", "serve", "--port", "0", "--seed"]));
        let file = shipped(&format!("agents/{agent}.toml"));
        assert!(file.contains("http://127.0.0.1:8090/mcp"));
        home.write(&format!("agents/{agent}.toml"), file.replace("http://127.0.0.1:8090/mcp", serving.url()));
        let key = serving.announced["keys"][0]["secret"].as_str().unwrap();
        let mut chat = home.command(&["chat", "--agent", agent, "--print", "把我那張家庭旅遊的特休送出審核"]);
        let said = Ended::of(chat.env("LEAVE_KEY", key));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        for part in ["LV-7f3a91", "審核中"] {
            assert!(said.stdout.contains(part), "{}{}", said.stdout, said.stderr);
        }
        let calls: Vec<&str> = said.stderr.lines().filter(|line| line.starts_with('→')).collect();
        assert!(calls[0].contains("search_leaves") && calls[1].contains("update_leave_status"), "{calls:?}");
        let unknown = Ended::of(home.command(&["chat", "--agent", agent, "--print", "hello"]).env_remove("LEAVE_KEY"));
        assert!(unknown.stderr.contains("LEAVE_KEY"), "{}", unknown.stderr);
    }
}

#[test]
fn what_is_ready_for_other_clients_starts_the_server_or_names_its_door() {
    let desktop: Value = serde_json::from_str(&shipped("examples/clients/claude-desktop.json")).unwrap();
    let leave = &desktop["mcpServers"]["leave"];
    assert_eq!(leave["command"], "bylaw");
    let arguments: Vec<&str> = leave["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let home = Home::new();
    let mut pipe = Pipe::open(&mut home.command(&arguments));
    let found = pipe.call("search_leaves", &json!({ "keyword": "家庭旅遊" }), "accept");
    assert_eq!(found["structuredContent"]["leaves"][0]["leave_id"], "LV-7f3a91", "{found}");
    for (file, servers) in [("cursor", "mcpServers"), ("vscode", "servers")] {
        let client: Value = serde_json::from_str(&shipped(&format!("examples/clients/{file}.json"))).unwrap();
        let leave = &client[servers]["leave"];
        assert_eq!(leave["url"], "http://127.0.0.1:8090/mcp", "{file}");
        assert!(leave["headers"]["Authorization"].as_str().unwrap().starts_with("Bearer ${"), "{file}");
    }
}
