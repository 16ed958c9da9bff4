//! Two hundred callers, one cap.

use std::sync::Arc;

use bylaw_contract::{MicroUsd, TokenUsage};

use super::world::{BEFORE_MIDNIGHT, all_rows, booked_on, call, daily, spender};
use crate::{
    Ending, Gate, GateConfig, MemoryLedger, RowKind,
    testing::{SeededRandomness, StandingClock},
};

/// Each call reserves 100 at worst, may not be lowered, and costs all of it.
async fn race(gates: Vec<Gate>, callers: u64) -> u64 {
    let calls: Vec<_> = (0..callers)
        .zip(gates.iter().cycle().cloned())
        .map(|(number, gate)| {
            tokio::spawn(async move {
                let Ok(ticket) = gate.reserve(&spender(number), &call(60, 40, 40)).await else { return 0 };
                tokio::task::yield_now().await;
                let usage = TokenUsage { input_tokens: 60, output_tokens: 40, ..TokenUsage::default() };
                ticket.settle(Ending::Reported(usage));
                1
            })
        })
        .collect();
    let mut admitted = 0;
    for call in calls {
        admitted += call.await.unwrap();
    }
    for gate in gates {
        assert!(gate.flush().await);
    }
    admitted
}

fn gate(store: &Arc<MemoryLedger>, seed: u64) -> Gate {
    let store: Arc<MemoryLedger> = Arc::clone(store);
    let clock = Arc::new(StandingClock::at(BEFORE_MIDNIGHT));
    Gate::open(store, daily(1_000), GateConfig::default(), clock, Arc::new(SeededRandomness::new(seed)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn of_200_concurrent_callers_a_cap_worth_ten_admits_exactly_ten() {
    for gates in [1_u64, 2] {
        let store = Arc::new(MemoryLedger::default());
        let admitted = race((0..gates).map(|seed| gate(&store, seed)).collect(), 200).await;
        assert_eq!(admitted, 10);
        let rows = all_rows(&store).await;
        assert_eq!(rows.iter().filter(|row| row.row.kind == RowKind::Spent).count(), 10);
        for (_, account) in store.every_account() {
            assert_eq!((booked_on(account), account.reserved), (MicroUsd(1_000), MicroUsd::ZERO));
        }
    }
}
