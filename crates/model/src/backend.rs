//! What carries a request to a model: HTTP, or a script.

use std::{fmt, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::Stream;

use crate::{
    attempt::Departure,
    chat::ModelError,
    http::HttpBackend,
    record::{RecordedBackend, Replay},
    scripted::ScriptedBackend,
    wire,
};

/// The connection broke. What it broke on says nothing that its reader could use.
#[derive(Debug)]
pub(crate) struct Broken;

/// The body of a reply. Dropping it closes the connection.
pub(crate) type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, Broken>> + Send>>;

/// The head of a reply, and its body to come.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: ByteStream,
}

/// How long is waited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    pub(crate) connect: Duration,
    pub(crate) first_byte: Duration,
    pub(crate) idle: Duration,
    pub(crate) total: Duration,
}

#[derive(Clone)]
pub(crate) enum Backend {
    Http(Arc<HttpBackend>),
    Scripted(Arc<ScriptedBackend>),
    Recorded(Arc<RecordedBackend>),
    Replayed(Replay),
}

impl Backend {
    /// Sends a request and waits for the head of its reply. Marks `departure` when the first byte is about to leave.
    pub(crate) async fn send(&self, body: Bytes, departure: Departure) -> Result<Reply, ModelError> {
        match self {
            Self::Http(http) => http.send(body, departure).await,
            Self::Scripted(script) => script.send(&body, &departure).await,
            Self::Recorded(recorded) => recorded.send(body, departure).await,
            Self::Replayed(replay) => replay.send(&body, &departure).await,
        }
    }

    /// The failure of a connection that was never made.
    pub(crate) fn unreachable(&self, problem: String) -> ModelError {
        ModelError::Unreachable { url: self.url().to_owned(), problem }
    }

    /// One line of `text`, without the key: some endpoints repeat it when they refuse it. The key goes before the cut,
    /// which could leave half of it.
    pub(crate) fn presentable(&self, text: &str) -> String {
        match self {
            Self::Http(http) => wire::cut(&http.without_key(text)),
            Self::Scripted(_) | Self::Replayed(_) => wire::cut(text),
            Self::Recorded(recorded) => recorded.inner.presentable(text),
        }
    }

    fn url(&self) -> &str {
        match self {
            Self::Http(http) => http.shown_url(),
            Self::Scripted(_) => "scripted",
            Self::Recorded(recorded) => recorded.inner.url(),
            Self::Replayed(_) => "replayed",
        }
    }
}

/// Shows where, and no secret.
impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url())
    }
}
