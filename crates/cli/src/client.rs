//! A client of a running service.

use std::{path::Path, time::Duration};

use bylaw_contract::{
    ErrorCode, SourceName,
    ask::{Answer, AskRequest},
    documents::{IngestJob, JobStatus},
    error::ErrorResponse,
    search::{SearchRequest, SearchResponse},
    sources::{DeleteResult, SourceDetail, SourceSummary, UndoResult},
};
use bylaw_gate::KeySecret;
use reqwest::{Method, RequestBuilder, Url};
use serde::de::DeserializeOwned;

use crate::{
    config::ClientKey,
    failure::{Failure, chain},
};

/// Speaks to one service.
pub(crate) struct Client {
    base: Url,
    http: reqwest::Client,
    key: Option<KeySecret>,
}

impl Client {
    /// A client of the service at `url`, which is sent the key if there is one.
    pub(crate) fn new(url: &str, key: Option<&ClientKey>) -> Result<Self, Failure> {
        let invalid = |problem: String| Failure::new(ErrorCode::InvalidConfiguration, format!("{url}: {problem}"));
        let mut base: Url = url.parse().map_err(|error| invalid(format!("not a URL: {error}")))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(invalid("the URL must begin with http:// or https://".to_owned()));
        }
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        let http = bylaw_model::http_client(&base).map_err(|error| invalid(chain(&error)))?;
        let key = key.map(|key| KeySecret::parse(key.reveal()).ok_or_else(not_a_key)).transpose()?;
        Ok(Self { base, http, key })
    }

    /// Where the service is.
    pub(crate) fn base(&self) -> &str {
        self.base.as_str()
    }

    pub(crate) async fn search(&self, request: &SearchRequest) -> Result<SearchResponse, Failure> {
        self.send(self.request(Method::POST, &["search"]).json(request)).await
    }

    pub(crate) async fn ask(&self, request: &AskRequest) -> Result<Answer, Failure> {
        self.send(self.request(Method::POST, &["ask"]).json(request)).await
    }

    pub(crate) async fn sources(&self) -> Result<Vec<SourceSummary>, Failure> {
        self.send(self.request(Method::GET, &["sources"])).await
    }

    pub(crate) async fn source(&self, name: &SourceName) -> Result<SourceDetail, Failure> {
        self.send(self.request(Method::GET, &["sources", name.as_str()])).await
    }

    pub(crate) async fn delete(&self, name: &SourceName) -> Result<DeleteResult, Failure> {
        self.send(self.request(Method::DELETE, &["sources", name.as_str()])).await
    }

    pub(crate) async fn undo_delete(&self, name: &SourceName) -> Result<UndoResult, Failure> {
        self.send(self.request(Method::POST, &["sources", name.as_str(), "undo"])).await
    }

    /// Uploads a file under a source name and waits for the job to end.
    pub(crate) async fn upload(
        &self,
        file: &Path,
        source: &SourceName,
        progress: &(dyn Fn(&IngestJob) + Sync),
    ) -> Result<IngestJob, Failure> {
        let form = reqwest::multipart::Form::new().text("source", source.to_string()).file("file", file).await;
        let form = form.map_err(|error| {
            Failure::new(ErrorCode::DocumentNotFound, format!("{}: {}", file.display(), chain(&error)))
        })?;
        let mut job: IngestJob = self.send(self.request(Method::POST, &["documents"]).multipart(form)).await?;
        while matches!(job.status, JobStatus::Queued | JobStatus::Running) {
            progress(&job);
            tokio::time::sleep(Duration::from_millis(50)).await;
            job = self.send(self.request(Method::GET, &["documents", job.job_id.as_str()])).await?;
        }
        Ok(job)
    }

    /// A request at an address below the service's own.
    pub(crate) fn request(&self, method: Method, path: &[&str]) -> RequestBuilder {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            // An http URL always has segments; a name with slashes is one of them, percent-encoded.
            segments.pop_if_empty().extend(path);
        }
        let request = self.http.request(method, url);
        match &self.key {
            Some(key) => request.bearer_auth(key.reveal()),
            None => request,
        }
    }

    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Failure> {
        let unreachable = |error: reqwest::Error| {
            Failure::new(ErrorCode::ServiceUnreachable, format!("no answer from {}: {}", self.base, chain(&error)))
                .hint("is the service running? bylaw serve starts one; this does not mean that nothing was found")
        };
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let body = response.bytes().await.map_err(unreachable)?;
        if status.is_success() {
            return serde_json::from_slice(&body).map_err(|error| self.not_bylaw(&error.to_string()));
        }
        match serde_json::from_slice::<ErrorResponse>(&body) {
            Ok(response) => Err(self.about_key(response.error.into())),
            Err(_) => Err(self.not_bylaw(&format!("HTTP status {status}"))),
        }
    }

    /// Says where a key is given, to whom that may help.
    fn about_key(&self, failure: Failure) -> Failure {
        match (failure.code, &self.key) {
            (ErrorCode::InvalidKey, None) => failure.hint("give a key with the variable BYLAW_KEY or with --key"),
            _ => failure,
        }
    }

    fn not_bylaw(&self, what: &str) -> Failure {
        Failure::new(ErrorCode::ServiceUnreachable, format!("what answers at {} is not Bylaw: {what}", self.base))
            .hint("check the address given with --url")
    }
}

fn not_a_key() -> Failure {
    Failure::new(ErrorCode::InvalidKey, "the key that was given is not one: bylaw_ and 64 hexadecimal digits")
        .hint("it comes from the variable BYLAW_KEY, from --key or from client.key in the configuration")
}
