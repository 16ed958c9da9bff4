//! One question to a model, from its permit to its first piece.

use std::sync::Arc;

use futures_util::StreamExt;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::{
    attempt::{Departed, MeteredAttempt, departure},
    backend::{Backend, Reply},
    chat::{ChatRequest, ChatStream, ModelError},
    connection::Connection,
    endpoint::Endpoint,
    meter::{Attempt, Meter},
    reply::Asked,
    request::request_body,
    scripted::Script,
    stream::{ReplyStream, after},
    wire,
};

/// What a chat template adds around the messages, in tokens.
const TEMPLATE_MARGIN_TOKENS: u64 = 64;

/// How much of an error's body is read.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// A chat model behind a meter. Cloning it is cheap, and clones share their connections.
#[derive(Clone, Debug)]
pub struct ChatModel {
    connection: Connection,
    meter: Arc<dyn Meter>,
}

impl ChatModel {
    pub(crate) fn new(connection: Connection, meter: Arc<dyn Meter>) -> Self {
        Self { connection, meter }
    }

    /// A model behind an OpenAI-compatible endpoint; see [`Connection::open`].
    ///
    /// # Errors
    /// Those of [`Connection::open`].
    pub fn connect(endpoint: Endpoint, meter: Arc<dyn Meter>) -> Result<Self, ModelError> {
        Ok(Connection::open(endpoint)?.metered(meter))
    }

    /// A model that says what a script says; see [`Connection::scripted`].
    #[must_use]
    pub fn scripted(script: Script, meter: Arc<dyn Meter>) -> Self {
        Connection::scripted(script).metered(meter)
    }

    /// The name that is asked for.
    #[must_use]
    pub fn name(&self) -> &str {
        self.connection.name()
    }

    /// Asks, and streams the reply. Upstream is always asked to stream; a reply in plain JSON is accepted. When `cancel`
    /// fires, the connection is closed and the stream ends with [`ModelError::Cancelled`].
    ///
    /// One call is one attempt. It is settled before its caller learns of the end: before [`crate::ChatDelta::End`] or an
    /// error is handed out, or while the stream (or the future of this call) is dropped. Where the permit allows fewer
    /// tokens than `request` asks for, fewer are asked for.
    ///
    /// # Errors
    /// Before the first piece as the result, afterwards as an item of the stream.
    pub async fn chat(&self, request: &ChatRequest, cancel: CancellationToken) -> Result<ChatStream, ModelError> {
        let Connection { backend, timeouts, model } = &self.connection;
        let body = request_body(model, request, request.max_output_tokens);
        let attempt = Attempt {
            purpose: request.purpose,
            model: model.to_string(),
            prompt_token_bound: body.len() as u64 + TEMPLATE_MARGIN_TOKENS,
            max_output_tokens: request.max_output_tokens,
        };
        let permit = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ModelError::Cancelled),
            admitted = self.meter.admit(&attempt) => admitted.map_err(ModelError::Refused)?,
        };
        // Fewer digits at most, so the bound that was admitted still holds.
        let allowed = permit.max_output_tokens().min(request.max_output_tokens);
        let body = if allowed == request.max_output_tokens { body } else { request_body(model, request, allowed) };
        let end = after(Instant::now(), timeouts.total);
        let (departure, departed) = departure();
        let attempt = MeteredAttempt::new(permit, departed.clone(), Asked::new(model, request, allowed));
        let reply = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ModelError::Cancelled),
            reply = backend.send(body, departure) => reply?,
            failure = self.overdue(departed.clone()) => return Err(failure),
            () = sleep_until(end) => return Err(ModelError::TimedOut { waited: timeouts.total }),
        };
        if !(200..300).contains(&reply.status) {
            return tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ModelError::Cancelled),
                failure = self.refusal(reply) => Err(failure),
            };
        }
        let departed = departed.at().unwrap_or_else(Instant::now);
        let mut stream = ReplyStream::new(reply.body, attempt, *timeouts, departed, end, cancel);
        match stream.next().await {
            Some(Ok(delta)) => stream.put_back(delta),
            Some(Err(failure)) => return Err(presentable(backend, failure)),
            None => return Err(ModelError::Incomplete),
        }
        let backend = backend.clone();
        Ok(Box::pin(stream.map(move |item| item.map_err(|failure| presentable(&backend, failure)))))
    }

    /// Resolves when the head of a reply should have come: first the connection has its time, then the first byte.
    async fn overdue(&self, mut departed: Departed) -> ModelError {
        match timeout_at(after(Instant::now(), self.connection.timeouts.connect), departed.wait()).await {
            Err(_) => self
                .connection
                .backend
                .unreachable(format!("no connection within {:?}", self.connection.timeouts.connect)),
            Ok(Some(at)) => {
                sleep_until(after(at, self.connection.timeouts.first_byte)).await;
                ModelError::TimedOut { waited: self.connection.timeouts.first_byte }
            }
            // The request was given up before it left, and says so itself.
            Ok(None) => std::future::pending().await,
        }
    }

    /// What a reply that is no success says. Its body is worth a short wait, and no failure of its own.
    async fn refusal(&self, mut reply: Reply) -> ModelError {
        let mut body = Vec::new();
        let deadline = after(Instant::now(), self.connection.timeouts.idle);
        while let Ok(Some(Ok(piece))) = timeout_at(deadline, reply.body.next()).await {
            body.extend_from_slice(&piece[..piece.len().min(MAX_ERROR_BYTES - body.len())]);
            if body.len() == MAX_ERROR_BYTES {
                break;
            }
        }
        let mut message = self.connection.backend.presentable(&wire::body_message(&body));
        if (300..400).contains(&reply.status) {
            "it redirects; `model.base_url` needs the final address".clone_into(&mut message);
        } else if message.is_empty() {
            "it gives no reason".clone_into(&mut message);
        }
        ModelError::Status { status: reply.status, message, retry_after: reply.retry_after }
    }
}

/// `failure` in words that may be shown: what it repeats from the reply is cut, and is without the key.
fn presentable(backend: &Backend, failure: ModelError) -> ModelError {
    match failure {
        ModelError::Status { status, message, retry_after } => {
            ModelError::Status { status, message: backend.presentable(&message), retry_after }
        }
        ModelError::Malformed { problem } => ModelError::Malformed { problem: backend.presentable(&problem) },
        ModelError::ContextTooLong { message } => ModelError::ContextTooLong { message: backend.presentable(&message) },
        other @ (ModelError::Refused(_)
        | ModelError::Unreachable { .. }
        | ModelError::TimedOut { .. }
        | ModelError::Incomplete
        | ModelError::Cancelled) => other,
    }
}
