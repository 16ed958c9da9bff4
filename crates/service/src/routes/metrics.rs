//! `GET /metrics`: what was counted, as Prometheus text.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderValue, header},
    response::Response,
};
use bylaw_contract::chain;
use prometheus_client::encoding::prometheus_text::CONTENT_TYPE;

use crate::{error::Failure, metrics::Moment, routes::usage::reserved, service::Service};

/// Says what was counted since the process began, as Prometheus text.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "operation",
    responses((status = 200, description = "Prometheus text", body = String, content_type = "text/plain"))
)]
pub(crate) async fn metrics(State(service): State<Arc<Service>>) -> Result<Response, Failure> {
    let reserved = reserved(&*service.accounts.ledger, None).await;
    if let Err(error) = &reserved {
        tracing::warn!(error = chain(error), "the ledger cannot be read");
    }
    let moment = Moment {
        reserved_micro_usd: reserved.ok().map(|reserved| reserved.0),
        calls_in_flight: i64::try_from(service.accounts.gate.live()).unwrap_or(i64::MAX),
        generation: service.library.generation().number().0,
        runs: service.runner.counts(),
        run_writes_lost: service.runner.journal().tallies().lost,
    };
    let text = service.metrics.text(&service.answerer.tallies(), &moment).map_err(Failure::internal)?;
    let mut reply = Response::new(Body::from(text));
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
    Ok(reply)
}
