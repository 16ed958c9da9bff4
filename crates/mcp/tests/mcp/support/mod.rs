//! Servers to speak with, and what a client is given.

pub(crate) mod desk;
pub(crate) mod leaves;
pub(crate) mod raw;
pub(crate) mod wire;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bylaw_contract::{Clock, Randomness, Timestamp};
use bylaw_mcp::{CallOptions, ClientOptions, Elicit, ElicitReply, Elicitation, Host, McpClient, McpError, McpServer};
use serde_json::{Map, Value};

/// A clock that stands until it is moved.
#[derive(Default)]
pub(crate) struct HandClock(AtomicU64);

impl HandClock {
    pub(crate) fn advance(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp(0)
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
}

struct Highest;

impl Randomness for Highest {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(255);
    }
}

/// A human who answers everything in one way, or never.
pub(crate) struct Human {
    reply: Option<ElicitReply>,
    pub(crate) asked: Mutex<Vec<Elicitation>>,
    pub(crate) put_away: AtomicU64,
    pub(crate) heard: tokio::sync::Notify,
}

impl Human {
    pub(crate) fn answering(reply: ElicitReply) -> Arc<Self> {
        Arc::new(Self {
            reply: Some(reply),
            asked: Mutex::default(),
            put_away: AtomicU64::new(0),
            heard: tokio::sync::Notify::new(),
        })
    }

    pub(crate) fn silent() -> Arc<Self> {
        Arc::new(Self {
            reply: None,
            asked: Mutex::default(),
            put_away: AtomicU64::new(0),
            heard: tokio::sync::Notify::new(),
        })
    }
}

struct PutAway<'a>(&'a Human);

impl Drop for PutAway<'_> {
    fn drop(&mut self) {
        self.0.put_away.fetch_add(1, Ordering::SeqCst);
        self.0.heard.notify_one();
    }
}

#[async_trait]
impl Elicit for Human {
    async fn elicit(&self, request: Elicitation) -> ElicitReply {
        self.asked.lock().unwrap().push(request);
        let Some(reply) = self.reply.clone() else {
            let _put_away = PutAway(self);
            self.heard.notify_one();
            return std::future::pending().await;
        };
        reply
    }
}

pub(crate) fn host() -> Host {
    Host { elicit: None, clock: Arc::new(HandClock::default()), randomness: Arc::new(Highest) }
}

pub(crate) fn host_with(human: &Arc<Human>) -> Host {
    Host { elicit: Some(Arc::clone(human) as Arc<dyn Elicit>), ..host() }
}

pub(crate) fn host_at(clock: &Arc<HandClock>) -> Host {
    Host { clock: Arc::clone(clock) as Arc<dyn Clock>, ..host() }
}

/// Patient enough for a busy machine: only what is meant to expire should.
pub(crate) fn options() -> ClientOptions {
    ClientOptions { connect_timeout: Duration::from_secs(30), ..ClientOptions::default() }
}

pub(crate) async fn connect(server: McpServer) -> McpClient {
    McpClient::connect(server, options(), host()).await.unwrap()
}

pub(crate) fn arguments(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("{value} is no object") };
    object
}

/// A call as most are made.
pub(crate) async fn call(client: &McpClient, tool: &str) -> Result<bylaw_mcp::ToolOutcome, McpError> {
    client.call(tool, &Map::new(), CallOptions::default()).await
}

/// The texts of an outcome.
pub(crate) fn text(outcome: &bylaw_mcp::ToolOutcome) -> String {
    let texts = outcome.content.iter().filter_map(|content| match content {
        bylaw_mcp::Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
