//! `/v1`: questions for programs that speak to OpenAI. Each is asked as at `/ask`.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{FromRequest, Request, State},
    http::{HeaderMap, StatusCode, Uri},
    response::Response,
};
use bylaw_contract::{
    ask::Mode,
    openai::{ChatChunk, ChatCompletion, ChatRequest, ModelEntry, ModelList},
};

use crate::{
    body,
    caller::Caller,
    error::Failure,
    openai::{MODELS, answered::Telling, asked::Asked, chunks, links::Base},
    reply,
    request_id::Arrival,
    routes::ask::{idempotency_key, let_in, whole},
    service::Service,
};

/// How many bodies of other routes a conversation may take: it comes whole each time, though little of it is used.
const CONVERSATION: usize = 16;

/// Lists the modes that can be asked, as models. Those that need a model are there if one is configured.
#[utoipa::path(
    get,
    path = "/v1/models",
    tag = "questions",
    responses((status = 200, description = "The modes, as models", body = ModelList))
)]
pub(crate) async fn models(State(service): State<Arc<Service>>) -> Result<Response, Failure> {
    let has_model = service.answerer.model().is_some();
    let can_be_asked = |mode: Mode| match mode {
        Mode::Auto | Mode::Extract => true,
        Mode::Pipeline | Mode::Agent => has_model,
    };
    let entry = |name: &str| ModelEntry {
        id: name.to_owned(),
        object: "model".to_owned(),
        created: 0,
        owned_by: "bylaw".to_owned(),
    };
    let data = MODELS.into_iter().filter(|(_, mode)| can_be_asked(*mode)).map(|(name, _)| entry(name)).collect();
    reply::ok(&ModelList { object: "list".to_owned(), data })
}

/// Answers the last message of the user, in the shape of OpenAI's chat completions.
///
/// It is asked as at `/ask`: the model names the mode; keys, caps and budgets are the same. The articles follow the answer as
/// numbered links, a stop by a cap or a budget is a sentence in the text with `finish_reason: length`, and `bylaw` is the
/// answer as `/ask` gives it. With `stream: true` the last event is `data: [DONE]`. Earlier turns and system messages are not
/// used, sampling and unknown fields are ignored.
#[utoipa::path(
    post,
    path = "/v1/chat/completions",
    tag = "questions",
    params(("idempotency-key" = Option<String>, Header, description = "As at `/ask`")),
    request_body = ChatRequest,
    responses((status = 200, description = "The answer; as events, each is a piece of it", content(
        (ChatCompletion = "application/json"),
        (ChatChunk = "text/event-stream"),
    )))
)]
pub(crate) async fn chat_completions(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    uri: Uri,
    headers: HeaderMap,
    Conversation(conversation): Conversation,
) -> Result<Response, Failure> {
    let idempotency_key = idempotency_key(&headers)?;
    let Asked { request, model, messages_not_used, include_usage } = Asked::read(&conversation)?;
    let created = service.clock.now().0.div_euclid(1_000);
    let question = let_in(service, arrival, caller, idempotency_key, request)?;
    let telling = Telling {
        run: question.run_id.clone(),
        created,
        model,
        messages_not_used,
        language: bylaw_retrieval::language_of(&question.request.question),
        base: Base::of(&uri, &headers),
    };
    if question.request.stream {
        return chunks::reply(question, telling, include_usage).await;
    }
    let answer = whole(question).await?;
    reply::json(StatusCode::OK, &telling.completion(answer), 16 * 1024)
}

/// The body of a request.
pub(crate) struct Conversation(ChatRequest);

impl FromRequest<Arc<Service>> for Conversation {
    type Rejection = Failure;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self, Failure> {
        let limit = service.settings.json_limit_bytes.saturating_mul(CONVERSATION);
        body::json(request, service, limit).await.map(Self)
    }
}
