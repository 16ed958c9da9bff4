//! An answer as Server-Sent Events: an agent's `step`s, `citations`, `token`s, and exactly one of `done` and `error`.

use std::{collections::VecDeque, convert::Infallible, pin::Pin, sync::Arc, time::Duration};

use axum::{
    http::{HeaderName, HeaderValue, header},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use bylaw_answer::{EventSink, IgnoreEvents};
use bylaw_contract::{
    ErrorCode, RunEvent, Stop, StopReason,
    ask::{Answer, CitationsEvent, DoneEvent, StepEvent, StreamErrorEvent, TokenEvent},
};
use futures_util::{Stream, StreamExt, stream};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_util::sync::DropGuard;

use crate::{
    ask_run::{AskRun, Both},
    error::Failure,
    front::milliseconds,
    request_id::Arrival,
    routes::ask::{Question, refusal},
    standing::Standing,
};

/// Starts answering and streams what happens.
pub(crate) async fn reply(question: Question) -> Result<Response, Failure> {
    let heartbeat = question.service.settings.heartbeat;
    let events = listen(question).await?.map(|frame| Ok::<_, Infallible>(frame.into_event()));
    let keep_alive = KeepAlive::new().interval(heartbeat).text("waiting");
    Ok(not_to_be_kept(Sse::new(events).keep_alive(keep_alive).into_response()))
}

/// Starts answering and tells what happens. A question that is refused before anything of its answer is known gets its
/// refusal. Whoever drops the stream cancels the answer.
pub(crate) async fn listen(question: Question) -> Result<impl Stream<Item = Frame> + Send + 'static, Failure> {
    let service = Arc::clone(&question.service);
    let transcript = Transcript::new(question.arrival.clone());
    let standing = Standing::new(Arc::clone(&service.accounts.keys), question.caller.clone());
    let standing_lost = Box::pin(async move { standing.lost().await });
    let guard = question.cancel.clone().drop_guard();
    // What was answered before is no run of its own.
    let recalled = service.answerer.recall(&question.asked(&IgnoreEvents)).await?;
    // Without a bound, because what one answer can produce has one: its citations and its tokens.
    let (sender, mut steps) = mpsc::unbounded_channel();
    let last_word = sender.clone();
    let answering = tokio::spawn(async move {
        let service = Arc::clone(&question.service);
        let result = match recalled {
            Some(recalled) => {
                service.metrics.count_answer(recalled.remembered());
                Ok(recalled.tell(&Channel(sender)))
            }
            None => {
                let run = AskRun::of(&question);
                question.answer(&Both(&Channel(sender), &run), &run).await
            }
        };
        let result = result.map_err(|error| refusal(&service, error));
        // Fails only when the caller has left.
        let _ = last_word.send(Step::Finished(result.map(Box::new)));
    });
    let first = match steps.recv().await {
        Some(Step::Finished(Err(failure))) => return Err(failure),
        first => first,
    };
    let listener =
        Listener { first, steps, transcript, standing_lost, guard: Some(guard), ready: VecDeque::new(), answering };
    Ok(stream::unfold(listener, move |mut listener| {
        let service = Arc::clone(&service);
        async move {
            let frame = listener.next(|| service.clock.elapsed()).await?;
            Some((frame, listener))
        }
    }))
}

/// An event stream that nobody on its way may hold back or change.
pub(crate) fn not_to_be_kept(mut reply: Response) -> Response {
    let headers = reply.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    reply
}

/// What a run tells its listener.
#[derive(Debug)]
enum Step {
    Event(RunEvent),
    Finished(Result<Box<Answer>, Failure>),
}

struct Channel(mpsc::UnboundedSender<Step>);

impl EventSink for Channel {
    fn report(&self, event: RunEvent) {
        // Fails only when the caller has left; the run learns that from its token.
        let _ = self.0.send(Step::Event(event));
    }
}

/// The caller's end of a run. Dropped when the caller leaves, and with it the guard that cancels the run.
struct Listener {
    /// What was waited for before the reply began.
    first: Option<Step>,
    steps: mpsc::UnboundedReceiver<Step>,
    transcript: Transcript,
    /// The caller's key may be revoked while the answer is being written. One wait for all events: a question to the store
    /// that is given up at each event would never be answered on a busy stream.
    standing_lost: Pin<Box<dyn Future<Output = Failure> + Send>>,
    guard: Option<DropGuard>,
    ready: VecDeque<Frame>,
    answering: tokio::task::JoinHandle<()>,
}

