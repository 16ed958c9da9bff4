//! Requests byte by byte, as a stranger may send them.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Status, the session that was opened if one was, and the JSON-RPC message.
pub(crate) async fn post(url: &str, headers: &[(&str, &str)], message: &Value) -> (u16, Option<String>, Value) {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let body = message.to_string();
    let mut head = format!(
        "POST /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {}\r\ncontent-type: \
         application/json\r\naccept: application/json, text/event-stream\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).map(str::to_owned);
    // The message alone, in one chunk, or as an event of a stream.
    let read = |line: &str| serde_json::from_str(line.trim_start_matches("data: ")).ok();
    let message = body.lines().filter(|line| line.contains("jsonrpc")).find_map(read);
    (status, session, message.unwrap_or_default())
}

/// A call in the newer era, with a state and an answer if there are any.
pub(crate) async fn call(url: &str, key: &str, tool: &str, arguments: &Value, answer: Option<(&str, &str)>) -> Value {
    let mut params = json!({ "name": tool, "arguments": arguments, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    } });
    if let Some((state, action)) = answer {
        params["requestState"] = json!(state);
        params["inputResponses"] = json!({ "confirm": { "action": action, "content": {} } });
    }
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let bearer = format!("Bearer {key}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", tool),
    ];
    post(url, &headers, &message).await.2
}

/// What came of a call, in a word: `asked`, `done`, the code of a refusal, or the number of an error.
pub(crate) fn word(message: &Value) -> String {
    let result = &message["result"];
    match (&message["error"]["code"], &result["structuredContent"]["refused"]) {
        (Value::Number(code), _) => code.to_string(),
        (_, Value::String(code)) => code.clone(),
        _ if result["resultType"] == "input_required" => "asked".to_owned(),
        _ if result["isError"] == true => result["content"][0]["text"].as_str().unwrap().to_owned(),
        _ => "done".to_owned(),
    }
}
