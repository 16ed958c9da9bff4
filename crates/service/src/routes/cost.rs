//! `POST /cost`: when hosting a model oneself pays.

use std::sync::Arc;

use axum::{Extension, extract::State, http::StatusCode, response::Response};
use bylaw_contract::{ErrorCode, RequestId};
use bylaw_cost::{CostInput, CostReport, FromLedger, InvalidCost, Measured, compare};
use bylaw_gate::{Action, Principal};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    body::JsonBody,
    caller::Caller,
    error::Failure,
    measure::{MeasureError, measure},
    reply,
    request_id::Arrival,
    service::Service,
};

/// About what a reply takes.
const EXPECTED_BYTES: usize = 16 * 1024;

/// Two options compared.
#[derive(Serialize, ToSchema)]
pub(crate) struct CostResponse {
    #[serde(flatten)]
    report: CostReport,
    /// The request's label.
    #[schema(value_type = String)]
    request_id: RequestId,
}

/// Compares an API with hosting a model oneself: the volumes at which it pays, both costs at your volume, and how sure that is.
///
/// Only what is sent is used, unless `from_ledger` asks to measure what was really called, which needs the right to see
/// everyone's usage.
#[utoipa::path(
    post,
    path = "/cost",
    tag = "money",
    request_body = CostInput,
    responses((status = 200, description = "Both options, and everything that was assumed", body = CostResponse))
)]
pub(crate) async fn cost(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    JsonBody(input): JsonBody<CostInput>,
) -> Result<Response, Failure> {
    let measured = match &input.from_ledger {
        Some(wanted) => Some(measured(&service, &caller, wanted).await?),
        None => None,
    };
    let permit = Arc::clone(&service.comparisons).try_acquire_owned().map_err(|_full| {
        Failure::new(ErrorCode::Overloaded, "other comparisons are being computed; try again shortly")
    })?;
    let computed = tokio::task::spawn_blocking(move || {
        // Held to the end, whether or not anyone still listens.
        let _permit = permit;
        compare(input, measured)
    })
    .await;
    let report = computed.map_err(Failure::internal)?.map_err(|invalid| refusal(&invalid))?;
    reply::json(StatusCode::OK, &CostResponse { report, request_id: arrival.request_id }, EXPECTED_BYTES)
}

async fn measured(service: &Service, caller: &Principal, wanted: &FromLedger) -> Result<Measured, Failure> {
    if !caller.may(Action::EveryonesUsage) {
        let role = Action::EveryonesUsage.least_role();
        let message = format!("from_ledger: everyone's calls are measured; that needs the role {role}");
        return Err(Failure::new(ErrorCode::Forbidden, message)
            .with_hint("leave from_ledger out and write the profile yourself"));
    }
    let today = service.accounts.gate.budgets().zone.day(service.clock.now());
    measure(&*service.accounts.ledger, today, wanted).await.map_err(|error| match error {
        MeasureError::Invalid(invalid) => refusal(&invalid),
        MeasureError::Ledger(error) => error.into(),
        MeasureError::ModelNotFound { .. } => Failure::new(ErrorCode::ModelNotFound, error.to_string())
            .with_hint("GET /usage?by=model lists the models on the books"),
    })
}

fn refusal(invalid: &InvalidCost) -> Failure {
    Failure::invalid(invalid.to_string())
}
