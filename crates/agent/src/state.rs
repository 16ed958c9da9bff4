//! One run: what it has, how it begins, how it ends.

use std::sync::{Arc, OnceLock};

use bylaw_contract::{LoopEvent, Stop, TokenUsage, loop_event::LOOP_EVENT_VERSION};
use bylaw_model::{ChatRequest, FinishReason, Purpose};

use crate::{
    agent::{Agent, RunWith},
    conversation::{Conversation, History},
    deadline::Deadline,
    desk::Desk,
    end::{Ending, RunEnd},
    limits::Used,
    toolbox::Shelf,
};

pub(crate) struct Run<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) with: RunWith,
    pub(crate) history: History<'a>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) deadline: Arc<Deadline>,
    pub(crate) used: Used,
    pub(crate) usage: TokenUsage,
    pub(crate) usage_is_estimated: bool,
    /// What the last reply said that its prompt and itself were long, and the bytes of the history then.
    pub(crate) measured: Option<(u64, usize)>,
    /// What the model called itself in its last reply, and why that ended.
    pub(crate) last_reply: Option<(String, FinishReason)>,
    /// What a tool ended the run with.
    pub(crate) answer: Arc<OnceLock<String>>,
}

impl<'a> Run<'a> {
    pub(crate) fn begin(agent: &'a Agent, conversation: &'a mut Conversation, message: &str, with: RunWith) -> Self {
        let mut request = ChatRequest::new(Purpose::AgentTurn, Vec::new(), agent.max_output_tokens);
        // Left to the provider where it is wanted: some refuse the field.
        request.parallel_tool_calls = (!agent.in_parallel).then_some(false);
        let deadline = Arc::new(Deadline::after(agent.limits.wall_time));
        let desk =
            Desk::new(with.ask.clone(), Arc::clone(&with.log), Arc::clone(&deadline), agent.limits.approval_wait);
        Self {
            agent,
            history: History::begin(conversation, &agent.prompt, message, request),
            with,
            desk: Arc::new(desk),
            deadline,
            used: Used::default(),
            usage: TokenUsage::default(),
            usage_is_estimated: false,
            measured: None,
            last_reply: None,
            answer: Arc::default(),
        }
    }

    pub(crate) async fn started(&mut self, message: &str) -> Result<(), Ending> {
        self.log(vec![LoopEvent::Started {
            version: LOOP_EVENT_VERSION,
            run_id: self.with.run_id.clone(),
            agent: self.agent.name.clone(),
            model: self.with.model.name().to_owned(),
            message: message.to_owned(),
        }])
        .await?;
        if message.trim().is_empty() {
            return Err(Ending::failed("invalid_request", "the message is empty".to_owned()));
        }
        Ok(())
    }

    /// The tools as they are now; as they were, if nobody waits for servers any more.
    pub(crate) async fn tools(&self) -> Arc<Shelf> {
        let toolbox = &self.agent.toolbox;
        tokio::select! {
            biased;
            () = self.with.cancel.cancelled() => toolbox.shelf(),
            tools = toolbox.list() => tools,
            () = self.deadline.passed() => toolbox.shelf(),
        }
    }

    pub(crate) async fn log(&self, events: Vec<LoopEvent>) -> Result<(), Ending> {
        Ok(self.with.log.write(events).await?)
    }

    pub(crate) async fn end(self, ending: Ending) -> RunEnd {
        let Ending { reason, code, message, answer } = ending;
        let end = RunEnd {
            run_id: self.with.run_id.clone(),
            answer,
            stop: Stop { reason, at_step: self.used.steps, message },
            code,
            steps: self.used.steps,
            tool_calls: self.used.tool_calls,
            usage: self.usage,
            usage_is_estimated: self.usage_is_estimated,
            last_reply: self.last_reply.clone(),
            transcript: self.history.transcript(),
        };
        let ended = LoopEvent::Ended {
            reason,
            code: code.map(str::to_owned),
            message: end.stop.message.clone(),
            answer: end.answer.clone(),
            steps: end.steps,
            tool_calls: end.tool_calls,
            usage: end.usage,
        };
        // The run is over whether or not this can be written down.
        if let Err(ending) = self.log(vec![ended]).await {
            tracing::error!(run_id = %end.run_id, problem = ending.message, "the end of a run is not in its log");
        }
        end
    }
}
