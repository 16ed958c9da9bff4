//! `POST /runs/{run}/replies/{question}`: what a person answers to a run.

use std::sync::Arc;

use axum::{Extension, extract::State, response::Response};
use bylaw_agent::{Owner, ReplyError};
use bylaw_contract::{ErrorCode, runs::RunReply, runs_api::ReplyTaken};

use crate::{
    body::JsonBody, caller::Caller, error::Failure, parameters::Tail, reply, request_id::Arrival,
    routes::runs::visible, service::Service,
};

/// Answers a question of one's own run: an approval, or what a server wants to know. The first answer counts.
#[utoipa::path(
    post,
    path = "/runs/{run}/replies/{question}",
    tag = "runs",
    params(
        ("run" = String, Path, description = "The run's id"),
        ("question" = u32, Path, description = "The question's number in the run"),
    ),
    request_body = RunReply,
    responses((status = 200, description = "It is written down, and the run goes on with it", body = ReplyTaken))
)]
pub(crate) async fn answer(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    tail: Tail,
    JsonBody(answer): JsonBody<RunReply>,
) -> Result<Response, Failure> {
    let [run, _, question] = tail.parts()?;
    let record = visible(&service, &caller, &run).await?;
    let by = Owner::from(caller.key_id());
    if record.run.owner != by {
        // An approval is somebody's own word.
        return Err(Failure::new(ErrorCode::Forbidden, "only whose run it is may answer its questions"));
    }
    let missing =
        || Failure::new(ErrorCode::QuestionNotFound, format!("there is no question {question:?} in this run"));
    let question: u32 = question.parse().map_err(|_| missing())?;
    let action = answer.action;
    service.runner.reply(&record.run.id, question, answer, by).await?;
    reply::ok(&ReplyTaken { run_id: record.run.id, id: question, action, request_id: arrival.request_id })
}

impl From<ReplyError> for Failure {
    fn from(error: ReplyError) -> Self {
        let message = error.to_string();
        let code = match error {
            ReplyError::Unknown(_) => ErrorCode::QuestionNotFound,
            ReplyError::Answered { .. } => ErrorCode::QuestionAnswered,
            ReplyError::Closed(_) => ErrorCode::QuestionClosed,
            ReplyError::Invalid(_) => ErrorCode::InvalidRequest,
            ReplyError::Store(error) => return Self::storage(error),
        };
        Self::new(code, message)
    }
}
