//! `/runs`: starting work, seeing how it goes, and stopping it.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use bylaw_agent::{Errand, Owner, RunQuery, RunRecord, RunStoreError, StartError, TighterLimits};
use bylaw_contract::{
    ConversationId, ErrorCode, KeyId, LoopEvent, MicroUsd, RunEvent, RunId,
    ask::FieldError,
    runs::{RunKind, RunStatus},
    runs_api::{AskedLimits, OpenQuestion, RunCancelled, RunDetail, RunList, StartRun, StartedRun},
};
use bylaw_gate::{Action, Currency, Principal, parse_decimal};
use serde::Deserialize;

use crate::{
    body::JsonBody,
    caller::Caller,
    error::Failure,
    page::Page,
    parameters::{Parameters, Tail, id},
    reply,
    request_id::Arrival,
    service::Service,
};

/// Events that are read at once.
const EVENTS: usize = 256;

/// Starts a run of an agent.
///
/// It goes on whatever becomes of this request: `GET /runs/{run}/events` tells what happens in it.
#[utoipa::path(
    post,
    path = "/runs",
    tag = "runs",
    request_body = StartRun,
    responses((status = 202, description = "It was started; Location is where it is seen", body = StartedRun))
)]
pub(crate) async fn start(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    JsonBody(request): JsonBody<StartRun>,
) -> Result<Response, Failure> {
    request.check()?;
    let limits = tighter(request.limits.as_ref(), &service.accounts.currency)?;
    let errand = Errand {
        agent: request.agent,
        conversation: request.conversation.clone(),
        message: request.message,
        limits,
        principal: caller,
        request_id: arrival.request_id.clone(),
    };
    let started = service.runner.start(errand).await?;
    let address = format!("/runs/{}", started.run_id);
    let body = StartedRun {
        events: format!("{address}/events"),
        run_id: started.run_id,
        agent: started.agent,
        conversation_id: request.conversation,
        request_id: arrival.request_id,
    };
    let mut reply = reply::json(StatusCode::ACCEPTED, &body, 512)?;
    if let Ok(address) = HeaderValue::try_from(address) {
        reply.headers_mut().insert(header::LOCATION, address);
    }
    Ok(reply)
}

fn tighter(asked: Option<&AskedLimits>, currency: &Currency) -> Result<TighterLimits, FieldError> {
    let Some(asked) = asked else { return Ok(TighterLimits::default()) };
    let wall = asked.max_wall_ms.as_ref().and_then(serde_json::Number::as_f64);
    Ok(TighterLimits {
        steps: asked.max_steps,
        tool_calls: asked.max_tool_calls,
        wall_time: wall.map(|wall| Duration::try_from_secs_f64(wall / 1_000.0).unwrap_or(Duration::MAX)),
        cost: asked.max_cost.as_deref().map(|text| cost(text, currency)).transpose()?,
    })
}

fn cost(text: &str, currency: &Currency) -> Result<MicroUsd, FieldError> {
    let problem = |problem| FieldError::new("limits.max_cost", problem);
    match parse_decimal(text).map_err(|error| problem(format!("{text:?}: {error}")))? {
        0 => Err(problem("must be more than 0".to_owned())),
        amount => Ok(currency.cap(amount)),
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Store(error) => Self::storage(error),
            error => Self::new(error.code(), error.to_string()),
        }
    }
}

impl From<RunStoreError> for Failure {
    fn from(error: RunStoreError) -> Self {
        Self::storage(error)
    }
}

/// Parameters of `GET /runs`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    limit: Option<i64>,
    before: Option<String>,
    status: Option<RunStatus>,
    kind: Option<RunKind>,
    agent: Option<String>,
    conversation: Option<String>,
    key: Option<String>,
}

/// Lists runs, the latest first: one's own, and everyone's for an admin. Questions of `/ask` are runs, too.
#[utoipa::path(
    get,
    path = "/runs",
    tag = "runs",
    params(
        ("limit" = Option<i64>, Query, description = "How many, 1 to 200; 50 without it"),
        ("before" = Option<String>, Query, description = "Only those before this run: `next` of the page before"),
        ("status" = Option<RunStatus>, Query, description = "Only those that stand so"),
        ("kind" = Option<RunKind>, Query, description = "Only those of this kind"),
        ("agent" = Option<String>, Query, description = "Only those of this agent"),
        ("conversation" = Option<String>, Query, description = "Only those of this conversation"),
        ("key" = Option<String>, Query, description = "Only those of this key"),
    ),
    responses((status = 200, description = "A page of runs", body = RunList))
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Response, Failure> {
    let page = Page::of(wanted.limit);
    let query = RunQuery {
        owner: whose(&caller, wanted.key.as_deref())?,
        status: wanted.status,
        kind: wanted.kind,
        agent: wanted.agent,
        conversation: id("conversation", wanted.conversation.as_deref(), ConversationId::new)?,
        before: id("before", wanted.before.as_deref(), RunId::new)?,
        limit: page.to_read(),
        ..RunQuery::default()
    };
    let mut runs = service.runner.store().runs(&query).await?;
    reply::ok(&RunList {
        next: page.cut(&mut runs, |record| &record.run.id),
        runs: runs.iter().map(RunRecord::summary).collect(),
        request_id: arrival.request_id,
    })
}

