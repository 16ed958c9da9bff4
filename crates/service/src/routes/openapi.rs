//! `GET /openapi.json`: the door's own description, from the same attributes as its handlers.

use std::sync::LazyLock;

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, header},
    response::Response,
};
use bylaw_contract::{
    ErrorCode, LoopEvent,
    ask::{CitationsEvent, DoneEvent, StreamErrorEvent, TokenEvent},
    error::ErrorResponse,
    openai::{ChatErrorResponse, ChatMessage},
    runs_api::TextSoFar,
};
use utoipa::{
    Modify, OpenApi,
    openapi::{ContentBuilder, Ref, ResponseBuilder, path::Operation},
};

use crate::openai::is_below;
use crate::routes::{
    articles, artifacts, ask, budgets, conversations, cost, documents, events, health, me, metrics, openai, replies,
    runs, search, sources, usage,
};

#[derive(OpenApi)]
#[openapi(
    info(title = "Bylaw", description = "Cited answers from an organisation's own rules.", license(name = "Apache-2.0")),
    paths(
        ask::ask,
        openai::models,
        openai::chat_completions,
        search::search,
        articles::article,
        sources::list,
        sources::detail,
        sources::delete,
        sources::undo,
        documents::submit,
        documents::list,
        documents::job,
        runs::start,
        runs::list,
        runs::detail,
        runs::cancel,
        events::events,
        replies::answer,
        conversations::begin,
        conversations::list,
        conversations::detail,
        conversations::delete,
        artifacts::artifact,
        me::me,
        usage::usage,
        budgets::budgets,
        cost::cost,
        metrics::metrics,
        health::healthz,
        health::readyz,
        openapi,
    ),
    components(schemas(
        ErrorResponse,
        ErrorCode,
        CitationsEvent,
        TokenEvent,
        DoneEvent,
        StreamErrorEvent,
        ChatMessage,
        ChatErrorResponse,
        LoopEvent,
        TextSoFar,
    )),
    tags(
        (name = "questions", description = "Asking and searching"),
        (name = "runs", description = "Work with tools, and everything that was asked"),
        (name = "documents", description = "What is kept, and bringing more in"),
        (name = "money", description = "What was spent, and what may be"),
        (name = "operation", description = "Running the service"),
    ),
    modifiers(&EveryFailure),
)]
struct Document;

/// Whatever is not 2xx has one shape, at every address but those in OpenAI's shapes.
struct EveryFailure;

impl Modify for EveryFailure {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let failure = |schema: &str| {
            let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
            ResponseBuilder::new()
                .description("Every reply that is not 2xx")
                .content("application/json", content)
                .build()
        };
        for (path, item) in &mut document.paths.paths {
            let schema = if is_below(path) { "ChatErrorResponse" } else { "ErrorResponse" };
            let operations: [&mut Option<Operation>; 3] = [&mut item.get, &mut item.post, &mut item.delete];
            for operation in operations.into_iter().flatten() {
                operation.responses.responses.insert("default".to_owned(), failure(schema).into());
            }
        }
    }
}

/// The OpenAPI document of the door.
#[must_use]
pub fn document() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

static JSON: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(serde_json::to_vec(&document()).unwrap_or_default()));

/// Describes every address of this service.
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "operation",
    responses((status = 200, description = "An OpenAPI document", content_type = "application/json"))
)]
pub(crate) async fn openapi() -> Response {
    let mut reply = Response::new(Body::from(JSON.clone()));
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}
