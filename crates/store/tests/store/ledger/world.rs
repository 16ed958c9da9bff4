//! What the tests share.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use bylaw_contract::{
    Clock, KeyId, MicroUsd, OwnerId, Randomness, RequestId, ReservationId, RunId, Timestamp, TokenUsage, ask::Mode,
};
use bylaw_gate::{
    Account, Budget, BudgetKey, Charge, Claim, Closing, Day, Demand, Ending, Labels, Lease, LedgerStore, Listener,
    ModelPrice, Order, Period, PeriodKey, Prices, Quote, Row, RowFilter, RowKind, RowNumber, Scope, StoredRow, Verdict,
    Write, Written, Zone,
};

/// 2026-03-01T00:00:00Z.
pub(crate) const BEGIN: Timestamp = Timestamp(1_772_323_200_000);
const DAY: i64 = 86_400_000;

pub(crate) fn reservation(number: u64) -> ReservationId {
    ReservationId::new(format!("rsv_{number:024x}")).unwrap()
}

pub(crate) fn owner(number: u64) -> OwnerId {
    OwnerId::new(format!("own_{number:024x}")).unwrap()
}

pub(crate) fn run(number: u64) -> RunId {
    RunId::new(format!("run_{number:024x}")).unwrap()
}

pub(crate) fn key(number: u64) -> KeyId {
    KeyId::new(format!("key_{number:024x}")).unwrap()
}

pub(crate) fn request(number: u64) -> RequestId {
    RequestId::new(format!("\"{number}\\")).unwrap()
}

pub(crate) fn day(number: i64) -> Day {
    Zone::UTC.day(moment(number))
}

/// Noon of a day.
pub(crate) fn moment(day: i64) -> Timestamp {
    Timestamp(BEGIN.0 + day * DAY + DAY / 2)
}

/// The lease of a process until the end of a day.
pub(crate) fn lease(number: u64, until: i64) -> Lease {
    Lease { owner: owner(number), until: Timestamp(BEGIN.0 + (until + 1) * DAY) }
}

pub(crate) fn labels(number: u64) -> Labels {
    Labels {
        request_id: request(number),
        run_id: Some(run(number)),
        key: (!number.is_multiple_of(3)).then(|| key(number % 3)),
        model: "模型 \"large\"\n".to_owned(),
        mode: [None, Some(Mode::Pipeline)][usize::from(number % 2 == 1)],
        purpose: "answer".to_owned(),
    }
}

pub(crate) fn service(period: PeriodKey) -> BudgetKey {
    BudgetKey { scope: Scope::Service, period }
}

pub(crate) fn of_run(number: u64) -> BudgetKey {
    BudgetKey { scope: Scope::Request(run(number)), period: PeriodKey::Once }
}

pub(crate) fn claim(budget: BudgetKey, limit: Option<i64>) -> Claim {
    Claim { budget, limit: limit.map(MicroUsd) }
}

/// An order of process 1 on a day: exactly `amount`, on the run, on the service for good within `limit`, and per day.
pub(crate) fn order(number: u64, on: i64, amount: i64, limit: i64) -> Order {
    Order {
        reservation: reservation(number),
        owner: owner(1),
        labels: labels(number),
        claims: vec![
            claim(of_run(number), None),
            claim(service(PeriodKey::Once), Some(limit)),
            claim(service(PeriodKey::Day(day(on))), None),
        ],
        demand: Demand::exactly(MicroUsd(amount)),
        at: moment(on),
        day: day(on),
    }
}

pub(crate) fn reserve(number: u64, on: i64, amount: i64) -> Write {
    Write::Reserve(order(number, on, amount, 1_000))
}

/// What a provider charges that says it read `tokens`, at a micro-dollar each.
pub(crate) fn spent(tokens: u64) -> Charge {
    charge(MicroUsd(i64::MAX), Ending::Reported(TokenUsage { input_tokens: tokens, ..TokenUsage::default() }))
}

/// What is charged for `tokens` that were read when the provider does not say.
pub(crate) fn abandoned(reserved: i64) -> Charge {
    charge(MicroUsd(reserved), Ending::Received { text_bytes: 3, listener: Listener::Gone })
}

fn charge(reserved: MicroUsd, ending: Ending) -> Charge {
    let million = MicroUsd(1_000_000);
    let price = ModelPrice::Paid(Prices { input: million, cached_input: None, output: Some(million) });
    match Quote::new(price, 10, 500, 256).unwrap().close(reserved, ending) {
        Closing::Settle(charge) => charge,
        Closing::Release => panic!("the request left"),
    }
}

pub(crate) fn settle(number: u64, charge: Charge, on: i64) -> Write {
    Write::Settle { reservation: reservation(number), charge, at: moment(on) }
}

pub(crate) fn release(number: u64, on: i64) -> Write {
    Write::Release { reservation: reservation(number), at: moment(on) }
}

/// What a cache has saved.
pub(crate) fn hit(number: u64, on: i64, amount: i64) -> Row {
    Row {
        kind: RowKind::Avoided,
        at: moment(on),
        day: day(on),
        labels: Labels { run_id: None, ..labels(number) },
        reservation: None,
        reserved: MicroUsd::ZERO,
        covered: MicroUsd::ZERO,
        amount: MicroUsd(amount),
        tokens: TokenUsage { input_tokens: 7, output_tokens: 5, ..TokenUsage::default() },
        budgets: Vec::new(),
        corrects: None,
        repeats: Some(run(number)),
        note: None,
    }
}

/// Commits with the lease of process 1, which lasts through day 0.
pub(crate) async fn commit(store: &dyn LedgerStore, writes: Vec<Write>) -> Vec<Written> {
    store.commit(&lease(1, 0), writes).await.unwrap()
}

pub(crate) fn granted(amount: i64) -> Written {
    Written::Verdict(Verdict::Granted(MicroUsd(amount)))
}

pub(crate) async fn rows(store: &dyn LedgerStore, filter: &RowFilter) -> Vec<StoredRow> {
    store.rows(filter, RowNumber(0), usize::MAX).await.unwrap()
}

pub(crate) async fn all_rows(store: &dyn LedgerStore) -> Vec<StoredRow> {
    rows(store, &RowFilter::default()).await
}

/// Settled, reserved and debt of the service for good.
pub(crate) async fn stands(store: &dyn LedgerStore) -> (i64, i64, i64) {
    let Account { settled, reserved, debt } = store.accounts(&[service(PeriodKey::Once)]).await.unwrap()[0];
    (settled.0, reserved.0, debt.0)
}

/// At most `limit` a day for everyone together.
pub(crate) fn daily(limit: i64) -> bylaw_gate::ServiceBudgets {
    bylaw_gate::ServiceBudgets {
        service: vec![Budget { limit: MicroUsd(limit), period: Period::Day }],
        ..bylaw_gate::ServiceBudgets::UNLIMITED
    }
}

/// A clock that stands still.
pub(crate) struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        BEGIN
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

/// Numbers that look random and are the same every time: the splitmix64 sequence of Steele, Lea and Flood ("Fast
/// splittable pseudorandom number generators", 2014).
pub(crate) struct Seeded(AtomicU64);

impl Seeded {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    pub(crate) fn below(&self, end: u64) -> u64 {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let mut mixed = self.0.fetch_add(step, Ordering::Relaxed).wrapping_add(step);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

impl Randomness for Seeded {
    fn fill(&self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = u8::try_from(self.below(256)).unwrap();
        }
    }
}
