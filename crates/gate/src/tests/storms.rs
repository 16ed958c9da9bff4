//! Gates over a store that is slow and fails, callers who leave, processes that die: seeded, in stopped time.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bylaw_contract::{MicroUsd, ReservationId, Timestamp, TokenUsage};

use super::world::{
    BEFORE_MIDNIGHT, RuntimeClock, all_rows, booked, booked_on, call, current, daily, spender, was_sent,
};
use crate::{
    Account, BudgetKey, Ending, Gate, GateConfig, Lease, LedgerError, LedgerStore, Listener, MemoryLedger,
    OpenReservation, RowFilter, RowKind, RowNumber, Seal, StoredRow, Ticket, UsageLine, Write, Written,
    testing::SeededRandomness,
};

const LIMIT: i64 = 2_000;

/// A ledger that takes its time and fails, before or after it has done what it was asked for.
pub(super) struct FlakyLedger {
    ledger: Arc<MemoryLedger>,
    delay: Duration,
    failing: AtomicBool,
    chance: Option<Arc<SeededRandomness>>,
}

impl FlakyLedger {
    pub(super) fn slow(ledger: Arc<MemoryLedger>, delay: Duration) -> Arc<Self> {
        Arc::new(Self { ledger, delay, failing: AtomicBool::new(false), chance: None })
    }

    pub(super) fn fail(&self, failing: bool) {
        self.failing.store(failing, Ordering::SeqCst);
    }

    fn failure(operation: &'static str) -> LedgerError {
        LedgerError::Unavailable { operation, source: "the disk is full".into() }
    }

    fn fails(&self) -> bool {
        self.failing.load(Ordering::SeqCst) || self.chance.as_ref().is_some_and(|chance| chance.chance(5))
    }
}

#[async_trait]
impl LedgerStore for FlakyLedger {
    async fn commit(&self, lease: &Lease, writes: Vec<Write>) -> Result<Vec<Written>, LedgerError> {
        let extra = self.chance.as_ref().map_or(0, |chance| chance.below(20));
        tokio::time::sleep(self.delay + Duration::from_millis(extra)).await;
        if self.fails() {
            return Err(Self::failure("committing"));
        }
        let written = self.ledger.commit(lease, writes).await?;
        if self.chance.is_some() {
            self.ledger.look_at_accounts(|budget, account| {
                assert!(account.settled.0 + account.reserved.0 <= LIMIT, "{budget}: {account:?}");
            });
        }
        if self.fails() { Err(Self::failure("confirming a commit")) } else { Ok(written) }
    }

    async fn renew(&self, lease: &Lease) -> Result<(), LedgerError> {
        if self.fails() { Err(Self::failure("renewing")) } else { self.ledger.renew(lease).await }
    }

    async fn expire(&self, now: Timestamp, limit: usize) -> Result<usize, LedgerError> {
        self.ledger.expire(now, limit).await
    }

    async fn accounts(&self, budgets: &[BudgetKey]) -> Result<Vec<Account>, LedgerError> {
        self.ledger.accounts(budgets).await
    }

    async fn open(&self, after: Option<&ReservationId>, limit: usize) -> Result<Vec<OpenReservation>, LedgerError> {
        self.ledger.open(after, limit).await
    }

    async fn forget_requests(&self, before: Timestamp) -> Result<usize, LedgerError> {
        self.ledger.forget_requests(before).await
    }

    async fn totals(&self, after: Option<&BudgetKey>, limit: usize) -> Result<Vec<(BudgetKey, Account)>, LedgerError> {
        self.ledger.totals(after, limit).await
    }

    async fn rows(&self, filter: &RowFilter, after: RowNumber, limit: usize) -> Result<Vec<StoredRow>, LedgerError> {
        self.ledger.rows(filter, after, limit).await
    }

    async fn usage(&self, filter: &RowFilter) -> Result<Vec<UsageLine>, LedgerError> {
        self.ledger.usage(filter).await
    }

    async fn last_row(&self) -> Result<RowNumber, LedgerError> {
        self.ledger.last_row().await
    }

    async fn seals(&self, after: RowNumber, limit: usize) -> Result<Vec<Seal>, LedgerError> {
        self.ledger.seals(after, limit).await
    }

    async fn last_seal(&self) -> Result<Option<Seal>, LedgerError> {
        self.ledger.last_seal().await
    }

    async fn append_seal(&self, seal: &Seal) -> Result<bool, LedgerError> {
        self.ledger.append_seal(seal).await
    }
}

/// What the provider counts by itself: the reservation whose call it answered, what it used, and whether it could say so.
#[derive(Default)]
struct Upstream(Mutex<Vec<(ReservationId, u64, bool)>>);

impl Upstream {
    fn answered(&self, id: &ReservationId, used: u64, told: bool) {
        self.0.lock().unwrap().push((id.clone(), used, told));
    }
}

/// Someone who has received text and knows how much, also when they are cut off.
struct Receiving {
    ticket: Option<Ticket>,
    text_bytes: u64,
}

