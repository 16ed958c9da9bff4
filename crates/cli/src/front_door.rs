//! The front door over the network: the HTTP client of a service, for the agents of others.

use std::error::Error;

use async_trait::async_trait;
use bylaw_contract::{
    ArticleAddress, SourceName,
    ask::{Answer, AskRequest},
    search::{SearchRequest, SearchResponse},
    sources::{ArticleResponse, SourceDetail, SourceSummary},
};
use bylaw_handover::{DoorError, FrontDoor, News, Visit, read_answer, read_reply};
use futures_util::StreamExt;
use reqwest::{Method, RequestBuilder, Response, header};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use crate::{client::Client, failure::chain};

/// A service at an address, with the key that the client has. Whoever calls here is whoever started the program.
pub(crate) struct HttpDoor(pub(crate) Client);

impl HttpDoor {
    async fn send(&self, visit: &Visit, request: RequestBuilder) -> Result<Response, DoorError> {
        let request = request.header("x-request-id", visit.request_id.as_str());
        tokio::select! {
            () = visit.cancel.cancelled() => Err(DoorError::Cancelled),
            sent = request.send() => sent.map_err(|error| self.not_sent(&error)),
        }
    }

    /// Where nobody was reached, nothing happened. Whoever was reached and hung up may have begun.
    fn not_sent(&self, error: &reqwest::Error) -> DoorError {
        let told = format!("{}: {}", self.0.base(), chain(error as &dyn Error));
        if error.is_connect() { DoorError::Unreachable(told) } else { DoorError::CutOff(told) }
    }

    async fn get<T: DeserializeOwned>(&self, visit: &Visit, path: &[&str]) -> Result<T, DoorError> {
        let response = self.send(visit, self.0.request(Method::GET, path)).await?;
        read_reply(response.status().as_u16(), response.bytes_stream()).await
    }
}

#[async_trait]
impl FrontDoor for HttpDoor {
    async fn search(&self, visit: &Visit, request: &SearchRequest) -> Result<SearchResponse, DoorError> {
        let response = self.send(visit, self.0.request(Method::POST, &["search"]).json(request)).await?;
        read_reply(response.status().as_u16(), response.bytes_stream()).await
    }

    async fn ask(&self, visit: &Visit, request: &AskRequest, news: mpsc::Sender<News>) -> Result<Answer, DoorError> {
        let response = self.send(visit, self.0.request(Method::POST, &["ask"]).json(request)).await?;
        let (status, kind) = (response.status().as_u16(), response.headers().get(header::CONTENT_TYPE).cloned());
        let kind = kind.as_ref().and_then(|kind| kind.to_str().ok());
        read_answer(status, kind, response.bytes_stream().boxed(), &news, &visit.cancel).await
    }

    async fn article(
        &self,
        visit: &Visit,
        source: &SourceName,
        article: &ArticleAddress,
    ) -> Result<ArticleResponse, DoorError> {
        self.get(visit, &["articles", source.as_str(), article.as_str()]).await
    }

    async fn sources(&self, visit: &Visit) -> Result<Vec<SourceSummary>, DoorError> {
        self.get(visit, &["sources"]).await
    }

    async fn source(&self, visit: &Visit, source: &SourceName) -> Result<SourceDetail, DoorError> {
        self.get(visit, &["sources", source.as_str()]).await
    }
}
