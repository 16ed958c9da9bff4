//! Two stores on one file, and one cap.

use std::sync::Arc;

use bylaw_contract::{MicroUsd, RequestId, RunId, TokenUsage};
use bylaw_gate::{
    Call, Ending, Gate, GateConfig, LedgerStore, ModelPrice, PeriodKey, Prices, Principal, Quote, RowKind, Spender,
};

use super::world::{Seeded, Still, all_rows, daily, day, granted, lease, order, service, stands};
use crate::folder::Folder;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_200_reservations_through_each_of_two_stores_a_cap_worth_ten_grants_exactly_ten() {
    let folder = Folder::new();
    let stores = [folder.open().await, folder.open().await];
    let orders: Vec<_> = (0..400_u64)
        .map(|number| {
            let store = stores[usize::from(number % 2 == 1)].clone();
            let write = bylaw_gate::Write::Reserve(order(number, 0, 100, 1_000));
            tokio::spawn(async move { store.commit(&lease(number % 2, 0), vec![write]).await.unwrap().remove(0) })
        })
        .collect();
    let mut grants = 0;
    for order in orders {
        grants += usize::from(order.await.unwrap() == granted(100));
    }
    assert_eq!(grants, 10);
    for store in &stores {
        assert_eq!(stands(store).await, (0, 1_000, 0));
        assert_eq!(store.open(None, 100).await.unwrap().len(), 10);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_200_callers_at_two_gates_a_cap_worth_ten_admits_exactly_ten() {
    let folder = Folder::new();
    let stores = [folder.open().await, folder.open().await];
    let gates = [0, 1].map(|place: usize| {
        let random = Arc::new(Seeded::new(u64::try_from(place).unwrap() + 1));
        let store = Arc::new(stores[place].clone());
        Gate::open(store, daily(1_000), GateConfig::default(), Arc::new(Still), random)
    });
    let million = MicroUsd(1_000_000);
    let price = ModelPrice::Paid(Prices { input: million, cached_input: None, output: Some(million) });
    let calls: Vec<_> = (0..200_u64)
        .map(|number| {
            let gate = gates[usize::from(number % 2 == 1)].clone();
            tokio::spawn(async move {
                let spender = Spender {
                    principal: Principal::LocalDoor,
                    request_id: RequestId::new(format!("request-{number}")).unwrap(),
                    run_id: RunId::new(format!("run_{number:024x}")).unwrap(),
                    mode: None,
                    max_cost: None,
                };
                let quote = Quote::new(price, 60, 40, 40).unwrap();
                let call = Call { model: "scripted".to_owned(), purpose: "answer".to_owned(), quote };
                let Ok(ticket) = gate.reserve(&spender, &call).await else { return 0 };
                ticket.settle(Ending::Reported(TokenUsage {
                    input_tokens: 60,
                    output_tokens: 40,
                    ..TokenUsage::default()
                }));
                1
            })
        })
        .collect();
    let mut admitted = 0;
    for call in calls {
        admitted += call.await.unwrap();
    }
    for gate in &gates {
        assert!(gate.flush().await);
    }
    assert_eq!(admitted, 10);
    let rows = all_rows(&stores[0]).await;
    assert_eq!(rows.iter().map(|row| row.number.0).collect::<Vec<_>>(), (1..=10).collect::<Vec<_>>());
    assert!(rows.iter().all(|row| row.row.kind == RowKind::Spent));
    let account = stores[1].accounts(&[service(PeriodKey::Day(day(0)))]).await.unwrap()[0];
    assert_eq!((account.settled, account.reserved), (MicroUsd(1_000), MicroUsd::ZERO));
}
