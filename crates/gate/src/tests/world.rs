//! What the tests share.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bylaw_contract::{Clock, MicroUsd, RequestId, RunId, Timestamp};
use tokio::time::Instant;

use crate::{
    Account, Budget, BudgetKey, Call, Labels, LedgerStore, MemoryLedger, ModelPrice, Note, Period, Prices, Principal,
    Quote, RowFilter, RowKind, RowNumber, ServiceBudgets, Spender, StoredRow, Zone,
};

/// 2026-03-01T15:59:50Z, ten seconds before midnight in Taipei.
pub(super) const BEFORE_MIDNIGHT: Timestamp = Timestamp(1_772_380_790_000);

pub(super) fn run(number: u64) -> RunId {
    RunId::new(format!("run_{number:024x}")).unwrap()
}

pub(super) fn labels(number: u64) -> Labels {
    Labels {
        request_id: RequestId::new(format!("request-{number}")).unwrap(),
        run_id: Some(run(number)),
        key: None,
        model: "scripted".to_owned(),
        mode: None,
        purpose: "answer".to_owned(),
    }
}

pub(super) fn spender(number: u64) -> Spender {
    let Labels { request_id, .. } = labels(number);
    Spender { principal: Principal::LocalDoor, request_id, run_id: run(number), mode: None, max_cost: None }
}

/// A micro-dollar for a token, read or written.
pub(super) fn price() -> ModelPrice {
    let million = MicroUsd(1_000_000);
    ModelPrice::Paid(Prices { input: million, cached_input: None, output: Some(million) })
}

/// A call that costs `prompt + max_tokens` micro-dollars at worst and `prompt + least_tokens` at least.
pub(super) fn call(prompt: u64, max_tokens: u32, least_tokens: u32) -> Call {
    let quote = Quote::new(price(), prompt, max_tokens, least_tokens).unwrap();
    Call { model: "scripted".to_owned(), purpose: "answer".to_owned(), quote }
}

/// At most `limit` a day in Taipei, for everyone together.
pub(super) fn daily(limit: i64) -> ServiceBudgets {
    ServiceBudgets {
        service: vec![Budget { limit: MicroUsd(limit), period: Period::Day }],
        zone: Zone::named("Asia/Taipei").unwrap(),
        ..ServiceBudgets::UNLIMITED
    }
}

/// Tells the (paused) time of the tokio runtime.
pub(super) struct RuntimeClock {
    begin: Timestamp,
    started: Instant,
}

impl RuntimeClock {
    pub(super) fn from(begin: Timestamp) -> Arc<Self> {
        Arc::new(Self { begin, started: Instant::now() })
    }
}

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        self.begin.plus(self.elapsed())
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

pub(super) async fn all_rows(store: &MemoryLedger) -> Vec<StoredRow> {
    store.rows(&RowFilter::default(), RowNumber(0), usize::MAX).await.unwrap()
}

/// The rows that count: those that none corrects.
pub(super) fn current(rows: &[StoredRow]) -> Vec<&StoredRow> {
    let corrected: Vec<_> = rows.iter().filter_map(|row| row.row.corrects).collect();
    rows.iter().filter(|row| !corrected.contains(&row.number)).collect()
}

/// A row in short: what it is and how much.
pub(super) fn shown(rows: &[StoredRow]) -> Vec<(RowKind, i64)> {
    rows.iter().map(|row| (row.row.kind, row.row.amount.0)).collect()
}

/// Whether the row stands for a request that left.
pub(super) fn was_sent(row: &StoredRow) -> bool {
    row.row.kind != RowKind::Avoided && row.row.note != Some(Note::NotSent)
}

/// What the rows say about every account, reservations left out.
pub(super) fn booked(rows: &[StoredRow]) -> BTreeMap<BudgetKey, MicroUsd> {
    let mut booked = BTreeMap::<BudgetKey, MicroUsd>::new();
    for row in current(rows) {
        for budget in &row.row.budgets {
            let sum = booked.entry(budget.clone()).or_default();
            *sum = sum.checked_add(row.row.amount).unwrap();
        }
    }
    booked
}

pub(super) fn booked_on(account: Account) -> MicroUsd {
    account.settled.checked_add(account.debt).unwrap()
}
