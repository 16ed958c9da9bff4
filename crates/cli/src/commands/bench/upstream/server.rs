//! The scripted endpoint over HTTP.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use bylaw_contract::ErrorCode;
use futures_util::stream;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    script::{Plan, Request, Script, Step},
    tally::{Counts, End, Open, Seen, Tally},
};
use crate::{args::UpstreamBehaviour as Behaviour, failure::Failure};

/// Largest request.
const MAX_BODY: usize = 64 << 20;

/// A running endpoint.
pub(in super::super) struct Upstream {
    address: SocketAddr,
    tally: Tally,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

#[derive(Clone)]
struct Shared {
    script: Arc<Script>,
    tally: Tally,
    stop: CancellationToken,
}

impl Upstream {
    /// Starts on a loopback port; 0 takes a free one.
    pub(in super::super) async fn start(port: u16, script: Script) -> Result<Self, Failure> {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let fail = |error: io::Error| Failure::new(ErrorCode::AddressUnavailable, format!("{address}: {error}"));
        let listener = TcpListener::bind(address).await.map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            let _ = stream.set_nodelay(true);
        });
        let (tally, stop) = (Tally::new(), CancellationToken::new());
        let shared = Shared { script: Arc::new(script), tally: tally.clone(), stop: stop.clone() };
        let router = Router::new()
            .route("/v1/chat/completions", post(completions))
            .route("/counts", get(|State(shared): State<Shared>| async move { Json(shared.tally.counts()) }))
            .route("/reset", post(|State(shared): State<Shared>| async move { shared.tally.reset() }))
            .route("/healthz", get(|| async { "ok" }))
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .with_state(shared);
        let stopped = stop.clone().cancelled_owned();
        let serving = tokio::spawn(async move {
            // Serving fails only if it cannot begin, and it has begun.
            let _ = axum::serve(listener, router).with_graceful_shutdown(stopped).await;
        });
        Ok(Self { address, tally, stop, serving })
    }

    pub(in super::super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What `model.base_url` should be.
    pub(in super::super) fn base_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// How many requests there were so far, and how many are open.
    pub(in super::super) fn requests_and_open(&self) -> (u64, u64) {
        self.tally.requests_and_open()
    }

    /// The last request whose question calls itself so.
    pub(in super::super) fn seen(&self, call: &str) -> Option<Seen> {
        self.tally.seen(call)
    }

    /// The time, as requests carry it.
    pub(in super::super) fn now_us(&self) -> u64 {
        self.tally.now_us()
    }

    /// Begins the count anew.
    pub(in super::super) fn reset(&self) {
        self.tally.reset();
    }

    /// Breaks every connection off, waits until they are gone, and says what was counted.
    pub(in super::super) async fn stop(self) -> Counts {
        self.stop.cancel();
        let _ = self.serving.await;
        self.tally.counts()
    }
}

async fn completions(State(shared): State<Shared>, body: Bytes) -> Response {
    let body_bytes = body.len() as u64;
    let request = Request::read(&body);
    let (open, plan) = shared.tally.begin(body_bytes, |ordinal| match &request {
        Ok(request) => request.plan(&shared.script, ordinal, body_bytes),
        Err(_) => {
            Plan { behaviour: Behaviour::Refuse, call: None, prompt_bytes: 0, prompt_tokens: 0, steps: Vec::new() }
        }
    });
    let is_stream = match request {
        Ok(request) => request.stream,
        Err(problem) => return refuse(open, StatusCode::BAD_REQUEST, &problem),
    };
    match plan.behaviour {
        Behaviour::Refuse | Behaviour::Mix => refuse(open, StatusCode::INTERNAL_SERVER_ERROR, "this was to be refused"),
        Behaviour::Silent => {
            // Not a header either. The future is dropped when the client leaves.
            shared.stop.cancelled().await;
            drop(open);
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
        Behaviour::Whole | Behaviour::Slow | Behaviour::Cut | Behaviour::LateCut => {
            let kind = if is_stream { "text/event-stream" } else { "application/json" };
            let playing = Playing { open, steps: plan.steps.into_iter(), stop: shared.stop };
            let body = Body::from_stream(stream::unfold(Some(playing), |playing| async move { playing?.next().await }));
            ([(header::CONTENT_TYPE, kind)], body).into_response()
        }
    }
}

fn refuse(open: Open, status: StatusCode, message: &str) -> Response {
    open.end(End::Refused);
    (status, Json(serde_json::json!({ "error": { "message": message, "type": "scripted" } }))).into_response()
}

/// A script that is being played. It is dropped with the response's body when the client leaves.
struct Playing {
    open: Open,
    steps: std::vec::IntoIter<Step>,
    stop: CancellationToken,
}

type Played = Option<(io::Result<Bytes>, Option<Playing>)>;

impl Playing {
    /// The next bytes of the body.
    async fn next(mut self) -> Played {
        loop {
            match self.steps.next() {
                None => {
                    self.open.end(End::Completed);
                    return None;
                }
                Some(Step::Wait(gap)) if gap.is_zero() => {}
                Some(Step::Wait(gap)) => {
                    if self.pause(gap).await.is_none() {
                        return self.break_off();
                    }
                }
                Some(Step::Piece { bytes, text_bytes }) => {
                    self.open.piece(text_bytes);
                    return Some((Ok(bytes), Some(self)));
                }
                Some(Step::Bill { completion_tokens }) => self.open.bill(completion_tokens),
                Some(Step::Frame { bytes, is_usage }) => {
                    if is_usage {
                        self.open.usage();
                    }
                    return Some((Ok(bytes), Some(self)));
                }
                Some(Step::Break) => {
                    // What was written before goes out first.
                    let _ = self.pause(Duration::from_millis(2)).await;
                    return self.break_off();
                }
                Some(Step::Hang) => {
                    self.stop.cancelled().await;
                    return self.break_off();
                }
            }
        }
    }

    /// Waits, unless the endpoint is stopped.
    async fn pause(&self, gap: Duration) -> Option<()> {
        self.stop.run_until_cancelled(tokio::time::sleep(gap)).await
    }

    fn break_off(self) -> Played {
        self.open.end(End::Cut);
        Some((Err(io::Error::other("the script breaks off here")), None))
    }
}
