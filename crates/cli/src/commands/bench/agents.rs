//! What an agent of the benchmarks is put together from: a model behind a URL, and a server of tools.

use std::{sync::Arc, time::Duration};

use bylaw_answer::Purse;
use bylaw_contract::{ErrorCode, MicroUsd, RequestId, RunId};
use bylaw_gate::{Currency, LedgerStore, ModelPrice, PriceTable, Prices, Principal, ServiceBudgets, Spender};
use bylaw_mcp::{ClientOptions, Host, McpClient, McpServer};
use bylaw_model::{ChatModel, Connection, Endpoint, Retries};

use super::spending;
use crate::{
    failure::Failure,
    system::{SystemClock, SystemRandom},
};

/// The longest wait for anything that a scripted model says.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Attempts of a call that fails for the moment.
const ATTEMPTS: u32 = 4;

/// A model behind a URL, which may take so long for anything. It is asked without a key, so nothing that costs money answers.
pub(super) fn connection(base_url: &str, model: &str, patience: Duration) -> Result<Connection, Failure> {
    let endpoint = Endpoint {
        base_url: base_url.to_owned(),
        api_key: None,
        model: model.to_owned(),
        connect_timeout: patience,
        first_byte_timeout: patience,
        idle_timeout: patience,
        total_timeout: patience,
    };
    let connection =
        Connection::open(endpoint).map_err(|error| Failure::from_error(ErrorCode::InvalidRequest, &error))?;
    Ok(connection.with_retries(Retries::new(ATTEMPTS, Arc::new(SystemRandom))))
}

/// A purse without a limit, on this ledger; a model of this name has a price.
pub(super) fn purse(ledger: Arc<dyn LedgerStore>, model: &str) -> Result<Purse, Failure> {
    let million = MicroUsd(1_000_000);
    let price = ModelPrice::Paid(Prices { input: million, cached_input: None, output: Some(million) });
    let mut prices = PriceTable::default();
    prices.set(model, price).map_err(|error| Failure::from_error(ErrorCode::InternalError, &error))?;
    let gate = spending::open(ledger, ServiceBudgets::UNLIMITED);
    let currency =
        Currency::new("USD", 1_000_000).map_err(|error| Failure::from_error(ErrorCode::InternalError, &error))?;
    Ok(Purse { gate, prices: Arc::new(prices), currency, lowering: false })
}

/// The model, paid for by one run.
pub(super) fn paid(connection: &Connection, purse: &Purse, run_id: &RunId) -> ChatModel {
    let request_id = RequestId::mint(&SystemRandom);
    let run_id = run_id.clone();
    let spender = Spender { principal: Principal::LocalDoor, request_id, run_id, mode: None, max_cost: None };
    connection.metered(purse.meter(spender))
}

/// A server of tools.
pub(super) async fn server(url: &str) -> Result<McpClient, Failure> {
    let host = Host { elicit: None, clock: Arc::new(SystemClock::new()), randomness: Arc::new(SystemRandom) };
    McpClient::connect(McpServer::http("leaves", url), ClientOptions::default(), host)
        .await
        .map_err(|error| Failure::from_error(ErrorCode::ServiceUnreachable, &error))
}
