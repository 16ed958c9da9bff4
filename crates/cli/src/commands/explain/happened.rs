//! What happened in a run, event by event.

use bylaw_agent::{RunQuery, RunRecord, RunStore, RunStoreError};
use bylaw_contract::{
    LoopEvent, RequestId, RunEvent, RunId, Timestamp,
    loop_event::ReplyBy,
    runs::{NumberedEvent, RunStatus},
};
use bylaw_gate::Zone;
use serde::Serialize;

use crate::{
    moments,
    terminal::{self, one_line, printable},
};

/// Most runs that are shown of one request: its label is the caller's to choose.
const RUNS: usize = 1_000;
const PAGE: usize = 1_000;
/// Most characters of a text that a line shows.
const SHOWN: usize = 160;
/// Most articles that a line names.
const NAMED: usize = 5;

/// What is kept of a run.
#[derive(Debug, Serialize)]
pub(super) struct Happened {
    #[serde(skip)]
    pub(super) record: RunRecord,
    status: RunStatus,
    message: String,
    started_at: Timestamp,
    events: Vec<NumberedEvent>,
}

impl Happened {
    async fn of(store: &dyn RunStore, record: RunRecord) -> Result<Self, RunStoreError> {
        let mut events = Vec::new();
        loop {
            let after = events.last().map_or(0, |event: &NumberedEvent| event.number);
            let page = store.events(&record.run.id, after, PAGE).await?;
            if page.is_empty() {
                break;
            }
            events.extend(page);
        }
        let (status, message, started_at) = (record.status(), record.run.message.clone(), record.run.started_at);
        Ok(Self { record, status, message, started_at, events })
    }

    pub(super) fn id(&self) -> &RunId {
        &self.record.run.id
    }

    pub(super) fn show(&self, zone: &Zone) {
        terminal::line(format!("  said     {}  {}", moments::show(self.started_at, zone), short(&self.message)));
        for NumberedEvent { number, at, event } in &self.events {
            if let Some(words) = words(event) {
                terminal::line(format!("  event {number}  {}  {words}", moments::show(*at, zone)));
            }
        }
        match self.status {
            RunStatus::Ended => {}
            RunStatus::Running => terminal::line("  it goes on"),
            RunStatus::Waiting => terminal::line("  it waits for a person"),
        }
    }
}

/// Everything that is kept of the runs that a request began, or that are on its books; the oldest first.
pub(super) async fn of_request(
    store: &dyn RunStore,
    request: &RequestId,
    on_the_books: &[&RunId],
) -> Result<Vec<Happened>, RunStoreError> {
    let query = RunQuery { request_id: Some(request.clone()), limit: RUNS, ..RunQuery::default() };
    let mut records = store.runs(&query).await?;
    records.reverse();
    for id in on_the_books {
        if records.iter().all(|record| record.run.id != **id) {
            records.extend(store.run(id).await?);
        }
    }
    let mut all = Vec::new();
    for record in records {
        all.push(Happened::of(store, record).await?);
    }
    Ok(all)
}

/// An event in one line; nothing for what says no more than its neighbours.
fn words(event: &RunEvent) -> Option<String> {
    Some(match event {
        RunEvent::Citations { citations } => {
            let named: Vec<String> = citations.iter().take(NAMED).map(|citation| citation.id.to_string()).collect();
            let more = citations.len().saturating_sub(NAMED);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            format!("searched: {} articles: {}{more}", citations.len(), printable(&named.join(", ")))
        }
        RunEvent::Done { answer } => match &answer.stop {
            None => format!("answered: {}", word(&answer.outcome)),
            Some(stop) => format!("stopped: {}: {}", stop.reason.as_str(), short(&stop.message)),
        },
        RunEvent::Failed { stop, code, message } => {
            format!("ended: {} ({}): {}", stop.reason.as_str(), printable(code), short(message))
        }
        RunEvent::Step(_) | RunEvent::Token { .. } => return None,
        RunEvent::Loop(event) => return of_loop(event),
    })
}

fn of_loop(event: &LoopEvent) -> Option<String> {
    let of = |server: &Option<String>, tool: &str| match server {
        Some(server) => printable(&format!("{server}/{tool}")),
        None => printable(tool),
    };
    Some(match event {
        LoopEvent::Started { agent, model, .. } => format!("began: {} with {}", printable(agent), printable(model)),
        LoopEvent::ModelCall { tools, last, .. } => {
            let last = if *last { ", for the last time" } else { "" };
            format!("asked the model: {tools} tools{last}")
        }
        LoopEvent::ModelReply { text, calls, finish, .. } => match calls.as_slice() {
            [] => format!("it said ({}): {}", printable(finish), short(text)),
            calls => {
                let names: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
                format!("it wants to call: {}", short(&names.join(", ")))
            }
        },
        LoopEvent::ModelFailed { message } => format!("the model failed: {}", short(message)),
        LoopEvent::ToolCall { tool, server, arguments, .. } => {
            format!("called {}: {}", of(server, tool), short(&serde_json::to_string(arguments).unwrap_or_default()))
        }
        LoopEvent::ToolResult { tool, status, text, .. } => {
            format!("{}: {}: {}", printable(tool), word(status), short(text))
        }
        LoopEvent::Question { id, kind, message, .. } => {
            format!("question {id} to the person ({}): {}", word(kind), short(message))
        }
        LoopEvent::Reply { id, action, by, .. } => {
            let by = match by {
                ReplyBy::Person => "the person",
                ReplyBy::Policy => "nobody could be asked",
            };
            format!("question {id} was answered: {} ({by})", word(action))
        }
        LoopEvent::Ended { reason: why, code, message, steps, tool_calls, .. } => {
            let code = code.as_ref().map(|code| format!(" ({})", printable(code))).unwrap_or_default();
            format!("ended: {}{code}: {}; steps: {steps}, tool calls: {tool_calls}", why.as_str(), short(message))
        }
        LoopEvent::TextDelta { .. } | LoopEvent::ToolProgress { .. } => return None,
    })
}

/// A closed choice by its own name.
fn word<T: Serialize>(value: &T) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// A text on one line, cut where it is long.
fn short(text: &str) -> String {
    let line = one_line(text);
    let mut characters = line.chars();
    let shown: String = characters.by_ref().take(SHOWN).collect();
    let cut = if characters.next().is_some() { "…" } else { "" };
    format!("{}{cut}", printable(&shown))
}
