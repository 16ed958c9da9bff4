//! One question to a model, from its permit to its first piece.

use std::sync::Arc;

use futures_util::StreamExt;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::{
    action::ActionMode,
    attempt::{Departed, MeteredAttempt, departure},
    backend::{Backend, Reply},
    chat::{ChatRequest, ChatStream, ModelError},
    connection::Connection,
    dialect::Dialect,
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

    /// The same model, given tools in another way.
    #[must_use]
    pub fn with_actions(&self, actions: ActionMode) -> Self {
        let connection = self.connection.clone().with_actions(actions);
        Self { connection, meter: Arc::clone(&self.meter) }
    }

    /// The name that is asked for.
    #[must_use]
    pub fn name(&self) -> &str {
        self.connection.name()
    }

    /// Asks, and streams the reply. Upstream is always asked to stream; a reply in plain JSON is accepted. When `cancel`
    /// fires, the connection is closed and the stream ends with [`ModelError::Cancelled`].
    ///
    /// An attempt is settled before its caller learns of the end: before [`crate::ChatDelta::End`] or an error is handed
    /// out, or while the stream (or the future of this call) is dropped. Where the permit allows fewer tokens than
    /// `request` asks for, fewer are asked for.
    ///
    /// One call is one attempt, unless [`Connection::with_retries`] allows more, or the endpoint refuses a field that can
    /// be left out: then it is left out from there on. No attempt follows a first piece, and none is waited for beyond
    /// the deadline of `request`.
    ///
    /// # Errors
    /// Before the first piece as the result, afterwards as an item of the stream.
    pub async fn chat(&self, request: &ChatRequest, cancel: CancellationToken) -> Result<ChatStream, ModelError> {
        let Connection { retries, pause, dialect: learned, .. } = &self.connection;
        let mut attempt = 1;
        loop {
            if let Some((retries, until)) = retries.as_ref().zip(pause.until()) {
                self.wait_until(retries.soon_after(until), request.deadline, &cancel).await?;
            }
            let dialect = learned.get();
            let failure = match self.attempt(request, dialect, &cancel).await {
                Ok(stream) => return Ok(stream),
                Err(failure) => failure,
            };
            if let Some(dialect) = dialect.after(&failure, request) {
                tracing::debug!(?dialect, %failure, "the endpoint refuses a field");
                learned.learn(dialect);
                continue;
            }
            let Some(retries) = retries else { return Err(failure) };
            pause.heed(&failure, retries);
            let Some(wait) = retries.wait(&failure, attempt) else { return Err(failure) };
            let until = after(Instant::now(), wait);
            if request.deadline.is_some_and(|deadline| until >= deadline) {
                return Err(failure);
            }
            tracing::debug!(?wait, attempt, %failure, "the call is tried again");
            self.wait_until(until, None, &cancel).await?;
            attempt += 1;
        }
    }

    /// Waits, unless that were in vain.
    async fn wait_until(
        &self,
        until: Instant,
        deadline: Option<Instant>,
        cancel: &CancellationToken,
    ) -> Result<(), ModelError> {
        if deadline.is_some_and(|deadline| until >= deadline) {
            let message = "it asked all callers to wait, and longer than this call may take".to_owned();
            let retry_after = Some(until.saturating_duration_since(Instant::now()));
            return Err(ModelError::Status { status: 429, message, retry_after });
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ModelError::Cancelled),
            () = sleep_until(until) => Ok(()),
        }
    }

    async fn attempt(
        &self,
        request: &ChatRequest,
        dialect: Dialect,
        cancel: &CancellationToken,
    ) -> Result<ChatStream, ModelError> {
        let Connection { backend, timeouts, model, actions, .. } = &self.connection;
        let started = Instant::now();
        let end = after(started, timeouts.total);
        let end = request.deadline.map_or(end, |deadline| deadline.min(end));
        let out_of_time = || ModelError::TimedOut { waited: end.saturating_duration_since(started) };
        let body = |max_tokens| request_body(model, request, max_tokens, *actions, dialect);
        let asked = body(request.max_output_tokens);
        let attempt = Attempt {
            purpose: request.purpose,
            model: model.to_string(),
            prompt_token_bound: asked.len() as u64 + TEMPLATE_MARGIN_TOKENS,
            max_output_tokens: request.max_output_tokens,
        };
        let permit = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ModelError::Cancelled),
            () = sleep_until(end), if request.deadline.is_some() => return Err(out_of_time()),
            admitted = self.meter.admit(&attempt) => admitted.map_err(ModelError::Refused)?,
        };
        // Fewer digits at most, so the bound that was admitted still holds.
        let allowed = permit.max_output_tokens().min(request.max_output_tokens);
        let body = if allowed == request.max_output_tokens { asked } else { body(allowed) };
        // The meter's time is not the model's.
        let started = Instant::now();
        let end = after(started, timeouts.total);
        let end = request.deadline.map_or(end, |deadline| deadline.min(end));
        let allowed_time = end.saturating_duration_since(started);
        let (departure, departed) = departure();
        let attempt = MeteredAttempt::new(permit, departed.clone(), Asked::new(model, request, allowed, *actions));
        let reply = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ModelError::Cancelled),
            reply = backend.send(body, departure) => reply?,
            failure = self.overdue(departed.clone()) => return Err(failure),
            () = sleep_until(end) => return Err(ModelError::TimedOut { waited: allowed_time }),
        };
        if !(200..300).contains(&reply.status) {
            return tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ModelError::Cancelled),
                failure = self.refusal(reply, end) => Err(failure),
            };
        }
        let departed = departed.at().unwrap_or_else(Instant::now);
        let mut stream =
            ReplyStream::new(reply.body, attempt, *timeouts, departed, (end, allowed_time), cancel.clone());
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
    async fn refusal(&self, mut reply: Reply, end: Instant) -> ModelError {
        let mut body = Vec::new();
        let deadline = after(Instant::now(), self.connection.timeouts.idle).min(end);
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
        if matches!(reply.status, 400 | 413 | 422) && wire::is_too_long(&body) {
            return ModelError::ContextTooLong { message };
        }
        let retry_after = reply.retry_after.or_else(|| wire::body_retry_after(&body));
        ModelError::Status { status: reply.status, message, retry_after }
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
