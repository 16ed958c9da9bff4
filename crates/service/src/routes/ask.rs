//! `POST /ask`: one question, answered as JSON or as events.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{
    Extension,
    extract::State,
    http::{HeaderName, StatusCode},
    response::Response,
};
use bylaw_answer::{AnswerError, Ask, EventSink, IgnoreEvents};
use bylaw_contract::{
    ErrorCode, RunId,
    ask::{Answer, AskRequest, Mode},
};
use bylaw_retrieval::Generation;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::{
    body::JsonBody,
    error::Failure,
    front::insert_millis,
    parameters::{Parameters, Retrieval},
    reply,
    request_id::Arrival,
    routes::search::{known_source, without_stalling},
    service::Service,
    stream,
};

const X_RETRIEVE_MS: HeaderName = HeaderName::from_static("x-retrieve-ms");
const X_LLM_MS: HeaderName = HeaderName::from_static("x-llm-ms");

/// Answers a question from the rules.
///
/// With `stream: true` the answer comes as Server-Sent Events: `citations`, then `token`s, then `done` or `error`.
#[utoipa::path(
    post,
    path = "/ask",
    tag = "questions",
    params(("retriever" = Option<String>, Query, description = "The retriever that searches: `lexical`")),
    request_body = AskRequest,
    responses((status = 200, description = "The answer, or why there is none", content(
        (Answer = "application/json"),
        (String = "text/event-stream"),
    )))
)]
pub(crate) async fn ask(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Parameters(retrieval): Parameters<Retrieval>,
    JsonBody(request): JsonBody<AskRequest>,
) -> Result<Response, Failure> {
    request.check()?;
    retrieval.check()?;
    if request.mode == Mode::Agent {
        return Err(Failure::from(AnswerError::ModeUnavailable));
    }
    let generation = service.library.generation();
    if let Some(name) = &request.source {
        known_source(&generation, name)?;
    }
    let permit = Arc::clone(&service.asks)
        .try_acquire_owned()
        .map_err(|_| Failure::new(ErrorCode::Overloaded, "too many questions are being answered; try again shortly"))?;
    let cancel = service.cut.child_token();
    let question = Question { service, arrival, request, generation, cancel, permit };
    if question.request.stream { Ok(stream::reply(question)) } else { json(question).await }
}

/// A question that was let in, with everything that answering it takes.
pub(crate) struct Question {
    pub(crate) service: Arc<Service>,
    pub(crate) arrival: Arrival,
    pub(crate) cancel: CancellationToken,
    request: AskRequest,
    generation: Arc<Generation>,
    permit: OwnedSemaphorePermit,
}

impl Question {
    pub(crate) async fn answer(self, events: &dyn EventSink) -> Result<Answer, AnswerError> {
        let result = self
            .service
            .answerer
            .ask(Ask {
                request: &self.request,
                generation: self.generation,
                request_id: self.arrival.request_id,
                run_id: RunId::mint(&*self.service.random),
                started: self.arrival.started,
                cancel: self.cancel,
                events,
            })
            .await;
        self.service.remember_model(&result);
        drop(self.permit);
        result
    }
}

async fn json(question: Question) -> Result<Response, Failure> {
    let service = Arc::clone(&question.service);
    // When the caller leaves, this future is dropped, and the guard with it.
    let guard = question.cancel.clone().drop_guard();
    let generation = Arc::clone(&question.generation);
    let mut answering = Box::pin(async move { question.answer(&IgnoreEvents).await });
    // An answer that waits for nothing is ready at once. One that waits for a model gets a task of its own, which goes on
    // to settle its accounts even when nobody is left to listen.
    let first = std::future::poll_fn(|context| Poll::Ready(poll_once(&generation, answering.as_mut(), context))).await;
    let result = match first {
        Poll::Ready(result) => result,
        Poll::Pending => tokio::spawn(answering).await.map_err(Failure::internal)?,
    };
    guard.disarm();
    let answer = result.map_err(|error| refusal(&service, error))?;
    let mut reply = reply::json(StatusCode::OK, &answer, 8 * 1024)?;
    for (name, value) in [(X_RETRIEVE_MS, answer.timing.retrieve_ms), (X_LLM_MS, answer.timing.llm_ms)] {
        if value > 0.0 {
            insert_millis(reply.headers_mut(), name, value);
        }
    }
    Ok(reply)
}

fn poll_once<F: Future>(generation: &Generation, future: Pin<&mut F>, context: &mut Context<'_>) -> Poll<F::Output> {
    without_stalling(generation, || future.poll(context))
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
