//! `bylaw bench small-model`: one conversation of a real model, in which a leave request is searched and moved on. What is
//! asserted is the protocol and what was done, and no word of the answer.

mod leaves;

use std::{process::ExitCode, sync::Arc, time::Duration};

use bylaw_agent::{Agent, Conversation, MemoryLog, RunLog, RunWith, ServerTools, Toolbox};
use bylaw_contract::{LoopEvent, RunId, StopReason};
use bylaw_gate::MemoryLedger;
use bylaw_model::ActionMode;
use serde::Serialize;

use self::leaves::{Leaves, State};
use super::agents;
use crate::{
    args::{Actions, BenchSmallModel},
    failure::Failure,
    system::SystemRandom,
    terminal::{self, Format},
};

/// A real model on a machine without a graphics card, which others use as well.
const PATIENCE: Duration = Duration::from_secs(900);

const PROMPT: &str = "You manage leave requests with tools. Work in this order: first find the leave request with \
                      search_leaves, then change it with update_leave_status, using the id from the search result.";

const MESSAGE: &str = "Please submit my leave request for the family trip.";

pub(super) async fn run(arguments: &BenchSmallModel, format: Format) -> Result<ExitCode, Failure> {
    let leaves = Leaves::start().await?;
    let run_id = RunId::mint(&SystemRandom);
    let connection =
        agents::connection(&arguments.url, &arguments.model, PATIENCE)?.with_actions(match arguments.actions {
            Actions::Native => ActionMode::Native,
            Actions::JsonSchema => ActionMode::JsonSchema,
            Actions::Fenced => ActionMode::Fenced,
        });
    let purse = agents::purse(Arc::new(MemoryLedger::default()), &arguments.model)?;
    let client = agents::server(&leaves.url()).await?;
    let toolbox = Toolbox::builder().server(client.clone(), ServerTools::default()).build().await;
    let mut agent = Agent::new(PROMPT, toolbox);
    agent.limits.steps = 8;
    agent.limits.wall_time = PATIENCE;
    agent.max_output_tokens = 200;
    let log = Arc::new(MemoryLog::default());
    let model = agents::paid(&connection, &purse, &run_id);
    let written: Arc<dyn RunLog> = Arc::<MemoryLog>::clone(&log);
    let with = RunWith { run_id, log: written, ..RunWith::new(model, Arc::new(SystemRandom)) };
    let end = agent.run(&mut Conversation::default(), MESSAGE, with).await;
    client.close().await;
    let report = Report::of(&leaves.stop().await, &log.written(), end.stop.reason, end.answer);
    report.show(format);
    Ok(if report.holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Debug, Serialize)]
struct Report {
    holds: bool,
    claims: Vec<(&'static str, bool)>,
    steps: Vec<String>,
    stop: StopReason,
    answer: Option<String>,
}

impl Report {
    fn of(state: &State, written: &[LoopEvent], stop: StopReason, answer: Option<String>) -> Self {
        let claims = vec![
            ("the search came before the update", state.searched_before_update),
            ("the request was submitted, once", state.updates == [(state.id.clone(), "submitted".to_owned())]),
            ("the one that was searched for is submitted", state.status == "submitted"),
            ("no other was touched", state.others_untouched),
            ("the run ended by itself", stop == StopReason::Completed),
            ("there is an answer", answer.as_ref().is_some_and(|answer| !answer.trim().is_empty())),
        ];
        let holds = claims.iter().all(|(_, holds)| *holds);
        Self { holds, claims, steps: written.iter().filter_map(told).collect(), stop, answer }
    }

    fn show(&self, format: Format) {
        if format == Format::Json {
            return terminal::json(self);
        }
        for step in &self.steps {
            terminal::line(format!("  {}", terminal::printable(step)));
        }
        terminal::line(format!("  answer: {}", terminal::printable(self.answer.as_deref().unwrap_or("(none)"))));
        for (claim, holds) in &self.claims {
            terminal::line(format!("{}  {claim}", if *holds { "yes" } else { "NO " }));
        }
    }
}

/// What the model wanted and what came of it, in one line.
fn told(event: &LoopEvent) -> Option<String> {
    match event {
        LoopEvent::ModelReply { calls, .. } if !calls.is_empty() => {
            let calls: Vec<String> = calls.iter().map(|call| format!("{} {}", call.tool, call.arguments)).collect();
            Some(format!("model: {}", calls.join(", ")))
        }
        LoopEvent::ToolResult { tool, status, text, .. } => {
            Some(format!("{tool}: {status:?}: {}", terminal::shorten(text, 160)))
        }
        LoopEvent::ModelFailed { message } => Some(format!("model failed: {message}")),
        LoopEvent::Started { .. }
        | LoopEvent::ModelCall { .. }
        | LoopEvent::ModelReply { .. }
        | LoopEvent::TextDelta { .. }
        | LoopEvent::ToolCall { .. }
        | LoopEvent::ToolProgress { .. }
        | LoopEvent::Question { .. }
        | LoopEvent::Reply { .. }
        | LoopEvent::Ended { .. } => None,
    }
}
