//! `GET /me`: who the caller is, and what there is for them.

use std::sync::Arc;

use axum::{Extension, extract::State, response::Response};
use bylaw_contract::me::{CallerRole, Me};
use bylaw_gate::{Action, Principal, Role};

use crate::{caller::Caller, error::Failure, reply, request_id::Arrival, service::Service};

/// Says who the caller is and what they may do, so that a page offers that and no more.
#[utoipa::path(
    get,
    path = "/me",
    tag = "operation",
    responses((status = 200, description = "The caller", body = Me))
)]
pub(crate) async fn me(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
) -> Result<Response, Failure> {
    let (principal, name, role) = match &caller {
        Principal::LocalDoor => ("local".to_owned(), None, CallerRole::Admin),
        Principal::Key(record) => (record.id.to_string(), Some(record.name.clone()), shown(record.role)),
    };
    reply::ok(&Me {
        principal,
        name,
        role,
        keys_required: caller.key_id().is_some(),
        sources: caller.sources().only().map(|names| names.iter().cloned().collect()),
        model: service.answerer.model().is_some(),
        agents: if caller.may(Action::Ask) { service.runner.names() } else { Vec::new() },
        request_id: arrival.request_id,
    })
}

const fn shown(role: Role) -> CallerRole {
    match role {
        Role::Reader => CallerRole::Reader,
        Role::Editor => CallerRole::Editor,
        Role::Admin => CallerRole::Admin,
    }
}
