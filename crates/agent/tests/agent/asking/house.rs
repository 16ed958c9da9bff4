//! Rules, an answerer whose model is scripted, and its books.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bylaw_agent::LoopResearcher;
use bylaw_answer::{
    AnswerError, Answerer, AnswererParts, Ask, CacheSizes, Ceilings, EventSink, IdempotencyKey, MemoryAnswers, Purse,
};
use bylaw_contract::{
    Clock, GenerationNumber, KeyId, MicroUsd, Randomness, RequestId, RunEvent, RunId, SourceName, Timestamp, VersionId,
    ask::{Answer, AskRequest, Mode},
};
use bylaw_gate::{
    Currency, Gate, GateConfig, KeyRecord, LedgerStore, MemoryLedger, ModelPrice, PriceTable, Prices, Principal,
    ReadableSources, Role, RowFilter, RowKind, RowNumber, ServiceBudgets,
};
use bylaw_model::{Connection, scripted::Script};
use bylaw_retrieval::{Generation, SourceInput, Vocabulary, build};
use tokio_util::sync::CancellationToken;

use crate::support::folder;

pub(crate) const RULES: &str = "# 工作規則\n\n\
## 第一章 總則\n\n\
### 第一條（目的）\n\n本規則依勞動基準法訂定。\n\n\
## 第二章 工作時間與休假\n\n\
### 第二十六條（特別休假）\n\n員工繼續服務滿六個月未滿一年者，特別休假三日；滿一年未滿二年者，七日。\n\n\
### 第二十六條之一（遞延）\n\n前條未休之特別休假，經協商得遞延至次一年度實施，遞延以一次為限。\n\n\
### 第二十七條（事假）\n\n事假一年合計不得超過十四日，不給工資。\n\n\
## 第三章 出差\n\n\
### 第四十條（住宿標準）\n\n住宿費每日上限新臺幣２，４００元，檢據核實報支。\n";

/// Readable by few.
pub(crate) const SALARY: &str =
    "# 薪資帶\n\n### 第五條（薪資帶）\n\nP7 薪資帶為每月 120,000 至 160,000 元，特別休假照給。\n";

pub(crate) const ENGLISH: &str = "# Handbook\n\n### Article 12 (Remote work)\n\n\
Employees may work remotely up to two days per week with written approval.\n";

/// A clock that goes with the runtime's, so that a test can pause it.
struct RuntimeClock(tokio::time::Instant);

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_000).plus(self.elapsed())
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Ids that count up.
#[derive(Default)]
pub(crate) struct Counting(AtomicU64);

impl Randomness for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let number = (self.0.fetch_add(1, Ordering::Relaxed) + 1).to_be_bytes();
        bytes.fill(0);
        let from = bytes.len().saturating_sub(number.len());
        let kept = bytes.len() - from;
        bytes[from..].copy_from_slice(&number[number.len() - kept..]);
    }
}

/// What was reported, in order.
#[derive(Default)]
pub(crate) struct Heard(Mutex<Vec<RunEvent>>);

impl EventSink for Heard {
    fn report(&self, event: RunEvent) {
        self.0.lock().unwrap().push(event);
    }
}

impl Heard {
    pub(crate) fn all(&self) -> Vec<RunEvent> {
        self.0.lock().unwrap().clone()
    }

    /// In short; the loop's own events left out.
    pub(crate) fn told(&self) -> Vec<String> {
        let told = self.all().into_iter().filter_map(|event| match event {
            RunEvent::Citations { citations } => {
                let ids: Vec<String> = citations.iter().map(|citation| citation.id.article.to_string()).collect();
                Some(format!("citations {}", ids.join(" ")))
            }
            RunEvent::Step(step) => {
                let found: Vec<String> = step.found.iter().map(|id| id.article.to_string()).collect();
                let problem = step.problem.map(|problem| format!(" !{problem}")).unwrap_or_default();
                Some(format!("{} {}({}) {}{problem}", step.step, step.tool, step.query, found.join(" ")))
            }
            RunEvent::Token { text } => Some(format!("token {text}")),
            RunEvent::Done { .. } => Some("done".to_owned()),
            RunEvent::Failed { code, .. } => Some(format!("failed {code}")),
            RunEvent::Loop(_) => None,
        });
        told.collect()
    }

    pub(crate) fn tokens(&self) -> String {
        let all = self.all().into_iter();
        all.filter_map(|event| if let RunEvent::Token { text } = event { Some(text) } else { None }).collect()
    }
}

/// Somebody who asks.
pub(crate) struct Caller {
    pub(crate) principal: Principal,
    pub(crate) key: Option<&'static str>,
    pub(crate) cancel: CancellationToken,
}

impl Default for Caller {
    fn default() -> Self {
        Self { principal: Principal::LocalDoor, key: None, cancel: CancellationToken::new() }
    }
}

pub(crate) struct House {
    generation: Arc<Generation>,
    pub(crate) answerer: Answerer,
    pub(crate) gate: Gate,
    ledger: Arc<MemoryLedger>,
    clock: Arc<dyn Clock>,
    ids: Counting,
}

/// Indexed once for all tests of a process.
static INDEXED: OnceLock<(Arc<Generation>, tempfile::TempDir)> = OnceLock::new();

fn indexed(documents: &[(&str, &str)]) -> (Arc<Generation>, tempfile::TempDir) {
    let folder = folder();
    (Arc::new(index(folder.path(), documents)), folder)
}

