//! The front door from the inside: the service's own routes, called as the caller who came in at `/mcp`.

use async_trait::async_trait;
use axum::{
    Router,
    body::Body,
    http::{Method, Request, header},
    response::Response,
};
use bylaw_contract::{
    ArticleAddress, SourceName,
    ask::{Answer, AskRequest},
    search::{SearchRequest, SearchResponse},
    sources::{ArticleResponse, SourceDetail, SourceSummary},
};
use bylaw_handover::{DoorError, FrontDoor, News, Visit, percent_encoded, read_answer, read_reply};
use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::mpsc;
use tower::ServiceExt;

use super::keys::Brought;
use crate::request_id::X_REQUEST_ID;

/// Every route but `/mcp` itself. A future that is dropped is a caller who left.
pub(super) struct OwnRouter(pub(super) Router);

impl OwnRouter {
    async fn send(&self, visit: &Visit, method: Method, path: &str, body: Body) -> Result<Response, DoorError> {
        // Nobody was let in at /mcp without this.
        let brought = visit
            .principal
            .detail::<Brought>()
            .ok_or_else(|| DoorError::Foreign("who calls was not asked for a key".to_owned()))?;
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(X_REQUEST_ID, visit.request_id.as_str())
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(key) = &brought.0 {
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", key.reveal()));
        }
        let request = request.body(body).map_err(|error| DoorError::Foreign(error.to_string()))?;
        tokio::select! {
            () = visit.cancel.cancelled() => Err(DoorError::Cancelled),
            reply = self.0.clone().oneshot(request) => Ok(reply.unwrap_or_else(|never| match never {})),
        }
    }

    async fn post(&self, visit: &Visit, path: &str, request: &impl Serialize) -> Result<Response, DoorError> {
        let body = serde_json::to_vec(request).map_err(|error| DoorError::Foreign(error.to_string()))?;
        self.send(visit, Method::POST, path, Body::from(body)).await
    }

    async fn get<T: DeserializeOwned>(&self, visit: &Visit, path: &str) -> Result<T, DoorError> {
        let reply = self.send(visit, Method::GET, path, Body::empty()).await?;
        read_reply(reply.status().as_u16(), reply.into_body().into_data_stream()).await
    }
}

#[async_trait]
impl FrontDoor for OwnRouter {
    async fn search(&self, visit: &Visit, request: &SearchRequest) -> Result<SearchResponse, DoorError> {
        let reply = self.post(visit, "/search", request).await?;
        read_reply(reply.status().as_u16(), reply.into_body().into_data_stream()).await
    }

    async fn ask(&self, visit: &Visit, request: &AskRequest, news: mpsc::Sender<News>) -> Result<Answer, DoorError> {
        let reply = self.post(visit, "/ask", request).await?;
        let (status, kind) = (reply.status().as_u16(), reply.headers().get(header::CONTENT_TYPE).cloned());
        let kind = kind.as_ref().and_then(|kind| kind.to_str().ok());
        read_answer(status, kind, reply.into_body().into_data_stream(), &news, &visit.cancel).await
    }

    async fn article(
        &self,
        visit: &Visit,
        source: &SourceName,
        article: &ArticleAddress,
    ) -> Result<ArticleResponse, DoorError> {
        let (source, article) = (percent_encoded(source.as_str()), percent_encoded(article.as_str()));
        self.get(visit, &format!("/articles/{source}/{article}")).await
    }

    async fn sources(&self, visit: &Visit) -> Result<Vec<SourceSummary>, DoorError> {
        self.get(visit, "/sources").await
    }

    async fn source(&self, visit: &Visit, source: &SourceName) -> Result<SourceDetail, DoorError> {
        self.get(visit, &format!("/sources/{}", percent_encoded(source.as_str()))).await
    }
}