impl Drop for Receiving {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            ticket.settle(Ending::Received { text_bytes: self.text_bytes, listener: Listener::Gone });
        }
    }
}

async fn one_call(gate: Gate, chance: Arc<SeededRandomness>, upstream: Arc<Upstream>, number: u64) {
    tokio::time::sleep(Duration::from_millis(chance.below(2_000))).await;
    let max_tokens = 40 + u32::try_from(chance.below(100)).unwrap();
    let Ok(ticket) = gate.reserve(&spender(number), &call(60, max_tokens, 20)).await else { return };
    let written = chance.below(u64::from(ticket.quote().max_tokens()) + 1);
    let id = ticket.reservation().clone();
    match chance.below(10) {
        0 => {
            ticket.settle(Ending::NotSent);
        }
        1..=2 => {
            upstream.answered(&id, 60 + written, false);
            let _receiving = Receiving { ticket: Some(ticket), text_bytes: written };
            tokio::time::sleep(Duration::from_millis(chance.below(500))).await;
        }
        3 => {
            upstream.answered(&id, 60, false);
            drop(ticket);
        }
        _ => {
            upstream.answered(&id, 60 + written, true);
            tokio::time::sleep(Duration::from_millis(chance.below(500))).await;
            let usage = TokenUsage { input_tokens: 60, output_tokens: written, ..TokenUsage::default() };
            ticket.settle(Ending::Reported(usage));
        }
    }
}

fn storm(seed: u64) {
    let ledger = Arc::new(MemoryLedger::default());
    let upstream = Arc::new(Upstream::default());
    let chance = Arc::new(SeededRandomness::new(seed));
    let mut begin = BEFORE_MIDNIGHT;
    for life in 0..2_u64 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let ended = runtime.block_on(async {
            let clock = RuntimeClock::from(begin);
            let store = Arc::new(FlakyLedger {
                ledger: ledger.clone(),
                delay: Duration::from_millis(1),
                failing: AtomicBool::new(false),
                chance: Some(chance.clone()),
            });
            let random = Arc::new(SeededRandomness::new(seed * 2 + life));
            let gate = Gate::open(store, daily(LIMIT), GateConfig::default(), clock.clone(), random);
            let calls: Vec<_> = (0..40)
                .map(|number| {
                    tokio::spawn(one_call(gate.clone(), chance.clone(), upstream.clone(), life * 100 + number))
                })
                .collect();
            if life == 0 {
                // Dies at some moment, with everything it has in memory.
                tokio::time::sleep(Duration::from_millis(chance.below(2_500))).await;
            } else {
                for call in calls {
                    if chance.chance(15) {
                        call.abort();
                    }
                    let _aborted = call.await;
                }
                let drained = gate.drain(Duration::from_secs(30)).await;
                assert_eq!((drained.unsettled, drained.written), (0, true), "seed {seed}");
                tokio::time::sleep(Duration::from_secs(130)).await;
            }
            bylaw_contract::Clock::now(&*clock)
        });
        begin = ended;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let rows = runtime.block_on(all_rows(&ledger));
    let by_rows = booked(&rows);
    for (budget, account) in ledger.every_account() {
        assert_eq!(account.reserved, MicroUsd::ZERO, "seed {seed}: {budget}");
        assert_eq!(booked_on(account), by_rows.get(&budget).copied().unwrap_or_default(), "seed {seed}: {budget}");
    }
    // Every call that the provider answered has one row that counts, and it says enough.
    let upstream = upstream.0.lock().unwrap();
    let rows = current(&rows);
    for (id, used, told) in &*upstream {
        let of_call: Vec<_> = rows.iter().filter(|row| row.row.reservation.as_ref() == Some(id)).collect();
        assert_eq!(of_call.len(), 1, "seed {seed}: {id}");
        let row = &of_call[0].row;
        let amount = u64::try_from(row.amount.0).unwrap();
        assert!(row.amount <= row.reserved, "seed {seed}: {row:?}");
        match row.kind {
            RowKind::Spent => assert!(*told && amount == *used, "seed {seed}: {row:?} for {used}"),
            // Whoever lost the report in a crash knows only what was received, which was nothing: the prompt is booked.
            RowKind::Abandoned | RowKind::Estimated => assert!(amount >= *used || *told, "seed {seed}: {row:?}"),
            RowKind::Unknown => assert_eq!(row.amount, row.reserved, "seed {seed}"),
            RowKind::Avoided => panic!("seed {seed}: {row:?}"),
        }
    }
    let answered = |row: &&&StoredRow| upstream.iter().any(|(id, ..)| row.row.reservation.as_ref() == Some(id));
    let spent = rows.iter().filter(|row| row.row.kind == RowKind::Spent);
    assert!(spent.clone().all(|row| answered(&row)), "seed {seed}: charged for a call that was never made");
    assert!(rows.iter().filter(|row| was_sent(row)).count() >= upstream.len(), "seed {seed}");
}

#[test]
fn whatever_dies_or_leaves_every_answered_call_is_booked_once_and_no_limit_breaks() {
    for seed in 0..150 {
        storm(seed);
    }
}
