//! Exchanges with a model, written down and told again.

use std::{
    fmt,
    io::{self, Write},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    attempt::Departure,
    backend::{Backend, Broken, ByteStream, Reply},
    chat::ModelError,
};

/// One exchange, as it stands on a line. It holds neither headers nor the address, and so no key.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    request: Value,
    outcome: Outcome,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Outcome {
    Reply {
        status: u16,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<Duration>,
        body: Body,
        end: End,
    },
    Unreachable {
        problem: String,
    },
}

/// Text, unless it is none.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Body {
    Text(String),
    Bytes(Vec<u8>),
}

/// How the body of a reply ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum End {
    /// As it should.
    Whole,
    /// The connection broke.
    Broken,
    /// Nobody read on.
    Left,
}

/// Writes each exchange as one line of JSON when it is over. Clones write to the same place.
#[derive(Clone)]
pub struct Recorder {
    out: Arc<Mutex<dyn Write + Send>>,
}

impl Recorder {
    /// A recorder that writes there.
    #[must_use]
    pub fn new(out: impl Write + Send + 'static) -> Self {
        Self { out: Arc::new(Mutex::new(out)) }
    }

    fn write(&self, exchange: &Exchange) {
        if let Err(error) = self.try_write(exchange) {
            tracing::error!(%error, "an exchange with the model is missing from the recording");
        }
    }

