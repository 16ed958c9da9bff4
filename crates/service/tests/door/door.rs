//! A whole service over a temporary data directory, with a clock that stands still and ids that count.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Method, Request, StatusCode},
};
use bylaw_agent::{
    Catalogue, ConnectWith, Journal, JournalConfig, LoopResearcher, MemoryRuns, Room, Runner, RunnerParts, Tool,
};
use bylaw_answer::{AnswerStore, Answerer, AnswererParts, CacheSizes, Ceilings, MemoryAnswers, Purse};
use bylaw_contract::{Clock, KeyId, MicroUsd, Randomness, SourceName, Timestamp};
use bylaw_gate::{
    Budget, Currency, Gate, GateConfig, KeyRing, KeyStore, MemoryKeys, ModelPrice, NewKey, PriceTable, Prices,
    ReadableSources, Role, ServiceBudgets, create_key,
};
use bylaw_library::{DataDirectory, Library, LibrarySettings, ServiceLock};
use bylaw_model::{Connection, scripted::Script};
use bylaw_retrieval::Vocabulary;
use bylaw_service::{Accounts, Service, ServiceSettings, router};
use bylaw_store::SqliteStore;
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::{CancellationToken, DropGuard};
use tower::ServiceExt;

use crate::ledger::WatchedLedger;

pub(crate) const WORK_RULES: &str = "\
# 員工工作規則

## 第一章 總則

### 第 1 條（目的）
為明定勞資雙方之權利義務，訂定本規則。

## 第二章 休假

### 第 26 條（特別休假）
員工繼續工作滿六個月未滿一年者，給予特別休假三日；滿一年未滿二年者，給予特別休假七日。

### 第 26 條之 1（遞延）
前條未休之日數，經勞資雙方協商，得遞延至次一年度，以一次為限。

### 第 27 條（事假）
事假一年合計不得超過十四日，事假期間不給工資。

### 第 28 條（病假）
普通傷病假未住院者，一年合計不得超過三十日，工資折半發給。
";

pub(crate) const HANDBOOK: &str = "\
# Employee handbook

## Part 1 Working time

### Article 12 (Remote work)
Employees may work remotely up to two days per week with written approval.

### Article 13 (Overtime)
Overtime under Article 12 needs approval before it is worked.
";

/// 2026-01-01T00:00:00Z.
const NOW: i64 = 1_767_225_600_000;

/// A clock that stands until it is moved.
#[derive(Default)]
pub(crate) struct StandingClock(AtomicU64);

impl StandingClock {
    pub(crate) fn forward(&self, by: Duration) {
        self.0.fetch_add(u64::try_from(by.as_millis()).unwrap(), Ordering::Relaxed);
    }

    fn moved(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

impl Clock for StandingClock {
    fn now(&self) -> Timestamp {
        Timestamp(NOW).plus(self.moved())
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(12) + self.moved()
    }
}

/// Ids in the order in which they are asked for: 1, 2, 3.
#[derive(Default)]
pub(crate) struct Counting(AtomicU64);

impl Randomness for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let number = (self.0.fetch_add(1, Ordering::Relaxed) + 1).to_be_bytes();
        let from = bytes.len().saturating_sub(number.len());
        bytes.fill(0);
        let tail = &mut bytes[from..];
        let skip = number.len() - tail.len();
        tail.copy_from_slice(&number[skip..]);
    }
}

pub(crate) struct Door {
    pub(crate) service: Arc<Service>,
    pub(crate) library: Arc<Library>,
    pub(crate) folder: TempDir,
    pub(crate) clock: Arc<StandingClock>,
    pub(crate) keys: Arc<MemoryKeys>,
    pub(crate) ledger: Arc<WatchedLedger>,
    pub(crate) gate: Gate,
    pub(crate) runner: Runner,
    router: Router,
    _working: Option<DropGuard>,
    _lock: ServiceLock,
}

/// A folder for a test, in memory where the system has such a place: indexing forces its files to disk, and a disk that
/// others use would be what is waited for.
fn folder() -> TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

