//! A question as a run: what happens is told to the caller, if they listen, and written down.

use std::sync::{Mutex, PoisonError};

use bylaw_agent::{NewRun, OpenRun, Owner, Purpose};
use bylaw_answer::{AnswerError, EventSink};
use bylaw_contract::{ErrorCode, RunEvent, RunId, Stop, StopReason, ask::Mode};

use crate::{routes::ask::Question, service::Service};

/// The run of one question. Dropped before its last event, it was cancelled.
pub(crate) struct AskRun {
    run: OpenRun,
    /// What may yet turn out to be the beginning of an answer that was given before, which is no run of its own.
    held: Mutex<Option<Vec<RunEvent>>>,
}

impl AskRun {
    pub(crate) fn of(question: &Question) -> Self {
        let service = &question.service;
        let mode = question.request.mode;
        let model = match mode {
            Mode::Extract => None,
            Mode::Auto | Mode::Pipeline | Mode::Agent => service.answerer.model().map(|model| model.name().to_owned()),
        };
        let run = service.runner.journal().hold(NewRun {
            id: question.run_id.clone(),
            owner: Owner::from(question.caller.key_id()),
            purpose: Purpose::Ask(mode),
            model,
            conversation: None,
            message: question.request.question.clone(),
            request_id: question.arrival.request_id.clone(),
            started_at: service.clock.now(),
        });
        // Only a request with a key of its own may be one that was answered before.
        let held = question.idempotency_key.is_some().then(Vec::new);
        Self { run, held: Mutex::new(held) }
    }

    pub(crate) const fn id(&self) -> &RunId {
        &self.run.run().id
    }

    /// Writes down that there is no answer. Whoever left has said nothing, and their run was cancelled.
    pub(crate) fn failed(&self, service: &Service, error: &AnswerError) {
        let (reason, code) = match error {
            AnswerError::Cancelled if service.cut.is_cancelled() => (StopReason::Cancelled, ErrorCode::ShuttingDown),
            AnswerError::Cancelled => return,
            error => (StopReason::Failed, error.code()),
        };
        let stop = Stop { reason, at_step: 0, message: error.to_string() };
        self.report(RunEvent::Failed { stop, code: code.as_str().to_owned(), message: error.to_string() });
    }
}

impl EventSink for AskRun {
    fn report(&self, event: RunEvent) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = held.as_mut() {
            let is_last = match &event {
                RunEvent::Done { .. } | RunEvent::Failed { .. } => true,
                RunEvent::Citations { .. } | RunEvent::Step(_) | RunEvent::Token { .. } | RunEvent::Loop(_) => false,
            };
            if !is_last {
                waiting.push(event);
                return;
            }
            let waiting = held.take().unwrap_or_default();
            let repeats = matches!(&event, RunEvent::Done { answer } if answer.run_id != *self.id());
            if !repeats {
                waiting.into_iter().for_each(|event| self.run.report(event));
            }
        }
        drop(held);
        self.run.report(event);
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
