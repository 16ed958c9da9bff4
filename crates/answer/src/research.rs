//! Agent mode: an answer that a model researches with tools.

use std::sync::Arc;

use async_trait::async_trait;
use bylaw_contract::{
    ErrorCode, Language, LoopEvent, RunEvent, StopReason,
    ask::{Answer, StepEvent},
};
use bylaw_gate::ReserveError;
use bylaw_model::{ChatModel, FinishReason};

use crate::{
    ask::{AnswerError, Ask, Inner},
    call::Manifest,
    caps::Caps,
    checked::Checked,
    compose::{Composer, Involved},
    digest::Digest,
    flight::Flight,
    pipeline::{Reply, ReplyEnd, Stopped},
    reading::Read,
    researcher::{EMPTY_ANSWER, Research, ResearchLog, Researched, Researcher},
    stops,
    window::Window,
};

type CallFlight = Flight<Digest, Manifest, Arc<Reply>>;

/// What is researched, by whom.
pub(crate) struct Brief {
    researcher: Arc<dyn Researcher>,
    question: String,
    language: Language,
    window: Window,
    k: usize,
    self_check: bool,
    max_steps: u32,
}

impl Brief {
    pub(crate) fn new(researcher: &Arc<dyn Researcher>, ask: &Ask<'_>, caps: &Caps, read: &Read) -> Self {
        Self {
            researcher: Arc::clone(researcher),
            question: ask.request.question.clone(),
            language: read.language,
            window: read.window.clone(),
            k: usize::try_from(ask.request.k).unwrap_or(usize::MAX),
            self_check: ask.request.self_check,
            max_steps: caps.max_steps,
        }
    }

    /// Has it researched for everyone who listens to the flight.
    pub(crate) async fn conduct(self, model: ChatModel, flight: &Arc<CallFlight>) -> Reply {
        let Manifest { run_id, bill, notebook } = &flight.manifest;
        let language = self.language;
        let research = Research {
            question: self.question,
            language,
            window: self.window,
            k: self.k,
            self_check: self.self_check,
            max_steps: self.max_steps,
            model,
            run_id: run_id.clone(),
            notebook: Arc::clone(notebook),
            log: Arc::new(FlightLog(Arc::clone(flight))),
            cancel: flight.cancel.clone(),
        };
        let Researched { answer, reason, code, message, model, finish_reason } =
            self.researcher.research(research).await;
        tracing::debug!(?reason, message, "the research has ended");
        let is_answer = match reason {
            StopReason::Completed | StopReason::Steps | StopReason::ToolCalls | StopReason::RepeatedCall => true,
            // Of these, what there is of an answer is a draft.
            StopReason::Refused
            | StopReason::Context
            | StopReason::Cost
            | StopReason::Time
            | StopReason::Cancelled
            | StopReason::UpstreamIncomplete
            | StopReason::UpstreamTimeout
            | StopReason::Failed => false,
        };
        let (text, end) = match answer {
            Some(text) if is_answer => {
                notebook.answered(&text);
                (Some(text), ReplyEnd::Whole { model, finish_reason })
            }
            Some(text) => (Some(text), ReplyEnd::Stopped(Stopped { reason, code, message })),
            None => {
                let draft = notebook.notes().draft().map(str::to_owned);
                (draft, ReplyEnd::Stopped(Stopped { reason, code, message }))
            }
        };
        let Checked { text, sentences, says_not_in_rules } =
            Checked::of(text.as_deref().unwrap_or_default(), &notebook.given(), language);
        Reply {
            text,
            sentences,
            says_not_in_rules,
            charges: bill.charges(),
            repeats: None,
            stopped: (reason != StopReason::Completed).then_some(reason),
            end,
        }
    }
}

impl Inner {
    /// An answer for research that stopped without one.
    pub(crate) fn stopped(
        &self,
        composer: &Composer<'_>,
        stopped: &Stopped,
        reply: &Reply,
        read: Read,
        involved: Involved,
    ) -> Result<Answer, AnswerError> {
        let language = read.language;
        let Stopped { reason, code, message } = stopped;
        let draft = reply.text.as_str();
        let stop = stops::stop(*reason, language);
        let coded = || (code.unwrap_or(ErrorCode::UpstreamFailed.as_str()).to_owned(), message.clone());
        Ok(match (reason, &reply.charges.refusal) {
            (StopReason::Cancelled, _) => return Err(AnswerError::Cancelled),
            (StopReason::Cost, Some(ReserveError::Budget(shortfall))) => {
                let stop = stops::over_budget(shortfall, &composer.ask.principal, composer.currency, language);
                composer.capped(read, draft, stop, involved)
            }
            (
                StopReason::Steps
                | StopReason::ToolCalls
                | StopReason::RepeatedCall
                | StopReason::Context
                | StopReason::Time,
                _,
            ) => composer.capped(read, draft, stop, involved),
            (StopReason::Failed | StopReason::Completed, _) if *code == Some(EMPTY_ANSWER) => {
                composer.written(read, &Reply::lost(), "", &FinishReason::Stop, involved)
            }
            (StopReason::Cost | StopReason::Failed | StopReason::Completed, refusal) if draft.is_empty() => {
                let refused = refusal.as_ref().map(|why| stops::reason(&stops::refused(why)));
                composer.degraded(read, Some(refused.as_ref().unwrap_or(message)), involved)
            }
            (
                StopReason::Cost
                | StopReason::Failed
                | StopReason::Completed
                | StopReason::UpstreamIncomplete
                | StopReason::UpstreamTimeout
                | StopReason::Refused,
                _,
            ) => composer.broken(read, draft, stop, coded(), involved),
        })
    }
}

/// Tells everyone who listens. Nobody waits for the disk here: the one effect that research has is a model call, whose
/// intent is its reservation, durable before the call leaves; its tools only read.
struct FlightLog(Arc<CallFlight>);

#[async_trait]
impl ResearchLog for FlightLog {
    async fn write(&self, events: Vec<LoopEvent>) -> Result<(), String> {
        events.into_iter().for_each(|event| self.0.tell(RunEvent::Loop(event)));
        Ok(())
    }

    fn show(&self, step: StepEvent) {
        self.0.tell(RunEvent::Step(step));
    }
}
