//! An MCP server that answers whatever a test tells it to.

use std::sync::{Arc, Mutex};

use axum::{
    Json,
    body::Bytes,
    http::{HeaderMap, Method, StatusCode},
    response::{IntoResponse, Response},
};
use bylaw_agent::Elicitations;
use bylaw_mcp::{ClientOptions, Elicit, Host, McpClient, McpServer};
use serde_json::{Value, json};

use super::{Highest, StoppedClock};

/// One request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) params: Value,
    pub(crate) session: Option<String>,
}

impl Asked {
    pub(crate) fn tool(&self) -> &str {
        self.params["name"].as_str().unwrap_or_default()
    }
}

/// What to do with a request.
pub(crate) enum Say {
    Result(Value),
    Error(i64, &'static str),
    Status(u16, &'static str),
    /// The same, as bytes that may be no JSON.
    Raw(String),
    Nothing,
}

pub(crate) struct Raw {
    pub(crate) url: String,
    pub(crate) asked: Arc<Mutex<Vec<Asked>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A tool as a server lists it.
#[expect(clippy::needless_pass_by_value, reason = "rows read better")]
pub(crate) fn tool(name: &str, read_only: bool, properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "name": name, "description": "", "inputSchema": schema, "annotations": { "readOnlyHint": read_only } })
}

pub(crate) fn said(text: &str) -> Say {
    Say::Result(json!({ "content": [{ "type": "text", "text": text }] }))
}

impl Raw {
    /// With these tools; `call` answers the calls.
    pub(crate) async fn tools(tools: Value, call: impl Fn(&Asked) -> Say + Send + Sync + 'static) -> Self {
        Self::start(move |asked| match asked.method.as_str() {
            "tools/list" => Say::Result(json!({ "tools": tools })),
            "tools/call" => call(asked),
            _ => Say::Error(-32601, "no such method"),
        })
        .await
    }

    /// The same in the newer era, where a server may say that it needs input.
    pub(crate) async fn newer(tools: Value, call: impl Fn(&Asked) -> Say + Send + Sync + 'static) -> Self {
        Self::start(move |asked| match asked.method.as_str() {
            "server/discover" => Say::Result(json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
                "serverInfo": { "name": "raw", "version": "1" }, "ttlMs": 0, "cacheScope": "private",
            })),
            "tools/list" => {
                Say::Result(json!({ "resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private" }))
            }
            "tools/call" => call(asked),
            _ => Say::Error(-32601, "no such method"),
        })
        .await
    }

    pub(crate) async fn start(say: impl Fn(&Asked) -> Say + Send + Sync + 'static) -> Self {
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (log, say) = (Arc::clone(&asked), Arc::new(say));
        let app = axum::Router::new().fallback(move |method: Method, headers: HeaderMap, body: Bytes| {
            let (log, say) = (Arc::clone(&log), Arc::clone(&say));
            async move {
                if method != Method::POST {
                    return StatusCode::METHOD_NOT_ALLOWED.into_response();
                }
                let message: Value = serde_json::from_slice(&body).unwrap();
                let asked = Asked {
                    method: message["method"].as_str().unwrap_or_default().to_owned(),
                    params: message["params"].clone(),
                    session: headers.get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned()),
                };
                let greetings = {
                    let mut log = log.lock().unwrap();
                    log.push(asked.clone());
                    log.iter().filter(|asked| asked.method == "initialize").count()
                };
                respond(&asked, &message["id"], greetings, &*say).await
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, asked, task }
    }

    pub(crate) fn client(&self, name: &str) -> McpClient {
        self.client_with(name, ClientOptions::default(), None)
    }

    pub(crate) fn client_with(&self, name: &str, options: ClientOptions, ask: Option<Elicitations>) -> McpClient {
        let elicit = ask.map(|ask| Arc::new(ask) as Arc<dyn Elicit>);
        let host = Host { elicit, clock: Arc::new(StoppedClock), randomness: Arc::new(Highest) };
        McpClient::new(McpServer::http(name, &self.url), options, host)
    }

    /// The calls that arrived: tool and arguments.
    pub(crate) fn calls(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let calls = asked.iter().filter(|asked| asked.method == "tools/call");
        calls.map(|asked| format!("{} {}", asked.tool(), asked.params["arguments"])).collect()
    }

    pub(crate) fn count(&self, method: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| asked.method == method).count()
    }
}

async fn respond(asked: &Asked, id: &Value, greetings: usize, say: &(dyn Fn(&Asked) -> Say + Send + Sync)) -> Response {
    if id.is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    if asked.method == "initialize" {
        let greeting = json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "raw", "version": "1" },
        });
        let body = Json(json!({ "jsonrpc": "2.0", "id": id, "result": greeting }));
        return ([("mcp-session-id", format!("s{greetings}"))], body).into_response();
    }
    match say(asked) {
        Say::Result(result) => Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response(),
        Say::Error(code, message) => {
            Json(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })).into_response()
        }
        Say::Status(status, text) => (StatusCode::from_u16(status).unwrap(), text).into_response(),
        Say::Raw(result) => {
            let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}");
            ([("content-type", "application/json")], body).into_response()
        }
        Say::Nothing => std::future::pending().await,
    }
}
