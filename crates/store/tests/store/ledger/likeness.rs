//! The database does whatever the ledger in memory does.

use bylaw_gate::{Charge, Demand, LedgerStore, MemoryLedger, Order, PeriodKey, RowFilter, RowNumber, Write};
use bylaw_store::SqliteStore;

use super::world::{
    Seeded, abandoned, all_rows, claim, day, hit, key, lease, moment, of_run, order, owner, release, request, run,
    service, settle, spent,
};

fn number(random: &Seeded, end: u64) -> i64 {
    i64::try_from(random.below(end)).unwrap()
}

fn write(random: &Seeded) -> Write {
    let (id, on) = (random.below(40), number(random, 4));
    match random.below(10) {
        0..=3 => {
            let worst = bylaw_contract::MicroUsd(number(random, 200));
            let least = bylaw_contract::MicroUsd(number(random, 200));
            let mut claims = vec![
                claim(service(PeriodKey::Once), Some(900)),
                claim(service(PeriodKey::Day(day(on))), [None, Some(300)][usize::from(random.below(2) == 1)]),
            ];
            if random.below(2) == 1 {
                claims.push(claim(of_run(id % 7), Some(150)));
            }
            let (owner, demand) = (owner(random.below(3)), Demand::new(worst, least));
            Write::Reserve(Order { owner, claims, demand, ..order(id, on, 0, 0) })
        }
        4..=5 => settle(id, spent(random.below(250) + 1), on),
        6 => settle(id, abandoned(number(random, 100)), on),
        7 => settle(id, Charge::unknown(bylaw_contract::MicroUsd(number(random, 100))), on),
        8 => release(id, on),
        _ => Write::Record(hit(id, on, number(random, 50))),
    }
}

fn filter(random: &Seeded) -> RowFilter {
    let id = random.below(40);
    let maybe = || random.below(3) == 0;
    RowFilter {
        request_id: maybe().then(|| request(id)),
        run_id: maybe().then(|| run(id)),
        key: maybe().then(|| key(id % 3)),
        from: maybe().then(|| day(number(random, 4))),
        to: maybe().then(|| day(number(random, 4))),
    }
}

#[tokio::test]
async fn whatever_is_written_in_whatever_order_both_ledgers_agree() {
    for seed in 0..12 {
        let random = Seeded::new(seed);
        let plain = MemoryLedger::default();
        let database = SqliteStore::in_memory().await.unwrap();
        let stores: [&dyn LedgerStore; 2] = [&plain, &database];
        for step in 0..60 {
            let at = || format!("seed {seed}, step {step}");
            let lease = lease(random.below(3), number(&random, 4));
            let writes: Vec<_> = (0..random.below(8)).map(|_| write(&random)).collect();
            let [expected, found] = stores.map(|store| store.commit(&lease, writes.clone()));
            assert_eq!(found.await.unwrap(), expected.await.unwrap(), "{}", at());
            match random.below(8) {
                0 => {
                    let (now, limit) = (moment(number(&random, 5)), usize::try_from(random.below(4)).unwrap());
                    let [expected, found] = stores.map(|store| store.expire(now, limit));
                    assert_eq!(found.await.unwrap(), expected.await.unwrap(), "{}", at());
                }
                1 => {
                    let before = moment(number(&random, 5));
                    let [expected, found] = stores.map(|store| store.forget_requests(before));
                    assert_eq!(found.await.unwrap(), expected.await.unwrap(), "{}", at());
                }
                _ => {}
            }
            let [expected, found] = stores.map(|store| store.open(None, usize::MAX));
            assert_eq!(found.await.unwrap(), expected.await.unwrap(), "{}", at());
            let [expected, found] = stores.map(|store| store.totals(None, usize::MAX));
            assert_eq!(found.await.unwrap(), expected.await.unwrap(), "{}", at());
            let runs: Vec<_> = (0..7).map(of_run).collect();
            let [expected, found] = stores.map(|store| store.accounts(&runs));
            assert_eq!(found.await.unwrap(), expected.await.unwrap(), "{}", at());

            let filter = filter(&random);
            let after = RowNumber(random.below(30));
            let [expected, found] = stores.map(|store| store.rows(&filter, after, 20));
            assert_eq!(found.await.unwrap(), expected.await.unwrap(), "{}: {filter:?}", at());
            let [expected, found] = stores.map(|store| store.usage(&filter));
            let by_group = |mut lines: Vec<bylaw_gate::UsageLine>| {
                lines.sort_by_key(|line| format!("{:?}", (line.day, &line.key, &line.model, line.mode, line.kind)));
                lines
            };
            assert_eq!(by_group(found.await.unwrap()), by_group(expected.await.unwrap()), "{}: {filter:?}", at());
        }
        assert_eq!(all_rows(&database).await, all_rows(&plain).await, "seed {seed}");
        assert!(!all_rows(&plain).await.is_empty());
    }
}
