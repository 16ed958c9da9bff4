//! One gate and its callers, in stopped time.

use std::{sync::Arc, time::Duration};

use bylaw_contract::{MicroUsd, TokenUsage};

use super::{
    storms::FlakyLedger,
    world::{BEFORE_MIDNIGHT, RuntimeClock, all_rows, call, daily, labels, run, shown, spender},
};
use crate::{
    Ending, Gate, GateConfig, LedgerStore, Listener, MemoryLedger, ReserveError, RowKind, ServiceBudgets,
    testing::SeededRandomness,
};

fn open(store: Arc<dyn LedgerStore>, budgets: ServiceBudgets) -> Gate {
    let clock = RuntimeClock::from(BEFORE_MIDNIGHT);
    Gate::open(store, budgets, GateConfig::default(), clock, Arc::new(SeededRandomness::new(7)))
}

fn used(input: u64, output: u64) -> Ending {
    Ending::Reported(TokenUsage { input_tokens: input, output_tokens: output, ..TokenUsage::default() })
}

async fn reserved(store: &MemoryLedger) -> i64 {
    store.open(None, usize::MAX).await.unwrap().iter().map(|open| open.amount.0).sum()
}

#[tokio::test(start_paused = true)]
async fn what_is_reserved_is_stored_before_the_ticket_is_handed_out_and_settled_after() {
    let store = Arc::new(MemoryLedger::default());
    let gate = open(store.clone(), daily(1_000));
    let ticket = gate.reserve(&spender(1), &call(60, 40, 40)).await.unwrap();
    assert_eq!(reserved(&store).await, 100);
    ticket.settle(used(60, 5));
    assert!(gate.flush().await);
    assert_eq!((reserved(&store).await, shown(&all_rows(&store).await)), (0, vec![(RowKind::Spent, 65)]));
}

