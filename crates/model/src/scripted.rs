//! A model that says what a script says.
//!
//! It stands where the network stands: it takes the bytes of a request and gives the bytes of a reply. Everything above
//! it, the meter included, is what a real endpoint gets.

mod request;
mod strict;

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bylaw_contract::TokenUsage;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

pub use self::request::ScriptedRequest;
use crate::{
    attempt::Departure,
    backend::{Broken, Reply},
    chat::{FinishReason, ModelError},
    tools::ToolCallRequest,
};

/// One scripted reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptedReply {
    /// Text in pieces, then an end, good or bad.
    Stream {
        /// The pieces.
        deltas: Vec<String>,
        /// What comes after them.
        end: ScriptedEnd,
    },
    /// Calls of tools, as a good reply.
    ToolCalls {
        /// What is said beside them.
        text: String,
        /// What was thought before, as `reasoning_content`.
        reasoning: Option<String>,
        /// The calls, told in pieces.
        calls: Vec<ToolCallRequest>,
        /// Why it ended, in the provider's word.
        finish_reason: String,
    },
    /// These bytes, with status 200.
    Raw(String),
    /// A reply that comes after a while.
    Later {
        /// After this long.
        wait: Duration,
        /// What comes.
        reply: Box<ScriptedReply>,
    },
    /// An HTTP error.
    Status {
        /// HTTP status.
        status: u16,
        /// Its message.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// No connection.
    Unreachable,
    /// A connection, the request, and then nothing.
    NeverAnswers,
}

/// How a scripted stream ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptedEnd {
    /// As it should.
    Finished {
        /// Why it ended.
        finish_reason: FinishReason,
        /// What was used, if the provider says so.
        usage: Option<TokenUsage>,
    },
    /// The connection breaks.
    Cut,
    /// An error object inside the stream.
    Error(String),
    /// Silence.
    Stalls,
}

impl ScriptedReply {
    /// A good reply in one piece. The usage is invented: 100 tokens in, one token per character out.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::pieces([text])
    }

    /// A good reply in these pieces, with the usage of [`ScriptedReply::text`].
    #[must_use]
    pub fn pieces<T: Into<String>>(deltas: impl IntoIterator<Item = T>) -> Self {
        let deltas: Vec<String> = deltas.into_iter().map(Into::into).collect();
        let output_tokens = deltas.iter().map(|delta| delta.chars().count() as u64).sum();
        let usage = TokenUsage { input_tokens: 100, output_tokens, ..TokenUsage::default() };
        Self::Stream { deltas, end: ScriptedEnd::Finished { finish_reason: FinishReason::Stop, usage: Some(usage) } }
    }

    /// Calls of tools: name and arguments. Their ids are `c1`, `c2` and so on, after `first - 1` others.
    #[must_use]
    pub fn calls(first: usize, calls: &[(&str, &str)]) -> Self {
        let call = |(place, (name, arguments)): (usize, &(&str, &str))| ToolCallRequest {
            id: format!("c{}", first + place),
            name: (*name).to_owned(),
            arguments: (*arguments).to_owned(),
        };
        Self::ToolCalls {
            text: String::new(),
            reasoning: None,
            calls: calls.iter().enumerate().map(call).collect(),
            finish_reason: "tool_calls".to_owned(),
        }
    }

    /// The same after a while.
    #[must_use]
    pub fn after(self, wait: Duration) -> Self {
        Self::Later { wait, reply: Box::new(self) }
    }

    /// These pieces, and then another end than a good one.
    #[must_use]
    pub fn ending<T: Into<String>>(deltas: impl IntoIterator<Item = T>, end: ScriptedEnd) -> Self {
        Self::Stream { deltas: deltas.into_iter().map(Into::into).collect(), end }
    }
}

/// What a scripted model says, and what it was asked. Clones are the same script: keep one to look at the requests.
#[derive(Clone)]
pub struct Script {
    inner: Arc<Inner>,
    patience: Duration,
}

struct Inner {
    replies: Replies,
    requests: Mutex<Vec<ScriptedRequest>>,
}

enum Replies {
    Queue(Mutex<VecDeque<ScriptedReply>>),
    Made(Box<dyn Fn(&ScriptedRequest) -> ScriptedReply + Send + Sync>),
}

impl Script {
    /// These replies, one to a request. What is asked after the last one gets HTTP 500.
    #[must_use]
    pub fn new(replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        Self::from(Replies::Queue(Mutex::new(replies.into_iter().collect())))
    }

    /// The same reply to every request.
    #[must_use]
    pub fn always(reply: ScriptedReply) -> Self {
        Self::answering(move |_| reply.clone())
    }

    /// Replies made from the requests.
    #[must_use]
    pub fn answering(reply: impl Fn(&ScriptedRequest) -> ScriptedReply + Send + Sync + 'static) -> Self {
        Self::from(Replies::Made(Box::new(reply)))
    }

    /// The same script with other timeouts: how long a caller waits for a reply that never comes, 100 ms unless told.
    /// Scripted replies come at once, so a busy machine does not run into it.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The requests so far, refused ones included.
    #[must_use]
    pub fn requests(&self) -> Vec<ScriptedRequest> {
        lock(&self.inner.requests).clone()
    }

    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    fn from(replies: Replies) -> Self {
        let inner = Inner { replies, requests: Mutex::default() };
        Self { inner: Arc::new(inner), patience: Duration::from_millis(100) }
    }