impl Listener {
    async fn next(&mut self, now: impl Fn() -> Duration) -> Option<Frame> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(frame);
            }
            if self.transcript.ended {
                return None;
            }
            let step = match self.first.take() {
                Some(step) => step,
                None => self.step().await,
            };
            self.ready.extend(self.transcript.write(step, now()));
            if self.transcript.ended
                && let Some(guard) = self.guard.take()
            {
                guard.disarm();
            }
        }
    }

    async fn step(&mut self) -> Step {
        let step = tokio::select! {
            // First: what is ready to be told may be what this caller must not hear any more.
            biased;
            failure = &mut self.standing_lost => {
                // Dropped, the guard cancels the run.
                drop(self.guard.take());
                return Step::Finished(Err(failure));
            }
            step = self.steps.recv() => step,
        };
        match step {
            Some(step) => step,
            // The run is gone without a last word: it panicked.
            None => Step::Finished(Err(match (&mut self.answering).await {
                Err(error) => Failure::internal(error),
                Ok(()) => Failure::new(ErrorCode::InternalError, "the answer ended without its last event"),
            })),
        }
    }
}

/// One event, before it is bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Frame {
    Step(StepEvent),
    Citations(CitationsEvent),
    Token(TokenEvent),
    Done(Box<DoneEvent>),
    /// With what there is of an answer, if there is one.
    Error(Box<StreamErrorEvent>, Option<Box<Answer>>),
}

impl Frame {
    fn into_event(self) -> Event {
        fn event(name: &str, data: &impl Serialize) -> Event {
            let event = Event::default().event(name);
            match serde_json::to_string(data) {
                // JSON holds no line break: one `data` line.
                Ok(json) => event.data(json),
                Err(_) => event.data("{}"),
            }
        }
        match self {
            Self::Step(data) => event("step", &data),
            Self::Citations(data) => event("citations", &data),
            Self::Token(data) => event("token", &data),
            Self::Done(data) => event("done", &data),
            Self::Error(data, _) => event("error", &data),
        }
    }
}

/// What has been sent so far; decides what comes next.
struct Transcript {
    arrival: Arrival,
    sent: String,
    first_token_ms: Option<f64>,
    broken: Option<(Stop, String, String)>,
    ended: bool,
}

impl Transcript {
    const fn new(arrival: Arrival) -> Self {
        Self { arrival, sent: String::new(), first_token_ms: None, broken: None, ended: false }
    }

    fn write(&mut self, step: Step, now: Duration) -> Vec<Frame> {
        if self.ended {
            return Vec::new();
        }
        let elapsed_ms = milliseconds(now.saturating_sub(self.arrival.started));
        match step {
            Step::Event(RunEvent::Citations { citations }) => {
                vec![Frame::Citations(CitationsEvent { citations, elapsed_ms })]
            }
            Step::Event(RunEvent::Step(step)) => vec![Frame::Step(step)],
            Step::Event(RunEvent::Token { text }) => self.token(text, elapsed_ms).into_iter().collect(),
            Step::Event(RunEvent::Done { answer }) => self.done(*answer, elapsed_ms),
            // Of a run with tools, a question's stream tells the steps in short.
            Step::Event(RunEvent::Loop(_)) => Vec::new(),
            // The extract, if there is one, comes with the result.
            Step::Event(RunEvent::Failed { stop, code, message }) => {
                self.broken = Some((stop, code, message));
                Vec::new()
            }
            Step::Finished(Ok(answer)) => match self.broken.take() {
                None => self.done(*answer, elapsed_ms),
                Some((stop, code, message)) => vec![self.error(stop, code, message, Some(answer))],
            },
            Step::Finished(Err(failure)) => {
                let (stop, code, message) = self.broken.take().unwrap_or_else(|| {
                    let reason = match failure.code() {
                        ErrorCode::ShuttingDown | ErrorCode::InvalidKey | ErrorCode::Cancelled => StopReason::Cancelled,
                        _ => StopReason::Failed,
                    };
                    let stop = Stop { reason, at_step: 0, message: failure.message() };
                    (stop, failure.code().as_str().to_owned(), failure.message())
                });
                failure.log(&self.arrival.request_id, "POST", "/ask");
                vec![self.error(stop, code, message, None)]
            }
        }
    }

    fn token(&mut self, text: String, elapsed_ms: f64) -> Option<Frame> {
        if text.is_empty() {
            return None;
        }
        self.first_token_ms.get_or_insert(elapsed_ms);
        self.sent.push_str(&text);
        Some(Frame::Token(TokenEvent { text }))
    }

    /// The tokens joined are the answer, or what there is of one that a cap has cut: what has not been sent yet goes first.
    fn done(&mut self, answer: Answer, elapsed_ms: f64) -> Vec<Frame> {
        let text = answer.answer.as_deref().or(answer.draft.as_deref()).unwrap_or_default();
        let Some(rest) = text.strip_prefix(self.sent.as_str()) else {
            let failure = Failure::new(ErrorCode::InternalError, "what was sent is not what the answer says");
            return self.write(Step::Finished(Err(failure)), Duration::ZERO);
        };
        let rest = rest.to_owned();
        let mut frames: Vec<Frame> = self.token(rest, elapsed_ms).into_iter().collect();
        self.ended = true;
        frames.push(Frame::Done(Box::new(DoneEvent { answer, first_token_ms: self.first_token_ms })));
        frames
    }

