//! `/conversations`: many runs in a row.

use std::sync::Arc;

use axum::{Extension, extract::State, http::StatusCode, response::Response};
use bylaw_agent::{Conversation, ConversationQuery, ConversationRecord, Deleted, Owner, RunQuery, RunRecord};
use bylaw_contract::{
    ConversationId, ErrorCode,
    conversations::{BeginConversation, ConversationBegun, ConversationDeleted, ConversationDetail, ConversationList},
};
use bylaw_gate::Principal;
use serde::Deserialize;

use crate::{
    body::JsonBody,
    caller::Caller,
    error::Failure,
    page::Page,
    parameters::{Parameters, Tail, id},
    reply,
    request_id::Arrival,
    routes::runs::whose,
    service::Service,
};

/// Runs of a conversation that are listed with it.
const RUNS: usize = 200;

/// Begins a conversation. Runs that name it know what was said in it.
#[utoipa::path(
    post,
    path = "/conversations",
    tag = "runs",
    request_body = BeginConversation,
    responses((status = 201, description = "The conversation", body = ConversationBegun))
)]
pub(crate) async fn begin(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    JsonBody(request): JsonBody<BeginConversation>,
) -> Result<Response, Failure> {
    request.check()?;
    request.agent.as_deref().map(|name| service.runner.agent(name)).transpose()?;
    let now = service.clock.now();
    let record = ConversationRecord {
        id: ConversationId::mint(&*service.random),
        owner: Owner::from(caller.key_id()),
        title: request.title,
        agent: request.agent,
        created_at: now,
        updated_at: now,
        busy: None,
    };
    service.runner.store().create_conversation(&record).await?;
    let body = ConversationBegun { conversation: record.summary(), request_id: arrival.request_id };
    reply::json(StatusCode::CREATED, &body, 512)
}

/// Parameters of `GET /conversations`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    limit: Option<i64>,
    before: Option<String>,
    key: Option<String>,
}

/// Lists conversations, the latest first: one's own, and everyone's for an admin.
#[utoipa::path(
    get,
    path = "/conversations",
    tag = "runs",
    params(
        ("limit" = Option<i64>, Query, description = "How many, 1 to 200; 50 without it"),
        ("before" = Option<String>, Query, description = "Only those before this one: `next` of the page before"),
        ("key" = Option<String>, Query, description = "Only those of this key"),
    ),
    responses((status = 200, description = "A page of conversations", body = ConversationList))
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Response, Failure> {
    let page = Page::of(wanted.limit);
    let query = ConversationQuery {
        owner: whose(&caller, wanted.key.as_deref())?,
        before: id("before", wanted.before.as_deref(), ConversationId::new)?,
        limit: page.to_read(),
    };
    let mut found = service.runner.store().conversations(&query).await?;
    reply::ok(&ConversationList {
        next: page.cut(&mut found, |record| &record.id),
        conversations: found.iter().map(ConversationRecord::summary).collect(),
        request_id: arrival.request_id,
    })
}

/// A conversation that the caller may see. Others do not exist for them.
async fn visible(
    service: &Service,
    caller: &Principal,
    text: &str,
) -> Result<(ConversationRecord, Conversation), Failure> {
    let id = ConversationId::new(text).map_err(|_| missing(text))?;
    let found = service.runner.store().conversation(&id).await?;
    found.filter(|(record, _)| caller.may_see_run_of(record.owner.key())).ok_or_else(|| missing(text))
}

fn missing(id: &str) -> Failure {
    Failure::new(ErrorCode::ConversationNotFound, format!("there is no conversation {id}"))
}

/// Shows a conversation: its runs, and what was said.
#[utoipa::path(
    get,
    path = "/conversations/{conversation}",
    tag = "runs",
    params(("conversation" = String, Path, description = "The conversation's id")),
    responses((status = 200, description = "The conversation", body = ConversationDetail))
)]
pub(crate) async fn detail(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    tail: Tail,
) -> Result<Response, Failure> {
    let [id] = tail.parts()?;
    let (record, said) = visible(&service, &caller, &id).await?;
    let query = RunQuery { conversation: Some(record.id.clone()), limit: RUNS, ..RunQuery::default() };
    let runs = service.runner.store().runs(&query).await?;
    reply::ok(&ConversationDetail {
        conversation: record.summary(),
        runs: runs.iter().map(RunRecord::summary).collect(),
        messages: said.shown(),
        artifacts: said.artifacts().to_vec(),
        request_id: arrival.request_id,
    })
}

/// Deletes a conversation with its runs and what they kept aside. The ledger keeps what they cost.
#[utoipa::path(
    delete,
    path = "/conversations/{conversation}",
    tag = "runs",
    params(("conversation" = String, Path, description = "The conversation's id")),
    responses((status = 200, description = "It is gone", body = ConversationDeleted))
)]
pub(crate) async fn delete(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    tail: Tail,
) -> Result<Response, Failure> {
    let [id] = tail.parts()?;
    let (record, _) = visible(&service, &caller, &id).await?;
    match service.runner.store().delete_conversation(&record.id).await? {
        Deleted::Done => reply::ok(&ConversationDeleted { conversation_id: record.id, request_id: arrival.request_id }),
        Deleted::Busy(run) => {
            let message = format!("run {run} goes on in this conversation; wait until it has ended, or cancel it");
            Err(Failure::new(ErrorCode::ConversationBusy, message))
        }
        Deleted::NoSuchConversation => Err(missing(&id)),
    }
}
