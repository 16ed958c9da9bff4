//! Requests with an `Idempotency-Key`: one call, one charge, and the same answer however often they are sent.

use std::sync::Arc;

use bylaw_contract::{
    Outcome, RunEvent, Timestamp,
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

/// Tells whoever listens to the flight.
struct Tell<'a>(&'a KeyedPilot);

impl EventSink for Tell<'_> {
    fn report(&self, event: RunEvent) {
        match event {
            // Every listener reports the end as its own.
            RunEvent::Done { .. } => {}
            RunEvent::Citations { .. } | RunEvent::Token { .. } | RunEvent::Failed { .. } => self.0.tell(event),
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
        let mut seat = self.keyed.board(Some(name.clone()), || fingerprint);
        if seat.flight.manifest != fingerprint {
            return Err(AnswerError::IdempotencyConflict);
        }
        let pilot = seat.pilot(Err(AnswerError::Lost));
        let leads = pilot.is_some();
        if let Some(pilot) = pilot {
            let ask = OwnAsk::of(ask);
            tokio::spawn(Arc::clone(self).fly_keyed(pilot, name, ask, caps));
        }
        loop {
            let heard = tokio::select! {
                biased;
                () = ask.cancel.cancelled() => return Err(AnswerError::Cancelled),
                heard = seat.next() => heard,
            };
            match heard {
                Heard::Event(event) => ask.events.report(event),
                Heard::End(result) => {
                    let answer = Answer { request_id: ask.request_id.clone(), ..result? };
                    // The leader of this flight may itself have been given what was kept.
                    if !leads || answer.run_id != ask.run_id {
                        self.tallies.repeated.add();
                        let (cost, run_id) = (answer.usage.cost_micro_usd, &answer.run_id);
                        self.record(ask, "repeat", "idempotency_key", cost, Some(run_id)).await;
                    }
                    if ask.events.listens() && answer.stop.is_none() {
                        ask.events.report(RunEvent::Done { answer: Box::new(answer.clone()) });
                    }
                    return Ok(answer);
                }
            }
        }
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
        let now = self.clock.now();
        let forget_before = Timestamp(now.0.saturating_sub(KEPT_MS));
        if let Some(kept) = self.answers.find(name, forget_before).await? {
            if kept.fingerprint != fingerprint {
                return Err(AnswerError::IdempotencyConflict);
            }
            let answer: Answer = serde_json::from_str(&kept.answer).map_err(|_| AnswerError::Lost)?;
            pilot.tell(RunEvent::Citations { citations: answer.citations.clone() });
            if let Some(text) = &answer.answer {
                pilot.tell(RunEvent::Token { text: text.clone() });
            }
            return Ok(answer);
        }
        let tell = Tell(pilot);
        let answer = self.answer(&ask.borrowed(pilot, &tell), caps).await?;
        if is_whole(&answer)
            && let Ok(json) = serde_json::to_string(&answer)
        {
            let kept = KeptAnswer { fingerprint, answer: json, kept_at: now };
            if let Err(error) = self.answers.keep(name, &kept, forget_before).await {
                tracing::error!(error = &error as &dyn std::error::Error, "an answer could not be kept for its key");
            }
        }
        Ok(answer)
    }
}

/// A request that was cut off may be tried afresh; anything else is given again.
fn is_whole(answer: &Answer) -> bool {
    match answer.outcome {
        Outcome::Answered
        | Outcome::NotInRules
        | Outcome::Insufficient
        | Outcome::RuledElsewhere
        | Outcome::NotUnderstood => true,
        Outcome::Stopped | Outcome::Degraded => false,
    }
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
