//! One question's way: remembered, read from the rules, or asked of a model within its caps.

use std::{sync::Arc, time::Duration};

use bylaw_contract::{
    ErrorCode, KeyId, MicroUsd, Outcome, RunEvent, RunId, StopReason,
    ask::{Answer, AnsweredBy, Mode},
};
use bylaw_gate::{Labels, ReadableSources, ReserveError, Spender};
use bylaw_model::{Connection, FinishReason, ModelError};
use tokio::time::Instant;

use crate::{
    ask::{AnswerError, Ask, Inner},
    bill::{Bill, Charges},
    cache::CachedAnswer,
    caps::Caps,
    compose::{self, Composer, Costs, Involved},
    digest::{Digest, Parts},
    flight::{Heard, Pilot},
    meter::GateMeter,
    pipeline::{self, Assignment, Reply, ReplyEnd},
    reading::{self, Read},
    stops,
};

/// Calls of a model that are under way.
pub(crate) type CallFlights = crate::flight::Flights<Digest, Manifest, Arc<Reply>>;

/// What whoever leads a call brings along.
#[derive(Debug)]
pub(crate) struct Manifest {
    /// Whose budgets pay.
    owner: Option<KeyId>,
    /// The run that is charged.
    run_id: RunId,
    bill: Arc<Bill>,
}

/// What came of waiting for a call.
struct Heeded {
    reply: Arc<Reply>,
    /// What was shown of it.
    shown: String,
    /// Whether the wall time was up first.
    late: bool,
    /// Whether this request pays.
    leads: bool,
    /// The run that is charged.
    run_id: RunId,
}

