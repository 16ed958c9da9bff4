//! `GET /budgets`: what may be spent, and what is left of it.

use std::sync::Arc;

use axum::{Extension, extract::State, response::Response};
use bylaw_contract::{
    RunId,
    accounts::{Amount, BudgetPeriod, BudgetState, BudgetsResponse, KeyBudgets},
};
use bylaw_gate::{Account, Claim, Period, Principal, Scope};

use crate::{error::Failure, reply, request_id::Arrival, routes::usage::amount, service::Service};

/// Shows every budget: the service's, and each key's.
#[utoipa::path(
    get,
    path = "/budgets",
    tag = "money",
    responses((status = 200, description = "Every budget in its present period", body = BudgetsResponse))
)]
pub(crate) async fn budgets(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
) -> Result<Response, Failure> {
    let accounts = &service.accounts;
    let (now, budgets) = (service.clock.now(), accounts.gate.budgets());
    let records = accounts.key_store.list().await.map_err(Failure::storage)?;
    // The accounts that a call of each would draw on; whatever is no account of a run.
    let run = RunId::mint(&*service.random);
    let claims = |principal: &Principal| {
        let mut claims = budgets.claims(principal, &run, None, now);
        claims.retain(|claim| !matches!(claim.budget.scope, Scope::Request(_)));
        claims
    };
    let service_claims = claims(&Principal::LocalDoor);
    let mut keys = Vec::with_capacity(records.len());
    for record in records {
        let mut own = claims(&Principal::from(record.clone()));
        own.retain(|claim| matches!(claim.budget.scope, Scope::Key(_)));
        keys.push((record, own));
    }
    let wanted: Vec<_> = service_claims
        .iter()
        .chain(keys.iter().flat_map(|(_, claims)| claims))
        .map(|claim| claim.budget.clone())
        .collect();
    let mut found = accounts.ledger.accounts(&wanted).await?.into_iter();
    let mut states = |claims: &[Claim]| -> Vec<BudgetState> {
        claims.iter().map(|claim| state(&service, claim, found.next().unwrap_or_default())).collect()
    };
    let service_states = states(&service_claims);
    let keys = keys.into_iter().map(|(record, claims)| KeyBudgets {
        budgets: states(&claims),
        valid: record.is_valid(now),
        own: !record.budgets.is_empty(),
        key: record.id,
        name: record.name,
    });
    reply::ok(&BudgetsResponse {
        keys: keys.collect(),
        currency: accounts.currency.code().to_owned(),
        request_limit: budgets.request.map(|limit| amount(limit, &accounts.currency)),
        service: service_states,
        request_id: arrival.request_id,
    })
}

fn state(service: &Service, claim: &Claim, account: Account) -> BudgetState {
    let shown = |micro_usd| -> Amount { amount(micro_usd, &service.accounts.currency) };
    let period = claim.budget.period;
    BudgetState {
        period: match period.period() {
            Period::Once => BudgetPeriod::Once,
            Period::Day => BudgetPeriod::Day,
            Period::Month => BudgetPeriod::Month,
        },
        current: period.to_string(),
        ends_at: service.accounts.gate.budgets().zone.end_of(period),
        limited: claim.limit.is_some(),
        limit: claim.limit.map(shown),
        settled: shown(account.settled),
        reserved: shown(account.reserved),
        debt: shown(account.debt),
        left: claim.limit.map(|limit| shown(account.left(limit))),
    }
}
