//! `GET /runs/{run}/events`: what happens in a run, as it happens, from wherever one left off.

use std::{convert::Infallible, pin::Pin, sync::Arc};

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, HeaderName, StatusCode},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use bylaw_agent::{Seen, Watch};
use bylaw_contract::{ApiError, RequestId, runs_api::TextSoFar};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    caller::Caller,
    error::Failure,
    parameters::{Parameters, Tail},
    request_id::Arrival,
    routes::runs::visible,
    service::Service,
    standing::Standing,
    stream::not_to_be_kept,
};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Parameters of `GET /runs/{run}/events`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Since {
    after: Option<u64>,
}

/// Tells what happens in a run, as Server-Sent Events.
///
/// Events that are written down have a number, which is their `id`: whoever comes back says the last one in
/// `Last-Event-ID` and hears what came after it, each event once. Pieces of text are shown as they come and have no
/// number; whoever comes in the middle of a reply hears `text_so_far` in their place. The stream ends after the run's last
/// event; whoever has heard that gets 204, which tells a browser not to come back.
#[utoipa::path(
    get,
    path = "/runs/{run}/events",
    tag = "runs",
    params(
        ("run" = String, Path, description = "The run's id"),
        ("after" = Option<u64>, Query, description = "Only events after this number; `Last-Event-ID` counts where both are given"),
        ("last-event-id" = Option<u64>, Header, description = "The number of the last event that was heard"),
    ),
    responses(
        (status = 200, description = "Its events; each `data` is a LoopEvent with `number` and `at`, or one of the events of \
            `/ask`, or TextSoFar", body = String, content_type = "text/event-stream"),
        (status = 204, description = "The run is over, and its last event was heard"),
    )
)]
pub(crate) async fn events(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    headers: HeaderMap,
    tail: Tail,
    Parameters(since): Parameters<Since>,
) -> Result<Response, Failure> {
    let [id] = tail.parts()?;
    let record = visible(&service, &caller, &id).await?;
    let after = last_heard(&headers)?.or(since.after).unwrap_or(0);
    let mut watch = service.runner.journal().watch(record.run.id.clone(), after);
    let mut first = None;
    if record.ended.is_some() {
        first = watch.next().await?;
        if first.is_none() {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
    }
    let standing = Standing::new(Arc::clone(&service.accounts.keys), caller);
    let watcher = Watcher {
        first,
        watch,
        standing_lost: Box::pin({
            let standing = standing.clone();
            async move { standing.lost().await }
        }),
        standing,
        cut: service.cut.clone(),
        request_id: arrival.request_id,
        ended: false,
    };
    let events = stream::unfold(watcher, |mut watcher| async move {
        let event = watcher.next().await?;
        Some((Ok::<_, Infallible>(event), watcher))
    });
    let keep_alive = KeepAlive::new().interval(service.settings.heartbeat).text("waiting");
    Ok(not_to_be_kept(Sse::new(events).keep_alive(keep_alive).into_response()))
}

fn last_heard(headers: &HeaderMap) -> Result<Option<u64>, Failure> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let number = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    number.map(Some).ok_or_else(|| Failure::invalid("Last-Event-ID: must be the number of an event of this run"))
}

/// One who watches. Dropped when they leave; the run goes on.
struct Watcher {
    first: Option<Seen>,
    watch: Watch,
    /// The caller's key may be revoked while the run goes on.
    standing: Standing,
    standing_lost: Pin<Box<dyn Future<Output = Failure> + Send>>,
    cut: CancellationToken,
    request_id: RequestId,
    ended: bool,
}

impl Watcher {
    async fn next(&mut self) -> Option<Event> {
        if self.ended {
            return None;
        }
        if let Some(seen) = self.first.take() {
            return Some(told(&seen));
        }
        let failure = tokio::select! {
            // First: what is ready to be told may be what this caller must not hear any more.
            biased;
            failure = &mut self.standing_lost => failure,
            seen = self.watch.next() => match seen {
                // The run of a key that was revoked ends, and its holder must not hear even that.
                Ok(Some(seen)) => match self.standing.check().await {
                    Ok(()) => return Some(told(&seen)),
                    Err(failure) => failure,
                },
                Ok(None) => return None,
                Err(error) => Failure::from(error),
            },
            // A run that goes on elsewhere: whoever comes back finds where to go on.
            () = self.cut.cancelled() => return None,
        };
        self.ended = true;
        failure.log(&self.request_id, "GET", "/runs/{run}/events");
        Some(broken(&failure, self.request_id.clone()))
    }
}

fn told(seen: &Seen) -> Event {
    match seen {
        Seen::Event(event) => named(&**event).id(event.number.to_string()),
        Seen::Shown(event) => named(&**event),
        Seen::TextSoFar(text) => named(&TextSoFar { text: text.clone() }),
    }
}

/// An event under the name that it says of itself.
fn named(event: &impl Serialize) -> Event {
    let value = serde_json::to_value(event).unwrap_or_default();
    let name = value.get("event").and_then(Value::as_str).unwrap_or("event");
    Event::default().event(name).data(value.to_string())
}

fn broken(failure: &Failure, request_id: RequestId) -> Event {
    let error = ApiError { code: failure.code(), message: failure.message(), request_id, hint: None };
    Event::default().event("error").data(serde_json::to_string(&error).unwrap_or_default())
}
