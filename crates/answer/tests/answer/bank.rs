//! An answerer with budgets, over a ledger that can be looked into.

use std::sync::{Arc, Mutex};

use bylaw_answer::{
    AnswerError, Answerer, AnswererParts, Ask, CacheSizes, Ceilings, EventSink, IdempotencyKey, IgnoreEvents,
    MemoryAnswers, Purse, Recalled,
};
use bylaw_contract::{
    Clock, KeyId, MicroUsd, RequestId, RunId, Timestamp,
    ask::{Answer, AskRequest, Mode},
};
use bylaw_gate::{
    Currency, Gate, GateConfig, KeyRecord, LedgerStore, MemoryLedger, ModelPrice, PriceTable, Prices, Principal,
    ReadableSources, Role, RowFilter, RowKind, RowNumber, ServiceBudgets, StoredRow,
};
use bylaw_model::{Connection, scripted::Script};
use tokio_util::sync::CancellationToken;

use crate::rulebook::{Counting, Rulebook, StoppedClock};

/// Micro-dollars per million tokens: a token read costs one micro-dollar, one written two.
const PRICES: Prices = Prices { input: MicroUsd(1_000_000), cached_input: None, output: Some(MicroUsd(2_000_000)) };

/// How a bank is set up.
pub(crate) struct Setup {
    pub(crate) budgets: ServiceBudgets,
    pub(crate) ceilings: Ceilings,
    pub(crate) price: Option<ModelPrice>,
    pub(crate) config: GateConfig,
    pub(crate) ledger: Arc<dyn LedgerStore>,
    /// Where its gate begins to count ids: two gates over one ledger must not give out the same.
    pub(crate) first_id: u64,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            budgets: ServiceBudgets::UNLIMITED,
            ceilings: Ceilings::default(),
            price: Some(ModelPrice::Paid(PRICES)),
            config: GateConfig::default(),
            ledger: Arc::new(MemoryLedger::default()),
            first_id: 0,
        }
    }
}

/// A rulebook that is asked through an answerer whose money can be counted.
pub(crate) struct Bank {
    pub(crate) rules: Arc<Rulebook>,
    pub(crate) answerer: Answerer,
    pub(crate) gate: Gate,
    pub(crate) ledger: Arc<dyn LedgerStore>,
    random: Counting,
}

/// What one request brings along.
pub(crate) struct Caller {
    pub(crate) principal: Principal,
    pub(crate) label: &'static str,
    pub(crate) key: Option<&'static str>,
    pub(crate) cancel: CancellationToken,
}

impl Default for Caller {
    fn default() -> Self {
        Self { principal: Principal::LocalDoor, label: "test", key: None, cancel: CancellationToken::new() }
    }
}

impl Bank {
    pub(crate) fn open(rules: Rulebook, script: Script, setup: Setup) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(StoppedClock);
        let mut prices = PriceTable::default();
        if let Some(price) = setup.price {
            prices.set("scripted", price).expect("a price");
        }
        let gate = Gate::open(
            Arc::clone(&setup.ledger),
            setup.budgets,
            setup.config,
            Arc::clone(&clock),
            Arc::new(Counting::from(setup.first_id)),
        );
        let answerer = Answerer::new(AnswererParts {
            model: Some(Connection::scripted(script)),
            researcher: None,
            purse: Purse {
                gate: gate.clone(),
                prices: Arc::new(prices),
                currency: Currency::new("TWD", 32_000_000).expect("a currency"),
                lowering: true,
            },
            ceilings: setup.ceilings,
            answers: Arc::new(MemoryAnswers::default()),
            caches: CacheSizes::default(),
            clock,
        });
        Self { rules: Arc::new(rules), answerer, gate, ledger: setup.ledger, random: Counting::default() }
    }

    /// Asks for a model's answer.
    pub(crate) async fn pipeline(&self, question: &str) -> Answer {
        let request = AskRequest { mode: Mode::Pipeline, ..AskRequest::new(question) };
        self.ask(&request, Caller::default(), &IgnoreEvents).await.expect("an answer of some kind")
    }

    pub(crate) async fn ask(
        &self,
        request: &AskRequest,
        caller: Caller,
        events: &dyn EventSink,
    ) -> Result<Answer, AnswerError> {
        self.answerer.ask(self.asked(request, caller, events)).await
    }

    /// What is remembered for a question.
    pub(crate) async fn recall(&self, request: &AskRequest) -> Option<Recalled> {
        let caller = Caller { label: "recalled", ..Caller::default() };
        self.answerer.recall(&self.asked(request, caller, &IgnoreEvents)).await.expect("good caps")
    }

    fn asked<'a>(&self, request: &'a AskRequest, caller: Caller, events: &'a dyn EventSink) -> Ask<'a> {
        Ask {
            request,
            generation: Arc::clone(&self.rules.generation),
            principal: caller.principal,
            idempotency_key: caller.key.map(|key| IdempotencyKey::new(key).expect("a key")),
            request_id: RequestId::new(caller.label).expect("a label"),
            run_id: RunId::mint(&self.random),
            started: std::time::Duration::from_secs(1),
            cancel: caller.cancel,
            events,
        }
    }

    /// Every row, once everything that has ended is written.
    pub(crate) async fn rows(&self) -> Vec<StoredRow> {
        assert!(self.gate.flush().await);
        self.ledger.rows(&RowFilter::default(), RowNumber(0), 10_000).await.expect("rows")
    }

    /// The kinds and amounts of every row.
    pub(crate) async fn booked(&self) -> Vec<(RowKind, i64)> {
        self.rows().await.into_iter().map(|stored| (stored.row.kind, stored.row.amount.0)).collect()
    }

    /// What is reserved and not settled.
    pub(crate) async fn reserved(&self) -> i64 {
        assert!(self.gate.flush().await);
        self.ledger.open(None, 10_000).await.expect("reservations").iter().map(|open| open.amount.0).sum()
    }
}

/// The holder of a key that may read these sources.
pub(crate) fn holder(digit: char, sources: ReadableSources) -> Principal {
    let record = KeyRecord {
        id: KeyId::new(format!("key_{}", digit.to_string().repeat(24))).expect("a key id"),
        name: "someone".to_owned(),
        role: Role::Reader,
        sources,
        budgets: Vec::new(),
        created_at: Timestamp(0),
        expires_at: None,
        revoked_at: None,
    };
    Principal::Key(record.into())
}

/// Keeps the texts of the tokens that are reported.
#[derive(Debug, Default)]
pub(crate) struct Tokens(pub(crate) Mutex<Vec<String>>);

impl EventSink for Tokens {
    fn report(&self, event: bylaw_contract::RunEvent) {
        if let bylaw_contract::RunEvent::Token { text } = event {
            self.0.lock().expect("no test panics while it holds this").push(text);
        }
    }
}
