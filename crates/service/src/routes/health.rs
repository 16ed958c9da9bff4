//! `/healthz` and `/readyz`. Neither asks a model: a probe must cost nothing.

use std::sync::Arc;

use axum::{Extension, extract::State, http::StatusCode, response::Response};
use bylaw_contract::{
    ErrorCode, chain,
    health::{Degraded, Health},
};
use bylaw_library::LibraryError;
use bylaw_retrieval::{LEXICAL, Ordinal};

use crate::{
    caller::Visitor, error::Failure, front::milliseconds, parameters::RETRIEVERS, reply, request_id::Arrival,
    routes::sources::readable_size, service::Service,
};

/// Says that the process is alive, and what it is made of.
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "operation",
    responses((status = 200, description = "The process is alive", body = Health))
)]
pub(crate) async fn healthz(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Visitor(visitor): Visitor,
) -> Result<Response, Failure> {
    let missing = missing_parts(&service).await;
    let ready = missing.is_empty() && !service.closing.is_cancelled();
    let model = service.model_problem().map(|reason| Degraded { part: "model".to_owned(), reason });
    // Questions are answered from the rules all the same.
    let ledger = service.accounts.gate.is_failing().then(|| Degraded {
        part: "ledger".to_owned(),
        reason: "it cannot be written, so no model is called; bylaw ledger verify says what is wrong".to_owned(),
    });
    let generation = service.library.generation();
    // A stranger learns nothing of what is kept, not even how much.
    let number = visitor.as_ref().map(|_| generation.number()).unwrap_or_default();
    let size = visitor.map(|caller| readable_size(&generation, &caller)).unwrap_or_default();
    reply::ok(&Health {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ready,
        chunks: size.articles,
        sources: size.sources,
        boot_ms: Some(milliseconds(service.boot)),
        retrievers: RETRIEVERS.map(str::to_owned).to_vec(),
        default_retriever: LEXICAL.to_owned(),
        generation: number,
        model: service.answerer.model().map(|model| model.name().to_owned()),
        degraded: missing.into_iter().chain(model).chain(ledger).collect(),
        request_id: arrival.request_id,
    })
}

/// Says whether questions can be answered: 204, or 503 naming the part that is missing.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "operation",
    responses((status = 204, description = "Ready"))
)]
pub(crate) async fn readyz(State(service): State<Arc<Service>>) -> Result<StatusCode, Failure> {
    if service.closing.is_cancelled() {
        return Err(Failure::new(ErrorCode::ShuttingDown, "the service is shutting down"));
    }
    match missing_parts(&service).await.into_iter().next() {
        None => Ok(StatusCode::NO_CONTENT),
        Some(Degraded { part, reason }) => Err(Failure::new(ErrorCode::NotReady, format!("{part}: {reason}"))),
    }
}

/// What answering needs and does not work: the index and the tables, each by reading from it.
async fn missing_parts(service: &Service) -> Vec<Degraded> {
    let mut missing = Vec::new();
    let generation = service.library.generation();
    if generation.article_count() > 0
        && let Err(error) = generation.article(Ordinal(0))
    {
        tracing::warn!(error = chain(&error), "the index cannot be read");
        missing.push(Degraded { part: "index".to_owned(), reason: "the index cannot be read".to_owned() });
    }
    if let Err(error) = service.library.jobs(1).await {
        tracing::warn!(error = chain(&error), "the tables cannot be read");
        let part = match error {
            LibraryError::Index(_) => "index",
            _ => "store",
        };
        missing.push(Degraded { part: part.to_owned(), reason: "the tables cannot be read".to_owned() });
    }
    missing
}
