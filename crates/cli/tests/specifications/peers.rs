//! A model and an MCP server for conversations, which do what a message asks of them.

use std::sync::{Arc, Mutex, mpsc};

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};

use crate::program::Home;

/// Both, on one port of this machine. They end with the test.
pub(crate) struct Peers {
    pub(crate) url: String,
    calls: Arc<Mutex<Vec<String>>>,
    _runtime: tokio::runtime::Runtime,
}

type Calls = Arc<Mutex<Vec<String>>>;

impl Peers {
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let calls = Calls::default();
        let app = Router::new()
            .route("/v1/chat/completions", post(model))
            .route("/mcp", post(server))
            .with_state(Arc::clone(&calls));
        let (told, tell) = mpsc::channel();
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            told.send(listener.local_addr().unwrap()).unwrap();
            axum::serve(listener, app).await.unwrap();
        });
        Self { url: format!("http://{}", tell.recv().unwrap()), calls, _runtime: runtime }
    }

    /// Writes a configuration that uses this model.
    pub(crate) fn configure(&self, home: &Home) {
        home.write(
            "bylaw.toml",
            format!(
                "[model]\nbase_url = \"{}/v1\"\nname = \"m\"\nretries = 0\n[prices]\nm = {{ input = \"1\", output = \"2\" }}\n",
                self.url
            ),
        );
    }

    pub(crate) fn mcp(&self) -> String {
        format!("{}/mcp", self.url)
    }

    /// The calls of tools that arrived.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

/// Calls a tool where the message names one, then says what it was told.
async fn model(Json(request): Json<Value>) -> Response {
    let messages = request["messages"].as_array().unwrap();
    let last_user = messages.iter().rposition(|message| message["role"] == "user").unwrap();
    let said = messages[last_user]["content"].as_str().unwrap();
    let results = &messages[last_user + 1..];
    let is_forced = request["tools"].as_array().is_none_or(Vec::is_empty);
    let (tool, arguments) = match said.split_once(' ').unwrap_or((said, "")) {
        ("cancel", id) => ("cancel_leave", json!({ "leave_id": id })),
        ("submit", _) => ("submit_leave", json!({ "leave_id": "LV-7" })),
        // Finds it, takes the id out of what was found, and goes on with that.
        ("把我那張家庭旅遊的特休送出審核", _) => {
            match results.iter().rfind(|message| message["role"] == "tool") {
                None => ("search_leaves", json!({ "keyword": "家庭旅遊" })),
                Some(found) if results.len() < 3 => {
                    let found = found["content"].as_str().unwrap();
                    let id = &found[found.find("LV-").unwrap()..][..9];
                    ("update_leave_status", json!({ "leave_id": id, "status": "submitted" }))
                }
                Some(done) => {
                    let text = format!("done: {}", done["content"].as_str().unwrap());
                    return reply(&json!({ "role": "assistant", "content": text }), "stop");
                }
            }
        }
        ("look", what) => ("look", json!({ "what": format!("{what}{}", results.len()) })),
        ("wait", _) => std::future::pending().await,
        ("refuse", _) => return (StatusCode::UNAUTHORIZED, "no such key").into_response(),
        ("count", _) => {
            let count = messages.iter().filter(|message| message["role"] == "user").count();
            return reply(&json!({ "role": "assistant", "content": format!("{count} messages") }), "stop");
        }
        _ => {
            let text = format!("\u{1b}[2Jyou said {said}");
            return reply(&json!({ "role": "assistant", "content": text }), "stop");
        }
    };
    let told = results.iter().rev().find(|message| message["role"] == "tool");
    match told.filter(|_| !["look", "search_leaves", "update_leave_status"].contains(&tool) || is_forced) {
        Some(told) => reply(&json!({ "role": "assistant", "content": format!("told: {}", told["content"]) }), "stop"),
        None => {
            let function = json!({ "name": tool, "arguments": arguments.to_string() });
            let call = json!({ "id": format!("c{}", results.len()), "type": "function", "function": function });
            reply(&json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
        }
    }
}

fn reply(message: &Value, finish: &str) -> Response {
    Json(json!({
        "id": "r", "object": "chat.completion", "model": "m",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 },
    }))
    .into_response()
}

/// Three tools: one destroys, one asks the person, one only reads.
async fn server(State(calls): State<Calls>, Json(message): Json<Value>) -> Response {
    let id = &message["id"];
    if id.is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let params = &message["params"];
    let result = match message["method"].as_str().unwrap() {
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
            "serverInfo": { "name": "leaves", "version": "1" }, "ttlMs": 0, "cacheScope": "private",
        }),
        "tools/list" => json!({ "tools": tools(), "ttlMs": 0, "cacheScope": "private" }),
        "tools/call" => {
            calls.lock().unwrap().push(format!("{} {}", params["name"].as_str().unwrap(), params["arguments"]));
            called(params)
        }
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            return Json(json!({ "jsonrpc": "2.0", "id": id, "error": error })).into_response();
        }
    };
    let mut result = result;
    result.as_object_mut().unwrap().entry("resultType").or_insert(json!("complete"));
    Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response()
}

fn called(params: &Value) -> Value {
    let text = |text: String| json!({ "content": [{ "type": "text", "text": text }] });
    let id = params["arguments"]["leave_id"].as_str().unwrap_or_default();
    match (params["name"].as_str().unwrap(), params.get("inputResponses")) {
        ("cancel_leave", _) => text(format!("cancelled {id}")),
        ("look", _) => text("\u{1b}]0;seen\u{7} 一筆".to_owned()),
        (_, None) => json!({
            "resultType": "input_required",
            "requestState": "s",
            "inputRequests": { "form": { "method": "elicitation/create", "params": {
                "mode": "form",
                "message": "送出 LV-7 嗎？\u{1b}[31m",
                "requestedSchema": {
                    "type": "object", "required": ["days"],
                    "properties": {
                        "days": { "type": "integer", "title": "天數", "minimum": 1, "maximum": 7 },
                        "kind": { "type": "string", "enum": ["family", "sick"], "enumNames": ["家庭照顧假", "病假"] },
                    },
                },
            } } },
        }),
        (_, Some(replies)) => text(format!("heard {} {}", replies["form"]["action"], replies["form"]["content"])),
    }
}

fn tools() -> Value {
    let tool = |name: &str, argument: &str, annotations: Value| {
        let schema =
            json!({ "type": "object", "required": [argument], "properties": { argument: { "type": "string" } } });
        json!({ "name": name, "description": "", "inputSchema": schema, "annotations": annotations })
    };
    json!([
        tool("cancel_leave", "leave_id", json!({})),
        tool("submit_leave", "leave_id", json!({ "destructiveHint": false })),
        tool("look", "what", json!({ "readOnlyHint": true })),
    ])
}
