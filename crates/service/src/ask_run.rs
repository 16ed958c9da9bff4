//! A question as a run: what happens is told to the caller, if they listen, and written down.

use bylaw_agent::{NewRun, OpenRun, Owner, Purpose};
use bylaw_answer::{AnswerError, EventSink};
use bylaw_contract::{ErrorCode, RunEvent, Stop, StopReason, ask::Mode};

use crate::{routes::ask::Question, service::Service};

/// The run of one question. Dropped before its last event, it was cancelled.
pub(crate) struct AskRun(OpenRun);

impl AskRun {
    pub(crate) fn of(question: &Question) -> Self {
        let service = &question.service;
        let mode = question.request.mode;
        let model = match mode {
            Mode::Extract => None,
            Mode::Auto | Mode::Pipeline | Mode::Agent => service.answerer.model().map(|model| model.name().to_owned()),
        };
        let new = NewRun {
            id: question.run_id.clone(),
            owner: Owner::from(question.caller.key_id()),
            purpose: Purpose::Ask(mode),
            model,
            conversation: None,
            message: question.request.question.clone(),
            request_id: question.arrival.request_id.clone(),
            started_at: service.clock.now(),
        };
        let run = service.runner.journal().hold(new).that_stops_with(question.cancel.clone());
        // Only a request with a key of its own may be one that was answered before.
        Self(if question.idempotency_key.is_some() { run.that_may_repeat() } else { run })
    }

    /// Writes down that there is no answer. Whoever left has said nothing, and a run that is dropped was cancelled.
    pub(crate) fn failed(&self, service: &Service, error: &AnswerError) {
        let (reason, code) = match error {
            AnswerError::Cancelled if service.cut.is_cancelled() => (StopReason::Cancelled, ErrorCode::ShuttingDown),
            AnswerError::Cancelled if self.0.was_stopped() => (StopReason::Cancelled, ErrorCode::Cancelled),
            AnswerError::Cancelled => return,
            error => (StopReason::Failed, error.code()),
        };
        let stop = Stop { reason, at_step: 0, message: error.to_string() };
        self.0.report(RunEvent::Failed { stop, code: code.as_str().to_owned(), message: error.to_string() });
    }
}

impl EventSink for AskRun {
    fn report(&self, event: RunEvent) {
        self.0.report(event);
    }
}

/// Tells two.
pub(crate) struct Both<'a>(pub(crate) &'a dyn EventSink, pub(crate) &'a AskRun);

impl EventSink for Both<'_> {
    fn report(&self, event: RunEvent) {
        self.1.report(event.clone());
        self.0.report(event);
    }
}
