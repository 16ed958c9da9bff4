//! Bytes of a reply in, pieces of a reply out. Neither waits nor knows where the bytes come from.

use std::{
    collections::{HashSet, VecDeque},
    mem,
};

use bylaw_contract::TokenUsage;
use serde_json::Value;

use crate::{
    action::{self, ActionMode},
    calls::CallAssembler,
    chat::{ChatDelta, ChatMessage, ChatRequest, FinishReason, ModelError},
    sse::{SseEvent, SseParser},
    wire::{self, ReplyBody},
};

/// Largest reply in plain JSON, which has to be kept until it is whole.
const MAX_JSON_BYTES: usize = 8 * 1024 * 1024;

/// Largest streamed reply. No `max_tokens` of today's models allows a tenth of it.
const MAX_STREAM_BYTES: u64 = 64 * 1024 * 1024;

/// What a reply depends on in its request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// The model that was asked for.
    pub(crate) model: String,
    /// Most tokens that it may write.
    pub(crate) max_tokens: u32,
    /// How many messages came before.
    pub(crate) turn: usize,
    /// The ids of the calls in them.
    pub(crate) call_ids: HashSet<String>,
    /// Whether its calls are in its text.
    pub(crate) in_words: bool,
}

impl Asked {
    pub(crate) fn new(model: &str, request: &ChatRequest, max_tokens: u32, actions: ActionMode) -> Self {
        let calls = request.messages.iter().flat_map(ChatMessage::tool_calls);
        Self {
            model: model.to_owned(),
            max_tokens,
            turn: request.messages.len(),
            call_ids: calls.map(|call| call.id.clone()).collect(),
            in_words: actions.reads(request),
        }
    }
}

/// Reads one reply.
#[derive(Debug)]
pub(crate) struct ReplyReader {
    asked: Asked,
    form: Form,
    model: String,
    calls: CallAssembler,
    /// Text that is kept until it is known what is a call in it.
    held: String,
    finish_reason: Option<FinishReason>,
    usage: Option<TokenUsage>,
    text_bytes: u64,
    wire_bytes: u64,
    whole: bool,
}

#[derive(Debug)]
enum Form {
    /// Nothing but blanks so far. The content type does not decide: too many servers send a wrong one.
    Unknown,
    Events(SseParser),
    Json(Vec<u8>),
}

impl ReplyReader {
    /// A reader for the reply to what was asked.
    pub(crate) fn new(asked: Asked) -> Self {
        Self {
            form: Form::Unknown,
            model: asked.model.clone(),
            asked,
            calls: CallAssembler::default(),
            held: String::new(),
            finish_reason: None,
            usage: None,
            text_bytes: 0,
            wire_bytes: 0,
            whole: false,
        }
    }

    /// Bytes of text that the model wrote so far, reasoning included. Of JSON that is not whole yet, all of it.
    pub(crate) fn text_bytes(&self) -> u64 {
        match &self.form {
            Form::Json(body) if !self.whole => body.len() as u64,
            Form::Unknown | Form::Events(_) | Form::Json(_) => self.text_bytes,
        }
    }

    /// What was used, once that is the usage of the whole reply and not of a part of it.
    pub(crate) fn final_usage(&self) -> Option<TokenUsage> {
        (self.whole || self.finish_reason.is_some()).then_some(self.usage).flatten()
    }

    /// Takes the next bytes and appends the pieces that they complete. After [`ChatDelta::End`] nothing more is read.
    pub(crate) fn push(&mut self, mut bytes: &[u8], deltas: &mut VecDeque<ChatDelta>) -> Result<(), ModelError> {
        self.wire_bytes += bytes.len() as u64;
        if self.wire_bytes > MAX_STREAM_BYTES {
            return Err(malformed(format!("it is longer than {MAX_STREAM_BYTES} bytes")));
        }
        if matches!(self.form, Form::Unknown) {
            bytes = skip_blank(bytes);
            self.form = match bytes.first() {
                None => return Ok(()),
                Some(b'{') => Form::Json(Vec::new()),
                Some(b'<') => return Err(malformed("it is a web page; check `model.base_url`")),
                Some(_) => Form::Events(SseParser::default()),
            };
        }
        match &mut self.form {
            Form::Unknown => Ok(()),
            Form::Json(body) => {
                if body.len() + bytes.len() > MAX_JSON_BYTES {
                    return Err(malformed(format!("its JSON is longer than {MAX_JSON_BYTES} bytes")));
                }
                body.extend_from_slice(bytes);
                Ok(())
            }
            Form::Events(parser) => {
                let mut events = Vec::new();
                let parsed = parser.push(bytes, &mut events);
                for event in events {
                    self.event(&event, deltas)?;
                }
                if self.whole { Ok(()) } else { parsed.map_err(|error| malformed(error.to_string())) }
            }
        }
    }

    /// The connection ended, well or badly.
    pub(crate) fn finish(&mut self, deltas: &mut VecDeque<ChatDelta>) -> Result<(), ModelError> {
        match mem::replace(&mut self.form, Form::Unknown) {
            Form::Unknown => {}
            Form::Json(body) => {
                let reply = match serde_json::from_slice::<ReplyBody>(&body) {
                    Ok(ReplyBody { error: None, choices: None, .. }) => return Err(malformed("it holds no `choices`")),
                    Ok(reply) => reply,
                    Err(error) => {
                        self.text_bytes = body.len() as u64;
                        let problem = format!("its JSON is wrong: {error}");
                        return Err(if error.is_eof() { ModelError::Incomplete } else { malformed(problem) });
                    }
                };
                self.body(reply, deltas)?;
                // Whole JSON is its own end marker.
                self.end(deltas)?;
            }
            Form::Events(parser) => {
                if let Some(event) = parser.finish().filter(|event| is_complete(&event.data)) {
                    self.event(&event, deltas)?;
                }
                if self.finish_reason.is_some() {
                    self.end(deltas)?;
                }
            }
        }
        if self.whole { Ok(()) } else { Err(ModelError::Incomplete) }
    }