#[tokio::test(start_paused = true)]
async fn max_tokens_is_lowered_to_what_is_left_but_not_below_the_floor() {
    let gate = open(Arc::new(MemoryLedger::default()), daily(1_000));
    let lowered = gate.reserve(&spender(1), &call(100, 2_000, 256)).await.unwrap();
    assert_eq!((lowered.quote().max_tokens(), lowered.granted()), (900, MicroUsd(1_000)));
    lowered.settle(used(100, 650));
    let refused = gate.reserve(&spender(2), &call(100, 2_000, 256)).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the budget service/day:2026-03-01 of 0.001000 USD has 0.000250 USD left, and the call needs 0.000356 USD"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_open_reservations_and_gets_what_they_give_back() {
    let gate = open(Arc::new(MemoryLedger::default()), daily(150));
    let first = gate.reserve(&spender(1), &call(60, 40, 40)).await.unwrap();
    let second = tokio::spawn({
        let gate = gate.clone();
        async move { gate.reserve(&spender(2), &call(60, 40, 40)).await.map(|ticket| ticket.settle(used(60, 1))) }
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!second.is_finished());
    first.settle(used(45, 5));
    assert!(second.await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_has_waited_long_enough_is_refused() {
    let gate = open(Arc::new(MemoryLedger::default()), daily(150));
    let _first = gate.reserve(&spender(1), &call(60, 40, 40)).await.unwrap();
    let asked = tokio::time::Instant::now();
    let refused = gate.reserve(&spender(2), &call(60, 40, 40)).await;
    assert!(matches!(refused, Err(ReserveError::Budget(shortfall)) if shortfall.left == MicroUsd(50)));
    assert_eq!(asked.elapsed(), GateConfig::default().wait);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_no_waiting_can_help_is_refused_at_once() {
    let gate = open(Arc::new(MemoryLedger::default()), daily(99));
    let asked = tokio::time::Instant::now();
    assert!(gate.reserve(&spender(1), &call(60, 40, 40)).await.is_err());
    assert_eq!(asked.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_while_asking_leaves_nothing_reserved() {
    let ledger = Arc::new(MemoryLedger::default());
    let slow = FlakyLedger::slow(ledger.clone(), Duration::from_millis(10));
    let gate = open(slow, daily(1_000));
    for patience in [0, 1, 5, 9, 10, 11, 20] {
        let _left = tokio::time::timeout(Duration::from_millis(patience), async {
            let _ticket = gate.reserve(&spender(1), &call(60, 40, 40)).await;
            std::future::pending::<()>().await;
        })
        .await;
    }
    let drained = gate.drain(Duration::from_secs(1)).await;
    assert_eq!((drained.unsettled, drained.written, reserved(&ledger).await), (0, true, 0));
    // Who had the ticket in hand has perhaps sent something; who had not, has not.
    let rows = shown(&all_rows(&ledger).await);
    assert!(rows.iter().all(|row| *row == (RowKind::Abandoned, 60)), "{rows:?}");
    assert!(rows.len() < 7, "{rows:?}");
}

#[tokio::test(start_paused = true)]
async fn a_ticket_that_is_dropped_counts_as_sent_with_nothing_received() {
    let store = Arc::new(MemoryLedger::default());
    let gate = open(store.clone(), daily(1_000));
    drop(gate.reserve(&spender(1), &call(60, 40, 40)).await.unwrap());
    let not_sent = gate.reserve(&spender(2), &call(60, 40, 40)).await.unwrap();
    not_sent.settle(Ending::NotSent);
    let cut = gate.reserve(&spender(3), &call(60, 40, 40)).await.unwrap();
    cut.settle(Ending::Received { text_bytes: 8, listener: Listener::Waiting });
    assert!(gate.flush().await);
    assert_eq!(shown(&all_rows(&store).await), [(RowKind::Abandoned, 60), (RowKind::Estimated, 68)]);
    assert_eq!(reserved(&store).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_settlement_after_midnight_counts_for_the_day_of_the_reservation() {
    let store = Arc::new(MemoryLedger::default());
    let gate = open(store.clone(), daily(100));
    let before = gate.reserve(&spender(1), &call(60, 40, 40)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(20)).await;
    // The new day has its whole budget, whatever the old one still holds.
    let after = gate.reserve(&spender(2), &call(60, 40, 40)).await.unwrap();
    before.settle(used(60, 1));
    after.settle(used(60, 2));
    assert!(gate.flush().await);
    let days: Vec<_> = all_rows(&store).await.iter().map(|row| (row.row.day.to_string(), row.row.amount.0)).collect();
    assert_eq!(days, [("2026-03-01".to_owned(), 61), ("2026-03-02".to_owned(), 62)]);
}

#[tokio::test(start_paused = true)]
async fn closing_the_gate_with_500_calls_under_way_loses_no_row() {
    let ledger = Arc::new(MemoryLedger::default());
    let gate = open(FlakyLedger::slow(ledger.clone(), Duration::from_millis(3)), daily(1_000_000));
    let calls: Vec<_> = (0..500)
        .map(|number| {
            let gate = gate.clone();
            tokio::spawn(async move {
                let ticket = gate.reserve(&spender(number), &call(60, 40, 40)).await.unwrap();
                tokio::time::sleep(Duration::from_millis(500 + number)).await;
                ticket.settle(used(60, 7));
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(gate.live(), 500);
    let drained = gate.drain(Duration::from_secs(5)).await;
    assert_eq!((drained.unsettled, drained.written), (0, true));
    assert!(matches!(gate.reserve(&spender(1), &call(1, 1, 1)).await, Err(ReserveError::ShuttingDown)));
    drop(calls);
    let rows = all_rows(&ledger).await;
    assert_eq!((rows.len(), reserved(&ledger).await), (500, 0));
    assert!(rows.iter().all(|row| row.row.kind == RowKind::Spent));
}

#[tokio::test(start_paused = true)]
async fn while_the_ledger_cannot_be_written_nothing_is_spent_and_nothing_is_forgotten() {
    let ledger = Arc::new(MemoryLedger::default());
    let flaky = FlakyLedger::slow(ledger.clone(), Duration::ZERO);
    let gate = open(flaky.clone(), daily(1_000));
    let under_way = gate.reserve(&spender(1), &call(60, 40, 40)).await.unwrap();
    flaky.fail(true);
    let refused = gate.reserve(&spender(2), &call(60, 40, 40)).await;
    assert!(matches!(refused, Err(ReserveError::Ledger(_))));
    under_way.settle(used(60, 3));
    let refused_at = tokio::time::Instant::now();
    assert!(matches!(gate.reserve(&spender(3), &call(60, 40, 40)).await, Err(ReserveError::Ledger(_))));
    assert_eq!(refused_at.elapsed(), Duration::ZERO);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(all_rows(&ledger).await, []);
    flaky.fail(false);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!((shown(&all_rows(&ledger).await), reserved(&ledger).await), (vec![(RowKind::Spent, 63)], 0));
    assert!(gate.reserve(&spender(4), &call(60, 40, 40)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_kept_while_the_process_lives_and_runs_out_when_it_is_gone() {
    let store = Arc::new(MemoryLedger::default());
    let gate = open(store.clone(), daily(1_000));
    let ticket = gate.reserve(&spender(1), &call(60, 40, 40)).await.unwrap();
    let other = open(store.clone(), daily(1_000));
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(all_rows(&store).await, []);
    // Killed: the writer stops, and the ticket is never settled.
    std::mem::forget(ticket);
    drop(gate);
    let later = RuntimeClock::from(BEFORE_MIDNIGHT.plus(Duration::from_secs(661)));
    drop(other);
    let _next =
        Gate::open(store.clone(), daily(1_000), GateConfig::default(), later, Arc::new(SeededRandomness::new(8)));
    // The ticket that was leaked keeps the old writer alive, as a process that hangs would; it does not renew in the future.
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(shown(&all_rows(&store).await), [(RowKind::Unknown, 100)]);
    assert_eq!(reserved(&store).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_hit_in_a_cache_books_what_it_avoided_and_touches_no_account() {
    let store = Arc::new(MemoryLedger::default());
    let gate = open(store.clone(), daily(1_000));
    for number in 0..1_000 {
        gate.avoided(labels(number), MicroUsd(40), Some(run(1))).await.unwrap();
    }
    assert!(gate.flush().await);
    let rows = all_rows(&store).await;
    assert_eq!(rows.len(), 1_000);
    assert_eq!(
        (rows[0].row.kind, rows[0].row.amount, &rows[0].row.repeats),
        (RowKind::Avoided, MicroUsd(40), &Some(run(1)))
    );
    assert_eq!(store.every_account(), []);
}