fn index(folder: &Path, documents: &[(&str, &str)]) -> Generation {
    let mut sources: Vec<SourceInput> = documents
        .iter()
        .map(|(name, text)| {
            let name = SourceName::new(*name).unwrap();
            SourceInput {
                document: bylaw_corpus::read(&name, text.as_bytes()).unwrap(),
                name,
                version: VersionId::new("0".repeat(64)).unwrap(),
                ingested_at: Timestamp(0),
            }
        })
        .collect();
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    let articles = sources.iter().map(|source| source.document.articles.len()).sum();
    let path = folder.join("generation");
    build(&path, GenerationNumber(1), &mut sources.into_iter(), articles, &mut |_| true).unwrap();
    Generation::open(&path, Arc::new(Vocabulary::builtin())).unwrap()
}

impl House {
    /// A micro-dollar for a token read, two for one written.
    pub(crate) fn of(script: &Script) -> Self {
        let documents = [("work_rules.md", RULES), ("salary_bands.md", SALARY), ("handbook_en.md", ENGLISH)];
        let (generation, _) = INDEXED.get_or_init(|| indexed(&documents));
        Self::over(script, Arc::clone(generation))
    }

    /// Over these documents, as long as the folder is kept.
    pub(crate) fn with(script: &Script, documents: &[(&str, &str)]) -> (Self, tempfile::TempDir) {
        let (generation, folder) = indexed(documents);
        (Self::over(script, generation), folder)
    }

    fn over(script: &Script, generation: Arc<Generation>) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(RuntimeClock(tokio::time::Instant::now()));
        let ledger = Arc::new(MemoryLedger::default());
        let gate = Gate::open(
            Arc::clone(&ledger) as _,
            ServiceBudgets::UNLIMITED,
            GateConfig::default(),
            Arc::clone(&clock),
            Arc::new(Counting::default()),
        );
        let mut prices = PriceTable::default();
        let price = Prices { input: MicroUsd(1_000_000), cached_input: None, output: Some(MicroUsd(2_000_000)) };
        prices.set("scripted", ModelPrice::Paid(price)).unwrap();
        let answerer = Answerer::new(AnswererParts {
            model: Some(Connection::scripted(script.clone())),
            researcher: Some(Arc::new(LoopResearcher::new(Arc::new(Counting::default())))),
            purse: Purse {
                gate: gate.clone(),
                prices: Arc::new(prices),
                currency: Currency::new("TWD", 32_000_000).unwrap(),
                lowering: true,
            },
            ceilings: Ceilings::default(),
            answers: Arc::new(MemoryAnswers::default()),
            caches: CacheSizes::default(),
            clock: Arc::clone(&clock),
        });
        Self { generation, answerer, gate, ledger, clock, ids: Counting::default() }
    }

    pub(crate) async fn try_ask(
        &self,
        request: &AskRequest,
        caller: Caller,
        events: &dyn EventSink,
    ) -> Result<Answer, AnswerError> {
        let Caller { principal, key, cancel } = caller;
        let ask = Ask {
            request,
            generation: Arc::clone(&self.generation),
            principal,
            idempotency_key: key.map(|key| IdempotencyKey::new(key).unwrap()),
            request_id: RequestId::new("test").unwrap(),
            run_id: RunId::mint(&self.ids),
            started: self.clock.elapsed(),
            cancel,
            events,
        };
        self.answerer.ask(ask).await
    }

    pub(crate) async fn ask(&self, request: &AskRequest, events: &dyn EventSink) -> Answer {
        self.try_ask(request, Caller::default(), events).await.unwrap()
    }

    /// What was booked, avoided costs left out.
    pub(crate) async fn booked(&self) -> Vec<RowKind> {
        assert!(self.gate.flush().await);
        let rows = self.ledger.rows(&RowFilter::default(), RowNumber(0), 10_000).await.unwrap();
        rows.into_iter().map(|stored| stored.row.kind).filter(|kind| *kind != RowKind::Avoided).collect()
    }

    /// What was booked in money, and what is still reserved.
    pub(crate) async fn balance(&self) -> (i64, usize) {
        assert!(self.gate.flush().await);
        let rows = self.ledger.rows(&RowFilter::default(), RowNumber(0), 10_000).await.unwrap();
        let spent = rows.iter().filter(|stored| stored.row.kind != RowKind::Avoided).map(|s| s.row.amount.0).sum();
        (spent, self.ledger.open(None, 100).await.unwrap().len())
    }
}

/// An agent's question.
pub(crate) fn question(text: &str) -> AskRequest {
    AskRequest { mode: Mode::Agent, ..AskRequest::new(text) }
}

/// The holder of a key that reads these.
pub(crate) fn reader(sources: &[&str]) -> Principal {
    let names = sources.iter().map(|name| SourceName::new(*name).unwrap()).collect();
    Principal::from(KeyRecord {
        id: KeyId::new(format!("key_{}", "1".repeat(24))).unwrap(),
        name: "someone".to_owned(),
        role: Role::Reader,
        sources: ReadableSources::Only(names),
        budgets: Vec::new(),
        created_at: Timestamp(0),
        expires_at: None,
        revoked_at: None,
    })
}

pub(crate) fn used(answer: &Answer) -> Vec<String> {
    answer.citations.iter().filter(|citation| citation.used).map(|citation| citation.id.to_string()).collect()
}
