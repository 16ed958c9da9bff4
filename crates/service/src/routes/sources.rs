//! `/sources`: what is kept, and taking it away for a while.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use bylaw_contract::{
    ErrorCode, SourceName,
    sources::{DeleteResult, SourceDetail, SourceSummary, UndoResult},
};

use crate::{error::Failure, front, parameters::Tail, reply, request_id::Arrival, service::Service};

/// Lists every source by name.
#[utoipa::path(
    get,
    path = "/sources",
    tag = "documents",
    responses((status = 200, description = "Every source", body = Vec<SourceSummary>))
)]
pub(crate) async fn list(State(service): State<Arc<Service>>) -> Result<Response, Failure> {
    reply::ok(&service.library.sources().await?)
}

/// Shows one source: outline, versions, and what the newest version changed.
#[utoipa::path(
    get,
    path = "/sources/{source}",
    tag = "documents",
    params(("source" = String, Path, description = "The source's name; `/` in it may stay or be written %2F")),
    responses((status = 200, description = "The source", body = SourceDetail))
)]
pub(crate) async fn detail(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    tail: Tail,
) -> Result<Response, Failure> {
    reply::ok(&service.library.source(&named(&tail.0)?, &arrival.request_id).await?)
}

/// Deletes a source. It stops answering at once and can be brought back for a while.
#[utoipa::path(
    delete,
    path = "/sources/{source}",
    tag = "documents",
    params(("source" = String, Path, description = "The source's name; `/` in it may stay or be written %2F")),
    responses((status = 200, description = "The source no longer answers", body = DeleteResult))
)]
pub(crate) async fn delete(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    tail: Tail,
) -> Result<Response, Failure> {
    reply::ok(&service.library.delete(&named(&tail.0)?, &arrival.request_id).await?)
}

/// Brings a deleted source back.
#[utoipa::path(
    post,
    path = "/sources/{source}/undo",
    tag = "documents",
    params(("source" = String, Path, description = "The source's name; `/` in it may stay or be written %2F")),
    responses((status = 200, description = "The source answers again", body = UndoResult))
)]
pub(crate) async fn undo(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    tail: Tail,
    request: Request,
) -> Result<Response, Failure> {
    let Some(name) = tail.0.strip_suffix("/undo") else {
        let mut reply = front::method_not_allowed(request).await.into_response();
        reply.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET,HEAD,DELETE"));
        return Ok(reply);
    };
    reply::ok(&service.library.undo_delete(&named(name)?, &arrival.request_id).await?)
}

fn named(encoded: &str) -> Result<SourceName, Failure> {
    let name = Tail::decode(encoded)?;
    SourceName::new(name.as_str()).map_err(|_| {
        Failure::new(ErrorCode::SourceNotFound, format!("there is no source named {name:?}"))
            .with_hint("GET /sources lists them")
    })
}
