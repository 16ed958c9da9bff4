//! One question to the model, and its reply.

use bylaw_contract::{LoopEvent, StopReason, TokenUsage, loop_event::RequestedCall};
use bylaw_model::{ChatDelta, ChatMessage, ChatReply, FinishReason, ModelError, ReplyCollector, ToolChoice};
use futures_util::StreamExt;

use crate::{end::Ending, state::Run, toolbox::Shelf};

/// What a model is told after a reply with nothing in it.
const EMPTY: &str = "(Your last reply was empty. Call a tool, or answer in words.)";

/// What a model is told when it may call nothing any more.
const LAST: &str = "(No more tools can be called. Answer now with what you know, and say what is missing.)";

/// Bytes of text to a token, at least: one Chinese character, or most of an English word's syllable.
const BYTES_PER_TOKEN: u64 = 3;

/// Bytes of text to a token, at most. What a provider says is not believed beyond that: some leave out what they cached.
const MAX_BYTES_PER_TOKEN: u64 = 6;

impl Run<'_> {
    /// Asks with tools. An empty reply is asked for once more.
    pub(crate) async fn ask(&mut self, tools: &Shelf) -> Result<ChatReply, Ending> {
        self.history.request.tools = tools.definitions(!self.history.artifacts().is_empty());
        self.history.request.tool_choice = ToolChoice::Auto;
        let mut reply = self.attempt(tools.size_bytes, None).await?;
        if is_empty(&reply) && reply.finish_reason != FinishReason::ContentFilter {
            reply = self.attempt(tools.size_bytes, Some(EMPTY)).await?;
        }
        if is_empty(&reply) {
            return Err(match reply.finish_reason {
                FinishReason::ContentFilter => {
                    Ending::stop(StopReason::Refused, "the model's provider held the reply back".to_owned())
                }
                _ => Ending::failed("empty_answer", "the model gave an empty answer twice".to_owned()),
            });
        }
        self.history.push(reply.message());
        Ok(reply)
    }

    /// Asks without tools; no text, no answer. What it would still call is not called.
    pub(crate) async fn ask_for_the_last_time(&mut self) -> Option<String> {
        self.history.request.tools = std::sync::Arc::default();
        self.history.request.tool_choice = ToolChoice::Auto;
        let reply = match self.attempt(0, Some(LAST)).await {
            Ok(reply) => reply,
            Err(ending) => {
                tracing::debug!(?ending, "no last answer");
                return None;
            }
        };
        if reply.text.trim().is_empty() {
            return None;
        }
        self.history.push(ChatMessage::Assistant {
            content: reply.text.clone(),
            reasoning: reply.reasoning,
            tool_calls: Vec::new(),
        });
        Some(reply.text)
    }

    pub(crate) fn answered(reply: ChatReply) -> Ending {
        match reply.finish_reason {
            FinishReason::Length => Ending::answered(reply.text, "the answer was cut at its length limit"),
            FinishReason::ContentFilter => Ending {
                answer: Some(reply.text),
                ..Ending::stop(StopReason::Refused, "the model's provider held a part of the reply back".to_owned())
            },
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other(_) => {
                Ending::answered(reply.text, "the model answered")
            }
        }
    }

    /// One model call. What is `said` beside the history is not kept in it.
    async fn attempt(&mut self, tools_bytes: usize, said: Option<&str>) -> Result<ChatReply, Ending> {
        self.may_ask(tools_bytes)?;
        let tools = u32::try_from(self.history.request.tools.len()).unwrap_or(u32::MAX);
        self.log(vec![LoopEvent::ModelCall { step: self.used.steps, tools, last: said == Some(LAST) }]).await?;
        self.history.request.deadline = Some(self.deadline.at());
        if let Some(said) = said {
            self.history.request.messages.push(ChatMessage::user(said));
        }
        let mut collector = ReplyCollector::default();
        let told = self.stream(&mut collector).await;
        if said.is_some() {
            self.history.request.messages.pop();
        }
        let reply = match told {
            Ok(reply) => reply,
            Err(error) => {
                self.log(vec![LoopEvent::ModelFailed { message: error.to_string() }]).await?;
                let time_is_up = self.deadline.has_passed().then(|| self.agent.limits.time_is_up());
                // What was said before the model broke off belongs to the transcript, but is no answer.
                if !collector.text().trim().is_empty() {
                    self.history.push(ChatMessage::assistant(collector.text()));
                }
                return Err(Ending::of_model(&error, time_is_up));
            }
        };
        self.count(&reply, tools_bytes);
        self.log(vec![told_reply(&reply)]).await?;
        Ok(reply)
    }

    async fn stream(&self, collector: &mut ReplyCollector) -> Result<ChatReply, ModelError> {
        let mut stream = self.with.model.chat(&self.history.request, self.with.cancel.clone()).await?;
        while let Some(delta) = stream.next().await {
            let delta = delta?;
            if let ChatDelta::Text(text) = &delta {
                self.with.log.show(LoopEvent::TextDelta { text: text.clone() });
            }
            if let Some(reply) = collector.push(delta) {
                return Ok(reply);
            }
        }
        Err(ModelError::Incomplete)
    }

    /// Checks before each call what can be known before it. Money is the meter's.
    fn may_ask(&self, tools_bytes: usize) -> Result<(), Ending> {
        let limits = &self.agent.limits;
        if self.with.cancel.is_cancelled() {
            return Err(Ending::cancelled());
        }
        if self.deadline.has_passed() {
            return Err(limits.time_is_up());
        }
        let prompt = self.prompt_tokens(tools_bytes);
        if let Some(most) = limits.context_tokens
            && prompt.saturating_add(u64::from(self.agent.max_output_tokens)) > most
        {
            let message = format!(
                "the conversation has about {prompt} tokens, and with {} for the reply the model takes {most}",
                self.agent.max_output_tokens
            );
            return Err(Ending::stop(StopReason::Context, message));
        }
        let used = self.usage.input_tokens.saturating_add(self.usage.output_tokens);
        if let Some(most) = limits.total_tokens
            && used.saturating_add(prompt) > most
        {
            let message =
                format!("{used} tokens were used, the next call needs about {prompt}, and the limit is {most}");
            return Err(Ending::stop(StopReason::Cost, message));
        }
        Ok(())
    }

    /// Tokens of the next prompt: as far as the last reply told them, and estimated from there.
    fn prompt_tokens(&self, tools_bytes: usize) -> u64 {
        let bytes = self.history.size_bytes();
        let sent = (bytes + tools_bytes) as u64;
        match self.measured {
            Some((tokens, measured)) => {
                let grown = bytes.saturating_sub(measured) as u64;
                (tokens + grown / BYTES_PER_TOKEN).max(sent / MAX_BYTES_PER_TOKEN)
            }
            None => sent / BYTES_PER_TOKEN,
        }
    }

    fn count(&mut self, reply: &ChatReply, tools_bytes: usize) {
        let usage = reply.usage.unwrap_or_else(|| {
            self.usage_is_estimated = true;
            let calls = reply.tool_calls.iter().chain(&reply.cut_tool_calls);
            let written = reply.text.len() + calls.map(|call| call.arguments.len()).sum::<usize>();
            TokenUsage {
                input_tokens: self.prompt_tokens(tools_bytes),
                output_tokens: (written as u64).div_ceil(BYTES_PER_TOKEN),
                ..TokenUsage::default()
            }
        });
        self.usage.add(usage);
        self.last_reply = Some((reply.model.clone(), reply.finish_reason.clone()));
        if reply.usage.is_some() {
            self.measured = Some((usage.input_tokens, self.history.size_bytes()));
        }
    }
}

fn is_empty(reply: &ChatReply) -> bool {
    reply.text.trim().is_empty() && reply.tool_calls.is_empty() && reply.cut_tool_calls.is_empty()
}

fn told_reply(reply: &ChatReply) -> LoopEvent {
    let calls = reply.tool_calls.iter().chain(&reply.cut_tool_calls).map(|call| RequestedCall {
        call_id: call.id.clone(),
        tool: call.name.clone(),
        arguments: call.arguments.clone(),
    });
    LoopEvent::ModelReply {
        text: reply.text.clone(),
        reasoning: reply.reasoning.as_ref().map(|reasoning| reasoning.text.clone()),
        calls: calls.collect(),
        finish: finish(&reply.finish_reason).to_owned(),
        usage: reply.usage,
    }
}

fn finish(reason: &FinishReason) -> &str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::Other(name) => name,
    }
}
