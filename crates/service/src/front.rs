//! The one layer around every route: label, key, host check, panics, error bodies, access log.
//!
//! One layer rather than five: each costs an allocation and a virtual call on every request, and the order in which they
//! would have to be stacked is easy to get wrong.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    http::{HeaderName, HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use bylaw_contract::ErrorCode;
use futures_util::FutureExt;

use crate::{
    caller::{self, Access, Door},
    error::Failure,
    hosts,
    metrics::Answered,
    request_id::{self, Arrival, X_REQUEST_ID},
    service::Service,
};

const X_TOTAL_MS: HeaderName = HeaderName::from_static("x-total-ms");

/// Where one operation is watched: who may come in there, and how often it answered what.
pub(crate) struct Post {
    pub(crate) service: Arc<Service>,
    pub(crate) access: Access,
    pub(crate) answered: Answered,
}

/// Wraps every operation.
pub(crate) async fn front(State(post): State<Arc<Post>>, mut request: Request, next: Next) -> Response {
    let service = &post.service;
    let started = service.clock.elapsed();
    let request_id = request_id::of(request.headers(), &*service.random);
    let (method, uri) = (request.method().clone(), request.uri().clone());
    request.extensions_mut().insert(Arrival { request_id: request_id.clone(), started });

    let mut reply = match admit(&post, &mut request).await {
        Err(failure) => failure.into_response(),
        Ok(()) => AssertUnwindSafe(next.run(request)).catch_unwind().await.unwrap_or_else(|panic| broken(&*panic)),
    };
    if reply.status().is_client_error() || reply.status().is_server_error() {
        let failure = Failure::of(&mut reply);
        failure.log(&request_id, method.as_str(), uri.path());
        reply = failure.write(request_id.clone(), uri.path(), &reply);
    }

    let elapsed = service.clock.elapsed().saturating_sub(started);
    post.answered.count(reply.status());
    let status = reply.status().as_u16();
    tracing::debug!(%request_id, method = method.as_str(), path = uri.path(), status, ?elapsed, "replied");
    let headers = reply.headers_mut();
    if let Ok(value) = HeaderValue::try_from(request_id.as_str()) {
        headers.insert(X_REQUEST_ID, value);
    }
    // Replies repeat what rule documents and callers say: none of it is for a browser to interpret.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // A stream has not been sent yet: what it took so far would be read as what it takes.
    if headers.get(header::CONTENT_TYPE).is_none_or(|kind| kind != "text/event-stream") {
        insert_millis(headers, X_TOTAL_MS, milliseconds(elapsed));
    }
    reply
}

/// Lets a request in before anything of it but its head is read. Where keys exist a browser has nothing that it could be
/// made to send along, so it does not matter by which name it calls.
async fn admit(post: &Post, request: &mut Request) -> Result<(), Failure> {
    let (visitor, door) = caller::admit(&post.service.accounts.keys, request.headers(), post.access).await?;
    match door {
        Door::Keyed => {}
        Door::Local => {
            hosts::check(request.method(), request.uri(), request.headers(), &post.service.settings.allowed_hosts)?;
        }
    }
    request.extensions_mut().insert(visitor);
    Ok(())
}

pub(crate) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 100_000.0).round() / 100.0
}

pub(crate) fn insert_millis(headers: &mut axum::http::HeaderMap, name: HeaderName, value: f64) {
    if let Ok(value) = HeaderValue::try_from(format!("{value:.2}")) {
        headers.insert(name, value);
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a handler panicked: {0}")]
struct Panicked(String);

fn broken(panic: &(dyn Any + Send)) -> Response {
    let text = panic.downcast_ref::<&str>().map(|&text| text.to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Failure::internal(Panicked(text)).into_response()
}

/// What is said where no route is.
pub(crate) async fn not_found(request: Request) -> Failure {
    Failure::new(ErrorCode::NotFound, format!("there is nothing at {}", request.uri().path()))
        .with_hint("GET /openapi.json lists every address")
}

/// What is said where a route is, but not for this method.
pub(crate) async fn method_not_allowed(request: Request) -> Failure {
    let (method, path) = (request.method(), request.uri().path());
    Failure::new(ErrorCode::MethodNotAllowed, format!("{path} does not answer {method}"))
        .with_hint("the Allow header lists the methods that it answers")
}
