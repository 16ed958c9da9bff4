//! A model that says what a script says.
//!
//! It stands where the network stands: it takes the bytes of a request and gives the bytes of a reply. Everything above
//! it, the meter included, is what a real endpoint gets.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bylaw_contract::TokenUsage;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    attempt::Departure,
    backend::{Broken, Reply},
    chat::{ChatMessage, FinishReason, ModelError, Role},
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

    /// These pieces, and then another end than a good one.
    #[must_use]
    pub fn ending<T: Into<String>>(deltas: impl IntoIterator<Item = T>, end: ScriptedEnd) -> Self {
        Self::Stream { deltas: deltas.into_iter().map(Into::into).collect(), end }
    }
}

/// A request as the scripted model got it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedRequest {
    /// The model that was asked for.
    pub model: String,
    /// The conversation.
    pub messages: Vec<ChatMessage>,
    /// Most tokens to write.
    pub max_tokens: u32,
    /// Always 0.
    pub temperature: f64,
    /// Always true.
    pub stream: bool,
    /// Always asks for the usage.
    pub stream_options: Value,
}

impl ScriptedRequest {
    /// What a provider would answer 400 to.
    fn fault(&self) -> Option<&'static str> {
        if self.messages.is_empty() {
            Some("messages must not be empty")
        } else if !self.messages.iter().any(|message| message.role == Role::User) {
            Some("messages must hold at least one user message")
        } else if self.messages.iter().any(|message| message.content.trim().is_empty()) {
            Some("a message must not be blank")
        } else if self.max_tokens == 0 {
            Some("max_tokens must be at least 1")
        } else {
            None
        }
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
            return refuse(400, fault.to_owned());
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
        let reply = self.0.reply(body);
        if reply == ScriptedReply::Unreachable {
            let problem = "the script says that nothing listens there".to_owned();
            return Err(ModelError::Unreachable { url: "scripted".to_owned(), problem });
        }
        departure.mark();
        Ok(match reply {
            ScriptedReply::Stream { deltas, end } => stream_reply(deltas, end),
            ScriptedReply::Status { status, message, retry_after } => {
                let body = json!({"error": {"message": message}}).to_string();
                Reply { status, retry_after, body: Box::pin(stream::iter([Ok(Bytes::from(body))])) }
            }
            ScriptedReply::Unreachable | ScriptedReply::NeverAnswers => std::future::pending().await,
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
        FinishReason::ContentFilter => "content_filter",
        FinishReason::Other(name) => name,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
