//! Requests with an `Idempotency-Key`: one call, one charge, and the same answer however often they are sent.

use std::sync::Arc;

use bylaw_contract::{
    Outcome, RunEvent, StopReason, Timestamp,
    ask::{Answer, AskRequest},
};

use crate::{
    ask::{AnswerError, Ask, EventSink, Inner},
    caps::Caps,
    digest::{Digest, Parts},
    flight::{Heard, Pilot},
    store::{IdempotencyKey, KEPT_MS, KeptAnswer, KeptName},
};

/// Keyed requests under way, with the fingerprint of each.
pub(crate) type KeyedFlights = crate::flight::Flights<KeptName, Digest, Result<Answer, AnswerError>>;

type KeyedPilot = Pilot<KeptName, Digest, Result<Answer, AnswerError>>;

/// How many requests that cost nothing are remembered by their fingerprint. Their answers are made afresh.
const FREE_REMEMBERED: usize = 16_384;

/// Fingerprints of requests that cost nothing, by their keys.
pub(crate) type FreeRequests = quick_cache::sync::Cache<KeptName, Digest>;

pub(crate) fn free_requests() -> FreeRequests {
    FreeRequests::new(FREE_REMEMBERED)
}

/// Tells whoever listens to the flight.
struct Tell<'a>(&'a KeyedPilot);

impl EventSink for Tell<'_> {
    fn report(&self, event: RunEvent) {
        match event {
            // Every listener reports the end as its own.
            RunEvent::Done { .. } => {}
            RunEvent::Citations { .. }
            | RunEvent::Step(_)
            | RunEvent::Token { .. }
            | RunEvent::Failed { .. }
            | RunEvent::Loop(_) => {
                self.0.tell(event);
            }
        }
    }
}

impl Inner {
    /// Answers a keyed request, or gives again what it was answered before.
    pub(crate) async fn once(
        self: &Arc<Self>,
        ask: &Ask<'_>,
        caps: Caps,
        key: &IdempotencyKey,
    ) -> Result<Answer, AnswerError> {
        let fingerprint = fingerprint(ask.request);
        let name = KeptName { owner: ask.principal.key_id().cloned(), key: key.clone() };
        loop {
            if let Some(answer) = self.kept(&name, fingerprint).await? {
                ask.events.report(RunEvent::Citations { citations: answer.citations.clone() });
                if let Some(text) = &answer.answer {
                    ask.events.report(RunEvent::Token { text: text.clone() });
                }
                return Ok(self.again(ask, answer).await);
            }
            let mut seat = self.keyed.board(Some(name.clone()), || fingerprint);
            if seat.flight.manifest != fingerprint {
                return Err(AnswerError::IdempotencyConflict);
            }
            let pilot = seat.pilot(Err(AnswerError::Lost));
            let leads = pilot.is_some();
            if let Some(pilot) = pilot {
                tokio::spawn(Arc::clone(self).fly_keyed(pilot, name.clone(), OwnAsk::of(ask), caps));
            }
            let result = loop {
                let heard = tokio::select! {
                    biased;
                    () = ask.cancel.cancelled() => return Err(AnswerError::Cancelled),
                    heard = seat.next() => heard,
                };
                match heard {
                    // The log of a run is that of whoever leads it.
                    Heard::Event(RunEvent::Loop(_)) if !leads => {}
                    Heard::Event(event) => ask.events.report(event),
                    Heard::End(result) => break result,
                }
            };
            return match result {
                // Everyone had left this one before this request came.
                Err(AnswerError::Cancelled) => continue,
                Err(error) => Err(error),
                Ok(answer) if leads => Ok(ended(ask, answer)),
                Ok(answer) => Ok(self.again(ask, answer).await),
            };
        }
    }

    /// An answer that was given before, and what it avoided.
    async fn again(&self, ask: &Ask<'_>, answer: Answer) -> Answer {
        self.tallies.repeated.add();
        self.record(ask, "repeat", "idempotency_key", answer.usage.cost_micro_usd, Some(&answer.run_id)).await;
        ended(ask, answer)
    }

    /// The answer that is kept under a name.
    async fn kept(&self, name: &KeptName, fingerprint: Digest) -> Result<Option<Answer>, AnswerError> {
        let same = |other: Digest| if other == fingerprint { Ok(()) } else { Err(AnswerError::IdempotencyConflict) };
        // What was free may have been paid for since: other rules, or a cache that has forgotten.
        if let Some(free) = self.free.get(name) {
            same(free)?;
        }
        let since = Timestamp(self.clock.now().0.saturating_sub(KEPT_MS));
        let Some(kept) = self.answers.find(name, since).await? else { return Ok(None) };
        same(kept.fingerprint)?;
        // One that another version of the program has kept may not be readable: then it is made afresh.
        Ok(serde_json::from_str(&kept.answer)
            .inspect_err(|error| tracing::warn!(%error, "a kept answer cannot be read"))
            .ok())
    }

