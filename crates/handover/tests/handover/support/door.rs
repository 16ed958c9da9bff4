//! A front door that gives what it was told to give, and remembers what was asked of it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use bylaw_contract::{
    ApiError, ArticleAddress, ErrorCode, SourceName,
    ask::{Answer, AskRequest},
    search::{SearchRequest, SearchResponse},
    sources::{ArticleResponse, SourceDetail, SourceSummary},
};
use bylaw_handover::{DoorError, FrontDoor, News, Visit};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

/// What the door does with a request.
pub(crate) enum Reply {
    /// Gives this, as the wire has it.
    Gives(Value),
    /// Fails.
    Fails(DoorError),
    /// Tells this and then nothing, ever.
    Tells(Vec<News>),
}

/// Remembers each request as `name: body`.
#[derive(Default)]
pub(crate) struct ScriptedDoor {
    replies: Mutex<VecDeque<Reply>>,
    pub(crate) asked: Mutex<Vec<String>>,
    pub(crate) visits: Mutex<Vec<Visit>>,
    /// A request came that nobody will answer.
    pub(crate) begun: Arc<Notify>,
    /// It was given up.
    pub(crate) given_up: Arc<Notify>,
}

struct GivesUp(Arc<Notify>);

impl Drop for GivesUp {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl ScriptedDoor {
    pub(crate) fn of(replies: impl IntoIterator<Item = Reply>) -> Arc<Self> {
        Arc::new(Self { replies: Mutex::new(replies.into_iter().collect()), ..Self::default() })
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    async fn next<T: serde::de::DeserializeOwned>(
        &self,
        visit: &Visit,
        asked: String,
        news: Option<mpsc::Sender<News>>,
    ) -> Result<T, DoorError> {
        self.asked.lock().unwrap().push(asked);
        self.visits.lock().unwrap().push(visit.clone());
        let reply = self.replies.lock().unwrap().pop_front().expect("a reply for each request");
        match reply {
            Reply::Gives(value) => Ok(serde_json::from_value(value).unwrap()),
            Reply::Fails(error) => Err(error),
            Reply::Tells(all) => {
                let _gives_up = GivesUp(Arc::clone(&self.given_up));
                self.begun.notify_one();
                for one in all {
                    news.as_ref().unwrap().send(one).await.unwrap();
                }
                std::future::pending().await
            }
        }
    }
}

fn written(request: &impl serde::Serialize) -> String {
    serde_json::to_string(request).unwrap()
}

#[async_trait]
impl FrontDoor for ScriptedDoor {
    async fn search(&self, visit: &Visit, request: &SearchRequest) -> Result<SearchResponse, DoorError> {
        self.next(visit, format!("search: {}", written(request)), None).await
    }

    async fn ask(&self, visit: &Visit, request: &AskRequest, news: mpsc::Sender<News>) -> Result<Answer, DoorError> {
        self.next(visit, format!("ask: {}", written(request)), Some(news)).await
    }

    async fn article(
        &self,
        visit: &Visit,
        source: &SourceName,
        article: &ArticleAddress,
    ) -> Result<ArticleResponse, DoorError> {
        self.next(visit, format!("article: {source} {article}"), None).await
    }

    async fn sources(&self, visit: &Visit) -> Result<Vec<SourceSummary>, DoorError> {
        self.next(visit, "sources".to_owned(), None).await
    }

    async fn source(&self, visit: &Visit, source: &SourceName) -> Result<SourceDetail, DoorError> {
        self.next(visit, format!("source: {source}"), None).await
    }
}

/// What the service refuses with.
pub(crate) fn refusal(code: ErrorCode, message: &str) -> DoorError {
    let request_id = "req-of-the-service".parse().unwrap();
    DoorError::Refused(Box::new(ApiError { code, message: message.to_owned(), request_id, hint: None }))
}

/// An article of `work_rules.md`.
pub(crate) fn article(address: &str, title: &str, text: &str) -> Value {
    json!({
        "id": format!("work_rules.md#{address}"), "source": "work_rules.md", "article": address,
        "article_no": 0, "title": title, "heading_path": ["第三章 出差"], "text": text, "similarity": 0.0, "score": 1.5,
        "retrieved": true, "referenced": false, "used": false, "highlights": [], "quotes": [],
        "source_version": "0".repeat(64),
    })
}

/// What a search gives.
pub(crate) fn hit(articles: &[Value]) -> Value {
    json!({
        "hits": articles, "retriever": "lexical", "k": 5, "filtered": false, "embedding_tokens": 0, "elapsed_ms": 0.1,
        "generation": 1, "request_id": "req-of-the-service",
    })
}

/// An answer as the service gives it.
pub(crate) fn answer(outcome: &str, text: Option<&str>, citations: &[Value]) -> Value {
    json!({
        "answer": text, "outcome": outcome, "note": "a note", "answered_by": { "by": "model", "model": "m" },
        "sentences": [], "citations": citations,
        "usage": {
            "input_tokens": 10, "cached_input_tokens": 0, "output_tokens": 5, "reasoning_tokens": 0, "total_tokens": 15,
            "cached": false, "model_calls": 1, "cost_micro_usd": 100, "estimated": false, "avoided_micro_usd": 0,
            "cost": "0.0032", "currency": "TWD", "cost_twd": 0.0032, "avoided_twd": 0.0,
        },
        "timing": {
            "embed_ms": 0.0, "retrieve_ms": 0.0, "llm_ms": 0.0, "serialize_ms": 0.0, "total_ms": 1.0, "overhead_ms": 1.0,
        },
        "retriever": "lexical", "mode": "pipeline", "agent": null,
        "request_id": "req-of-the-service", "run_id": format!("run_{}", "0".repeat(24)), "asked_at": 0,
    })
}

/// The same, stopped after an agent looked up so many times.
pub(crate) fn stopped(mut answer: Value, reason: &str, at_step: u32, searches: u32) -> Value {
    answer["stop"] = json!({ "reason": reason, "at_step": at_step, "message": "the service's own words" });
    answer["mode"] = "agent".into();
    answer["agent"] = json!({
        "steps": at_step, "searches": searches, "llm_calls": at_step + 1, "queries": ["健身房"], "repeats": 0,
        "hit_cap": true, "n_checks": 0, "flagged": false, "revised": false, "stopped_reason": reason,
        "stopped_at_step": at_step,
    });
    answer
}
