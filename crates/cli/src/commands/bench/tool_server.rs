//! A server of tools, as small as the protocol of 2025-11-25 allows: every request has its reply in JSON.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// What is done with a request.
pub(super) enum Done {
    Result(Value),
    Error {
        code: i32,
        message: &'static str,
    },
    Status(u16),
    /// Nothing, until the client leaves.
    Nothing,
}

/// The server's half of the greeting.
pub(super) fn greeting(name: &str, params: &Value) -> Done {
    Done::Result(json!({
        "protocolVersion": params["protocolVersion"],
        "capabilities": { "tools": {} },
        "serverInfo": { "name": name, "version": "1" },
    }))
}

/// A request that nobody knows.
pub(super) const UNKNOWN: Done = Done::Error { code: -32601, message: "there is no such method" };

/// The result of a tool that says this.
pub(super) fn said(text: &str) -> Done {
    Done::Result(json!({ "content": [{ "type": "text", "text": text }], "isError": false }))
}

/// The result of a tool that failed.
pub(super) fn failed(text: &str) -> Done {
    Done::Result(json!({ "content": [{ "type": "text", "text": text }], "isError": true }))
}

/// Replies to `request`; to what asks nothing, with nothing. `stop` ends what never ends.
pub(super) async fn reply(request: &Value, done: Done, stop: &CancellationToken) -> Response {
    let id = &request["id"];
    match done {
        Done::Result(result) => Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response(),
        Done::Error { code, message } => {
            let error = json!({ "code": code, "message": message });
            Json(json!({ "jsonrpc": "2.0", "id": id, "error": error })).into_response()
        }
        Done::Status(status) => StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST).into_response(),
        Done::Nothing => {
            // The future is dropped when the client leaves.
            stop.cancelled().await;
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
    }
}

/// Whether it asks for no reply.
pub(super) fn is_notification(request: &Value) -> bool {
    request.get("id").is_none()
}