/// How a door is to be built.
pub(crate) struct Plan {
    documents: Vec<(&'static str, String)>,
    model: Option<Script>,
    price: ModelPrice,
    answers: Arc<dyn AnswerStore>,
    budgets: ServiceBudgets,
    ceilings: Ceilings,
    agents: Vec<(&'static str, String)>,
    tools: Vec<Arc<dyn Tool>>,
    room: Room,
    change: Box<dyn FnOnce(&mut ServiceSettings)>,
    working: bool,
}

impl Plan {
    /// Two small rulebooks and no model.
    pub(crate) fn new() -> Self {
        Self {
            documents: vec![("handbook.md", HANDBOOK.to_owned()), ("work_rules.md", WORK_RULES.to_owned())],
            model: None,
            price: ModelPrice::Free,
            answers: Arc::new(MemoryAnswers::default()),
            budgets: ServiceBudgets::UNLIMITED,
            ceilings: Ceilings::default(),
            agents: Vec::new(),
            tools: Vec::new(),
            room: Room::default(),
            change: Box::new(|_| {}),
            working: false,
        }
    }

    pub(crate) fn document(mut self, name: &'static str, text: &str) -> Self {
        self.documents.push((name, text.to_owned()));
        self
    }

    pub(crate) fn without_documents(mut self) -> Self {
        self.documents.clear();
        self
    }

    /// The model costs a micro-dollar for a token read and two for one written.
    pub(crate) fn paid(mut self) -> Self {
        let (input, output) = (MicroUsd(1_000_000), Some(MicroUsd(2_000_000)));
        self.price = ModelPrice::Paid(Prices { input, cached_input: None, output });
        self
    }

    /// A model that costs nothing.
    pub(crate) fn model(mut self, script: Script) -> Self {
        self.model = Some(script);
        self
    }

    pub(crate) fn answers(mut self, answers: Arc<dyn AnswerStore>) -> Self {
        self.answers = answers;
        self
    }

    pub(crate) fn budgets(mut self, budgets: ServiceBudgets) -> Self {
        self.budgets = budgets;
        self
    }

    pub(crate) fn ceilings(mut self, ceilings: Ceilings) -> Self {
        self.ceilings = ceilings;
        self
    }

    /// An agent, as the text of its file.
    pub(crate) fn agent(mut self, name: &'static str, file: impl Into<String>) -> Self {
        self.agents.push((name, file.into()));
        self
    }

    /// A tool of the process that every agent has.
    pub(crate) fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    pub(crate) fn room(mut self, room: Room) -> Self {
        self.room = room;
        self
    }

    pub(crate) fn settings(mut self, change: impl FnOnce(&mut ServiceSettings) + 'static) -> Self {
        self.change = Box::new(change);
        self
    }

    /// Jobs are done as they come.
    pub(crate) fn working(mut self) -> Self {
        self.working = true;
        self
    }

    pub(crate) async fn open(self) -> Door {
        let folder = folder();
        let directory = DataDirectory::new(folder.path().join("data"));
        let holder = bylaw_library::LockHolder { pid: 1, address: None };
        let lock = ServiceLock::acquire(&directory, &holder).unwrap();
        let store = SqliteStore::in_memory().await.unwrap();
        let standing = Arc::new(StandingClock::default());
        let clock: Arc<dyn Clock> = Arc::clone(&standing) as _;
        let library = Library::open(LibrarySettings {
            directory: directory.clone(),
            undo_window: Duration::from_secs(600),
            vocabulary: Arc::new(Vocabulary::builtin()),
            documents: Arc::new(store.clone()),
            jobs: Arc::new(store),
            clock: Arc::clone(&clock),
            random: Arc::new(Counting::default()),
        })
        .await
        .unwrap();
        let rules = folder.path().join("rules");
        fs::create_dir(&rules).unwrap();
        for (name, text) in &self.documents {
            fs::write(rules.join(name), text).unwrap();
        }
        if !self.documents.is_empty() {
            let report = library.ingest_paths(&[rules], false, &|_| {}).await.unwrap();
            assert!(report.failed.is_empty(), "{report:?}");
        }
        let working = self.working.then(|| {
            let cancel = CancellationToken::new();
            tokio::spawn(Arc::clone(&library).work(cancel.clone()));
            cancel.drop_guard()
        });
        let (keys, ledger) = (Arc::new(MemoryKeys::default()), Arc::new(WatchedLedger::default()));
        let gate = Gate::open(
            Arc::clone(&ledger) as _,
            self.budgets,
            GateConfig::default(),
            Arc::clone(&clock),
            Arc::new(Counting::default()),
        );
        let currency = Currency::new("TWD", 32_000_000).unwrap();
        let mut prices = PriceTable::default();
        prices.set("scripted", self.price).unwrap();
        let model = self.model.map(Connection::scripted);
        let purse = Purse { gate: gate.clone(), prices: Arc::new(prices), currency, lowering: true };
        let answerer = Arc::new(Answerer::new(AnswererParts {
            model: model.clone(),
            researcher: Some(Arc::new(LoopResearcher::new(Arc::new(Counting::default())))),
            purse: purse.clone(),
            ceilings: self.ceilings,
            answers: self.answers,
            caches: CacheSizes::default(),
            clock: Arc::clone(&clock),
        }));
        let accounts = Accounts {
            keys: Arc::new(KeyRing::new(Arc::clone(&keys) as _, Arc::clone(&clock))),
            key_store: Arc::clone(&keys) as _,
            ledger: Arc::clone(&ledger) as _,
            gate: gate.clone(),
            currency,
        };
        let mut settings = ServiceSettings::new(directory.uploads());
        (self.change)(&mut settings);
        let random = Arc::new(Counting::default());
        let agents = folder.path().join("agents");
        fs::create_dir(&agents).unwrap();
        for (name, file) in &self.agents {
            fs::write(agents.join(format!("{name}.toml")), file).unwrap();
        }
        let randomness: Arc<dyn Randomness> = Arc::new(Counting(AtomicU64::new(1 << 32)));
        let runner = Runner::new(RunnerParts {
            journal: Journal::open(
                Arc::new(MemoryRuns::default()),
                JournalConfig::default(),
                Arc::clone(&clock),
                &*randomness,
            ),
            catalogue: Arc::new(Catalogue::read(&agents).unwrap()),
            connect: ConnectWith::new(Arc::clone(&clock), Arc::clone(&randomness)),
            tools: self.tools,
            model,
            purse,
            keys: Arc::clone(&accounts.keys),
            room: self.room,
            clock: Arc::clone(&clock),
            randomness,
        });
        let service = Service::new(Arc::clone(&library), answerer, runner.clone(), accounts, clock, random, settings);
        Door {
            router: router(Arc::clone(&service)),
            service,
            library,
            folder,
            clock: standing,
            keys,
            ledger,
            gate,
            runner,
            _working: working,
            _lock: lock,
        }
    }
}

/// A key, as a test holds it.
pub(crate) struct Held {
    pub(crate) id: KeyId,
    pub(crate) secret: String,
}

/// A reply that has been read to its end.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Status, code and message of a reply that is not 2xx, whose shape is checked on the way.
    pub(crate) fn error(&self) -> (u16, String, String) {
        let body = self.json();
        let error = &body["error"];
        assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
        assert_eq!(error["request_id"].as_str(), self.header("x-request-id"), "{body}");
        assert_eq!(self.header("content-type"), Some("application/json"));
        let text = |name: &str| error[name].as_str().unwrap_or_else(|| panic!("{name} in {body}")).to_owned();
        (self.status.as_u16(), text("code"), text("message"))
    }
}

impl Door {
    /// Makes a key, which the service knows when this returns. `sources` of `None` reads everything.
    pub(crate) async fn key(&self, role: Role, sources: Option<&[&str]>) -> Held {
        self.key_with(role, sources, Vec::new()).await
    }

