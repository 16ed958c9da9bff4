//! An MCP server in this process, as plain JSON over HTTP in the newer era: a small leave system.

use std::sync::{Arc, Mutex};

use axum::{
    Json,
    body::Bytes,
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

/// The server; it is gone when this is dropped.
pub(crate) struct Leaves {
    pub(crate) url: String,
    calls: Arc<Mutex<Vec<String>>>,
    asked: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Leaves {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Leaves {
    pub(crate) async fn open() -> Self {
        let calls: Arc<Mutex<Vec<String>>> = Arc::default();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (log, heard) = (Arc::clone(&calls), Arc::clone(&asked));
        let app = axum::Router::new().fallback(move |method: Method, body: Bytes| {
            let (log, heard) = (Arc::clone(&log), Arc::clone(&heard));
            async move {
                if method != Method::POST {
                    return StatusCode::METHOD_NOT_ALLOWED.into_response();
                }
                let message: Value = serde_json::from_slice(&body).unwrap();
                heard.lock().unwrap().extend(message["params"]["name"].as_str().map(str::to_owned));
                respond(&message, &log).await
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, calls, asked, task }
    }

    /// Whether a tool has been called, whatever became of it.
    pub(crate) fn asked(&self, tool: &str) -> bool {
        self.asked.lock().unwrap().iter().any(|asked| asked == tool)
    }

    /// The calls that did something: tool and arguments.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

fn tools() -> Value {
    let tool = |name: &str, annotations: Value| {
        let schema = json!({ "type": "object", "required": ["leave_id"], "additionalProperties": false,
            "properties": { "leave_id": { "type": "string" } } });
        json!({ "name": name, "description": name, "inputSchema": schema, "annotations": annotations })
    };
    json!([
        tool("read_leave", json!({ "readOnlyHint": true })),
        tool("submit_leave", json!({ "destructiveHint": false })),
        tool("delete_leave", json!({ "destructiveHint": true })),
        tool("cancel_leave", json!({ "destructiveHint": false })),
        tool("export_leave", json!({ "readOnlyHint": true })),
        tool("wait_for_leave", json!({ "readOnlyHint": true })),
    ])
}

async fn respond(message: &Value, log: &Mutex<Vec<String>>) -> Response {
    let (id, params) = (&message["id"], &message["params"]);
    if id.is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let result = match message["method"].as_str().unwrap_or_default() {
        "server/discover" => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
            "serverInfo": { "name": "leaves", "version": "1" }, "ttlMs": 0, "cacheScope": "private",
        }),
        "tools/list" => {
            json!({ "resultType": "complete", "tools": tools(), "ttlMs": 0, "cacheScope": "private" })
        }
        "tools/call" => match (params["name"].as_str().unwrap(), params.get("inputResponses")) {
            ("wait_for_leave", _) => std::future::pending().await,
            // More than a model is given.
            ("export_leave", _) => {
                let text = "假單,".repeat(10_000);
                json!({ "resultType": "complete", "content": [{ "type": "text", "text": text },
                    { "type": "image", "mimeType": "image/svg+xml", "data": "PHN2Zy8+" }] })
            }
            // It asks why before it does anything.
            ("cancel_leave", None) => json!({
                "resultType": "input_required", "requestState": "sealed",
                "inputRequests": { "why": { "method": "elicitation/create", "params": { "mode": "form",
                    "message": "Why is the leave cancelled?",
                    "requestedSchema": { "type": "object", "required": ["reason"],
                        "properties": { "reason": { "type": "string", "minLength": 2 } } } } } },
            }),
            (name, responses) => {
                let answer = responses.map(|responses| responses["why"].to_string()).unwrap_or_default();
                log.lock().unwrap().push(format!("{name} {}{answer}", params["arguments"]));
                let text = format!("{name}: done");
                json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] })
            }
        },
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            return Json(json!({ "jsonrpc": "2.0", "id": id, "error": error })).into_response();
        }
    };
    Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response()
}
