//! The loop.

use bylaw_contract::StopReason;
use bylaw_model::ChatMessage;

use crate::{
    agent::{Agent, RunWith},
    calls::Results,
    conversation::Conversation,
    end::{Ending, RunEnd},
    state::Run,
};

impl Agent {
    /// Does what `message` asks for, or stops at a limit, and says which. Never fails and never hangs: whatever happens
    /// is an end with a reason. Cancelling it (`with.cancel`) takes at most 200 ms. Dropping the future cancels, too.
    pub async fn run(&self, conversation: &mut Conversation, message: &str, with: RunWith) -> RunEnd {
        let mut run = Run::begin(self, conversation, message, with);
        let ending = match run.started(message).await {
            Ok(()) => run.steps().await,
            Err(ending) => ending,
        };
        run.end(ending).await
    }
}

impl Run<'_> {
    async fn steps(&mut self) -> Ending {
        while self.used.steps < self.agent.limits.steps {
            // 1. List the tools.
            let tools = self.tools().await;

            // 2. Ask the model.
            let reply = match self.ask(&tools).await {
                Ok(reply) => reply,
                Err(ending) => return ending,
            };

            // 5. Stop on text.
            if reply.tool_calls.is_empty() && reply.cut_tool_calls.is_empty() {
                return Self::answered(reply);
            }

            // 3. Run its tool calls.
            let Results { messages, end } = self.call(&tools, &reply).await;

            // 4. Put the results back.
            messages.into_iter().for_each(|message| self.history.push(message));
            match end {
                None => {}
                Some(end) if end.reason == StopReason::ToolCalls => return self.last_answer(end).await,
                Some(end) => {
                    if let Some(answer) = &end.answer {
                        self.history.push(ChatMessage::assistant(answer));
                    }
                    return end;
                }
            }
        }
        self.last_answer(self.agent.limits.steps_used_up()).await
    }

    /// The model may say what it knows by now, without tools. Not a step.
    async fn last_answer(&mut self, ending: Ending) -> Ending {
        match self.ask_for_the_last_time().await {
            Some(text) => Ending { answer: Some(text), ..ending },
            None if self.with.cancel.is_cancelled() => Ending::cancelled(),
            None => ending,
        }
    }
}
