//! A rulebook, read, indexed and asked, without a service.

#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses a part of this")]

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bylaw_answer::{
    AnswerError, Answerer, AnswererParts, Ask, CacheSizes, Ceilings, EventSink, IgnoreEvents, MemoryAnswers, Purse,
};
use bylaw_contract::{
    Clock, GenerationNumber, Outcome, Randomness, RequestId, RunId, SourceName, Timestamp, VersionId,
    ask::{Answer, AskRequest, Mode},
};
use bylaw_gate::{Currency, Gate, GateConfig, MemoryLedger, ModelPrice, PriceTable, Principal, ServiceBudgets};
use bylaw_model::{Connection, scripted::Script};
use bylaw_retrieval::{Generation, SourceInput, Vocabulary, build};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

/// A clock that stands still.
#[derive(Debug)]
pub(crate) struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_000)
    }

    fn elapsed(&self) -> Duration {
        Duration::from_secs(1)
    }
}

/// Documents, indexed.
pub(crate) struct Rulebook {
    pub(crate) generation: Arc<Generation>,
    _folder: tempfile::TempDir,
}

impl Rulebook {
    /// Reads and indexes documents given as name and text.
    pub(crate) fn of(documents: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut sources: Vec<SourceInput> = documents
            .iter()
            .map(|(name, text)| {
                let name = SourceName::new(*name).expect("a source name");
                SourceInput {
                    document: bylaw_corpus::read(&name, text.as_bytes()).expect("a readable document"),
                    name,
                    version: VersionId::new("0".repeat(64)).expect("a version id"),
                    ingested_at: Timestamp(0),
                }
            })
            .collect();
        sources.sort_by(|a, b| a.name.cmp(&b.name));
        let articles = sources.iter().map(|source| source.document.articles.len()).sum();
        let path = folder.path().join("generation");
        build(&path, GenerationNumber(1), &mut sources.into_iter(), articles, &mut |_| true).expect("an index");
        let generation = Generation::open(&path, Arc::new(Vocabulary::builtin())).expect("a generation");
        Self { generation: Arc::new(generation), _folder: folder }
    }

    /// The documents that ship with the program.
    pub(crate) fn bundled() -> Self {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/sample");
        let read = |name: &str| fs::read_to_string(sample.join(name)).expect("the bundled sample");
        let names = ["employee-handbook.md", "員工工作規則.md"];
        let texts = names.map(read);
        Self::of(&[(names[0], &texts[0]), (names[1], &texts[1])])
    }

    /// Asks, without a model.
    pub(crate) async fn ask(&self, question: &str, mode: Mode) -> Answer {
        let request = AskRequest { mode, ..AskRequest::new(question) };
        self.answer(&request, None, &IgnoreEvents, CancellationToken::new()).await.expect("an answer")
    }

    /// Asks, with everything that a run may need.
    pub(crate) async fn answer(
        &self,
        request: &AskRequest,
        model: Option<Script>,
        events: &dyn EventSink,
        cancel: CancellationToken,
    ) -> Result<Answer, AnswerError> {
        let ask = Ask {
            request,
            generation: Arc::clone(&self.generation),
            principal: Principal::LocalDoor,
            idempotency_key: None,
            request_id: RequestId::new("test").expect("a request id"),
            run_id: RunId::new("run_000000000000000000000000").expect("a run id"),
            started: Duration::from_secs(1),
            cancel,
            events,
        };
        answerer(model).ask(ask).await
    }
}

/// An answerer whose model costs nothing and which has no budgets.
fn answerer(model: Option<Script>) -> Answerer {
    let mut prices = PriceTable::default();
    prices.set("scripted", ModelPrice::Free).expect("free is a price");
    let clock: Arc<dyn Clock> = Arc::new(StoppedClock);
    let gate = Gate::open(
        Arc::new(MemoryLedger::default()),
        ServiceBudgets::UNLIMITED,
        GateConfig::default(),
        Arc::clone(&clock),
        Arc::new(Counting::default()),
    );
    Answerer::new(AnswererParts {
        model: model.map(Connection::scripted),
        researcher: None,
        purse: Purse {
            gate,
            prices: Arc::new(prices),
            currency: Currency::new("TWD", 32_000_000).expect("a currency"),
            lowering: true,
        },
        ceilings: Ceilings::default(),
        answers: Arc::new(MemoryAnswers::default()),
        caches: CacheSizes::default(),
        clock,
    })
}

/// Ids that count up.
#[derive(Debug, Default)]
pub(crate) struct Counting(AtomicU64);

impl From<u64> for Counting {
    fn from(first: u64) -> Self {
        Self(AtomicU64::new(first))
    }
}

impl Randomness for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let number = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        for (place, byte) in bytes.iter_mut().rev().enumerate() {
            *byte = number.iter().rev().nth(place).copied().unwrap_or(0);
        }
    }
}

/// A question with what is expected of its answer.
#[derive(Debug, Deserialize)]
pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) question: String,
    pub(crate) articles: Vec<String>,
    pub(crate) facts: Vec<String>,
    pub(crate) forbid: Vec<String>,
    pub(crate) outcome: String,
}

/// The development questions.
pub(crate) fn questions(set: &str) -> Vec<Question> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/questions").join(set);
    let text = fs::read_to_string(file).expect("the development questions");
    text.lines().map(|line| serde_json::from_str(line).expect("a question")).collect()
}

/// What an answer quotes, whether it answers or not.
pub(crate) fn quoted(answer: &Answer) -> Vec<(String, String)> {
    match &answer.extract {
        Some(extract) => extract.sentences.iter().map(|s| (s.id.to_string(), s.text.clone())).collect(),
        None => answer.sentences.iter().map(|s| (s.citations[0].to_string(), s.text.clone())).collect(),
    }
}

fn name_of(outcome: Outcome) -> String {
    serde_json::to_value(outcome).expect("an outcome").as_str().unwrap_or_default().to_owned()
}

impl Question {
    /// What is wrong with an answer; empty when nothing is.
    pub(crate) fn verdict(&self, answer: &Answer) -> Vec<String> {
        let quotes = quoted(answer);
        let text: String = quotes.iter().map(|(_, text)| format!("{text}\n")).collect();
        let mut wrong = Vec::new();
        if name_of(answer.outcome) != self.outcome {
            wrong.push(format!("outcome {} instead of {}", name_of(answer.outcome), self.outcome));
        }
        wrong.extend(self.facts.iter().filter(|fact| !text.contains(*fact)).map(|fact| format!("lacks {fact}")));
        if self.outcome == "answered" || self.outcome == "ruled_elsewhere" {
            wrong.extend(self.forbid.iter().filter(|fact| text.contains(*fact)).map(|fact| format!("holds {fact}")));
        }
        if quotes.len() > 4 {
            wrong.push(format!("{} sentences", quotes.len()));
        }
        wrong
    }

    /// A row of the table that a failing test prints.
    pub(crate) fn row(&self, answer: &Answer, verdict: &[String]) -> String {
        let mut row =
            format!("{} {} [{}]\n    {}\n", self.id, self.question, self.articles.join(" "), verdict.join("; "));
        for (id, text) in quoted(answer) {
            let _ = writeln!(row, "    {id}: {}", text.replace('\n', "/"));
        }
        let found: Vec<_> = answer.citations.iter().map(|citation| citation.id.to_string()).collect();
        let _ = writeln!(row, "    found {}", found.join(" "));
        row
    }
}
