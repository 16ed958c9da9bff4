//! The port: everything that reaches Bylaw from here goes through it.

use std::time::Duration;

use async_trait::async_trait;
use bylaw_contract::{
    ApiError, ArticleAddress, RequestId, SourceName,
    ask::{Answer, AskRequest, StepEvent, StreamErrorEvent},
    search::{SearchRequest, SearchResponse},
    sources::{ArticleResponse, SourceDetail, SourceSummary},
};
use bylaw_mcp::Principal;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// One request at the door: for whom, under which label, and until when it is wanted.
#[derive(Clone, Debug)]
pub struct Visit {
    /// Who calls. What opens the door for them is in its detail, where whoever let them in put it.
    pub principal: Principal,
    /// The label under which the door writes it down. It goes out with the request, so that it can be told even when nobody
    /// answers.
    pub request_id: RequestId,
    /// Fires when the caller gives up.
    pub cancel: CancellationToken,
}

/// What becomes known while a question is being answered.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// An agent did something.
    Step(StepEvent),
    /// So many articles were found, or read.
    Found(usize),
    /// So many characters of an answer are written.
    Written(usize),
}

/// Why the door gave nothing. None of these says anything about the rules.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// It refused, and says why.
    #[error(transparent)]
    Refused(Box<ApiError>),
    /// The answer broke off with an event that says why.
    #[error("{}", .0.message)]
    Broken(Box<StreamErrorEvent>),
    /// Nobody answers.
    #[error("{0}")]
    Unreachable(String),
    /// What answers is not Bylaw.
    #[error("{0}")]
    Foreign(String),
    /// The reply ended in its middle. What was asked for may have happened.
    #[error("{0}")]
    CutOff(String),
    /// It took longer than this.
    #[error("there was no reply within {0:?}")]
    Late(Duration),
    /// The caller gave up.
    #[error("the caller gave up")]
    Cancelled,
}

/// The front door of a service, whether it is reached over the network or from inside the same process.
///
/// A future that is dropped gives its request up: the connection closes and the spending stops. An implementation does the
/// same when `visit.cancel` fires. Nothing is sent twice unless it certainly did not arrive.
#[async_trait]
pub trait FrontDoor: Send + Sync {
    /// `POST /search`.
    ///
    /// # Errors
    /// As [`DoorError`] says.
    async fn search(&self, visit: &Visit, request: &SearchRequest) -> Result<SearchResponse, DoorError>;

    /// `POST /ask`, streamed. News that nobody fetches may be thrown away.
    ///
    /// # Errors
    /// As [`DoorError`] says.
    async fn ask(&self, visit: &Visit, request: &AskRequest, news: mpsc::Sender<News>) -> Result<Answer, DoorError>;

    /// `GET /articles/{source}/{article}`.
    ///
    /// # Errors
    /// As [`DoorError`] says.
    async fn article(
        &self,
        visit: &Visit,
        source: &SourceName,
        article: &ArticleAddress,
    ) -> Result<ArticleResponse, DoorError>;

    /// `GET /sources`.
    ///
    /// # Errors
    /// As [`DoorError`] says.
    async fn sources(&self, visit: &Visit) -> Result<Vec<SourceSummary>, DoorError>;

    /// `GET /sources/{source}`.
    ///
    /// # Errors
    /// As [`DoorError`] says.
    async fn source(&self, visit: &Visit, source: &SourceName) -> Result<SourceDetail, DoorError>;
}
