//! The door over pipes.

use std::{collections::BTreeMap, sync::Arc};

use bylaw_mcp::{CallOptions, ElicitReply, McpAddress, McpClient, McpServer, Principal, serve_pipes, serve_stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, split};
use tokio_util::sync::CancellationToken;

use crate::support::{
    Human, arguments,
    desk::{Desk, builder},
    host_with, options, text, wire,
};

const CHILD: &str = "BYLAW_TEST_DESK_CHILD";

/// No specification of its own: this binary, started as a child by the one below, is a server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_when_started_as_a_child() {
    if std::env::var(CHILD).is_err() {
        return;
    }
    let server = builder(&Arc::new(Desk::default())).build().unwrap();
    serve_stdio(server, Principal::new("amy"), CancellationToken::new()).await.unwrap();
    std::process::exit(0);
}

#[tokio::test]
async fn a_child_process_serves_whoever_started_it() {
    let command = std::env::current_exe().unwrap().to_string_lossy().into_owned();
    let args = ["--exact", "server_pipes::serves_when_started_as_a_child", "--nocapture", "--test-threads", "2"];
    let env = BTreeMap::from([(CHILD.to_owned(), "1".to_owned())]);
    let address = McpAddress::Stdio { command, args: args.map(ToOwned::to_owned).into(), env };
    let human = Human::answering(ElicitReply::Accept(json!({})));
    let server = McpServer { name: "desk".to_owned(), address };
    let client = McpClient::connect(server, options(), host_with(&human)).await.unwrap();
    assert_eq!(client.tools().await.unwrap().len(), 11);
    let who = client.call("who", &arguments(json!({})), CallOptions::default()).await.unwrap();
    assert_eq!(text(&who), "amy through bylaw, newer");
    let done = client.call("cancel", &arguments(json!({ "id": "LV-1" })), CallOptions::default()).await.unwrap();
    assert_eq!(text(&done), "cancel LV-1");
    client.close().await;
}

struct Pipe {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    served: tokio::task::JoinHandle<Result<(), bylaw_mcp::PipesError>>,
    desk: Arc<Desk>,
}

impl Pipe {
    fn open() -> Self {
        let desk = Arc::new(Desk::default());
        let server = builder(&desk).build().unwrap();
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = split(theirs);
        let served = tokio::spawn(serve_pipes(server, Principal::new("amy"), reader, writer, CancellationToken::new()));
        let (reader, writer) = split(ours);
        Self { reader: BufReader::new(reader), writer, served, desk }
    }

    async fn say(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"))
    }

    async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        self.hear().await
    }
}

async fn greeted_in_the_older_way() -> Pipe {
    let mut pipe = Pipe::open();
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "pipe", "version": "1" },
    });
    let greeting = pipe.ask(0, "initialize", params).await;
    assert_eq!(greeting["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(greeting["result"]["serverInfo"]["name"], "desk");
    assert_eq!(greeting["result"]["instructions"], "Look up before you change.");
    pipe.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    pipe
}

#[tokio::test]
async fn the_older_era_asks_in_the_middle_of_a_call() {
    for (answer, expected) in [
        (json!({ "action": "accept", "content": {} }), "cancel LV-1"),
        (json!({ "action": "decline" }), "the person said no to LV-1"),
        (json!({ "action": "cancel" }), "put away"),
    ] {
        let mut pipe = greeted_in_the_older_way().await;
        let call = json!({ "name": "cancel", "arguments": { "id": "LV-1" } });
        let question = pipe.ask(1, "tools/call", call).await;
        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(question["params"]["message"], "Cancel LV-1, version 0?");
        pipe.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
        assert_eq!(pipe.hear().await["result"]["content"][0]["text"], expected);
        assert_eq!(pipe.desk.done(), [expected]);
    }
}

#[tokio::test]
async fn a_client_that_answers_a_question_with_an_error_cannot_ask() {
    let mut pipe = greeted_in_the_older_way().await;
    let question = pipe.ask(1, "tools/call", json!({ "name": "cancel", "arguments": { "id": "LV-1" } })).await;
    let error = json!({ "code": -32601, "message": "no such method" });
    pipe.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": error })).await;
    assert_eq!(pipe.hear().await["result"]["isError"], true);
    assert!(pipe.desk.done().is_empty());
}

#[tokio::test]
async fn the_newer_era_is_spoken_without_a_greeting() {
    let mut pipe = Pipe::open();
    let found = pipe.ask(0, "server/discover", json!({ "_meta": wire::meta(true) })).await;
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")));
    let mut call = json!({ "name": "cancel", "arguments": { "id": "LV-1" }, "_meta": wire::meta(true) });
    let asked = pipe.ask(1, "tools/call", call.clone()).await;
    assert_eq!(asked["result"]["resultType"], "input_required");
    call["requestState"] = asked["result"]["requestState"].clone();
    call["inputResponses"] = json!({ "confirm": { "action": "accept", "content": {} } });
    assert_eq!(pipe.ask(2, "tools/call", call).await["result"]["content"][0]["text"], "cancel LV-1");
}

#[tokio::test]
async fn junk_on_the_pipe_is_skipped() {
    let mut pipe = greeted_in_the_older_way().await;
    pipe.writer.write_all(b"hello?\n{\"a\":1}\n\xff\xfe\n").await.unwrap();
    loop {
        // What is no request may be answered with an error.
        let heard = pipe.ask(5, "tools/call", json!({ "name": "who", "arguments": {} })).await;
        if heard["id"] == 5 {
            assert_eq!(heard["result"]["content"][0]["text"], "amy through pipe, older");
            break;
        }
    }
}

#[tokio::test]
async fn a_client_that_hangs_up_ends_the_server() {
    let pipe = greeted_in_the_older_way().await;
    drop((pipe.reader, pipe.writer));
    assert!(pipe.served.await.unwrap().is_ok());
    let silent = Pipe::open();
    drop((silent.reader, silent.writer));
    assert!(silent.served.await.unwrap().is_ok());
}
