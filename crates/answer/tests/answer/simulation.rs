//! Gate, meter and answerer together, under crashes, lost and doubled messages, callers who come and go, and clocks that are
//! set forward and back: a virtual clock, a seed for everything, and an upstream that keeps its own count.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bylaw_answer::{
    Answerer, AnswererParts, Ask, CacheSizes, Ceilings, IdempotencyKey, IgnoreEvents, MemoryAnswers, Purse,
};
use bylaw_contract::{
    Clock, MicroUsd, Randomness, RequestId, ReservationId, RunId, Timestamp, TokenUsage,
    ask::{AskRequest, Mode},
};
use bylaw_gate::{
    Account, Budget, BudgetKey, Currency, Gate, GateConfig, Lease, LedgerError, LedgerStore, MemoryLedger, ModelPrice,
    Note, OpenReservation, Period, PriceTable, Prices, Principal, ReadableSources, RowFilter, RowKind, RowNumber,
    Scope, Seal, ServiceBudgets, StoredRow, UsageLine, Write, Written, Zone,
};
use bylaw_model::{
    Connection, FinishReason,
    scripted::{Script, ScriptedEnd, ScriptedReply},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{bank::holder, money::rules, rulebook::Rulebook};

const SEEDS: u64 = 64;
const CALLERS: u64 = 14;
const SERVICE_LIMIT: i64 = 14_000;
const KEY_LIMIT: i64 = 7_000;
const PRICES: Prices = Prices { input: MicroUsd(1_000_000), cached_input: None, output: Some(MicroUsd(2_000_000)) };
const LEASE: Duration = Duration::from_secs(20);

/// A generator of numbers that anyone can repeat.
#[derive(Debug)]
struct Dice(AtomicU64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1))
    }

    /// One of `0..sides`.
    fn roll(&self, sides: u64) -> u64 {
        // SplitMix64, from Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
        let mut z = self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % sides
    }
}

impl Randomness for Dice {
    fn fill(&self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = u8::try_from(self.roll(256)).expect("below 256");
        }
    }
}

/// The runtime's own clock, which stands still while anything can go on. Somebody may set what it says of the day.
#[derive(Debug)]
struct VirtualClock {
    start: Instant,
    set_by_ms: AtomicI64,
}

