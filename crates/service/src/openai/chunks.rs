//! What happens as pieces in OpenAI's shape.

use std::{convert::Infallible, sync::Arc};

use axum::response::{
    IntoResponse, Response,
    sse::{Event, KeepAlive, Sse},
};
use bylaw_contract::{
    ApiError, ArticleId, ErrorCode,
    ask::{Answer, StreamErrorEvent},
    openai::{ChatChunk, ChunkChoice, Delta, FinishReason},
};
use futures_util::{StreamExt, stream};
use serde::Serialize;

use crate::{
    error::{Failure, status_of},
    openai::{
        answered::{Telling, finish_reason, usage},
        markers::Markers,
        refusal,
    },
    routes::ask::Question,
    stream::{Frame, listen, not_to_be_kept},
};

/// What ends every stream.
const DONE: &str = "[DONE]";

/// Starts answering and streams what happens. Refusals are those of `/ask`.
pub(crate) async fn reply(question: Question, telling: Telling, include_usage: bool) -> Result<Response, Failure> {
    let service = Arc::clone(&question.service);
    let frames = listen(question).await?;
    let mut chunks = Chunks::new(telling, include_usage);
    let events = frames.flat_map(move |frame| {
        let data = chunks.write(frame).into_iter().map(|data| Ok::<_, Infallible>(Event::default().data(data)));
        stream::iter(data.collect::<Vec<_>>())
    });
    let keep_alive = KeepAlive::new().interval(service.settings.heartbeat).text("waiting");
    Ok(not_to_be_kept(Sse::new(events).keep_alive(keep_alive).into_response()))
}

/// What has been sent so far; decides what comes next.
struct Chunks {
    telling: Telling,
    include_usage: bool,
    markers: Markers,
    known: Vec<ArticleId>,
    begun: bool,
    said: bool,
}

impl Chunks {
    fn new(telling: Telling, include_usage: bool) -> Self {
        Self { telling, include_usage, markers: Markers::default(), known: Vec::new(), begun: false, said: false }
    }

    /// The data of each event that a frame comes to.
    fn write(&mut self, frame: Frame) -> Vec<String> {
        let mut data = Vec::new();
        if !self.begun && !matches!(frame, Frame::Error(_, None)) {
            self.begun = true;
            let role = Some("assistant".to_owned());
            data.push(self.piece(Delta { role, content: Some(String::new()) }, None));
        }
        match frame {
            Frame::Step(_) => {}
            Frame::Citations(found) => {
                self.known = found.citations.into_iter().map(|citation| citation.id).collect();
            }
            Frame::Token(token) => {
                self.said = true;
                let text = self.markers.push(&token.text, |id| self.known.contains(id));
                data.extend(self.text(text));
            }
            Frame::Done(done) => self.end(done.answer, &mut data),
            Frame::Error(_, Some(answer)) => self.end(*answer, &mut data),
            Frame::Error(error, None) => data.extend([broken(*error), DONE.to_owned()]),
        }
        data
    }

    fn end(&mut self, answer: Answer, data: &mut Vec<String>) {
        let mut text = self.markers.rest();
        text.push_str(&self.telling.rest(&answer, self.said, &mut self.markers));
        data.extend(self.text(text));
        let tokens = usage(&answer.usage);
        let mut last = self.chunk();
        last.choices = vec![choice(Delta::default(), Some(finish_reason(&answer)))];
        last.bylaw = Some(Box::new(self.telling.beside(answer)));
        data.push(json(&last));
        if self.include_usage {
            data.push(json(&ChatChunk { usage: Some(Some(tokens)), ..self.chunk() }));
        }
        data.push(DONE.to_owned());
    }

    fn text(&self, text: String) -> Option<String> {
        (!text.is_empty()).then(|| self.piece(Delta { role: None, content: Some(text) }, None))
    }

    fn piece(&self, delta: Delta, finish_reason: Option<FinishReason>) -> String {
        json(&ChatChunk { choices: vec![choice(delta, finish_reason)], ..self.chunk() })
    }

    fn chunk(&self) -> ChatChunk {
        let Telling { run, created, model, .. } = &self.telling;
        ChatChunk { usage: self.include_usage.then_some(None), ..ChatChunk::new(run, *created, model) }
    }
}

const fn choice(delta: Delta, finish_reason: Option<FinishReason>) -> ChunkChoice {
    ChunkChoice { index: 0, delta, finish_reason, logprobs: None }
}

/// A fault that left nothing to tell. Clients raise it as they would raise a reply that is not 2xx.
fn broken(error: StreamErrorEvent) -> String {
    let StreamErrorEvent { code, message, request_id, .. } = error;
    let code = ErrorCode::ALL.iter().copied().find(|known| known.as_str() == code).unwrap_or(ErrorCode::InternalError);
    json(&refusal::body(ApiError { code, message, request_id, hint: None }, status_of(code), None))
}

/// JSON holds no line break: one `data` line.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned())
}