    pub(crate) async fn key_with(&self, role: Role, sources: Option<&[&str]>, budgets: Vec<Budget>) -> Held {
        let only = |names: &[&str]| names.iter().map(|name| SourceName::new(*name).unwrap()).collect();
        let new = NewKey {
            name: role.to_string(),
            role,
            sources: sources.map_or(ReadableSources::All, |names| ReadableSources::Only(only(names))),
            budgets,
            expires_at: None,
        };
        let number = self.keys.list().await.unwrap().len() as u64;
        let random = Counting(AtomicU64::new(1_000 * (number + 1)));
        let (record, secret) = create_key(&*self.keys, new, &*self.clock, &random).await.unwrap();
        self.clock.forward(Duration::from_millis(100));
        Held { id: record.id, secret: secret.reveal().to_owned() }
    }

    /// Like [`Self::call`], with a key.
    pub(crate) async fn call_as(
        &self,
        key: &Held,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Reply {
        let bearer = format!("Bearer {}", key.secret);
        let headers: Vec<_> = headers.iter().copied().chain([("authorization", bearer.as_str())]).collect();
        self.call(method, path, &headers, body).await
    }

    pub(crate) async fn get_as(&self, key: &Held, path: &str) -> Reply {
        self.call_as(key, Method::GET, path, &[], Vec::new()).await
    }

    pub(crate) async fn post_as(&self, key: &Held, path: &str, json: &str) -> Reply {
        self.call_as(key, Method::POST, path, &[("content-type", "application/json")], json.as_bytes().to_vec()).await
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let reply = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = reply.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Reply { status: parts.status, headers: parts.headers, bytes }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path, &[], Vec::new()).await
    }

    pub(crate) async fn post(&self, path: &str, json: &str) -> Reply {
        self.call(Method::POST, path, &[("content-type", "application/json")], json.as_bytes().to_vec()).await
    }

    pub(crate) async fn call(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::from(body)).unwrap()).await
    }
}

/// Events of a stream, each with its data.
pub(crate) fn events(stream: &str) -> Vec<(String, Value)> {
    assert!(stream.ends_with("\n\n"), "{stream:?}");
    stream
        .split_terminator("\n\n")
        .filter(|block| !block.starts_with(':'))
        .map(|block| {
            let (name, data) = block.split_once('\n').unwrap_or_else(|| panic!("{block:?}"));
            let data = data.strip_prefix("data: ").unwrap_or_else(|| panic!("{block:?}"));
            (name.strip_prefix("event: ").unwrap().to_owned(), serde_json::from_str(data).unwrap())
        })
        .collect()
}

/// The names and kinds of a value, which other programs rely on, without what ranking and wording decide. Elements of a
/// list have one shape.
pub(crate) fn shape(value: &Value) -> Value {
    let kind = |name: &str| Value::String(name.to_owned());
    match value {
        Value::Null => kind("null"),
        Value::Bool(_) => kind("boolean"),
        Value::Number(_) => kind("number"),
        Value::String(_) => kind("string"),
        Value::Array(values) => Value::Array(values.first().map(shape).into_iter().collect()),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), shape(value))).collect(),
    }
}
