//! Requests byte by byte, as a stranger may send them.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The JSON-RPC messages: the body, or the events in it.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let events = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut messages: Vec<&str> = events.filter(|data| data.contains("jsonrpc")).collect();
        if messages.is_empty() {
            messages.push(&self.body);
        }
        let read = |text| serde_json::from_str(text).unwrap_or_else(|_| panic!("{} {}", self.status, self.body));
        messages.into_iter().map(read).collect()
    }

    /// The last of them.
    pub(crate) fn message(&self) -> Value {
        self.messages().pop().unwrap()
    }
}

fn parts(url: &str) -> (&str, &str) {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    (host, path)
}

/// Opens a connection and writes a request whose body may be shorter than it says.
pub(crate) async fn begin(
    url: &str,
    method: &str,
    headers: &[(&str, &str)],
    body: &[u8],
    announced: usize,
) -> TcpStream {
    let (host, path) = parts(url);
    let mut head = format!("{method} /{path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {announced}\r\n");
    let usual =
        [("host", host), ("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let given = |name: &str| headers.iter().any(|(other, _)| *other == name);
    for (name, value) in usual.iter().filter(|(name, _)| !given(name)).chain(headers) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    // Who refuses by the head alone may have hung up already.
    let _ = stream.write_all(body).await;
    stream
}

pub(crate) async fn send(url: &str, method: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    finish(begin(url, method, headers, body, body.len()).await).await
}

pub(crate) async fn finish(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no reply: {text:?}"));
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let header = |line: &str| line.split_once(": ").map(|(k, v)| (k.to_lowercase(), v.to_owned())).unwrap();
    let headers: Vec<_> = lines.map(header).collect();
    let chunked = headers.iter().any(|(key, value)| key == "transfer-encoding" && value == "chunked");
    Reply { status, headers, body: if chunked { unchunk(body) } else { body.to_owned() } }
}

fn unchunk(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, tail)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        body.push_str(&tail[..size]);
        rest = tail[size..].trim_start_matches("\r\n");
    }
    body
}

/// What a client of the newer era says with each request.
pub(crate) fn meta(asks: bool) -> Value {
    let able = if asks { json!({ "elicitation": { "form": {} } }) } else { json!({}) };
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": able,
    })
}

/// A request of the newer era, in the name of whoever the key says.
pub(crate) async fn newer(url: &str, bearer: &str, method: &str, mut params: Value) -> Value {
    let name = ["name", "uri"].iter().find_map(|key| params[*key].as_str().map(ToOwned::to_owned));
    params["_meta"] = meta(true);
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let authorization = format!("Bearer {bearer}");
    let mut headers =
        vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method), ("authorization", &authorization)];
    if let Some(name) = &name {
        headers.push(("mcp-name", name));
    }
    send(url, "POST", &headers, body.to_string().as_bytes()).await.message()
}

/// Opens a session of the older era: its id.
pub(crate) async fn open(url: &str, bearer: &str) -> Reply {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "wire", "version": "1" },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    send(url, "POST", &[("authorization", &format!("Bearer {bearer}"))], body.to_string().as_bytes()).await
}

/// Opens a session and says that it is open.
pub(crate) async fn session(url: &str, bearer: &str) -> String {
    let opened = open(url, bearer).await;
    assert_eq!(opened.status, 200, "{}", opened.body);
    let id = opened.header("mcp-session-id").unwrap().to_owned();
    let body = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(in_session(url, bearer, &id, "POST", &body).await.status, 202);
    id
}

/// One request in a session.
pub(crate) async fn in_session(url: &str, bearer: &str, session: &str, method: &str, body: &Value) -> Reply {
    let authorization = format!("Bearer {bearer}");
    let headers = [("authorization", authorization.as_str()), ("mcp-session-id", session)];
    send(url, method, &headers, body.to_string().as_bytes()).await
}

/// A call of a tool in a session.
pub(crate) fn calling(tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": tool, "arguments": {} } })
}
