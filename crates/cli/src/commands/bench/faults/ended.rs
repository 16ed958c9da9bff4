//! One run of a case: how it ended, and what the servers have seen of it.

use std::{fmt, sync::Arc, time::Duration};

use bylaw_agent::{Agent, Conversation, RunEnd, RunWith, ServerTools, Toolbox};
use bylaw_contract::{ErrorCode, RunId, StopReason};
use bylaw_gate::MemoryLedger;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{super::agents, case::Case};
use crate::{failure::Failure, system::SystemRandom};

/// A run that has not ended by then hangs.
const LIMIT: Duration = Duration::from_secs(25);

/// What the servers tell of a run at `/obs/RUN`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Seen {
    /// Every request to the model.
    pub(super) chat: Vec<Asked>,
    /// Names and arguments of the calls that reached a tool.
    pub(super) exec: Vec<(String, Value)>,
    /// How often a session began.
    pub(super) inits: u32,
    /// When each request came, in seconds.
    pub(super) t: Vec<f64>,
    /// The HTTP status of each reply of the model.
    pub(super) status: Vec<u16>,
}

/// A request to the model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) messages: Vec<Value>,
    /// The names of the tools that are offered.
    pub(super) tools: Vec<String>,
    pub(super) bytes: usize,
}

/// A case after its run.
pub(super) struct Ended {
    /// None for a run that hangs.
    pub(super) end: Option<RunEnd>,
    pub(super) seen: Seen,
}

impl Ended {
    /// Runs a case against the servers at `url`. Only tools that hang are given up after `hang`.
    pub(super) async fn run(case: Case, url: &str, hang: Duration) -> Result<Self, Failure> {
        let id = RunId::mint(&SystemRandom);
        let run = id.as_str().trim_start_matches("run_");
        let connection = agents::connection(&format!("{url}/v1"), case.name(), agents::PATIENCE)?;
        let purse = agents::purse(Arc::new(MemoryLedger::default()), case.name())?;
        let client = agents::server(&format!("{url}/mcp/{}/{run}", case.name())).await?;
        let tools = ServerTools { timeout: (case == Case::Hang).then_some(hang), ..ServerTools::default() };
        let toolbox = Toolbox::builder().server(client.clone(), tools).build().await;
        let agent = Agent::new("You look after leave requests.", toolbox);
        let model = agents::paid(&connection, &purse, &id);
        let with = RunWith { run_id: id.clone(), ..RunWith::new(model, Arc::new(SystemRandom)) };
        let mut conversation = Conversation::default();
        let message = format!("請送出我的家庭旅遊假 [run:{run}]");
        let end = tokio::time::timeout(LIMIT, agent.run(&mut conversation, &message, with)).await.ok();
        client.close().await;
        let seen = seen(url, run).await?;
        Ok(Self { end, seen })
    }

    /// Whether the run ended with the answer that ends the script.
    pub(super) fn is_done(&self) -> bool {
        let done = |end: &RunEnd| end.stop.reason == StopReason::Completed && end.answer.as_deref() == Some("DONE");
        self.end.as_ref().is_some_and(done)
    }

    /// The names of the tools that were reached.
    pub(super) fn executed(&self) -> Vec<&str> {
        self.seen.exec.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The results in the last request: the ids of their calls, and what the model is told.
    pub(super) fn results(&self) -> Vec<(&str, &str)> {
        let last = self.seen.chat.last().map(|asked| asked.messages.as_slice()).unwrap_or_default();
        let results = last.iter().filter(|message| message["role"] == "tool");
        results.map(|message| (text(&message["tool_call_id"]), text(&message["content"]))).collect()
    }

    /// Whether the `at`th result of the last request says this.
    pub(super) fn says(&self, at: usize, words: &str) -> bool {
        self.results().get(at).is_some_and(|(_, text)| text.contains(words))
    }

    /// Bytes of the largest request.
    pub(super) fn largest_request(&self) -> usize {
        self.seen.chat.iter().map(|asked| asked.bytes).max().unwrap_or(0)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

async fn seen(url: &str, run: &str) -> Result<Seen, Failure> {
    let unreachable = |error: reqwest::Error| {
        Failure::from_error(ErrorCode::ServiceUnreachable, &error).hint("is a fault server listening there?")
    };
    let url: reqwest::Url =
        format!("{url}/obs/{run}").parse().map_err(|error| Failure::from_error(ErrorCode::InvalidRequest, &error))?;
    let client = bylaw_model::http_client(&url).map_err(unreachable)?;
    client.get(url).send().await.map_err(unreachable)?.json().await.map_err(unreachable)
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statuses: Vec<String> = self.seen.status.iter().map(u16::to_string).collect();
        let executed = if self.seen.exec.is_empty() { "nothing".to_owned() } else { self.executed().join(" ") };
        write!(f, "model {}, executed {executed}", statuses.join(" "))?;
        match &self.end {
            Some(end) => {
                write!(f, ", {:?}: {}", end.stop.reason, end.answer.as_deref().unwrap_or(&end.stop.message))
            }
            None => write!(f, ", no end within {LIMIT:?}"),
        }
    }
}