    async fn fly_keyed(self: Arc<Self>, pilot: KeyedPilot, name: KeptName, ask: OwnAsk, caps: Caps) {
        let result = self.first_or_kept(&pilot, &name, &ask, &caps).await;
        pilot.land(result);
    }

    async fn first_or_kept(
        self: &Arc<Self>,
        pilot: &KeyedPilot,
        name: &KeptName,
        ask: &OwnAsk,
        caps: &Caps,
    ) -> Result<Answer, AnswerError> {
        let fingerprint = pilot.flight.manifest;
        // Another flight may have landed since this one's passengers looked.
        if let Some(answer) = self.kept(name, fingerprint).await? {
            pilot.tell(RunEvent::Citations { citations: answer.citations.clone() });
            return Ok(answer);
        }
        let tell = Tell(pilot);
        let answer = self.answer(&ask.borrowed(pilot, &tell), caps).await?;
        if !is_whole(&answer) {
            return Ok(answer);
        }
        if answer.usage.model_calls == 0 {
            // Nothing was paid, so nothing can be paid twice; only another body must still be refused.
            self.free.insert(name.clone(), fingerprint);
        } else if let Ok(json) = serde_json::to_string(&answer) {
            let now = self.clock.now();
            let kept = KeptAnswer { fingerprint, answer: json, kept_at: now };
            if let Err(error) = self.answers.keep(name, &kept, Timestamp(now.0.saturating_sub(KEPT_MS))).await {
                tracing::error!(error = &error as &dyn std::error::Error, "an answer could not be kept for its key");
            }
        }
        Ok(answer)
    }
}

/// An answer as the end of one's own request.
fn ended(ask: &Ask<'_>, answer: Answer) -> Answer {
    let answer = Answer { request_id: ask.request_id.clone(), ..answer };
    // Any other stop has been told as a failure, by the run itself.
    if ask.events.listens() && answer.stop.as_ref().is_none_or(|stop| is_cap(stop.reason)) {
        ask.events.report(RunEvent::Done { answer: Box::new(answer.clone()) });
    }
    answer
}

/// A request that was cut off may be tried afresh; anything else is given again, also a whole reply that is no good.
fn is_whole(answer: &Answer) -> bool {
    match answer.outcome {
        Outcome::Answered
        | Outcome::NotInRules
        | Outcome::Insufficient
        | Outcome::RuledElsewhere
        | Outcome::NotUnderstood => true,
        Outcome::Degraded => answer.answer.is_some(),
        Outcome::Stopped => answer.stop.as_ref().is_some_and(|stop| stop.reason == StopReason::Refused),
    }
}

/// Whether a stop is an answer like any other, and not a failure.
const fn is_cap(reason: StopReason) -> bool {
    matches!(
        reason,
        StopReason::Cost
            | StopReason::Time
            | StopReason::Steps
            | StopReason::ToolCalls
            | StopReason::RepeatedCall
            | StopReason::Context
    )
}

/// What a request asks for, however it is delivered.
fn fingerprint(request: &AskRequest) -> Digest {
    let request = AskRequest { stream: false, ..request.clone() };
    // A request is text, numbers and flags, which always serialise.
    Parts::new("request").text(&serde_json::to_string(&request).unwrap_or_default()).finish()
}

/// A question that outlives the request that asked it.
struct OwnAsk {
    request: AskRequest,
    generation: Arc<bylaw_retrieval::Generation>,
    principal: bylaw_gate::Principal,
    request_id: bylaw_contract::RequestId,
    run_id: bylaw_contract::RunId,
    started: std::time::Duration,
}

impl OwnAsk {
    fn of(ask: &Ask<'_>) -> Self {
        Self {
            request: ask.request.clone(),
            generation: Arc::clone(&ask.generation),
            principal: ask.principal.clone(),
            request_id: ask.request_id.clone(),
            run_id: ask.run_id.clone(),
            started: ask.started,
        }
    }

    fn borrowed<'a>(&'a self, pilot: &KeyedPilot, events: &'a dyn EventSink) -> Ask<'a> {
        Ask {
            request: &self.request,
            generation: Arc::clone(&self.generation),
            principal: self.principal.clone(),
            idempotency_key: None,
            request_id: self.request_id.clone(),
            run_id: self.run_id.clone(),
            started: self.started,
            cancel: pilot.flight.cancel.clone(),
            events,
        }
    }
}
