//! One question's way: remembered, read from the rules, or asked of a model within its caps.

use std::{sync::Arc, time::Duration};

use bylaw_contract::{
    ErrorCode, MicroUsd, Outcome, RunEvent, RunId, StopReason,
    ask::{Answer, AnsweredBy, Mode},
};
use bylaw_gate::{Labels, ReadableSources, ReserveError};
use bylaw_model::{Connection, FinishReason, ModelError};

use crate::{
    ask::{AnswerError, Ask, Inner},
    cache::CachedAnswer,
    call::{Errand, Heeded},
    caps::Caps,
    compose::{self, Composer, Costs, Involved},
    digest::{Digest, Parts},
    pipeline::{Assignment, ReplyEnd},
    reading::{self, Read},
    recall::{Pieces, Recalled},
    research::Brief,
    stops,
};

impl Inner {
    /// Answers one question.
    pub(crate) async fn answer(self: &Arc<Self>, ask: &Ask<'_>, caps: &Caps) -> Result<Answer, AnswerError> {
        if ask.cancel.is_cancelled() {
            return Err(AnswerError::Cancelled);
        }
        let composer = Composer { clock: &*self.clock, ask, currency: &self.purse.currency };
        let model = self.model_for(ask.request.mode);
        let key = model.map(|model| answer_key(ask, caps, model.name()));
        if ask.request.use_cache
            && let Some(key) = &key
        {
            if let Some(hit) = self.caches.answers.get(key) {
                return Ok(self.recalled(ask, hit).await.tell(ask.events));
            }
            self.tallies.answer_misses.add();
        }
        let read = reading::read(&*self.clock, ask)?;
        let elapsed_ms = compose::milliseconds(self.clock.elapsed().saturating_sub(ask.started));
        tracing::debug!(outcome = ?read.reading.outcome, elapsed_ms, "the rules have been read");
        if ask.request.mode != Mode::Agent {
            ask.events.report(RunEvent::Citations { citations: read.citations.clone() });
        }
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
            (Mode::Agent, Some(_), _) if read.window.sources().next().is_none() => Ok(composer.extracted(read)),
            (_, Some(model), Some(key)) => {
                let errand = self.errand(ask, caps, &read);
                self.from_model(&composer, caps, (model, key), errand, read).await
            }
            (Mode::Pipeline | Mode::Agent, ..) => Ok(composer.degraded(read, None, composer.nobody())),
            (Mode::Auto | Mode::Extract, ..) => Ok(composer.extracted(read)),
        }
    }

    /// The model that may be asked in a mode.
    fn model_for(&self, mode: Mode) -> Option<&Connection> {
        match mode {
            Mode::Extract => None,
            Mode::Auto | Mode::Pipeline => self.model.as_ref(),
            Mode::Agent => self.model.as_ref().filter(|_| self.researcher.is_some()),
        }
    }

    /// What a model is to be called for.
    fn errand(&self, ask: &Ask<'_>, caps: &Caps, read: &Read) -> Errand {
        match &self.researcher {
            Some(researcher) if ask.request.mode == Mode::Agent => {
                Errand::Research(Box::new(Brief::new(researcher, ask, caps, read)))
            }
            _ => Errand::Reply(Assignment::new(read.language, &ask.request.question, &read.articles())),
        }
    }

    /// What is remembered for a question, and what it avoided.
    pub(crate) async fn recall(&self, ask: &Ask<'_>, caps: &Caps) -> Option<Recalled> {
        let may_be_kept = ask.request.use_cache && ask.idempotency_key.is_none();
        let model = self.model_for(ask.request.mode).filter(|_| may_be_kept)?;
        let key = answer_key(ask, caps, model.name());
        let hit = self.caches.answers.get(&key)?;
        Some(self.recalled(ask, hit).await)
    }

    async fn recalled(&self, ask: &Ask<'_>, hit: Arc<CachedAnswer>) -> Recalled {
        self.tallies.answer_hits.add();
        let asked_at = self.clock.now();
        let model = self.model.as_ref().map_or("", Connection::name);
        self.record(ask, model, "answer_cache", hit.cost, Some(&hit.run_id)).await;
        let costs = Costs { cached: true, avoided: hit.cost, ..Costs::default() };
        Recalled {
            usage: compose::usage(&self.purse.currency, costs),
            timing: compose::timing(&*self.clock, ask.started, Duration::ZERO, Duration::ZERO),
            request_id: ask.request_id.clone(),
            asked_at,
            cached: hit,
        }
    }

    async fn from_model(
        self: &Arc<Self>,
        composer: &Composer<'_>,
        caps: &Caps,
        (model, key): (&Connection, Digest),
        errand: Errand,
        read: Read,
    ) -> Result<Answer, AnswerError> {
        let ask = composer.ask;
        let before = self.clock.elapsed();
        let is_research = matches!(errand, Errand::Research(_));
        let heeded = self.heed(ask, caps, model, key, errand).await?;
        let reply = &heeded.reply;
        self.book_avoided(ask, model, &heeded).await;
        let involved = Involved {
            usage: compose::usage(composer.currency, heeded.costs()),
            waited: self.clock.elapsed().saturating_sub(before),
            run_id: heeded.run_id.clone(),
            notes: is_research.then(|| heeded.notes.clone()),
            run_calls: reply.charges.calls,
        };
        let language = read.language;
        if heeded.late {
            let stop = stops::stop(StopReason::Time, language);
            let draft = if is_research { heeded.notes.shown_draft(language) } else { heeded.shown.clone() };
            return Ok(composer.capped(read, &draft, stop, involved));
        }
        let answer = match &reply.end {
            ReplyEnd::Lost => return Err(AnswerError::Lost),
            ReplyEnd::Broken(ModelError::Cancelled) => return Err(AnswerError::Cancelled),
            ReplyEnd::Broken(error) => match (&reply.charges.refusal, error) {
                (Some(ReserveError::Budget(shortfall)), _) => {
                    let stop = stops::over_budget(shortfall, &ask.principal, composer.currency, language);
                    composer.capped(read, &reply.text, stop, involved)
                }
                (_, ModelError::ContextTooLong { .. }) if !reply.text.is_empty() => {
                    composer.capped(read, &reply.text, stops::stop_of(error, language), involved)
                }
                (_, ModelError::TimedOut { .. } | ModelError::Incomplete) => {
                    composer.broken(read, &reply.text, stops::stop_of(error, language), coded(error), involved)
                }
                _ if reply.text.is_empty() => {
                    let why = reply.charges.refusal.as_ref().map(stops::refused);
                    composer.degraded(read, Some(&stops::reason(why.as_ref().unwrap_or(error))), involved)
                }
                _ => composer.broken(read, &reply.text, stops::stop_of(error, language), coded(error), involved),
            },
            ReplyEnd::Stopped(stopped) => return self.stopped(composer, stopped, reply, read, involved),
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
                // A reply that calls the tool for answers is whole, too.
                let is_whole =
                    *finish_reason == FinishReason::Stop || is_research && *finish_reason == FinishReason::ToolCalls;
                if ask.request.use_cache && is_whole {
                    self.remember(key, &answer, &heeded);
                }
                answer
            }
        };
        Ok(answer)
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
        if !whole || answer.stop.is_some() || answer.answered_by == AnsweredBy::Extract {
            return;
        }
        let (run_id, cost) = heeded.origin();
        let answer = Answer { run_id: run_id.clone(), ..answer.clone() };
        let bytes = serde_json::to_vec(&answer).map_or(u64::MAX, |json| 2 * json.len() as u64);
        let pieces = Pieces::of(&answer);
        self.caches.answers.insert(key, Arc::new(CachedAnswer { answer, cost, run_id, pieces, bytes }));
    }
}

fn coded(error: &ModelError) -> (String, String) {
    (error.code().as_str().to_owned(), error.to_string())
}

/// What an answer depends on. Not the caps: an answer that a cap has cut is not kept. But an agent's steps: who allows two
/// is not told of three.
fn answer_key(ask: &Ask<'_>, caps: &Caps, model: &str) -> Digest {
    let request = ask.request;
    let parts = Parts::new("answer")
        .text(&request.question)
        .text(model)
        .number(ask.generation.number().0)
        .number(request.mode as u64)
        .number(u64::from(request.k))
        .number(u64::from(request.self_check))
        .maybe((request.mode == Mode::Agent).then_some(caps.max_steps), |parts, steps| parts.number(u64::from(steps)))
        .maybe(request.source.as_deref(), Parts::text)
        .maybe(request.chapter_no, |parts, chapter| parts.number(u64::from(chapter)));
    let parts = match ask.principal.sources() {
        ReadableSources::All => parts.number(0),
        ReadableSources::Only(names) => names.iter().fold(parts.number(1), |parts, name| parts.text(name.as_str())),
    };
    parts.finish()
}
