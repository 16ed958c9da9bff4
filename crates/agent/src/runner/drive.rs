//! One run from its beginning to its end.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc};

use bylaw_answer::EventSink;
use bylaw_contract::{ErrorCode, LoopEvent, RunEvent, StopReason, TokenUsage};
use bylaw_model::ChatModel;
use futures_util::FutureExt;

use super::{
    Inner, TighterLimits,
    going::{Going, Place},
    log::Held,
};
use crate::{
    agent::RunWith, agent_file::AgentFile, ask::Ask, conversation::Conversation, journal::OpenRun, limits::Limits,
    log::RunLog,
};

/// A run that is written down and has not done anything yet.
pub(super) struct Drive {
    pub(super) file: Arc<AgentFile>,
    pub(super) name: String,
    pub(super) model: ChatModel,
    pub(super) limits: TighterLimits,
    pub(super) said: Conversation,
    pub(super) message: String,
    pub(super) in_conversation: bool,
    pub(super) open: OpenRun,
    pub(super) place: Place,
}

impl Drive {
    pub(super) async fn run(self, inner: Arc<Inner>) {
        let Self { file, name, model, limits, mut said, message, in_conversation, open, place } = self;
        let mut connected = file.connect_later(&name, &inner.parts.connect, &inner.parts.tools);
        connected.agent.limits = limits.applied(&connected.agent.limits);
        for problem in &connected.warnings {
            tracing::warn!(agent = name, run_id = %place.going.run_id, problem, "an agent is not complete");
        }
        let open = Arc::new(open);
        let log = Arc::new(Held::new(Arc::clone(&open)));
        let with = RunWith {
            model,
            run_id: place.going.run_id.clone(),
            log: Arc::clone(&log) as Arc<dyn RunLog>,
            ask: Some(Arc::clone(&place.going.questions) as Arc<dyn Ask>),
            elicitations: Some(connected.elicitations.clone()),
            artifacts: Arc::new(open.artifacts()),
            randomness: Arc::clone(&inner.parts.randomness),
            cancel: place.going.cancel.clone(),
        };
        // A tool of this process that panics ends its run, and no other.
        let ran = AssertUnwindSafe(connected.agent.run(&mut said, &message, with)).catch_unwind().await;
        let end = match (ran, log.end()) {
            (Ok(_), Some(end)) => explained(end, &place.going),
            (Ok(_), None) => broken("the run ended without its last event"),
            (Err(panic), _) => broken(panicked(&*panic)),
        };
        let going = Arc::clone(&place.going);
        // Whoever hears of the end may start the next run at once: in this place, and in this conversation.
        drop(place);
        if in_conversation && let Err(error) = open.give_back(&said).await {
            tracing::error!(%error, run_id = %going.run_id, "what was said in a run is not kept");
        }
        if let LoopEvent::Ended { reason, .. } = &end {
            inner.counts.ended(*reason);
        }
        // Tried until it is written: a full disk must not leave the run open for ever.
        open.report(RunEvent::Loop(end));
        drop((log, open));
        connected.close().await;
    }
}

impl TighterLimits {
    /// An agent's limits, where these are not tighter.
    fn applied(self, agent: &Limits) -> Limits {
        Limits {
            steps: self.steps.map_or(agent.steps, |steps| steps.min(agent.steps)),
            tool_calls: self.tool_calls.map_or(agent.tool_calls, |calls| calls.min(agent.tool_calls)),
            wall_time: self.wall_time.map_or(agent.wall_time, |time| time.min(agent.wall_time)),
            ..agent.clone()
        }
    }
}

/// An end that came from outside says from where.
fn explained(mut end: LoopEvent, going: &Going) -> LoopEvent {
    if let LoopEvent::Ended { reason: StopReason::Cancelled, code, message, .. } = &mut end
        && let Some(cause) = going.cause()
    {
        cause.message().clone_into(message);
        *code = cause.code().map(|code| code.as_str().to_owned());
    }
    end
}

fn broken(message: &str) -> LoopEvent {
    tracing::error!(message, "a run broke");
    LoopEvent::Ended {
        reason: StopReason::Failed,
        code: Some(ErrorCode::InternalError.as_str().to_owned()),
        message: "something broke inside; the log has the details".to_owned(),
        answer: None,
        steps: 0,
        tool_calls: 0,
        usage: TokenUsage::default(),
    }
}

fn panicked(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a tool panicked")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn limits_are_only_ever_tightened() {
        let agent = Limits { steps: 5, tool_calls: 10, wall_time: Duration::from_secs(60), ..Limits::default() };
        let asked = |steps, tool_calls, seconds| {
            let limits =
                TighterLimits { steps, tool_calls, wall_time: Option::map(seconds, Duration::from_secs), cost: None };
            let Limits { steps, tool_calls, wall_time, .. } = limits.applied(&agent);
            (steps, tool_calls, wall_time.as_secs())
        };
        assert_eq!(asked(None, None, None), (5, 10, 60));
        assert_eq!(asked(Some(2), Some(3), Some(4)), (2, 3, 4));
        assert_eq!(asked(Some(50), Some(50), Some(500)), (5, 10, 60));
    }
}