    fn try_write(&self, exchange: &Exchange) -> io::Result<()> {
        let mut line = serde_json::to_vec(exchange)?;
        line.push(b'\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(&line)?;
        out.flush()
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

/// Another backend, whose exchanges are written down.
pub(crate) struct RecordedBackend {
    pub(crate) inner: Backend,
    recorder: Recorder,
}

impl RecordedBackend {
    pub(crate) fn new(inner: Backend, recorder: Recorder) -> Self {
        Self { inner, recorder }
    }

    pub(crate) async fn send(&self, body: Bytes, departure: Departure) -> Result<Reply, ModelError> {
        let request = serde_json::from_slice(&body).unwrap_or_default();
        let reply = match Box::pin(self.inner.send(body, departure)).await {
            Ok(reply) => reply,
            Err(failure) => {
                let problem = match &failure {
                    ModelError::Unreachable { problem, .. } => problem.clone(),
                    other => other.to_string(),
                };
                self.recorder.write(&Exchange { request, outcome: Outcome::Unreachable { problem } });
                return Err(failure);
            }
        };
        let Reply { status, retry_after, body } = reply;
        let recorder = self.recorder.clone();
        let body = RecordedBody { body, request, status, retry_after, received: Vec::new(), end: End::Left, recorder };
        Ok(Reply { status, retry_after, body: Box::pin(body) })
    }
}

/// Written down when it is dropped, whoever stopped reading and why.
struct RecordedBody {
    body: ByteStream,
    request: Value,
    status: u16,
    retry_after: Option<Duration>,
    received: Vec<u8>,
    end: End,
    recorder: Recorder,
}

impl Stream for RecordedBody {
    type Item = Result<Bytes, Broken>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = ready!(self.body.as_mut().poll_next(cx));
        match &item {
            Some(Ok(bytes)) => self.received.extend_from_slice(bytes),
            Some(Err(Broken)) => self.end = End::Broken,
            None => self.end = End::Whole,
        }
        Poll::Ready(item)
    }
}

impl Drop for RecordedBody {
    fn drop(&mut self) {
        let received = std::mem::take(&mut self.received);
        let body = String::from_utf8(received).map_or_else(|error| Body::Bytes(error.into_bytes()), Body::Text);
        let outcome = Outcome::Reply { status: self.status, retry_after: self.retry_after, body, end: self.end };
        self.recorder.write(&Exchange { request: self.request.take(), outcome });
    }
}

/// Recorded exchanges that are told again: to an equal request the recorded reply, each once and in their order. Clones
/// are the same replay.
#[derive(Clone, Debug)]
pub struct Replay {
    exchanges: Arc<Vec<Exchange>>,
    told: Arc<Mutex<Vec<bool>>>,
}

/// A line that is no exchange.
#[derive(Debug, thiserror::Error)]
#[error("line {line} of the recording is no exchange")]
pub struct ReplayError {
    /// Which, from 1.
    pub line: usize,
    #[source]
    source: serde_json::Error,
}

impl Replay {
    /// Reads what a [`Recorder`] wrote. Blank lines are skipped.
    ///
    /// # Errors
    /// If a line is no exchange.
    pub fn read(recording: &str) -> Result<Self, ReplayError> {
        let lines = recording.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let exchange =
            |(place, line)| serde_json::from_str(line).map_err(|source| ReplayError { line: place + 1, source });
        let exchanges: Vec<Exchange> = lines.map(exchange).collect::<Result<_, _>>()?;
        let told = Arc::new(Mutex::new(vec![false; exchanges.len()]));
        Ok(Self { exchanges: Arc::new(exchanges), told })
    }

    /// How many exchanges have not been told yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|told| !**told).count()
    }

    /// The model that was asked in the first exchange.
    pub(crate) fn model(&self) -> &str {
        self.exchanges.first().and_then(|exchange| exchange.request.get("model")?.as_str()).unwrap_or("replayed")
    }

    pub(crate) async fn send(&self, body: &[u8], departure: &Departure) -> Result<Reply, ModelError> {
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        let outcome = match self.next(&request) {
            Ok(outcome) => outcome,
            Err(problem) => {
                departure.mark();
                let body = Bytes::from(serde_json::json!({"error": {"message": problem}}).to_string());
                // No status that anyone tries again.
                return Ok(Reply { status: 501, retry_after: None, body: Box::pin(stream::iter([Ok(body)])) });
            }
        };
        match outcome {
            Outcome::Unreachable { problem } => Err(ModelError::Unreachable { url: "replayed".to_owned(), problem }),
            Outcome::Reply { status, retry_after, body, end } => {
                departure.mark();
                let body = match body {
                    Body::Text(text) => text.into_bytes(),
                    Body::Bytes(bytes) => bytes,
                };
                let body = stream::iter([Ok(Bytes::from(body))]);
                let body = match end {
                    End::Whole => body.boxed(),
                    End::Broken => body.chain(stream::iter([Err(Broken)])).boxed(),
                    // Whoever waited for more then waits again.
                    End::Left => body.chain(stream::pending()).boxed(),
                };
                Ok(Reply { status, retry_after, body })
            }
        }
    }

    fn next(&self, request: &Value) -> Result<Outcome, String> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let equal = |&place: &usize| self.exchanges[place].request == *request;
        let places: Vec<usize> = (0..told.len()).filter(equal).collect();
        if let Some(&place) = places.iter().find(|&&place| !told[place]) {
            told[place] = true;
            return Ok(self.exchanges[place].outcome.clone());
        }
        if !places.is_empty() {
            return Err(format!("the recording holds this request {} times, and all were told", places.len()));
        }
        Err(match told.iter().position(|told| !told) {
            None => "the recording is at its end and does not hold this request".to_owned(),
            Some(next) => {
                let path = difference(&self.exchanges[next].request, request, String::new()).unwrap_or_default();
                format!("the recording does not hold this request; the next recorded one differs at `{path}`")
            }
        })
    }
}

/// Where two values first differ.
fn difference(one: &Value, other: &Value, path: String) -> Option<String> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
            let null = Value::Null;
            keys.into_iter().find_map(|key| {
                let values = (one.get(key).unwrap_or(&null), other.get(key).unwrap_or(&null));
                difference(values.0, values.1, format!("{path}/{key}"))
            })
        }
        (Value::Array(one), Value::Array(other)) => {
            let pairs = one.iter().zip(other).enumerate();
            let inside =
                pairs.into_iter().find_map(|(place, (one, other))| difference(one, other, format!("{path}/{place}")));
            inside.or_else(|| (one.len() != other.len()).then(|| format!("{path}/{}", one.len().min(other.len()))))
        }
        _ => (one != other).then_some(path),
    }
}