/// Whose runs or conversations are shown: everyone's to whoever may see them, else one's own.
pub(crate) fn whose(caller: &Principal, key: Option<&str>) -> Result<Option<Owner>, Failure> {
    let key = id("key", key, KeyId::new)?;
    let own = Owner::from(caller.key_id());
    if caller.may(Action::EveryonesRuns) {
        return Ok(key.map(Owner::Key));
    }
    if key.as_ref().is_some_and(|key| Some(key) != caller.key_id()) {
        let role = Action::EveryonesRuns.least_role();
        let message = format!("this key may see its own runs only; everyone's needs the role {role}");
        return Err(Failure::new(ErrorCode::Forbidden, message).with_hint("leave the parameter key out"));
    }
    Ok(Some(own))
}

/// A run that the caller may see. Others do not exist for them.
pub(crate) async fn visible(service: &Service, caller: &Principal, text: &str) -> Result<RunRecord, Failure> {
    let missing = || Failure::new(ErrorCode::RunNotFound, format!("there is no run {text:?}"));
    let id = RunId::new(text).map_err(|_| missing())?;
    let record = service.runner.store().run(&id).await?;
    record.filter(|record| caller.may_see_run_of(record.run.owner.key())).ok_or_else(missing)
}

/// Shows one run.
#[utoipa::path(
    get,
    path = "/runs/{run}",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id")),
    responses((status = 200, description = "The run", body = RunDetail))
)]
pub(crate) async fn detail(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    tail: Tail,
) -> Result<Response, Failure> {
    let [id] = tail.parts()?;
    let record = visible(&service, &caller, &id).await?;
    let read = read(&service, &record.run.id).await?;
    reply::ok(&RunDetail {
        questions: questions(&service, &record).await?,
        run: record.summary(),
        stop_message: read.stop_message,
        answer: read.answer,
        steps: read.steps,
        tool_calls: read.tool_calls,
        last_event: read.last,
        request_id: arrival.request_id,
    })
}

/// What the events of a run say of it.
#[derive(Default)]
struct Read {
    answer: Option<String>,
    stop_message: Option<String>,
    steps: u32,
    tool_calls: u32,
    last: u64,
}

async fn read(service: &Service, run: &RunId) -> Result<Read, RunStoreError> {
    let mut read = Read::default();
    loop {
        let events = service.runner.store().events(run, read.last, EVENTS).await?;
        let count = events.len();
        for event in events {
            read.last = event.number;
            read.take(event.event);
        }
        if count < EVENTS {
            return Ok(read);
        }
    }
}

impl Read {
    fn take(&mut self, event: RunEvent) {
        match event {
            RunEvent::Done { answer } => {
                self.stop_message = answer.stop.map(|stop| stop.message);
                self.answer = answer.answer;
            }
            RunEvent::Failed { message, .. } => self.stop_message = Some(message),
            RunEvent::Loop(LoopEvent::Ended { message, answer, steps, tool_calls, .. }) => {
                (self.stop_message, self.answer) = (Some(message), answer);
                // A run whose process is gone does not say how far it had come.
                (self.steps, self.tool_calls) = (steps.max(self.steps), tool_calls.max(self.tool_calls));
            }
            RunEvent::Loop(LoopEvent::ModelReply { calls, .. }) if !calls.is_empty() => self.steps += 1,
            RunEvent::Loop(LoopEvent::ToolCall { .. }) => self.tool_calls += 1,
            RunEvent::Citations { .. } | RunEvent::Step(_) | RunEvent::Token { .. } | RunEvent::Loop(_) => {}
        }
    }
}

/// What a run waits for. Where it goes on here, that is known better than from what was written down: a question that was
/// put away has no answer.
async fn questions(service: &Service, record: &RunRecord) -> Result<Vec<OpenQuestion>, RunStoreError> {
    if record.ended.is_some() {
        return Ok(Vec::new());
    }
    let here = service.runner.open_questions(&record.run.id);
    let is_open = |number: u32| here.as_ref().is_none_or(|open| open.iter().any(|question| question.id == number));
    let kept = service.runner.store().questions(&record.run.id).await?;
    let open = kept.into_iter().filter(|kept| kept.given.is_none() && is_open(kept.number));
    Ok(open
        .filter_map(|kept| match kept.question {
            LoopEvent::Question { id, kind, server, tool, arguments, message, schema } => {
                Some(OpenQuestion { id, kind, server, tool, arguments, message, schema })
            }
            _ => None,
        })
        .collect())
}

/// Stops a run. It ends as `cancelled`, with what it had come to; one that is over stays as it is.
#[utoipa::path(
    delete,
    path = "/runs/{run}",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id")),
    responses((status = 200, description = "Whether it was going on", body = RunCancelled))
)]
pub(crate) async fn cancel(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    tail: Tail,
) -> Result<Response, Failure> {
    let [id] = tail.parts()?;
    let record = visible(&service, &caller, &id).await?;
    let cancelled = record.ended.is_none() && service.runner.cancel(&record.run.id);
    reply::ok(&RunCancelled { run_id: record.run.id, cancelled, request_id: arrival.request_id })
}
