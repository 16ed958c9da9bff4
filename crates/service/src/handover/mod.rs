//! `/mcp`: other people's agents, who come in here and then, as the same caller, through the front door.
//!
//! ```text
//!   request ─► host and origin ─► key ─► session ─► tool ─► OwnRouter ─► POST /ask, with the caller's own key
//! ```
//!
//! Nothing is decided here that the routes decide: what a key may read, what it may spend and how many questions there may
//! be at once. The shape of errors is that of the protocol, JSON-RPC, and not ours.

mod guarded;
mod keys;
mod own_router;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use bylaw_handover::{HandoverParts, server};
use bylaw_mcp::{CallLimits, HttpMount, HttpOptions, ToolServerError};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{guarded::guarded, keys::ServiceKeys, own_router::OwnRouter};
use crate::{
    hosts,
    metrics::Answered,
    request_id::{self, X_REQUEST_ID},
    service::Service,
};

const PATH: &str = "/mcp";

/// What is under way at `/mcp`.
#[derive(Default)]
pub(crate) struct Handed {
    calls: TaskTracker,
    over: CancellationToken,
}

impl Handed {
    /// Ends sessions and their streams once no reply is under way any more. A stream that only listens holds nothing up.
    pub(crate) async fn finish(&self) {
        self.calls.close();
        self.calls.wait().await;
        self.end();
    }

    /// Ends sessions and their streams.
    pub(crate) fn end(&self) {
        self.over.cancel();
    }
}

/// `/mcp` in front of `api`, which is every other route.
pub(crate) fn router(service: Arc<Service>, api: Router) -> Result<Router, ToolServerError> {
    let server = server(HandoverParts {
        door: Arc::new(OwnRouter(api)),
        settings: service.settings.handover.clone(),
        limits: limits(service.settings.concurrent_asks),
        random: Arc::clone(&service.random),
    })?;
    let keys = Arc::new(ServiceKeys(Arc::clone(&service.accounts.keys)));
    // Names are checked by the layer below, which knows which ones the operator allows.
    let options = HttpOptions { path: PATH.to_owned(), hosts: Vec::new(), ..HttpOptions::default() };
    let mount = HttpMount::new(server, keys, Arc::clone(&service.clock), options, service.handed.over.clone());
    let [get, post, delete] = ["get", "post", "delete"].map(|method| service.metrics.requests(method, PATH));
    let entrance = Entrance { service, get, post, delete };
    Ok(mount.router().layer(from_fn_with_state(Arc::new(entrance), enter)))
}

/// How many questions there may be at once is decided at `/ask`, once: to count them here as well would let a caller who
/// holds a place here wait for one there. Only the share of one caller is bounded, so that the others find places at `/ask`;
/// its further calls wait for their turn.
fn limits(concurrent_asks: usize) -> CallLimits {
    CallLimits { running: 1 << 20, running_of_one: (concurrent_asks / 4).clamp(1, 16), ..CallLimits::default() }
}

struct Entrance {
    service: Arc<Service>,
    get: Answered,
    post: Answered,
    delete: Answered,
}

async fn enter(State(entrance): State<Arc<Entrance>>, mut request: Request, next: Next) -> Response {
    let service = &entrance.service;
    let request_id = request_id::of(request.headers(), &*service.random);
    let has_keys = service.accounts.keys.required().await.unwrap_or(true);
    let method = request.method().clone();
    let allowed = &service.settings.allowed_hosts;
    let mut reply = match hosts::check_agent(request.uri(), request.headers(), allowed, has_keys) {
        Err(sentence) => (StatusCode::FORBIDDEN, sentence).into_response(),
        Ok(()) => {
            // It was checked, by a list that the library below does not have.
            request.headers_mut().remove(header::ORIGIN);
            let reply = next.run(request).await;
            if method == Method::POST { guarded(reply, service.handed.calls.token()) } else { reply }
        }
    };
    match method {
        Method::GET => entrance.get.count(reply.status()),
        Method::DELETE => entrance.delete.count(reply.status()),
        _ => entrance.post.count(reply.status()),
    }
    let headers = reply.headers_mut();
    if let Ok(value) = HeaderValue::try_from(request_id.as_str()) {
        headers.insert(X_REQUEST_ID, value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    reply
}