    /// Takes the request down and says what comes back.
    fn reply(&self, body: &[u8]) -> ScriptedReply {
        let refuse = |status, message: String| ScriptedReply::Status { status, message, retry_after: None };
        let request: ScriptedRequest = match serde_json::from_slice(body) {
            Ok(request) => request,
            Err(error) => return refuse(400, error.to_string()),
        };
        lock(&self.inner.requests).push(request.clone());
        if let Some(fault) = request.fault() {
            return refuse(400, fault);
        }
        match &self.inner.replies {
            Replies::Queue(queue) => {
                lock(queue).pop_front().unwrap_or_else(|| refuse(500, "the script has no reply left".to_owned()))
            }
            Replies::Made(make) => make(&request),
        }
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("requests", &lock(&self.inner.requests).len()).finish_non_exhaustive()
    }
}

pub(crate) struct ScriptedBackend(Script);

impl ScriptedBackend {
    pub(crate) fn new(script: Script) -> Self {
        Self(script)
    }

    pub(crate) async fn send(&self, body: &[u8], departure: &Departure) -> Result<Reply, ModelError> {
        let mut reply = self.0.reply(body);
        let mut wait = Duration::ZERO;
        while let ScriptedReply::Later { wait: more, reply: later } = reply {
            wait += more;
            reply = *later;
        }
        if reply == ScriptedReply::Unreachable {
            let problem = "the script says that nothing listens there".to_owned();
            return Err(ModelError::Unreachable { url: "scripted".to_owned(), problem });
        }
        departure.mark();
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        Ok(match reply {
            ScriptedReply::Stream { deltas, end } => stream_reply(deltas, end),
            ScriptedReply::ToolCalls { text, reasoning, calls, finish_reason } => {
                calls_reply(&text, reasoning.as_deref(), &calls, &finish_reason)
            }
            ScriptedReply::Raw(body) => whole_reply(body.into()),
            ScriptedReply::Status { status, message, retry_after } => {
                let body = json!({"error": {"message": message}}).to_string();
                Reply { status, retry_after, body: Box::pin(stream::iter([Ok(Bytes::from(body))])) }
            }
            ScriptedReply::Unreachable | ScriptedReply::NeverAnswers | ScriptedReply::Later { .. } => {
                std::future::pending().await
            }
        })
    }
}

fn stream_reply(deltas: Vec<String>, end: ScriptedEnd) -> Reply {
    let mut events: Vec<Value> = deltas.into_iter().map(|text| choice(&json!({"content": text}), None)).collect();
    let mut tail = Vec::new();
    let mut silent = false;
    match end {
        ScriptedEnd::Finished { finish_reason, usage } => {
            events.push(choice(&json!({}), Some(wire_name(&finish_reason))));
            events.extend(usage.map(usage_event));
            tail.push(Ok(Bytes::from_static(b"data: [DONE]\n\n")));
        }
        ScriptedEnd::Cut => tail.push(Err(Broken)),
        ScriptedEnd::Error(message) => events.push(json!({"error": {"message": message}})),
        ScriptedEnd::Stalls => silent = true,
    }
    let events =
        stream::iter(events).map(|event| Ok(Bytes::from(format!("data: {event}\n\n")))).chain(stream::iter(tail));
    let body = if silent { events.chain(stream::pending()).boxed() } else { events.boxed() };
    Reply { status: 200, retry_after: None, body }
}

fn whole_reply(body: Bytes) -> Reply {
    Reply { status: 200, retry_after: None, body: Box::pin(stream::iter([Ok(body)])) }
}

/// Arguments come in two pieces, and the pieces of all calls by turns.
fn calls_reply(text: &str, reasoning: Option<&str>, calls: &[ToolCallRequest], finish_reason: &str) -> Reply {
    let mut written = text.chars().count();
    let mut events = Vec::new();
    if let Some(reasoning) = reasoning {
        events.push(choice(&json!({"reasoning_content": reasoning}), None));
    }
    if !text.is_empty() {
        events.push(choice(&json!({"content": text}), None));
    }
    for (index, call) in calls.iter().enumerate() {
        let function = json!({"name": call.name, "arguments": ""});
        let piece = json!({"index": index, "id": call.id, "type": "function", "function": function});
        events.push(choice(&json!({"tool_calls": [piece]}), None));
    }
    for half in 0..2 {
        for (index, call) in calls.iter().enumerate() {
            let chars: Vec<char> = call.arguments.chars().collect();
            let (first, second) = chars.split_at(chars.len() / 2);
            let piece: String = if half == 0 { first } else { second }.iter().collect();
            written += piece.chars().count();
            let piece = json!({"index": index, "function": {"arguments": piece}});
            events.push(choice(&json!({"tool_calls": [piece]}), None));
        }
    }
    events.push(choice(&json!({}), Some(finish_reason)));
    events.push(usage_event(TokenUsage { input_tokens: 100, output_tokens: written as u64, ..TokenUsage::default() }));
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    whole_reply((body + "data: [DONE]\n\n").into())
}

fn choice(delta: &Value, finish_reason: Option<&str>) -> Value {
    json!({"model": "scripted", "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}], "usage": null})
}

fn usage_event(usage: TokenUsage) -> Value {
    json!({"model": "scripted", "choices": [], "usage": {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }})
}

fn wire_name(finish_reason: &FinishReason) -> &str {
    match finish_reason {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::Other(name) => name,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
