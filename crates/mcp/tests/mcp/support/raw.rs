//! Servers that answer whatever a test tells them to.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, Method, StatusCode},
    response::{IntoResponse, Response},
};
use bylaw_mcp::McpServer;
use futures_util::StreamExt;
use serde_json::{Value, json};

/// One request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) id: Value,
    pub(crate) params: Value,
    pub(crate) session: Option<String>,
}

/// What to do with a request.
pub(crate) enum Say {
    /// A JSON-RPC result.
    Result(Value),
    /// The same in a session.
    ResultInSession(&'static str, Value),
    /// A JSON-RPC error.
    Error(i64, &'static str),
    /// Bytes under a status and media type.
    Bytes(u16, &'static str, Vec<u8>),
    /// An event stream that is cut off after these bytes.
    Cut(&'static str),
    /// This many bytes of one JSON string or one event, never held at once.
    Huge(&'static str, usize),
    /// Nothing, ever.
    Nothing,
}

pub(crate) struct Raw {
    pub(crate) url: String,
    pub(crate) asked: Arc<Mutex<Vec<Asked>>>,
    pub(crate) sent: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Raw {
    /// A server that greets in the older way and leaves everything else to `say`.
    pub(crate) async fn greeting(say: impl Fn(&Asked) -> Say + Send + Sync + 'static) -> Self {
        Self::start(move |asked| match asked.method.as_str() {
            "server/discover" => Say::Error(-32601, "no such method"),
            "initialize" => Say::ResultInSession("s", greeting()),
            "notifications/initialized" => Say::Bytes(202, "", vec![]),
            _ => say(asked),
        })
        .await
    }

    pub(crate) async fn start(say: impl Fn(&Asked) -> Say + Send + Sync + 'static) -> Self {
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let sent: Arc<AtomicUsize> = Arc::default();
        let (log, counter, say) = (Arc::clone(&asked), Arc::clone(&sent), Arc::new(say));
        let app = axum::Router::new().fallback(move |method: Method, headers: HeaderMap, body: Bytes| {
            let (log, counter, say) = (Arc::clone(&log), Arc::clone(&counter), Arc::clone(&say));
            async move {
                let resumes = headers.get("last-event-id").map(|id| id.to_str().unwrap().to_owned());
                if method != Method::POST && resumes.is_none() {
                    return StatusCode::METHOD_NOT_ALLOWED.into_response();
                }
                let message: Value = serde_json::from_slice(&body).unwrap_or_default();
                let asked = Asked {
                    method: resumes.map_or_else(
                        || message["method"].as_str().unwrap_or_default().to_owned(),
                        |last| format!("resume after {last}"),
                    ),
                    id: message["id"].clone(),
                    params: message["params"].clone(),
                    session: headers.get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned()),
                };
                log.lock().unwrap().push(asked.clone());
                let reply = say(&asked);
                let mut response = respond(reply, asked.id, counter).await;
                // Each request comes over a connection of its own, so that it is certain what becomes of it.
                response.headers_mut().insert("connection", HeaderValue::from_static("close"));
                response
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, asked, sent, task }
    }

    pub(crate) fn server(&self) -> McpServer {
        McpServer::http("raw", &self.url)
    }

    /// Ends it; nobody listens any more when this returns.
    pub(crate) async fn stop(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }

    /// How often a method was asked.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| asked.method == method).count()
    }
}

pub(crate) fn greeting() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "raw", "version": "1" },
    })
}

pub(crate) fn said(text: &str) -> Say {
    Say::Result(json!({ "content": [{ "type": "text", "text": text }] }))
}

async fn respond(say: Say, id: Value, sent: Arc<AtomicUsize>) -> Response {
    let json = |body: Value| ([("content-type", "application/json")], body.to_string());
    match say {
        Say::Result(result) => json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response(),
        Say::ResultInSession(session, result) => {
            let mut response = json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response();
            response.headers_mut().insert("mcp-session-id", session.parse().unwrap());
            response
        }
        Say::Error(code, message) => {
            json(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })).into_response()
        }
        Say::Bytes(status, media, bytes) => {
            (StatusCode::from_u16(status).unwrap(), [("content-type", media)], bytes).into_response()
        }
        Say::Cut(bytes) => {
            let whole = futures_util::stream::iter([Ok(Bytes::from_static(bytes.as_bytes()))]);
            // Only when there is nothing to write for a moment is what was written sent.
            let cut = futures_util::stream::once(async {
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
                Err(std::io::Error::other("cut"))
            });
            ([("content-type", "text/event-stream")], Body::from_stream(whole.chain(cut))).into_response()
        }
        Say::Huge(media, bytes) => {
            let head =
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"");
            let head = if media == "text/event-stream" { format!("data: {head}") } else { head };
            let chunk = Bytes::from(vec![b'x'; 1 << 16]);
            let chunks = std::iter::once(Bytes::from(head)).chain(std::iter::repeat_n(chunk, bytes >> 16));
            let counted = chunks.map(move |chunk| {
                sent.fetch_add(chunk.len(), Ordering::SeqCst);
                Ok::<_, std::io::Error>(chunk)
            });
            ([("content-type", media)], Body::from_stream(futures_util::stream::iter(counted))).into_response()
        }
        Say::Nothing => std::future::pending().await,
    }
}
