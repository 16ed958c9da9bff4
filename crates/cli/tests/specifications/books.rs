//! A ledger with something of everything in it, as tests need it.

use std::{path::PathBuf, time::Duration};

use bylaw_contract::{
    Clock, KeyId, MicroUsd, OwnerId, Randomness, RequestId, ReservationId, RunId, Timestamp, TokenUsage, ask::Mode,
};
use bylaw_gate::{
    BudgetKey, Charge, Claim, Closing, Demand, Ending, Labels, Lease, LedgerStore, Listener, ModelPrice, Order, Period,
    Prices, Quote, Row, RowKind, Scope, SealingKey, Write, Zone, seal_some,
};
use bylaw_store::SqliteStore;

use crate::program::Home;

/// 2026-03-01T00:00:00Z.
const BEGIN: i64 = 1_772_323_200_000;
const DAY: i64 = 86_400_000;
/// A micro-dollar for each token.
const PRICE: ModelPrice =
    ModelPrice::Paid(Prices { input: MicroUsd(1_000_000), cached_input: None, output: Some(MicroUsd(1_000_000)) });

/// A data directory with a ledger of its own: `--data books`.
pub(crate) struct Books {
    pub(crate) home: Home,
}

impl Books {
    /// Rows of three days. Request `shared` names two runs and a hit: one run with a corrected attempt, one that is open.
    pub(crate) async fn new() -> Self {
        let books = Self { home: Home::new() };
        std::fs::create_dir_all(books.home.path("books")).unwrap();
        let store = books.store().await;
        let writes = vec![
            reserve(1, "shared", 0, 1_000),
            settle(1, Charge::unknown(MicroUsd(1_000)), 0),
            settle(1, reported(600, 100), 0),
            reserve(2, "shared", 1, 5_000),
            Write::Record(hit(1, "shared", 1, 700)),
            reserve(3, "other", 1, 2_000),
            settle(3, reported(2_100, 400), 1),
            reserve(4, "another", 2, 800),
            settle(4, left(800, 30), 2),
        ];
        let lease = Lease { owner: owner(), until: at(10_000) };
        store.commit(&lease, writes).await.unwrap();
        crate::kept_runs::keep(&store).await;
        store.close().await;
        books
    }

    /// Seals what there is, with a key file as a service leaves it.
    pub(crate) async fn seal(&self) {
        let store = self.store().await;
        let key = SealingKey::mint(&Sevens);
        self.home.write("books/sealing.key", key.reveal());
        while seal_some(&store, &key, &Still).await.unwrap() > 0 {}
        store.close().await;
    }

    pub(crate) async fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.file()).await.unwrap()
    }

    fn file(&self) -> PathBuf {
        self.home.path("books/bylaw.sqlite")
    }

    /// Changes the file behind everyone's back.
    pub(crate) async fn tamper(&self, statement: &'static str) {
        use sqlx::Connection;
        let url = format!("sqlite://{}", self.file().display());
        let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
        let changed = sqlx::query(statement).execute(&mut connection).await.unwrap();
        assert!(changed.rows_affected() > 0, "{statement}");
        connection.close().await.unwrap();
    }
}

fn at(day: i64) -> Timestamp {
    Timestamp(BEGIN + day * DAY)
}

fn owner() -> OwnerId {
    OwnerId::new(format!("own_{:024x}", 1)).unwrap()
}

fn reservation(number: u64) -> ReservationId {
    ReservationId::new(format!("rsv_{number:024x}")).unwrap()
}

fn labels(number: u64, request: &str) -> Labels {
    Labels {
        request_id: RequestId::new(request).unwrap(),
        run_id: Some(RunId::new(format!("run_{number:024x}")).unwrap()),
        key: (number == 1).then(|| KeyId::new(format!("key_{number:024x}")).unwrap()),
        model: if number == 4 { "small" } else { "large" }.to_owned(),
        mode: Some(if number == 4 { Mode::Auto } else { Mode::Pipeline }),
        purpose: "answer".to_owned(),
    }
}

fn reserve(number: u64, request: &str, day: i64, amount: i64) -> Write {
    let service = |period| BudgetKey { scope: Scope::Service, period: Zone::UTC.period(period, at(day)) };
    Write::Reserve(Order {
        reservation: reservation(number),
        owner: owner(),
        labels: labels(number, request),
        claims: [Period::Once, Period::Day].map(|period| Claim { budget: service(period), limit: None }).to_vec(),
        demand: Demand::exactly(MicroUsd(amount)),
        at: at(day),
        day: Zone::UTC.day(at(day)),
    })
}

fn settle(number: u64, charge: Charge, day: i64) -> Write {
    Write::Settle { reservation: reservation(number), charge, at: at(day) }
}

fn reported(input_tokens: u64, output_tokens: u64) -> Charge {
    charge(i64::MAX, Ending::Reported(TokenUsage { input_tokens, output_tokens, ..TokenUsage::default() }))
}

fn left(reserved: i64, text_bytes: u64) -> Charge {
    charge(reserved, Ending::Received { text_bytes, listener: Listener::Gone })
}

fn charge(reserved: i64, ending: Ending) -> Charge {
    match Quote::new(PRICE, 500, 500, 256).unwrap().close(MicroUsd(reserved), ending) {
        Closing::Settle(charge) => charge,
        Closing::Release => panic!("the request left"),
    }
}

fn hit(number: u64, request: &str, day: i64, amount: i64) -> Row {
    let labels = labels(number, request);
    Row {
        kind: RowKind::Avoided,
        at: at(day),
        day: Zone::UTC.day(at(day)),
        repeats: labels.run_id.clone(),
        labels: Labels { run_id: None, ..labels },
        reservation: None,
        reserved: MicroUsd::ZERO,
        covered: MicroUsd::ZERO,
        amount: MicroUsd(amount),
        tokens: TokenUsage { input_tokens: 600, output_tokens: 100, ..TokenUsage::default() },
        budgets: Vec::new(),
        corrects: None,
        note: None,
    }
}

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp(BEGIN)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

struct Sevens;

impl Randomness for Sevens {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}
