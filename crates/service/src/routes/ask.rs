//! `POST /ask`: one question, answered as JSON or as events.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, HeaderName, StatusCode},
    response::Response,
};
use bylaw_answer::{AnswerError, Ask, EventSink, IdempotencyKey, IgnoreEvents};
use bylaw_contract::{
    ErrorCode, RunId,
    ask::{Answer, AskRequest},
};
use bylaw_gate::Principal;
use bylaw_retrieval::Generation;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::{
    ask_run::AskRun,
    body::JsonBody,
    caller::Caller,
    error::Failure,
    front::insert_millis,
    parameters::{Parameters, Retrieval},
    reply,
    request_id::Arrival,
    routes::search::known_source,
    service::Service,
    stream,
};

const X_RETRIEVE_MS: HeaderName = HeaderName::from_static("x-retrieve-ms");
const X_LLM_MS: HeaderName = HeaderName::from_static("x-llm-ms");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Answers a question from the rules.
///
/// With `stream: true` the answer comes as Server-Sent Events: `citations`, then `token`s, then `done` or `error`; in agent
/// mode a `step` for each use of a tool goes before, and `citations` are everything that the agent has read. A stop by
/// a cap or a budget is an answer like any other, with `stop`. A request that is sent again with the same
/// `Idempotency-Key` is not answered, and not paid for, twice.
#[utoipa::path(
    post,
    path = "/ask",
    tag = "questions",
    params(
        ("retriever" = Option<String>, Query, description = "The retriever that searches: `lexical`"),
        ("idempotency-key" = Option<String>, Header, description = "The caller's own name for this request, kept for a day"),
    ),
    request_body = AskRequest,
    responses((status = 200, description = "The answer, or why there is none", content(
        (Answer = "application/json"),
        (String = "text/event-stream"),
    )))
)]
pub(crate) async fn ask(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    headers: HeaderMap,
    Parameters(retrieval): Parameters<Retrieval>,
    JsonBody(request): JsonBody<AskRequest>,
) -> Result<Response, Failure> {
    let idempotency_key = idempotency_key(&headers)?;
    request.check()?;
    retrieval.check()?;
    let question = let_in(service, arrival, caller, idempotency_key, request)?;
    if question.request.stream { stream::reply(question).await } else { json(question).await }
}

/// Lets a request in that is in order: the source that it names must be there, and there must be room.
pub(crate) fn let_in(
    service: Arc<Service>,
    arrival: Arrival,
    caller: Principal,
    idempotency_key: Option<IdempotencyKey>,
    request: AskRequest,
) -> Result<Question, Failure> {
    let generation = service.library.generation();
    if let Some(name) = &request.source {
        known_source(&generation, name, &caller)?;
    }
    let permit = Arc::clone(&service.asks)
        .try_acquire_owned()
        .map_err(|_| Failure::new(ErrorCode::Overloaded, "too many questions are being answered; try again shortly"))?;
    let cancel = service.cut.child_token();
    let run_id = RunId::mint(&*service.random);
    Ok(Question { service, arrival, caller, idempotency_key, request, run_id, generation, cancel, permit })
}

pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Failure> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let key = match (values.next(), values.next()) {
        (None, _) => return Ok(None),
        (Some(value), None) => value.to_str().ok().and_then(|text| IdempotencyKey::new(text).ok()),
        (Some(_), Some(_)) => None,
    };
    key.map(Some)
        .ok_or_else(|| Failure::invalid("Idempotency-Key: must be one value of 1 to 255 visible ASCII characters"))
}

/// A question that was let in, with everything that answering it takes.
pub(crate) struct Question {
    pub(crate) service: Arc<Service>,
    pub(crate) arrival: Arrival,
    pub(crate) caller: Principal,
    pub(crate) cancel: CancellationToken,
    pub(crate) idempotency_key: Option<IdempotencyKey>,
    pub(crate) request: AskRequest,
    pub(crate) run_id: RunId,
    generation: Arc<Generation>,
    permit: OwnedSemaphorePermit,
}

impl Question {
    /// Answers it, as the run that `events` tells of.
    pub(crate) async fn answer(self, events: &dyn EventSink, run: &AskRun) -> Result<Answer, AnswerError> {
        let service = &self.service;
        // What waits for a model runs in a task of its own, and settles there, whatever becomes of this one.
        let result = service.answerer.ask(self.asked(events)).await;
        service.remember_model(&result);
        match &result {
            Ok(answer) => service.metrics.count_answer(answer),
            Err(error) => run.failed(service, error),
        }
        drop(self.permit);
        result
    }

    pub(crate) fn asked<'a>(&'a self, events: &'a dyn EventSink) -> Ask<'a> {
        Ask {
            request: &self.request,
            generation: Arc::clone(&self.generation),
            principal: self.caller.clone(),
            idempotency_key: self.idempotency_key.clone(),
            request_id: self.arrival.request_id.clone(),
            run_id: self.run_id.clone(),
            started: self.arrival.started,
            cancel: self.cancel.clone(),
            events,
        }
    }
}

async fn json(question: Question) -> Result<Response, Failure> {
    let service = Arc::clone(&question.service);
    if let Some(recalled) = service.answerer.recall(&question.asked(&IgnoreEvents)).await? {
        service.metrics.count_answer(recalled.remembered());
        return Ok(reply::json_text(StatusCode::OK, recalled.json().map_err(Failure::internal)?));
    }
    let answer = afresh(question).await?;
    let mut reply = reply::json(StatusCode::OK, &answer, 8 * 1024)?;
    for (name, value) in [(X_RETRIEVE_MS, answer.timing.retrieve_ms), (X_LLM_MS, answer.timing.llm_ms)] {
        if value > 0.0 {
            insert_millis(reply.headers_mut(), name, value);
        }
    }
    Ok(reply)
}

/// The whole answer, remembered or new.
pub(crate) async fn whole(question: Question) -> Result<Answer, Failure> {
    let service = &question.service;
    match service.answerer.recall(&question.asked(&IgnoreEvents)).await? {
        Some(recalled) => {
            service.metrics.count_answer(recalled.remembered());
            Ok(recalled.answer())
        }
        None => afresh(question).await,
    }
}

/// An answer that nobody remembers.
async fn afresh(question: Question) -> Result<Answer, Failure> {
    let service = Arc::clone(&question.service);
    // When the caller leaves, this future is dropped, and with it the listener that the run had.
    let run = AskRun::of(&question);
    question.answer(&run, &run).await.map_err(|error| refusal(&service, error))
}

/// Why there is no answer, for the caller.
pub(crate) fn refusal(service: &Service, error: AnswerError) -> Failure {
    match error {
        AnswerError::Cancelled if service.cut.is_cancelled() => {
            Failure::new(ErrorCode::ShuttingDown, "the service is shutting down; ask again when it is back")
        }
        error => Failure::from(error),
    }
}