/// How long a call that was cut has to settle.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Inner {
    /// Answers one question.
    pub(crate) async fn answer(self: &Arc<Self>, ask: &Ask<'_>, caps: &Caps) -> Result<Answer, AnswerError> {
        if ask.cancel.is_cancelled() {
            return Err(AnswerError::Cancelled);
        }
        let composer = Composer { clock: &*self.clock, ask, currency: &self.purse.currency };
        let model = match ask.request.mode {
            Mode::Agent => return Err(AnswerError::ModeUnavailable),
            Mode::Extract => None,
            Mode::Auto | Mode::Pipeline => self.model.as_ref(),
        };
        let key = model.map(|model| answer_key(ask, model.name()));
        if ask.request.use_cache
            && let (Some(key), Some(model)) = (&key, model)
        {
            if let Some(hit) = self.caches.answers.get(key) {
                self.tallies.answer_hits.add();
                return Ok(self.remembered(&composer, model, &hit).await);
            }
            self.tallies.answer_misses.add();
        }
        let read = reading::read(&*self.clock, ask)?;
        let elapsed_ms = compose::milliseconds(self.clock.elapsed().saturating_sub(ask.started));
        tracing::debug!(outcome = ?read.reading.outcome, elapsed_ms, "the rules have been read");
        ask.events.report(RunEvent::Citations { citations: read.citations.clone() });
        match (ask.request.mode, model, key) {
            (Mode::Auto, Some(_), _) if read.reading.outcome != Outcome::Insufficient => {
                // For the share of questions that cost nothing: a model was there and was not needed.
                if read.reading.outcome == Outcome::Answered {
                    self.record(ask, "extract", "extract", MicroUsd::ZERO, None).await;
                }
                Ok(composer.extracted(read))
            }
            // Without any article there is nothing that a model could cite, and nothing to pay for.
            (Mode::Pipeline, Some(_), _) if read.citations.is_empty() => Ok(composer.extracted(read)),
            (_, Some(model), Some(key)) => self.from_model(&composer, caps, model, key, read).await,
            (Mode::Pipeline, ..) => Ok(composer.degraded(read, None, composer.nobody())),
            (Mode::Auto | Mode::Extract | Mode::Agent, ..) => Ok(composer.extracted(read)),
        }
    }

    /// An answer from the cache, told as if it were being written.
    async fn remembered(&self, composer: &Composer<'_>, model: &Connection, hit: &CachedAnswer) -> Answer {
        let ask = composer.ask;
        let asked_at = self.clock.now();
        if ask.events.listens() {
            ask.events.report(RunEvent::Citations { citations: hit.answer.citations.clone() });
            for text in pieces(hit.answer.answer.as_deref().unwrap_or_default()) {
                ask.events.report(RunEvent::Token { text: text.to_owned() });
            }
        }
        self.record(ask, model.name(), "answer_cache", hit.cost, Some(&hit.run_id)).await;
        let costs = Costs { cached: true, avoided: hit.cost, ..Costs::default() };
        composer.done(Answer {
            usage: compose::usage(composer.currency, costs),
            timing: composer.timing(Duration::ZERO, Duration::ZERO),
            request_id: ask.request_id.clone(),
            asked_at,
            ..hit.answer.clone()
        })
    }

    async fn from_model(
        self: &Arc<Self>,
        composer: &Composer<'_>,
        caps: &Caps,
        model: &Connection,
        key: Digest,
        read: Read,
    ) -> Result<Answer, AnswerError> {
        let ask = composer.ask;
        let before = self.clock.elapsed();
        let assignment = Assignment::new(read.language, &ask.request.question, &read.articles());
        let heeded = self.listen(ask, caps, model, key, assignment).await?;
        let reply = &heeded.reply;
        self.account(ask, model, &heeded).await;
        let involved = Involved {
            usage: compose::usage(composer.currency, costs(&heeded)),
            waited: self.clock.elapsed().saturating_sub(before),
            run_id: heeded.run_id.clone(),
        };
        let language = read.language;
        if heeded.late {
            let stop = stops::stop(StopReason::Time, language);
            return Ok(composer.capped(read, &heeded.shown, stop, involved));
        }
        let answer = match &reply.end {
            ReplyEnd::Lost => return Err(AnswerError::Lost),
            ReplyEnd::Broken(ModelError::Cancelled) => return Err(AnswerError::Cancelled),
            ReplyEnd::Broken(error) => match (&reply.charges.refusal, error) {
                (Some(ReserveError::Budget(shortfall)), _) => {
                    let stop = stops::over_budget(shortfall, composer.currency, language);
                    composer.capped(read, &reply.text, stop, involved)
                }
                (_, ModelError::TimedOut { .. } | ModelError::Incomplete) => {
                    composer.broken(read, &reply.text, stops::stop_of(error, language), coded(error), involved)
                }
                _ if reply.text.is_empty() => {
                    let why = reply.charges.refusal.as_ref().map(stops::refused);
                    composer.degraded(read, Some(why.as_ref().unwrap_or(error)), involved)
                }
                _ => composer.broken(read, &reply.text, stops::stop_of(error, language), coded(error), involved),
            },
            ReplyEnd::Whole { finish_reason: FinishReason::ContentFilter, .. } => {
                let stop = stops::stop(StopReason::Refused, language);
                let told = (ErrorCode::UpstreamFailed.as_str().to_owned(), stop.message.clone());
                composer.broken(read, &reply.text, stop, told, involved)
            }
            ReplyEnd::Whole { finish_reason: FinishReason::Length, .. } if reply.charges.lowered => {
                composer.capped(read, &reply.text, stops::stop(StopReason::Cost, language), involved)
            }
            ReplyEnd::Whole { model, finish_reason } => {
                let answer = composer.written(read, reply, model, finish_reason, involved);
                if ask.request.use_cache && *finish_reason == FinishReason::Stop {
                    self.remember(key, &answer, &heeded);
                }
                answer
            }
        };
        Ok(answer)
    }

    /// Has the model asked, or listens to whoever asks it the same at this moment.
    async fn listen(
        self: &Arc<Self>,
        ask: &Ask<'_>,
        caps: &Caps,
        model: &Connection,
        key: Digest,
        assignment: Assignment,
    ) -> Result<Heeded, AnswerError> {
        let spent = self.clock.elapsed().saturating_sub(ask.started);
        let deadline = Instant::now() + caps.time_left(spent);
        let owner = ask.principal.key_id();
        // Whoever may spend less could get less: only equal caps share.
        let flight =
            Parts::new("flight").digest(&key).maybe(caps.max_cost, |parts, cost| parts.number(cost.0.unsigned_abs()));
        let flight = ask.request.use_cache.then(|| flight.finish());
        loop {
            let mut seat = self.calls.board(flight, || Manifest {
                owner: owner.cloned(),
                run_id: ask.run_id.clone(),
                bill: Arc::default(),
            });
            let pilot = seat.pilot(Arc::new(Reply::lost()));
            let leads = pilot.is_some();
            if let Some(pilot) = pilot {
                let spender = Spender {
                    principal: ask.principal.clone(),
                    request_id: ask.request_id.clone(),
                    run_id: ask.run_id.clone(),
                    mode: Some(ask.request.mode),
                    max_cost: caps.max_cost,
                };
                let caching = ask.request.use_cache;
                tokio::spawn(Arc::clone(self).fly(pilot, model.clone(), spender, assignment.clone(), caching));
            }
            let run_id = seat.flight.manifest.run_id.clone();
            let mut shown = String::new();
            let reply = loop {
                let heard = tokio::select! {
                    biased;
                    () = ask.cancel.cancelled() => return Err(AnswerError::Cancelled),
                    heard = seat.next() => Some(heard),
                    () = tokio::time::sleep_until(deadline) => None,
                };
                match heard {
                    Some(Heard::End(reply)) => break Some(reply),
                    Some(Heard::Event(event)) => {
                        if let RunEvent::Token { text } = &event {
                            shown.push_str(text);
                        }
                        ask.events.report(event);
                        if Instant::now() >= deadline {
                            break None;
                        }
                    }
                    None => break None,
                }
            };
            let Some(reply) = reply else {
                let charges = if seat.leave() {
                    // The call goes on for others, and this request pays for it if it leads.
                    still_open(seat.flight.manifest.bill.charges())
                } else {
                    let landed = async { while let Heard::Event(_) = seat.next().await {} };
                    let _settled = tokio::time::timeout(LAST_WORDS, landed).await;
                    still_open(seat.flight.manifest.bill.charges())
                };
                let reply = Arc::new(Reply { charges, ..Reply::lost() });
                return Ok(Heeded { reply, shown, late: true, leads, run_id });
            };
            // A refusal is about the budgets of whoever led.
            let refused = matches!(reply.end, ReplyEnd::Broken(ModelError::Refused(_)));
            if refused && !leads && seat.flight.manifest.owner.as_ref() != owner {
                continue;
            }
            return Ok(Heeded { reply, shown, late: false, leads, run_id });
        }
    }

    /// Asks the model for everyone who listens. Goes on when the leader has left, and settles in any case.
    async fn fly(
        self: Arc<Self>,
        pilot: Pilot<Digest, Manifest, Arc<Reply>>,
        model: Connection,
        spender: Spender,
        assignment: Assignment,
        caching: bool,
    ) {
        let flight = Arc::clone(&pilot.flight);
        let Manifest { run_id, bill, .. } = &flight.manifest;
        let meter = GateMeter {
            purse: self.purse.clone(),
            spender,
            bill: Arc::clone(bill),
            abandoned: Arc::clone(&flight.abandoned),
            tallies: Arc::clone(&self.tallies),
        };
        let model = model.metered(Arc::new(meter));
        let caches = caching.then_some(&self.caches);
        let mut show = |text| pilot.tell(RunEvent::Token { text });
        let reply = pipeline::ask(&model, &assignment, caches, (run_id, bill), &flight.cancel, &mut show).await;
        pilot.land(Arc::new(reply));
    }

    /// Books what was avoided: by a remembered call, or by listening to somebody else's.
    async fn account(&self, ask: &Ask<'_>, model: &Connection, heeded: &Heeded) {
        match (&heeded.reply.repeats, heeded.leads) {
            (Some((run_id, cost)), true) => {
                self.tallies.call_hits.add();
                self.record(ask, model.name(), "call_cache", *cost, Some(run_id)).await;
            }
            (_, true) => {}
            (repeats, false) => {
                self.tallies.shared.add();
                let cost = repeats.as_ref().map_or(heeded.reply.charges.cost, |(_, cost)| *cost);
                self.record(ask, model.name(), "shared", cost, Some(&heeded.run_id)).await;
            }
        }
    }

    /// Writes a row about a cost that was avoided. It may be lost while the ledger fails: it is no money.
    pub(crate) async fn record(
        &self,
        ask: &Ask<'_>,
        model: &str,
        purpose: &str,
        saved: MicroUsd,
        repeats: Option<&RunId>,
    ) {
        let labels = Labels {
            request_id: ask.request_id.clone(),
            run_id: None,
            key: ask.principal.key_id().cloned(),
            model: model.to_owned(),
            mode: Some(ask.request.mode),
            purpose: purpose.to_owned(),
        };
        if self.purse.gate.avoided(labels, saved, repeats.cloned()).await.is_err() {
            self.tallies.unrecorded.add();
        }
    }

    /// Keeps an answer that is whole, and that a model had a part in.
    fn remember(&self, key: Digest, answer: &Answer, heeded: &Heeded) {
        let whole = match answer.outcome {
            Outcome::Answered | Outcome::NotInRules | Outcome::Insufficient => true,
            Outcome::RuledElsewhere | Outcome::NotUnderstood | Outcome::Stopped | Outcome::Degraded => false,
        };
        if !whole || answer.answered_by == AnsweredBy::Extract {
            return;
        }
        let (run_id, cost) = match &heeded.reply.repeats {
            Some((run_id, cost)) => (run_id.clone(), *cost),
            None => (heeded.run_id.clone(), heeded.reply.charges.cost),
        };
        let bytes = serde_json::to_vec(answer).map_or(u64::MAX, |json| json.len() as u64);
        let kept = Answer { run_id: run_id.clone(), ..answer.clone() };
        self.caches.answers.insert(key, Arc::new(CachedAnswer { answer: kept, cost, run_id, bytes }));
    }
}

