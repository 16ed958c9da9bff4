//! Runs with a scripted model, and tools that say what a test tells them to.

pub(crate) mod faulty;
pub(crate) mod raw;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bylaw_agent::{
    Agent, Ask, Conversation, MemoryArtifacts, MemoryLog, Question, RunEnd, RunLog, RunWith, Tool, ToolContext,
    ToolInfo, Toolbox, ToolboxBuilder, text_outcome,
};
use bylaw_contract::{Clock, LoopEvent, Randomness, Timestamp};
use bylaw_mcp::{ElicitReply, ToolOutcome};
use bylaw_model::{
    ChatModel, CountingMeter, ToolCallRequest,
    scripted::{Script, ScriptedReply},
};
use serde_json::{Map, Value, json};

/// A folder, in memory where the system has such a place.
pub(crate) fn folder() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

pub(crate) struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        Timestamp(0)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

pub(crate) struct Highest;

impl Randomness for Highest {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(255);
    }
}

/// Different bytes every time.
#[derive(Default)]
pub(crate) struct Counted(AtomicU8);

impl Randomness for Counted {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
    }
}

type Answer = dyn Fn(&Map<String, Value>) -> Result<ToolOutcome, String> + Send + Sync;

/// A tool of this process that takes down what it is called with.
#[derive(Clone)]
pub(crate) struct Scripted {
    pub(crate) info: ToolInfo,
    answer: Arc<Answer>,
    pub(crate) calls: Arc<Mutex<Vec<String>>>,
    /// It never ends.
    pub(crate) hangs: bool,
}

impl Scripted {
    pub(crate) fn new(
        info: ToolInfo,
        answer: impl Fn(&Map<String, Value>) -> Result<ToolOutcome, String> + Send + Sync + 'static,
    ) -> Self {
        Self { info, answer: Arc::new(answer), calls: Arc::default(), hangs: false }
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

#[async_trait]
impl Tool for Scripted {
    fn info(&self) -> ToolInfo {
        self.info.clone()
    }

    async fn call(&self, arguments: Map<String, Value>, _: ToolContext) -> Result<ToolOutcome, String> {
        self.calls.lock().unwrap().push(Value::Object(arguments.clone()).to_string());
        if self.hangs {
            std::future::pending::<()>().await;
        }
        (self.answer)(&arguments)
    }
}

pub(crate) fn search() -> Scripted {
    let schema = json!({ "type": "object", "properties": { "keyword": { "type": "string" } }, "required": ["keyword"], "additionalProperties": false });
    Scripted::new(ToolInfo::reading("search_leaves", "Finds leaves.", schema), |arguments| {
        Ok(text_outcome(format!("found {}", arguments["keyword"])))
    })
}

pub(crate) fn update() -> Scripted {
    let schema = json!({ "type": "object", "required": ["leave_id", "status"], "properties": {
        "leave_id": { "type": "string" }, "status": { "type": "string", "enum": ["draft", "submitted", "cancelled"] } } });
    Scripted::new(ToolInfo::changing("update_leave_status", "Changes a leave.", schema), |_| {
        Ok(text_outcome("updated"))
    })
}

pub(crate) fn ping() -> Scripted {
    let schema = json!({ "type": "object", "properties": {} });
    Scripted::new(ToolInfo::changing("ping_hr", "Pings.", schema), |_| Ok(text_outcome("pong")))
}

/// What a run left behind.
pub(crate) struct Ran {
    pub(crate) end: RunEnd,
    pub(crate) events: Vec<LoopEvent>,
    pub(crate) script: Script,
}

impl Ran {
    pub(crate) fn answer(&self) -> &str {
        self.end.answer.as_deref().unwrap_or("(none)")
    }

    /// What the model was told of its calls, in the transcript's order.
    pub(crate) fn results(&self) -> Vec<String> {
        let results = self.end.transcript.iter().filter(|m| m.role() == bylaw_model::Role::Tool);
        results.map(|message| message.content().to_owned()).collect()
    }

    pub(crate) fn reason(&self) -> String {
        serde_json::to_value(self.end.stop.reason).unwrap().as_str().unwrap().to_owned()
    }
}

pub(crate) fn says(text: &str) -> ScriptedReply {
    ScriptedReply::text(text)
}

/// Calls with ids of their own.
pub(crate) fn calls(id: &str, calls: &[(&str, &str)]) -> ScriptedReply {
    let call = |(at, (name, arguments)): (usize, &(&str, &str))| ToolCallRequest {
        id: format!("{id}{at}"),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
    };
    ScriptedReply::ToolCalls {
        text: String::new(),
        reasoning: None,
        calls: calls.iter().enumerate().map(call).collect(),
        finish_reason: "tool_calls".to_owned(),
    }
}

pub(crate) fn builder(tools: impl IntoIterator<Item = Scripted>) -> ToolboxBuilder {
    tools.into_iter().fold(Toolbox::builder(), ToolboxBuilder::tool)
}

pub(crate) async fn agent(tools: impl IntoIterator<Item = Scripted>) -> Agent {
    Agent::new("You help with leaves.", builder(tools).build().await)
}

/// A run that can still be changed.
pub(crate) struct Setup {
    pub(crate) with: RunWith,
    pub(crate) log: Arc<MemoryLog>,
    pub(crate) script: Script,
    pub(crate) meter: CountingMeter,
}

pub(crate) fn setup(script: Script) -> Setup {
    let meter = CountingMeter::default();
    let model = ChatModel::scripted(script.clone(), Arc::new(meter.clone()));
    let log = Arc::new(MemoryLog::default());
    let with = RunWith {
        log: Arc::clone(&log) as Arc<dyn RunLog>,
        artifacts: Arc::new(MemoryArtifacts::default()),
        ..RunWith::new(model, Arc::new(Counted::default()))
    };
    Setup { with, log, script, meter }
}

impl Setup {
    pub(crate) async fn run(self, agent: &Agent, conversation: &mut Conversation) -> Ran {
        let end = agent.run(conversation, "請把家庭照顧假送出", self.with).await;
        for request in self.script.requests() {
            assert_eq!(request.fault(), None, "a strict provider refuses a request");
        }
        assert_eq!(self.meter.snapshot().attempts, self.meter.snapshot().settled);
        Ran { end, events: self.log.written(), script: self.script }
    }
}

pub(crate) async fn run(agent: &Agent, replies: impl IntoIterator<Item = ScriptedReply>) -> Ran {
    setup(Script::new(replies)).run(agent, &mut Conversation::default()).await
}

/// A person who answers everything in one way.
pub(crate) struct Person {
    reply: ElicitReply,
    pub(crate) asked: Mutex<Vec<Question>>,
}

impl Person {
    pub(crate) fn answering(reply: ElicitReply) -> Arc<Self> {
        Arc::new(Self { reply, asked: Mutex::default() })
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

#[async_trait]
impl Ask for Person {
    async fn ask(&self, question: Question) -> ElicitReply {
        self.asked.lock().unwrap().push(question);
        self.reply.clone()
    }
}
