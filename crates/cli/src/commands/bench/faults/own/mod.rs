//! Servers of this program's own: a strict model that answers in streams, and a server of tools, over HTTP on one port.
//!
//! ```text
//!   /v1/chat/completions   the model: its name is the case, and a message holds `[run:ID]`
//!   /mcp/CASE/ID           the tools
//!   /obs/ID                what was seen of a run
//! ```
//!
//! Beside the cases there is one, [`CALM`], in which all goes well and nothing is remembered.

mod deltas;
mod script;
mod strict;
mod tools;

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{any, get, post},
};
use bylaw_contract::ErrorCode;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use self::script::{Heard, THOUGHT, Turn};
use super::{
    super::tool_server,
    case::Case,
    ended::{Asked, Seen},
};
use crate::failure::Failure;

/// The name of a model with which nothing goes wrong.
const CALM: &str = "leave-copilot";

/// Largest request.
const MAX_BODY: usize = 16 << 20;

const SESSION: &str = "mcp-session-id";

/// The servers while they run.
pub(in super::super) struct Own {
    address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

#[derive(Clone)]
struct Shared {
    runs: Arc<Mutex<HashMap<String, Seen>>>,
    started: Instant,
    /// How long to wait where the model refuses for the moment.
    wait: Duration,
    stop: CancellationToken,
}

impl Own {
    /// Starts on a free loopback port.
    pub(in super::super) async fn start(wait: Duration) -> Result<Self, Failure> {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let fail = |error: io::Error| Failure::new(ErrorCode::AddressUnavailable, format!("{address}: {error}"));
        let listener = TcpListener::bind(address).await.map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            let _ = stream.set_nodelay(true);
        });
        let stop = CancellationToken::new();
        let shared = Shared { runs: Arc::default(), started: Instant::now(), wait, stop: stop.clone() };
        let router = Router::new()
            .route("/v1/chat/completions", post(chat))
            .route("/mcp/{case}/{run}", any(other).post(mcp))
            .route("/obs/{run}", get(seen))
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .with_state(shared);
        let stopped = stop.clone().cancelled_owned();
        let serving = tokio::spawn(async move {
            // Serving fails only if it cannot begin, and it has begun.
            let _ = axum::serve(listener, router).with_graceful_shutdown(stopped).await;
        });
        Ok(Self { address, stop, serving })
    }

    /// Where they are.
    pub(in super::super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base URL of the model.
    pub(in super::super) fn base_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// The server of tools with which nothing goes wrong.
    pub(in super::super) fn calm_url(&self) -> String {
        format!("{}/mcp/{CALM}/0", self.url())
    }

    /// Stops them.
    pub(in super::super) async fn stop(self) {
        self.stop.cancel();
        // Connections that are kept open are nobody's loss.
        self.serving.abort();
        let _ = self.serving.await;
    }
}

impl Shared {
    fn runs(&self) -> MutexGuard<'_, HashMap<String, Seen>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn chat(State(shared): State<Shared>, body: Bytes) -> Response {
    let request: Value = match serde_json::from_slice(&body) {
        Ok(request) => request,
        Err(error) => return refused(400, &error.to_string(), None),
    };
    let model = request["model"].as_str().unwrap_or_default();
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let tools: Vec<&str> = strict::tools(&request).filter_map(|tool| tool["name"].as_str()).collect();
    let fault = strict::fault(&request);
    if model == CALM {
        let number = messages.iter().filter(|message| message["role"] == "tool").count();
        return match fault {
            Some(fault) => refused(400, &fault, None),
            None => streamed(deltas::packets(&script::calm(&Heard { number, tools, thought: false }), model)),
        };
    }
    let (Some(case), Some(id)) = (Case::named(model), messages.iter().find_map(run_of)) else {
        return refused(404, "there is no such model, or no message holds [run:ID]", None);
    };
    let mut runs = shared.runs();
    let seen = runs.entry(id.to_owned()).or_default();
    let number = seen.chat.len();
    seen.chat.push(Asked {
        messages: messages.to_vec(),
        tools: tools.iter().map(|name| (*name).to_owned()).collect(),
        bytes: body.len(),
    });
    seen.t.push(shared.started.elapsed().as_secs_f64());
    let thought = messages.iter().any(|message| message["reasoning_content"] == THOUGHT);
    let turn = match &fault {
        Some(_) => None,
        None => Some(script::turn(case, &Heard { number, tools, thought }, shared.wait)),
    };
    let (status, response) = match turn {
        None => (400, refused(400, fault.as_deref().unwrap_or_default(), None)),
        Some(Turn::Reply(reply)) => (200, streamed(deltas::packets(&reply, model))),
        Some(Turn::Refusal { status, message, retry_after }) => (status, refused(status, message, retry_after)),
    };
    seen.status.push(status);
    response
}

/// The run that a message belongs to.
fn run_of(message: &Value) -> Option<&str> {
    Some(message["content"].as_str()?.split_once("[run:")?.1.split_once(']')?.0)
}

fn streamed(packets: Vec<Bytes>) -> Response {
    let packets = stream::iter(packets.into_iter().map(Ok::<_, io::Error>));
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(packets)).into_response()
}

fn refused(status: u16, message: &str, retry_after: Option<Duration>) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, Json(json!({ "error": { "message": message } }))).into_response();
    if let Some(wait) = retry_after {
        response.headers_mut().insert("retry-after-ms", (wait.as_millis() as u64).into());
    }
    response
}

async fn mcp(
    State(shared): State<Shared>,
    Path((case, id)): Path<(String, String)>,
    headers: HeaderMap,
    Json(request): Json<Value>,
) -> Response {
    if tool_server::is_notification(&request) {
        return StatusCode::ACCEPTED.into_response();
    }
    let session = headers.get(SESSION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (done, inits) = {
        let mut runs = shared.runs();
        let seen = runs.entry(id.clone()).or_default();
        (tools::answer(Case::named(&case), seen, &request, session), seen.inits)
    };
    let mut response = tool_server::reply(&request, done, &shared.stop).await;
    if request["method"] == "initialize"
        && let Ok(session) = format!("{id}-{inits}").parse()
    {
        response.headers_mut().insert(SESSION, session);
    }
    response
}

/// Goodbyes are heard, streams of news are not offered.
async fn other(method: axum::http::Method) -> StatusCode {
    if method == axum::http::Method::DELETE { StatusCode::OK } else { StatusCode::METHOD_NOT_ALLOWED }
}

async fn seen(State(shared): State<Shared>, Path(run): Path<String>) -> Response {
    match shared.runs().get(&run) {
        Some(seen) => Json(seen).into_response(),
        None => Json(json!({})).into_response(),
    }
}