impl VirtualClock {
    /// Sets it forward or back, now and then, by up to a minute and a half.
    async fn meddle(self: Arc<Self>, dice: Arc<Dice>) {
        loop {
            tokio::time::sleep(Duration::from_millis(500 + dice.roll(6_000))).await;
            let by = i64::try_from(dice.roll(180_000)).expect("small") - 90_000;
            self.set_by_ms.fetch_add(by, Ordering::SeqCst);
        }
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        let Timestamp(now) = Timestamp(1_900_000_000_000).plus(self.elapsed());
        Timestamp(now + self.set_by_ms.load(Ordering::SeqCst))
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// What everyone writes to. After every change each account is compared with its limit.
#[derive(Debug, Default)]
struct Books {
    ledger: MemoryLedger,
    /// Accounts that have been written to, with the limit of each.
    limits: Mutex<BTreeMap<BudgetKey, i64>>,
}

impl Books {
    async fn check(&self) {
        let limits = self.limits.lock().expect("no test panics while it holds this").clone();
        let keys: Vec<BudgetKey> = limits.keys().cloned().collect();
        for ((key, limit), account) in limits.iter().zip(self.ledger.accounts(&keys).await.expect("accounts")) {
            let held = account.settled.0 + account.reserved.0;
            assert!(held <= *limit, "{key}: {held} of {limit}");
        }
    }

    fn note_limits(&self, writes: &[Write]) {
        let mut limits = self.limits.lock().expect("no test panics while it holds this");
        for write in writes {
            if let Write::Reserve(order) = write {
                for claim in &order.claims {
                    if let Some(limit) = claim.limit {
                        limits.insert(claim.budget.clone(), limit.0);
                    }
                }
            }
        }
    }
}

/// One process's way to the books.
struct Wire {
    books: Arc<Books>,
    dice: Arc<Dice>,
    /// Nothing arrives from a process that is dead.
    dead: Arc<AtomicBool>,
}

impl Wire {
    async fn unless_dead(&self) {
        if self.dead.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }
}

fn lost(operation: &'static str) -> LedgerError {
    LedgerError::Unavailable { operation, source: "the message was lost".into() }
}

#[async_trait]
impl LedgerStore for Wire {
    async fn commit(&self, lease: &Lease, writes: Vec<Write>) -> Result<Vec<Written>, LedgerError> {
        self.unless_dead().await;
        tokio::time::sleep(Duration::from_millis(self.dice.roll(8))).await;
        self.unless_dead().await;
        if self.dice.roll(12) == 0 {
            return Err(lost("commit"));
        }
        self.books.note_limits(&writes);
        let written = self.books.ledger.commit(lease, writes.clone()).await?;
        if self.dice.roll(12) == 0 {
            // The same batch arrives again: what gives back or books must do so once.
            let again = writes.into_iter().filter(|write| !matches!(write, Write::Reserve(_) | Write::Record(_)));
            self.books.ledger.commit(lease, again.collect()).await?;
        }
        self.books.check().await;
        if self.dice.roll(12) == 0 {
            return Err(lost("the answer to a commit"));
        }
        Ok(written)
    }
    async fn renew(&self, lease: &Lease) -> Result<(), LedgerError> {
        self.unless_dead().await;
        self.books.ledger.renew(lease).await
    }
    async fn expire(&self, now: Timestamp, limit: usize) -> Result<usize, LedgerError> {
        self.unless_dead().await;
        let expired = self.books.ledger.expire(now, limit).await?;
        self.books.check().await;
        Ok(expired)
    }
    async fn accounts(&self, budgets: &[BudgetKey]) -> Result<Vec<Account>, LedgerError> {
        self.books.ledger.accounts(budgets).await
    }
    async fn open(&self, after: Option<&ReservationId>, limit: usize) -> Result<Vec<OpenReservation>, LedgerError> {
        self.books.ledger.open(after, limit).await
    }
    async fn forget_requests(&self, before: Timestamp) -> Result<usize, LedgerError> {
        self.books.ledger.forget_requests(before).await
    }
    async fn totals(&self, after: Option<&BudgetKey>, limit: usize) -> Result<Vec<(BudgetKey, Account)>, LedgerError> {
        self.books.ledger.totals(after, limit).await
    }
    async fn rows(&self, filter: &RowFilter, after: RowNumber, limit: usize) -> Result<Vec<StoredRow>, LedgerError> {
        self.books.ledger.rows(filter, after, limit).await
    }
    async fn usage(&self, filter: &RowFilter) -> Result<Vec<UsageLine>, LedgerError> {
        self.books.ledger.usage(filter).await
    }
    async fn last_row(&self) -> Result<RowNumber, LedgerError> {
        self.books.ledger.last_row().await
    }
    async fn seals(&self, after: RowNumber, limit: usize) -> Result<Vec<Seal>, LedgerError> {
        self.books.ledger.seals(after, limit).await
    }
    async fn last_seal(&self) -> Result<Option<Seal>, LedgerError> {
        self.books.ledger.last_seal().await
    }
    async fn append_seal(&self, seal: &Seal) -> Result<bool, LedgerError> {
        self.books.ledger.append_seal(seal).await
    }
}

/// What the provider knows of one process: each request that arrived, and what it will be billed if it was served whole.
#[derive(Debug, Default)]
struct Upstream {
    arrived: AtomicU64,
    bills: Mutex<Vec<i64>>,
}

impl Upstream {
    fn script(self: &Arc<Self>, dice: Arc<Dice>) -> Script {
        let upstream = Arc::clone(self);
        Script::answering(move |_| {
            let reply = upstream.reply(&dice);
            if reply != ScriptedReply::Unreachable {
                upstream.arrived.fetch_add(1, Ordering::SeqCst);
            }
            reply
        })
        .with_patience(Duration::from_secs(4))
    }

    fn reply(&self, dice: &Dice) -> ScriptedReply {
        let text = "事假十四日[work_rules.md#27]。";
        let whole = |usage: Option<TokenUsage>| ScriptedReply::Stream {
            deltas: vec![text.to_owned()],
            end: ScriptedEnd::Finished { finish_reason: FinishReason::Stop, usage },
        };
        match dice.roll(12) {
            0 => ScriptedReply::Unreachable,
            1 => ScriptedReply::NeverAnswers,
            2 => ScriptedReply::Status { status: 500, message: "no".to_owned(), retry_after: None },
            3 => ScriptedReply::ending(["事假"], ScriptedEnd::Cut),
            4 => ScriptedReply::ending(["事假", "十四"], ScriptedEnd::Stalls),
            5 => whole(None),
            // More cached than read: it cannot be true.
            6 => whole(Some(TokenUsage { input_tokens: 10, cached_input_tokens: 99, ..TokenUsage::default() })),
            _ => {
                // One in twelve bills more than any bound allowed.
                let overrun = if dice.roll(12) == 0 { 4_000 } else { 0 };
                let usage = TokenUsage {
                    input_tokens: 100 + dice.roll(900) + overrun,
                    output_tokens: 10 + dice.roll(200),
                    ..TokenUsage::default()
                };
                let bill = i64::try_from(usage.input_tokens + 2 * usage.output_tokens).expect("small");
                self.bills.lock().expect("no test panics while it holds this").push(bill);
                whole(Some(usage))
            }
        }
    }
}

/// A process: a gate and an answerer over the shared books, and the upstream as it sees it.
struct Process {
    name: u64,
    answerer: Answerer,
    gate: Gate,
    upstream: Arc<Upstream>,
    dead: Arc<AtomicBool>,
}

impl Process {
    fn start(name: u64, books: &Arc<Books>, dice: &Arc<Dice>, clock: &Arc<dyn Clock>) -> Self {
        let dead = Arc::new(AtomicBool::new(false));
        let wire = Wire { books: Arc::clone(books), dice: Arc::clone(dice), dead: Arc::clone(&dead) };
        let limit = |limit: i64| vec![Budget { limit: MicroUsd(limit), period: Period::Day }];
        let budgets =
            ServiceBudgets { request: None, service: limit(SERVICE_LIMIT), key: limit(KEY_LIMIT), zone: Zone::UTC };
        let config = GateConfig { lease: LEASE, ..GateConfig::default() };
        let random: Arc<dyn Randomness> = Arc::clone(dice) as _;
        let gate = Gate::open(Arc::new(wire), budgets, config, Arc::clone(clock), random);
        let mut prices = PriceTable::default();
        prices.set("scripted", ModelPrice::Paid(PRICES)).expect("a price");
        let upstream = Arc::new(Upstream::default());
        let answerer = Answerer::new(AnswererParts {
            model: Some(Connection::scripted(upstream.script(Arc::clone(dice)))),
            researcher: None,
            purse: Purse {
                gate: gate.clone(),
                prices: Arc::new(prices),
                currency: Currency::new("TWD", 32_000_000).expect("a currency"),
                lowering: true,
            },
            ceilings: Ceilings::default(),
            answers: Arc::new(MemoryAnswers::default()),
            caches: CacheSizes::default(),
            clock: Arc::clone(clock),
        });
        Self { name, answerer, gate, upstream, dead }
    }
}

/// One caller: asks something, and perhaps leaves.
async fn call(process: Arc<Process>, rules: Arc<Rulebook>, dice: Arc<Dice>, clock: Arc<dyn Clock>, number: u64) {
    tokio::time::sleep(Duration::from_millis(dice.roll(9_000))).await;
    let question = ["事假幾天", "特別休假幾天", "事假給不給工資"][usize::try_from(dice.roll(3)).expect("small")];
    let request = AskRequest {
        mode: Mode::Pipeline,
        use_cache: dice.roll(2) == 0,
        max_cost: (dice.roll(4) == 0).then(|| format!("0.{}", 1 + dice.roll(9))),
        max_wall_ms: (dice.roll(4) == 0).then(|| (100 + dice.roll(3_000)).into()),
        ..AskRequest::new(question)
    };
    let principal = match dice.roll(3) {
        0 => Principal::LocalDoor,
        1 => holder('1', ReadableSources::All),
        _ => holder('2', ReadableSources::All),
    };
    let key = (dice.roll(4) == 0).then(|| IdempotencyKey::new(format!("{question:x>1}", question = dice.roll(3))));
    let ask = process.answerer.ask(Ask {
        request: &request,
        generation: Arc::clone(&rules.generation),
        principal,
        idempotency_key: key.transpose().expect("a key"),
        request_id: RequestId::new(format!("p{}-{number}", process.name)).expect("a label"),
        run_id: RunId::mint(&*dice),
        started: clock.elapsed(),
        cancel: CancellationToken::new(),
        events: &IgnoreEvents,
    });
    if dice.roll(3) == 0 {
        // Dropping the future is leaving.
        let _gone = tokio::time::timeout(Duration::from_millis(dice.roll(2_000)), ask).await;
    } else {
        let _answer = ask.await;
    }
}

async fn simulate(seed: u64, rules: Arc<Rulebook>) {
    let dice = Arc::new(Dice::new(seed));
    let virtual_clock = Arc::new(VirtualClock { start: Instant::now(), set_by_ms: AtomicI64::new(0) });
    let clock: Arc<dyn Clock> = Arc::clone(&virtual_clock) as _;
    // Half of the worlds have somebody who sets the clock.
    let meddling = (seed.is_multiple_of(2)).then(|| tokio::spawn(virtual_clock.meddle(Arc::clone(&dice))));
    let books = Arc::new(Books::default());
    let start = |name| Arc::new(Process::start(name, &books, &dice, &clock));
    let processes = [start(0), start(1)];
    let mut callers: Vec<_> = (0..CALLERS)
        .map(|number| {
            let process = Arc::clone(&processes[usize::try_from(number % 2).expect("small")]);
            tokio::spawn(call(process, Arc::clone(&rules), Arc::clone(&dice), Arc::clone(&clock), number))
        })
        .collect();
    // The first process dies; its callers see their connections close.
    tokio::time::sleep(Duration::from_millis(dice.roll(10_000))).await;
    processes[0].dead.store(true, Ordering::SeqCst);
    for (number, caller) in callers.iter().enumerate() {
        if number % 2 == 0 {
            caller.abort();
        }
    }
    let survivor = start(2);
    callers.extend((CALLERS..CALLERS + 4).map(|number| {
        let process = Arc::clone(&survivor);
        tokio::spawn(call(process, Arc::clone(&rules), Arc::clone(&dice), Arc::clone(&clock), number))
    }));
    for (number, caller) in callers.into_iter().enumerate() {
        if let Err(error) = caller.await {
            assert!(number % 2 == 0 && error.is_cancelled(), "seed {seed}: {error}");
        }
    }
    if let Some(meddling) = meddling {
        meddling.abort();
    }
    // Calls that go on for nobody end by themselves, and the lease of the dead one runs out.
    tokio::time::sleep(30 * LEASE).await;
    for process in [&processes[1], &survivor] {
        assert_eq!(process.gate.live(), 0, "seed {seed}");
        assert!(process.gate.flush().await, "seed {seed}");
    }
    books.check().await;
    explain(seed, &books, &[&processes[0], &processes[1], &survivor]).await;
}

/// At the end nothing is reserved, and the rows explain what the upstream has counted.
async fn explain(seed: u64, books: &Books, processes: &[&Arc<Process>]) {
    let open = books.ledger.open(None, 1_000).await.expect("reservations");
    assert!(open.is_empty(), "seed {seed}: {open:?}");
    let totals = books.ledger.totals(None, 1_000).await.expect("accounts");
    assert!(totals.iter().all(|(_, account)| account.reserved == MicroUsd::ZERO), "seed {seed}: {totals:?}");
    let rows = books.ledger.rows(&RowFilter::default(), RowNumber(0), 10_000).await.expect("rows");
    let replaced: Vec<RowNumber> = rows.iter().filter_map(|stored| stored.row.corrects).collect();
    let charged: Vec<&StoredRow> = rows
        .iter()
        .filter(|stored| stored.row.kind != RowKind::Avoided && !replaced.contains(&stored.number))
        .filter(|stored| stored.row.note != Some(Note::NotSent))
        .collect();
    for process in processes {
        let name = format!("p{}-", process.name);
        let own: Vec<_> =
            charged.iter().filter(|stored| stored.row.labels.request_id.as_str().starts_with(&name)).collect();
        let arrived = process.upstream.arrived.load(Ordering::SeqCst);
        let rows = own.len() as u64;
        if process.name == 0 {
            // What it had reserved and not sent when it died is booked as well: nobody can know.
            assert!(arrived <= rows, "seed {seed}: {arrived} requests, {rows} rows");
        } else {
            assert_eq!(arrived, rows, "seed {seed}: requests and rows of {name}");
        }
        let mut bills = process.upstream.bills.lock().expect("no test panics while it holds this").clone();
        for stored in own {
            let row = &stored.row;
            match row.kind {
                RowKind::Spent => {
                    let bill = bills.iter().position(|bill| *bill == row.amount.0);
                    bills.swap_remove(bill.unwrap_or_else(|| panic!("seed {seed}: {row:?} was never billed")));
                }
                RowKind::Unknown => assert_eq!(row.amount, row.reserved, "seed {seed}"),
                RowKind::Estimated | RowKind::Abandoned => {
                    assert!(row.amount <= row.reserved && row.amount > MicroUsd::ZERO, "seed {seed}: {row:?}");
                }
                RowKind::Avoided => unreachable!("filtered"),
            }
        }
    }
    // Every account of the service is the sum of its rows.
    let sum: i64 = charged.iter().map(|stored| stored.row.amount.0).sum();
    let service = totals.iter().filter(|(key, _)| key.scope == Scope::Service);
    let booked: i64 = service.map(|(_, account)| account.settled.0 + account.debt.0).sum();
    assert_eq!(sum, booked, "seed {seed}");
}

#[test]
fn whatever_happens_no_limit_is_passed_and_the_rows_explain_what_was_sent() {
    let rules = Arc::new(rules());
    for seed in 0..SEEDS {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(simulate(seed, Arc::clone(&rules)));
    }
}
