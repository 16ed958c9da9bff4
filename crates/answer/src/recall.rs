//! A remembered answer, ready to be sent: what is the same each time was written once.

use std::sync::Arc;

use bylaw_contract::{
    RequestId, RunEvent, Timestamp,
    ask::{Answer, AnswerUsage, Timing},
};
use serde::Serialize;

use crate::{ask::EventSink, cache::CachedAnswer, compose::tell_at_once};

/// What stands between usage and timing.
const TIMING: &str = ",\"timing\":";

/// The JSON of an answer in the pieces between what differs from request to request: its usage, its timing, the request's
/// label and its moment.
#[derive(Debug)]
pub(crate) struct Pieces {
    /// Up to the usage.
    head: Box<str>,
    /// From the timing to the request id.
    middle: Box<str>,
    /// From the request id to the moment.
    tail: Box<str>,
    /// From the moment to the end.
    end: Box<str>,
}

impl Pieces {
    /// Cuts the JSON of an answer; `None` if it does not have the form that is expected.
    pub(crate) fn of(answer: &Answer) -> Option<Self> {
        let json = serde_json::to_string(answer).ok()?;
        // From the end: texts of rules, which could look like anything, come before.
        let (rest, end) = cut(&json, "asked_at", &answer.asked_at)?;
        let (rest, tail) = cut(rest, "request_id", &answer.request_id)?;
        let (rest, middle) = cut(rest, "timing", &answer.timing)?;
        let (head, between) = cut(rest, "usage", &answer.usage)?;
        // The timing follows the usage at once.
        (between == TIMING).then(|| Self {
            head: head.into(),
            middle: middle.into(),
            tail: tail.into(),
            end: end.into(),
        })
    }

    /// About how long the JSON is.
    fn len(&self) -> usize {
        self.head.len() + self.middle.len() + self.tail.len() + self.end.len() + 768
    }

    fn write(
        &self,
        usage: &AnswerUsage,
        timing: &Timing,
        request_id: &RequestId,
        asked_at: Timestamp,
    ) -> Option<Vec<u8>> {
        let mut json = Vec::with_capacity(self.len());
        json.extend_from_slice(self.head.as_bytes());
        serde_json::to_writer(&mut json, usage).ok()?;
        json.extend_from_slice(TIMING.as_bytes());
        serde_json::to_writer(&mut json, timing).ok()?;
        json.extend_from_slice(self.middle.as_bytes());
        serde_json::to_writer(&mut json, request_id).ok()?;
        json.extend_from_slice(self.tail.as_bytes());
        serde_json::to_writer(&mut json, &asked_at).ok()?;
        json.extend_from_slice(self.end.as_bytes());
        Some(json)
    }
}

/// Cuts `json` around the last `"name":value`: what is before the value, and what is after it.
fn cut<'a>(json: &'a str, name: &str, value: &impl Serialize) -> Option<(&'a str, &'a str)> {
    let value = serde_json::to_string(value).ok()?;
    let field = format!("\"{name}\":{value}");
    let at = json.rfind(&field)?;
    let (before, rest) = json.split_at(at + field.len() - value.len());
    Some((before, &rest[value.len()..]))
}

/// An answer that was remembered, with what belongs to this request.
#[derive(Debug)]
pub struct Recalled {
    pub(crate) cached: Arc<CachedAnswer>,
    pub(crate) usage: AnswerUsage,
    pub(crate) timing: Timing,
    pub(crate) request_id: RequestId,
    pub(crate) asked_at: Timestamp,
}

impl Recalled {
    /// The answer as it was remembered: with the usage, timing and label of the first time.
    #[must_use]
    pub fn remembered(&self) -> &Answer {
        &self.cached.answer
    }

    /// The answer as JSON.
    ///
    /// # Errors
    /// If it cannot be written, which no answer has done yet.
    pub fn json(&self) -> Result<Vec<u8>, serde_json::Error> {
        let pieces = self.cached.pieces.as_ref();
        let written =
            pieces.and_then(|pieces| pieces.write(&self.usage, &self.timing, &self.request_id, self.asked_at));
        match written {
            Some(json) => Ok(json),
            None => serde_json::to_vec(&self.answer()),
        }
    }

    /// The answer, told as if it were being written.
    pub fn tell(&self, events: &dyn EventSink) -> Answer {
        let answer = self.answer();
        tell_at_once(events, &answer);
        if events.listens() {
            events.report(RunEvent::Done { answer: Box::new(answer.clone()) });
        }
        answer
    }

    /// The answer itself.
    #[must_use]
    pub fn answer(&self) -> Answer {
        Answer {
            usage: self.usage.clone(),
            timing: self.timing,
            request_id: self.request_id.clone(),
            asked_at: self.asked_at,
            ..self.cached.answer.clone()
        }
    }
}
