//! The gate before what cannot be undone: the human is asked, in either era of the protocol.
//!
//! ```text
//!   older   confirm() ── elicitation/create ──► client ──► answer ──► confirm() returns
//!   newer   confirm() ── input_required + sealed state ──►  the call ends
//!           confirm() ◄── the same call, state, answer ───  the call is made again, confirm() returns
//! ```

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bylaw_contract::{Clock, Randomness};
use rmcp::{
    RoleServer,
    model::{
        ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData, InputRequest,
        InputRequiredResult, InputResponses, ServerRequest,
    },
    service::{Peer, PeerRequestOptions, ServiceError},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{
    Caller, Confirmation, ConfirmationKey, ConfirmationUse, ConfirmationUses, Era, Question, ToolStop,
    answer::Stop,
    form::Form,
    seal::{Binding, Opened},
    slots::{Slot, Slots},
};

/// How often the human is shown a form again that was filled in wrongly.
const MAX_FORMS: usize = 3;

/// What puts questions to humans.
pub struct ConfirmationGate {
    key: ConfirmationKey,
    uses: Arc<dyn ConfirmationUses>,
    clock: Arc<dyn Clock>,
    randomness: Arc<dyn Randomness>,
    older: Duration,
    newer: Duration,
}

impl ConfirmationGate {
    /// A gate that waits two minutes for an answer in the middle of a call, and takes one up to ten minutes later with a
    /// call that is made again.
    #[must_use]
    pub fn new(
        key: ConfirmationKey,
        uses: Arc<dyn ConfirmationUses>,
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
    ) -> Self {
        let (older, newer) = (Duration::from_secs(120), Duration::from_secs(600));
        Self { key, uses, clock, randomness, older, newer }
    }

    /// With other times: `older` is waited for, `newer` is how long an answer is taken.
    #[must_use]
    pub fn with_patience(mut self, older: Duration, newer: Duration) -> Self {
        (self.older, self.newer) = (older, newer);
        self
    }
}

/// Puts the question of one call.
pub(super) struct Asker {
    pub(super) gate: Option<Arc<ConfirmationGate>>,
    pub(super) tool: String,
    pub(super) peer: Peer<RoleServer>,
    /// The client says that it can show forms.
    pub(super) able: bool,
    pub(super) state: Option<String>,
    /// The answers that came with the state, by the names of their questions.
    pub(super) responses: Option<InputResponses>,
    pub(super) place: Place,
    pub(super) asked: AtomicBool,
}

/// The place of a call among those that run, given up while the human thinks.
pub(super) struct Place {
    pub(super) slots: Arc<Slots>,
    pub(super) slot: Mutex<Option<Slot>>,
}

impl Place {
    fn leave(&self) {
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    async fn come_back(&self, principal: &str) {
        // Who was let in once is not refused now: without a place if it must be.
        let slot = self.slots.take(principal).await;
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = slot;
    }
}

fn mistake(what: &str, problem: &str) -> ToolStop {
    tracing::error!(problem, "{what}");
    ToolStop::refused(
        "This server made a mistake, and nothing was done. Tell the people who run it; do not call again.",
    )
}

impl Asker {
    pub(super) fn can_ask(&self) -> bool {
        self.able && self.gate.is_some()
    }

    pub(super) async fn ask(
        &self,
        caller: &Caller,
        arguments: &Map<String, Value>,
        cancel: &CancellationToken,
        question: &Question,
    ) -> Result<Confirmation, ToolStop> {
        if self.asked.swap(true, Ordering::SeqCst) {
            return Err(mistake("a tool asked two questions in one call", &self.tool));
        }
        let Some(gate) = self.gate.as_deref().filter(|_| self.able) else {
            return Ok(Confirmation::Unsupported);
        };
        let form =
            Form::read(&question.schema).map_err(|problem| mistake("a question has no proper form", &problem))?;
        match caller.era {
            Era::Older => {
                self.place.leave();
                let outcome = self.wait(gate, &form, question, cancel).await;
                self.place.come_back(caller.principal.id()).await;
                outcome
            }
            Era::Newer => {
                let principal = caller.principal.id();
                let binding = Binding::of(principal, &self.tool, arguments, question);
                let Some(state) = self.state.as_deref() else {
                    return Err(put(gate, &form, question, &binding, None));
                };
                let opened = gate.key.open(state, &binding).ok_or_else(foreign)?;
                self.take(gate, &form, question, principal, &binding, opened).await
            }
        }
    }

    /// Asks in the middle of the call.
    async fn wait(
        &self,
        gate: &ConfirmationGate,
        form: &Form,
        question: &Question,
        cancel: &CancellationToken,
    ) -> Result<Confirmation, ToolStop> {
        let deadline = tokio::time::Instant::now() + gate.older;
        let mut problem = None;
        for _ in 0..MAX_FORMS {
            let request = ServerRequest::ElicitRequest(request(form, question, problem.as_deref()));
            let sent = self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
            let mut handle = sent.map_err(|error| unanswered(&error))?;
            let reply = tokio::select! {
                reply = &mut handle.rx => reply,
                () = tokio::time::sleep_until(deadline) => {
                    let _ = handle.cancel(Some("nobody answered in time".to_owned())).await;
                    return Ok(Confirmation::TimedOut);
                }
                () = cancel.cancelled() => {
                    let _ = handle.cancel(Some("the call was cancelled".to_owned())).await;
                    return Err(ToolStop::refused("The call was cancelled, and nothing was done."));
                }
            };
            let answer = match reply {
                Ok(Ok(ClientResult::ElicitResult(answer))) => answer,
                Ok(Err(ServiceError::McpError(error))) => {
                    tracing::warn!(tool = self.tool, %error, "a client that said it could ask did not");
                    return Ok(Confirmation::Unsupported);
                }
                Ok(Ok(_)) => return Ok(Confirmation::Dismissed),
                Ok(Err(error)) => return Err(unanswered(&error)),
                Err(_closed) => return Err(unanswered(&ServiceError::TransportClosed)),
            };
            match read(answer, form) {
                Answer::Yes(filled) => return Ok(Confirmation::Accepted(filled)),
                Answer::No => return Ok(Confirmation::Declined),
                Answer::Away => return Ok(Confirmation::Dismissed),
                Answer::Wrong(wrong) => problem = Some(wrong),
            }
        }
        Err(ToolStop::refused(format!(
            "The form was not filled in properly, and nothing was done: {}. Tell the person before you call again.",
            problem.unwrap_or_default()
        )))
    }

    /// Takes an answer that came with the call.
    async fn take(
        &self,
        gate: &ConfirmationGate,
        form: &Form,
        question: &Question,
        principal: &str,
        binding: &Binding,
        opened: Opened,
    ) -> Result<Confirmation, ToolStop> {
        let again = |problem: Option<&str>| put(gate, form, question, binding, problem);
        let answer = self.responses.as_ref().and_then(|answers| answers.get(&question.name));
        let answer = answer.and_then(|answer| ElicitResult::deserialize(answer).ok());
        let Some(answer) = answer else { return Err(again(None)) };
        let now = gate.clock.now();
        if opened.expires < now {
            return Ok(Confirmation::TimedOut);
        }
        let outcome = match read(answer, form) {
            // A yes holds for what was shown, a no for more than that.
            Answer::Yes(_) if !opened.same_facts => return Err(again(None)),
            Answer::Wrong(problem) => return Err(again(Some(&problem))),
            Answer::Yes(filled) => Confirmation::Accepted(filled),
            Answer::No => Confirmation::Declined,
            Answer::Away => Confirmation::Dismissed,
        };
        let subject = question.subject.clone();
        let used =
            ConfirmationUse { id: opened.id, principal: principal.to_owned(), subject, now, expires: opened.expires };
        match gate.uses.spend(&used).await {
            Ok(true) => Ok(outcome),
            Ok(false) => Err(ToolStop::refused(
                "This confirmation was used before, and nothing was done now. Look up the present state first; if it still \
                 has to be done, call again without the confirmation, and the person will be asked anew.",
            )),
            Err(error) => {
                tracing::error!(error = %error.0, "{error}");
                Err(ToolStop::refused(
                    "The person's answer could not be recorded, and nothing was done. Call again later; the person will be \
                     asked anew.",
                ))
            }
        }
    }
}

enum Answer {
    Yes(Map<String, Value>),
    Wrong(String),
    No,
    Away,
}

fn read(answer: ElicitResult, form: &Form) -> Answer {
    match answer.action {
        ElicitationAction::Accept => form.check(answer.content).map_or_else(Answer::Wrong, Answer::Yes),
        ElicitationAction::Decline => Answer::No,
        // The library may learn more words; none of them is a yes.
        _ => Answer::Away,
    }
}

fn request(form: &Form, question: &Question, problem: Option<&str>) -> ElicitRequest {
    let message = match problem {
        Some(problem) => format!("{}\n\n({problem})", question.message),
        None => question.message.clone(),
    };
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: form.wire(),
    })
}

/// Ends the call with the question.
fn put(
    gate: &ConfirmationGate,
    form: &Form,
    question: &Question,
    binding: &Binding,
    problem: Option<&str>,
) -> ToolStop {
    let state = gate.key.seal(binding, gate.clock.now().plus(gate.newer), &*gate.randomness);
    let asked = InputRequest::Elicitation(request(form, question, problem));
    ToolStop(Stop::Asking(Box::new(InputRequiredResult::new(
        Some([(question.name.clone(), asked)].into()),
        Some(state),
    ))))
}

fn foreign() -> ToolStop {
    ToolStop(Stop::Protocol(ErrorData::invalid_params(
        "this confirmation does not belong to this call: call again without requestState, and the person will be asked",
        None,
    )))
}

fn unanswered(error: &ServiceError) -> ToolStop {
    tracing::debug!(%error, "a question could not be put");
    ToolStop::refused("The person could not be asked, and nothing was done. Call again when the connection is back.")
}
