//! One run, and what it is written down in.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use bylaw_agent::{
    Agent, Conversation, Journal, JournalConfig, MemoryLog, NewRun, Owner, Purpose, RunLog, RunWith, ServerTools,
    Toolbox,
};
use bylaw_answer::Purse;
use bylaw_contract::{Clock, ErrorCode, RequestId, RunId, StopReason};
use bylaw_gate::MemoryLedger;
use bylaw_mcp::McpClient;
use bylaw_model::Connection;
use bylaw_store::SqliteStore;

use super::super::agents;
use crate::{
    failure::Failure,
    system::{SystemClock, SystemRandom},
};

/// The model's name.
const MODEL: &str = "leave-copilot";

/// The agent's.
const NAME: &str = "leaves";

const PROMPT: &str =
    "You look after leave requests. Search for a request before you change it, and move it one step only.";

const MESSAGE: &str = "我的家庭旅遊特休請幫我送出";

/// What the last reply must name.
const ANSWER: &str = "LV-7f3a91";

/// Where events and the ledger's rows go.
pub(super) struct Books {
    purse: Purse,
    durable: Option<Durable>,
}

/// What makes them safe.
struct Durable {
    store: SqliteStore,
    journal: Journal,
}

impl Books {
    /// Into memory.
    pub(super) fn in_memory() -> Result<Self, Failure> {
        Ok(Self { purse: agents::purse(Arc::new(MemoryLedger::default()), MODEL)?, durable: None })
    }

    /// Into a database that is safe when a write returns.
    pub(super) async fn durable(file: &Path) -> Result<Self, Failure> {
        let store = SqliteStore::open(file).await?;
        let (runs, clock) = (Arc::new(store.clone()), Arc::new(SystemClock::new()));
        let journal = Journal::open(runs, JournalConfig::default(), clock, &SystemRandom);
        let purse = agents::purse(Arc::new(store.clone()), MODEL)?;
        Ok(Self { purse, durable: Some(Durable { store, journal }) })
    }

    /// Where a run is written down, begun as the runner of a service begins it.
    async fn log(&self, run_id: &RunId) -> Result<Arc<dyn RunLog>, Failure> {
        let Some(Durable { journal, .. }) = &self.durable else { return Ok(Arc::new(MemoryLog::default())) };
        let run = NewRun {
            id: run_id.clone(),
            owner: Owner::LocalDoor,
            purpose: Purpose::Agent(NAME.to_owned()),
            model: Some(MODEL.to_owned()),
            conversation: None,
            message: MESSAGE.to_owned(),
            request_id: RequestId::mint(&SystemRandom),
            started_at: SystemClock::new().now(),
        };
        Ok(Arc::new(journal.begin(run).await?))
    }
}

/// Runs over one model and one server.
pub(super) struct Courses {
    connection: Connection,
    mcp: String,
    books: Books,
    client: McpClient,
    agent: Agent,
}

impl Courses {
    pub(super) async fn open(chat: &str, mcp: &str, books: Books) -> Result<Self, Failure> {
        let client = agents::server(mcp).await?;
        let agent = agent(&client).await;
        Ok(Self {
            connection: agents::connection(chat, MODEL, agents::PATIENCE)?,
            mcp: mcp.to_owned(),
            books,
            client,
            agent,
        })
    }

    /// A run over the open connection: how long it took.
    pub(super) async fn shared(&self) -> Result<Duration, Failure> {
        let start = Instant::now();
        self.run(&self.agent).await?;
        Ok(start.elapsed())
    }

    /// A run that connects, lists the tools, and says goodbye at its end.
    pub(super) async fn fresh(&self) -> Result<Duration, Failure> {
        let start = Instant::now();
        let client = agents::server(&self.mcp).await?;
        let ran = self.run(&agent(&client).await).await;
        client.close().await;
        ran.map(|()| start.elapsed())
    }

    async fn run(&self, agent: &Agent) -> Result<(), Failure> {
        let run_id = RunId::mint(&SystemRandom);
        let model = agents::paid(&self.connection, &self.books.purse, &run_id);
        let log = self.books.log(&run_id).await?;
        let with = RunWith { run_id, log, ..RunWith::new(model, Arc::new(SystemRandom)) };
        let end = agent.run(&mut Conversation::default(), MESSAGE, with).await;
        let answer = end.answer.unwrap_or_default();
        if end.stop.reason == StopReason::Completed && end.tool_calls == 2 && answer.contains(ANSWER) {
            return Ok(());
        }
        let problem =
            format!("a run went wrong after {} calls of tools: {}: {answer}", end.tool_calls, end.stop.message);
        Err(Failure::new(ErrorCode::InternalError, problem))
    }

    /// Writes what is still to be written.
    pub(super) async fn close(&self) {
        self.client.close().await;
        self.books.purse.gate.flush().await;
        if let Some(Durable { store, journal }) = &self.books.durable {
            journal.flush().await;
            store.close().await;
        }
    }
}

async fn agent(client: &McpClient) -> Agent {
    let toolbox = Toolbox::builder().server(client.clone(), ServerTools::default()).build().await;
    Agent { name: NAME.to_owned(), ..Agent::new(PROMPT, toolbox) }
}