/// Charges of a call that has not ended: what is open may yet be charged.
fn still_open(charges: Charges) -> Charges {
    let cost = MicroUsd(charges.cost.0.saturating_add(charges.open.0));
    Charges { cost, estimated: charges.estimated || charges.open > MicroUsd::ZERO, ..charges }
}

fn costs(heeded: &Heeded) -> Costs {
    let Reply { charges, repeats, .. } = &*heeded.reply;
    let saved = repeats.as_ref().map_or(charges.cost, |(_, cost)| *cost);
    if heeded.leads && repeats.is_none() {
        Costs {
            tokens: charges.tokens,
            cached: false,
            calls: charges.calls,
            cost: charges.cost,
            estimated: charges.estimated,
            avoided: MicroUsd::ZERO,
        }
    } else {
        Costs { cached: true, avoided: saved, ..Costs::default() }
    }
}

fn coded(error: &ModelError) -> (String, String) {
    (error.code().as_str().to_owned(), error.to_string())
}

/// What an answer depends on. Not the caps: an answer that a cap has cut is not kept.
fn answer_key(ask: &Ask<'_>, model: &str) -> Digest {
    let request = ask.request;
    let parts = Parts::new("answer")
        .text(&request.question)
        .text(model)
        .number(ask.generation.number().0)
        .number(request.mode as u64)
        .number(u64::from(request.k))
        .number(u64::from(request.self_check))
        .maybe(request.source.as_deref(), Parts::text)
        .maybe(request.chapter_no, |parts, chapter| parts.number(u64::from(chapter)));
    let parts = match ask.principal.sources() {
        ReadableSources::All => parts.number(0),
        ReadableSources::Only(names) => names.iter().fold(parts.number(1), |parts, name| parts.text(name.as_str())),
    };
    parts.finish()
}

/// A text in pieces of about a sentence.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['。', '；', '\n', '!', '?', '！', '？']).filter(|piece| !piece.is_empty())
}