    /// Whether [`ChatDelta::End`] was handed out.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Whether the model said why it ended. What is still to come is the usage, if anything.
    pub(crate) fn has_finish_reason(&self) -> bool {
        self.finish_reason.is_some()
    }

    fn event(&mut self, event: &SseEvent, deltas: &mut VecDeque<ChatDelta>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if self.whole || data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            return self.end(deltas);
        }
        if event.name == "error" {
            let error = serde_json::from_str(data).unwrap_or_else(|_| Value::String(data.to_owned()));
            return Err(reported(error.get("error").unwrap_or(&error)));
        }
        let piece = serde_json::from_str(data).map_err(|error| malformed(format!("an event is wrong: {error}")))?;
        self.body(piece, deltas)
    }

    fn body(&mut self, body: ReplyBody, deltas: &mut VecDeque<ChatDelta>) -> Result<(), ModelError> {
        if let Some(error) = body.error {
            return Err(reported(&error));
        }
        if let Some(model) = body.model.filter(|model| !model.is_empty()) {
            self.model = model;
        }
        if let Some(usage) = body.usage.as_ref().and_then(wire::token_usage) {
            self.usage = Some(usage);
        }
        for choice in body.choices.unwrap_or_default() {
            let first = choice.index.unwrap_or(0) == 0;
            let finish_reason = choice.finish_reason();
            let said = choice.said();
            self.text_bytes += said.written;
            if !first {
                continue;
            }
            deltas.extend(said.reasoning.map(ChatDelta::Reasoning));
            if self.asked.in_words {
                self.held.push_str(&said.text);
            } else if !said.text.is_empty() {
                deltas.push_back(ChatDelta::Text(said.text));
            }
            for call in said.calls {
                let pushed = if said.whole { self.calls.push_whole(call) } else { self.calls.push(call) };
                pushed.map_err(|error| malformed(error.to_string()))?;
            }
            if finish_reason.is_some() {
                self.finish_reason = finish_reason;
            }
        }
        Ok(())
    }

    /// A reply that says no reason but has its end marker was done. Its calls decide more than what it says of them.
    fn end(&mut self, deltas: &mut VecDeque<ChatDelta>) -> Result<(), ModelError> {
        self.whole = true;
        if self.asked.in_words {
            let read = action::read(&mem::take(&mut self.held));
            deltas.extend(read.reasoning.map(ChatDelta::Reasoning));
            deltas.extend(Some(read.text).filter(|text| !text.is_empty()).map(ChatDelta::Text));
            for call in read.calls {
                self.calls.push_whole(call).map_err(|error| malformed(error.to_string()))?;
            }
        }
        let calls = mem::take(&mut self.calls);
        let mut finish_reason = self.finish_reason.clone().unwrap_or(FinishReason::Stop);
        if calls.is_empty() {
            if finish_reason == FinishReason::ToolCalls {
                finish_reason = FinishReason::Stop;
            }
        } else if self.usage.is_some_and(|usage| usage.output_tokens >= u64::from(self.asked.max_tokens)) {
            // Some servers say that the calls are done where it was the tokens that were.
            finish_reason = FinishReason::Length;
        }
        let cut = match finish_reason {
            FinishReason::Length | FinishReason::ContentFilter => true,
            FinishReason::Stop | FinishReason::ToolCalls => false,
            FinishReason::Other(_) => !calls.are_whole(),
        };
        if !cut && !calls.is_empty() {
            finish_reason = FinishReason::ToolCalls;
        }
        for call in calls.finish(self.asked.turn, &self.asked.call_ids) {
            deltas.push_back(if cut { ChatDelta::CutToolCall(call) } else { ChatDelta::ToolCall(call) });
        }
        deltas.push_back(ChatDelta::End { finish_reason, usage: self.usage, model: self.model.clone() });
        Ok(())
    }
}

/// An error inside a reply whose HTTP status was 200.
fn reported(error: &Value) -> ModelError {
    let status = wire::error_status(error).unwrap_or(200);
    if matches!(status, 200 | 400 | 413 | 422) && wire::is_too_long(error.to_string().as_bytes()) {
        return ModelError::ContextTooLong { message: wire::error_message(error) };
    }
    ModelError::Status { status, message: wire::error_message(error), retry_after: None }
}

fn malformed(problem: impl Into<String>) -> ModelError {
    ModelError::Malformed { problem: problem.into() }
}

/// Leading blanks and the bytes of a byte order mark, which may come one at a time.
fn skip_blank(bytes: &[u8]) -> &[u8] {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf);
    let start = bytes.iter().position(|byte| !blank(byte)).unwrap_or(bytes.len());
    &bytes[start..]
}

/// Whether the data of an event that was never closed is all there.
fn is_complete(data: &str) -> bool {
    data.trim() == "[DONE]" || serde_json::from_str::<serde::de::IgnoredAny>(data).is_ok()
}

#[cfg(test)]
mod tests;