    fn error(&mut self, stop: Stop, code: String, message: String, answer: Option<Box<Answer>>) -> Frame {
        self.ended = true;
        let event = StreamErrorEvent {
            code,
            message,
            partial_answer: (!self.sent.is_empty()).then(|| self.sent.clone()),
            sent_chars: self.sent.chars().count(),
            request_id: self.arrival.request_id.clone(),
            stop,
            extract: answer.as_ref().and_then(|answer| answer.extract.clone()),
        };
        Frame::Error(Box::new(event), answer)
    }
}

#[cfg(test)]
mod tests {
    use bylaw_contract::{
        Outcome, RequestId, RunId, Timestamp,
        ask::{AnsweredBy, Mode, Timing},
    };

    use super::*;

    fn answer(text: Option<&str>) -> Answer {
        Answer {
            answer: text.map(str::to_owned),
            outcome: Outcome::Answered,
            note: String::new(),
            answered_by: AnsweredBy::Extract,
            sentences: Vec::new(),
            citations: Vec::new(),
            extract: text.is_none().then(Default::default),
            draft: None,
            stop: None,
            warnings: Vec::new(),
            usage: Default::default(),
            timing: Timing::default(),
            retriever: "lexical".to_owned(),
            mode: Mode::Extract,
            agent: None,
            request_id: RequestId::new("r").unwrap(),
            run_id: RunId::new(format!("run_{}", "0".repeat(24))).unwrap(),
            asked_at: Timestamp(0),
        }
    }

    fn token(text: &str) -> Step {
        Step::Event(RunEvent::Token { text: text.to_owned() })
    }

    fn done(text: Option<&str>) -> Step {
        Step::Event(RunEvent::Done { answer: Box::new(answer(text)) })
    }

    fn failed(reason: StopReason) -> Step {
        let stop = Stop { reason, at_step: 0, message: "stopped".to_owned() };
        Step::Event(RunEvent::Failed { stop, code: "upstream_incomplete".to_owned(), message: "cut".to_owned() })
    }

    fn finished(text: Option<&str>) -> Step {
        Step::Finished(Ok(Box::new(answer(text))))
    }

    /// What is sent, in short: tokens as their text, `=answer` for done, `!code(sent)` for error.
    fn sent(steps: Vec<Step>) -> Vec<String> {
        let arrival = Arrival { request_id: RequestId::new("r").unwrap(), started: Duration::ZERO };
        let mut transcript = Transcript::new(arrival);
        let frames = steps.into_iter().flat_map(|step| transcript.write(step, Duration::from_millis(7)));
        frames
            .map(|frame| match frame {
                Frame::Step(event) => format!("step {}", event.step),
                Frame::Citations(event) => format!("citations {}", event.elapsed_ms),
                Frame::Token(event) => event.text,
                Frame::Done(event) => {
                    format!("={} {:?}", event.answer.answer.unwrap_or_default(), event.first_token_ms)
                }
                Frame::Error(event, _) => format!(
                    "!{}({}, {}) {}",
                    event.code,
                    event.partial_answer.unwrap_or_default(),
                    event.sent_chars,
                    if event.extract.is_some() { "with extract" } else { "" }
                ),
            })
            .collect()
    }

    #[test]
    fn tokens_joined_are_the_answer_and_one_last_event_ends_the_stream() {
        let rows = [
            (
                vec![
                    Step::Event(RunEvent::Citations { citations: Vec::new() }),
                    token("七"),
                    token(""),
                    token("日"),
                    done(Some("七日")),
                    finished(Some("七日")),
                ],
                vec!["citations 7", "七", "日", "=七日 Some(7.0)"],
            ),
            (vec![done(Some("七日"))], vec!["七日", "=七日 Some(7.0)"]),
            (vec![token("七"), finished(Some("七日"))], vec!["七", "日", "=七日 Some(7.0)"]),
            (vec![done(None), token("late")], vec!["= None"]),
            (vec![token("八"), done(Some("七日"))], vec!["八", "!internal_error(八, 1) "]),
            (
                vec![token("七"), failed(StopReason::UpstreamIncomplete), finished(None)],
                vec!["七", "!upstream_incomplete(七, 1) with extract"],
            ),
            (vec![Step::Finished(Err(Failure::new(ErrorCode::ShuttingDown, "bye")))], vec!["!shutting_down(, 0) "]),
        ];
        for (steps, expected) in rows {
            let steps_shown = format!("{steps:?}");
            assert_eq!(sent(steps), expected, "{steps_shown}");
        }
    }
}
