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
use bylaw_gate::Principal;
use bylaw_library::LibraryError;
use bylaw_retrieval::Generation;

use crate::{caller::Caller, error::Failure, front, parameters::Tail, reply, request_id::Arrival, service::Service};

/// Lists every source that the key may read, by name.
#[utoipa::path(
    get,
    path = "/sources",
    tag = "documents",
    responses((status = 200, description = "Every source", body = Vec<SourceSummary>))
)]
pub(crate) async fn list(State(service): State<Arc<Service>>, Caller(caller): Caller) -> Result<Response, Failure> {
    let mut sources = service.library.sources().await?;
    sources.retain(|summary| caller.may_read(&summary.source));
    reply::ok(&sources)
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
    Caller(caller): Caller,
    tail: Tail,
) -> Result<Response, Failure> {
    let name = named(&tail.0)?;
    if !caller.may_read(&name) {
        return Err(LibraryError::SourceNotFound(name).into());
    }
    reply::ok(&service.library.source(&name, &arrival.request_id).await?)
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
    Caller(caller): Caller,
    tail: Tail,
) -> Result<Response, Failure> {
    let name = named(&tail.0)?;
    if !caller.may_read(&name) {
        return Err(LibraryError::SourceNotFound(name).into());
    }
    let mut deleted = service.library.delete(&name, &arrival.request_id).await?;
    if caller.sources().only().is_some() {
        deleted.chunks_left = readable_size(&service.library.generation(), &caller).articles;
    }
    reply::ok(&deleted)
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
    Caller(caller): Caller,
    tail: Tail,
    request: Request,
) -> Result<Response, Failure> {
    let Some(name) = tail.0.strip_suffix("/undo") else {
        let mut reply = front::method_not_allowed(request).await.into_response();
        reply.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET,HEAD,DELETE"));
        return Ok(reply);
    };
    let name = named(name)?;
    if !caller.may_read(&name) {
        return Err(LibraryError::NothingToUndo(name).into());
    }
    reply::ok(&service.library.undo_delete(&name, &arrival.request_id).await?)
}

/// How much somebody may read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) sources: usize,
    pub(crate) articles: usize,
}

/// How much of a generation `caller` may read.
pub(crate) fn readable_size(generation: &Generation, caller: &Principal) -> Size {
    let readable = generation.sources().iter().filter(|source| caller.may_read(&source.name));
    readable.fold(Size::default(), |size, source| Size {
        sources: size.sources + 1,
        articles: size.articles + source.articles as usize,
    })
}

fn named(encoded: &str) -> Result<SourceName, Failure> {
    let name = Tail::decode(encoded)?;
    SourceName::new(name.as_str()).map_err(|_| {
        Failure::new(ErrorCode::SourceNotFound, format!("there is no source named {name:?}"))
            .with_hint("GET /sources lists them")
    })
}
