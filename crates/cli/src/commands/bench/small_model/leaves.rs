//! A small server of leave requests. It holds to two rules, and says what to do next: look before you change, and move one
//! step at a time.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Json, Router,
    extract::State as Extract,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::any,
};
use bylaw_contract::{ErrorCode, Randomness};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::super::tool_server::{self, Done, UNKNOWN, failed, greeting, said};
use crate::{failure::Failure, system::SystemRandom};

/// What is known at the end.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// The id of the request that is meant; nobody can guess it.
    pub(super) id: String,
    pub(super) status: String,
    pub(super) updates: Vec<(String, String)>,
    pub(super) searched_before_update: bool,
    pub(super) others_untouched: bool,
}

struct Leave {
    id: String,
    title: &'static str,
    status: String,
    /// Whether a search has shown it.
    shown: bool,
}

struct Desk {
    leaves: Vec<Leave>,
    updates: Vec<(String, String)>,
}

#[derive(Clone)]
struct Shared {
    desk: Arc<Mutex<Desk>>,
    stop: CancellationToken,
}

/// The server while it runs.
pub(super) struct Leaves {
    address: SocketAddr,
    shared: Shared,
    serving: JoinHandle<()>,
}

impl Leaves {
    /// Starts on a free loopback port.
    pub(super) async fn start() -> Result<Self, Failure> {
        let fail = |error: io::Error| Failure::new(ErrorCode::AddressUnavailable, format!("127.0.0.1: {error}"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let mut bytes = [0; 2];
        SystemRandom.fill(&mut bytes);
        let number = u16::from_be_bytes(bytes) % 9_000;
        let leave = |title, number| {
            let id = format!("LV-{number:04}");
            Leave { id, title, status: "draft".to_owned(), shown: false }
        };
        let leaves = vec![leave("Family trip", number), leave("Dentist", number + 417)];
        let desk = Desk { leaves, updates: Vec::new() };
        let shared = Shared { desk: Arc::new(Mutex::new(desk)), stop: CancellationToken::new() };
        let router = Router::new()
            .route("/mcp", any(|| async { StatusCode::METHOD_NOT_ALLOWED }).post(mcp))
            .with_state(shared.clone());
        let serving = tokio::spawn(async move {
            // Serving fails only if it cannot begin, and it has begun.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, shared, serving })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Stops it, and says what was done.
    pub(super) async fn stop(self) -> State {
        self.shared.stop.cancel();
        self.serving.abort();
        let _ = self.serving.await;
        let desk = self.shared.desk();
        let (meant, others) = (&desk.leaves[0], &desk.leaves[1..]);
        State {
            id: meant.id.clone(),
            status: meant.status.clone(),
            updates: desk.updates.clone(),
            // An update of what was not shown is refused.
            searched_before_update: meant.shown && !desk.updates.is_empty(),
            others_untouched: others.iter().all(|leave| leave.status == "draft"),
        }
    }
}

impl Shared {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn mcp(Extract(shared): Extract<Shared>, Json(request): Json<Value>) -> Response {
    if tool_server::is_notification(&request) {
        return StatusCode::ACCEPTED.into_response();
    }
    let params = &request["params"];
    let done = match request["method"].as_str().unwrap_or_default() {
        "initialize" => greeting("leaves", params),
        "ping" => Done::Result(json!({})),
        "tools/list" => Done::Result(tools()),
        "tools/call" => shared.desk().call(params),
        _ => UNKNOWN,
    };
    tool_server::reply(&request, done, &shared.stop).await
}

fn tools() -> Value {
    let search = json!({
        "type": "object", "required": ["keyword"],
        "properties": { "keyword": { "type": "string", "description": "one word of the title" } },
    });
    let update = json!({
        "type": "object", "required": ["leave_id", "status"],
        "properties": {
            "leave_id": { "type": "string", "description": "the id that search_leaves returned" },
            "status": { "type": "string", "enum": ["submitted", "approved", "taken"], "description": "the new status" },
        },
    });
    json!({ "tools": [
        {
            "name": "search_leaves", "inputSchema": search, "annotations": { "readOnlyHint": true },
            "description": "Step 1. Finds a leave request by a word of its title and returns its id.",
        },
        {
            "name": "update_leave_status", "inputSchema": update,
            "description": "Step 2. Submits, approves or takes the leave request with this id. Needs the id from search_leaves.",
        },
    ] })
}

impl Desk {
    fn call(&mut self, params: &Value) -> Done {
        let argument = |name: &str| params["arguments"][name].as_str().unwrap_or_default();
        match params["name"].as_str().unwrap_or_default() {
            "search_leaves" => self.search(argument("keyword")),
            "update_leave_status" => self.update(argument("leave_id"), argument("status")),
            _ => Done::Error { code: -32602, message: "there is no such tool" },
        }
    }

    fn search(&mut self, keyword: &str) -> Done {
        let words: Vec<String> = keyword.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let mut found = Vec::new();
        for leave in &mut self.leaves {
            let title = leave.title.to_lowercase();
            if words.iter().any(|word| title.contains(word.as_str())) {
                leave.shown = true;
                found.push(json!({ "id": leave.id, "title": leave.title, "status": leave.status }));
            }
        }
        if found.is_empty() {
            return failed(
                "No leave request has such a title. Search again with one word of the title, such as family.",
            );
        }
        said(&Value::Array(found).to_string())
    }

    fn update(&mut self, id: &str, status: &str) -> Done {
        let Some(leave) = self.leaves.iter_mut().find(|leave| leave.id == id && leave.shown) else {
            return failed(
                "Nothing was changed: this id was not looked up. Call search_leaves first, with a word of the title, and \
                 use the id that it returns.",
            );
        };
        if leave.status != "draft" {
            return failed(&format!("Nothing was changed: this request is {} already. You are done.", leave.status));
        }
        if status != "submitted" {
            return failed("Nothing was changed: a draft has to be submitted first. Use the status submitted.");
        }
        status.clone_into(&mut leave.status);
        self.updates.push((id.to_owned(), status.to_owned()));
        said(&format!("{id} is {status} now. You are done: tell the person."))
    }
}
