//! Calls to spend on: each costs the same, and is settled at all that it has reserved.

use std::sync::Arc;

use bylaw_contract::{ErrorCode, MicroUsd, RequestId, RunId, TokenUsage};
use bylaw_gate::{
    Budget, BudgetKey, Call, Ending, Gate, GateConfig, LedgerStore, ModelPrice, Period, PeriodKey, Prices, Principal,
    Quote, Scope, ServiceBudgets, Spender,
};

use crate::{
    failure::Failure,
    system::{SystemClock, SystemRandom},
};

const PROMPT_TOKENS: u64 = 60;
const ANSWER_TOKENS: u32 = 40;
/// What each call reserves and costs: a micro-dollar for each token.
pub(super) const COST: MicroUsd = MicroUsd(100);

/// The account that all of them are counted on.
pub(super) const ACCOUNT: BudgetKey = BudgetKey { scope: Scope::Service, period: PeriodKey::Once };

/// A budget worth so many calls, once and for all.
pub(super) fn worth(calls: u32) -> ServiceBudgets {
    let limit = MicroUsd(COST.0 * i64::from(calls));
    ServiceBudgets { service: vec![Budget { limit, period: Period::Once }], ..ServiceBudgets::UNLIMITED }
}

/// A gate as the service opens it, on another store.
pub(super) fn open(store: Arc<dyn LedgerStore>, budgets: ServiceBudgets) -> Gate {
    Gate::open(store, budgets, GateConfig::default(), Arc::new(SystemClock::new()), Arc::new(SystemRandom))
}

/// The call; its answer may not be shortened to fit.
pub(super) fn call() -> Result<Call, Failure> {
    let million = MicroUsd(1_000_000);
    let price = ModelPrice::Paid(Prices { input: million, cached_input: None, output: Some(million) });
    let quote = Quote::new(price, PROMPT_TOKENS, ANSWER_TOKENS, ANSWER_TOKENS)
        .map_err(|error| Failure::from_error(ErrorCode::InternalError, &error))?;
    Ok(Call { model: "scripted".to_owned(), purpose: "answer".to_owned(), quote })
}

/// How the call ends.
pub(super) fn ending() -> Ending {
    let output_tokens = u64::from(ANSWER_TOKENS);
    Ending::Reported(TokenUsage { input_tokens: PROMPT_TOKENS, output_tokens, ..TokenUsage::default() })
}

/// Whoever makes the `number`th call.
pub(super) fn spender(number: usize) -> Result<Spender, Failure> {
    let run_id = RunId::new(format!("run_{number:024x}"))
        .map_err(|error| Failure::from_error(ErrorCode::InternalError, &error))?;
    let request_id = RequestId::mint(&SystemRandom);
    Ok(Spender { principal: Principal::LocalDoor, request_id, run_id, mode: None, max_cost: None })
}

/// The number of a [`spender`], from its run.
pub(super) fn run_number(run: &RunId) -> Option<usize> {
    usize::from_str_radix(run.as_str().strip_prefix("run_")?, 16).ok()
}
