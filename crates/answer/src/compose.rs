//! Answers, put together from what was read and what a model wrote.

use std::time::Duration;

use bylaw_contract::{
    ArticleId, Citation, Clock, MicroUsd, Outcome, RunEvent, RunId, Stop, TokenUsage,
    ask::{Answer, AnswerUsage, AnsweredBy, Mode, Sentence, SentenceStatus, Timing},
};
use bylaw_gate::Currency;
use bylaw_model::FinishReason;
use bylaw_retrieval::LEXICAL;

use crate::{
    ask::{Ask, EventSink},
    attribution::WRONG_SCRIPT,
    citations,
    notebook::Notes,
    pipeline::Reply,
    reading::Read,
    stops,
};

/// The circumstances that every answer to one question shares.
pub(crate) struct Composer<'a> {
    pub(crate) clock: &'a dyn Clock,
    pub(crate) ask: &'a Ask<'a>,
    pub(crate) currency: &'a Currency,
}

/// What a model had to do with an answer.
pub(crate) struct Involved {
    /// What it cost.
    pub(crate) usage: AnswerUsage,
    /// How long it was waited for.
    pub(crate) waited: Duration,
    /// The run that called it.
    pub(crate) run_id: RunId,
    /// What an agent did; none if there was none.
    pub(crate) notes: Option<Notes>,
    /// Attempts of that run; of somebody else's too.
    pub(crate) run_calls: u32,
}

impl Involved {
    const fn mode(&self) -> Mode {
        match self.notes {
            Some(_) => Mode::Agent,
            None => Mode::Pipeline,
        }
    }

    /// A stop, after as many steps as an agent had made.
    fn at_step(&self, stop: Stop) -> Stop {
        Stop { at_step: self.notes.as_ref().map_or(0, |notes| notes.steps), ..stop }
    }
}

/// What an answer cost, before it is shown in a currency.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs {
    pub(crate) tokens: TokenUsage,
    pub(crate) cached: bool,
    pub(crate) calls: u32,
    pub(crate) cost: MicroUsd,
    pub(crate) estimated: bool,
    pub(crate) avoided: MicroUsd,
}

/// Costs as an answer shows them.
pub(crate) fn usage(currency: &Currency, costs: Costs) -> AnswerUsage {
    let twd = |amount: MicroUsd| (currency.code() == "TWD").then(|| currency.show(amount) as f64 / 1_000_000.0);
    AnswerUsage {
        tokens: costs.tokens,
        cached: costs.cached,
        model_calls: costs.calls,
        cost_micro_usd: costs.cost,
        estimated: costs.estimated,
        avoided_micro_usd: costs.avoided,
        cost: currency.decimal(costs.cost),
        currency: currency.code().to_owned(),
        cost_twd: twd(costs.cost),
        avoided_twd: if costs.cached { twd(costs.avoided) } else { None },
    }
}

impl Composer<'_> {
    /// No model was asked.
    pub(crate) fn nobody(&self) -> Involved {
        let usage = usage(self.currency, Costs::default());
        let notes = (self.ask.request.mode == Mode::Agent).then(Notes::default);
        Involved { usage, waited: Duration::ZERO, run_id: self.ask.run_id.clone(), notes, run_calls: 0 }
    }

    /// What an answer shows: what was found; of an agent all that it read, and what the extract quotes if one is given.
    fn citations(read: &Read, involved: &Involved, with_extract: bool) -> Vec<Citation> {
        let Some(notes) = involved.notes.as_ref().filter(|notes| !notes.read.is_empty()) else {
            return read.citations.clone();
        };
        let mut citations: Vec<Citation> = notes.read.iter().map(citations::citation_of).collect();
        if with_extract {
            let quoted = |id: &ArticleId| read.reading.extract.sentences.iter().any(|sentence| sentence.id == *id);
            let missing = read.citations.iter().filter(|citation| quoted(&citation.id));
            let missing: Vec<_> = missing.filter(|c| citations.iter().all(|known| known.id != c.id)).cloned().collect();
            citations.extend(missing);
        }
        citations
    }

    /// Tells what an agent has read and written, now that both are known. Of a pipeline both were told as they came.
    fn tell(&self, answer: &Answer) {
        if answer.agent.is_some() {
            tell_at_once(self.ask.events, answer);
        }
    }

    /// The extract as the answer.
    pub(crate) fn extracted(&self, read: Read) -> Answer {
        self.extract_after(read, self.nobody(), Vec::new())
    }

    /// The extract as the answer, after what a model has cost already.
    fn extract_after(&self, read: Read, involved: Involved, mut warnings: Vec<String>) -> Answer {
        warnings.extend(read.found.question.missing_citations.iter().map(|name| {
            if read.language.is_chinese() {
                format!("規章裡找不到「{name}」。")
            } else {
                format!("There is no {name} in the rules.")
            }
        }));
        let answered = read.reading.outcome == Outcome::Answered;
        let mut citations = Self::citations(&read, &involved, true);
        let is_told_at_once = involved.notes.is_none();
        let blank = self.blank(read.reading.outcome, &read, Mode::Extract, None, involved);
        let extract = read.reading.extract;
        let mut sentences = Vec::new();
        let mut text = None;
        if answered {
            citations::quote(&mut citations, &extract.sentences);
            let joined: Vec<&str> = extract.sentences.iter().map(|sentence| sentence.text.as_str()).collect();
            for (number, sentence) in joined.iter().enumerate().take_while(|_| is_told_at_once) {
                let separator = if number == 0 { "" } else { "\n" };
                self.ask.events.report(RunEvent::Token { text: format!("{separator}{sentence}") });
            }
            text = Some(joined.join("\n"));
            sentences = extract
                .sentences
                .iter()
                .map(|sentence| Sentence {
                    text: sentence.text.clone(),
                    status: SentenceStatus::Supported,
                    citations: vec![sentence.id.clone()],
                    problems: Vec::new(),
                })
                .collect();
        }
        self.done(Answer {
            answer: text,
            answered_by: if answered { AnsweredBy::Extract } else { AnsweredBy::Nobody },
            sentences,
            citations,
            extract: (!answered).then_some(extract),
            warnings,
            ..blank
        })
    }

    /// A reply that is whole.
    pub(crate) fn written(
        &self,
        read: Read,
        reply: &Reply,
        model: &str,
        finish_reason: &FinishReason,
        involved: Involved,
    ) -> Answer {
        let chinese = read.language.is_chinese();
        // A model that sees no rule where a quoted sentence answers is overruled by the rule.
        if reply.text.is_empty() && reply.says_not_in_rules && read.reading.outcome == Outcome::Answered {
            let warning = if chinese {
                "模型認為條文沒有答案，但規章原句如上。"
            } else {
                "The model saw no answer in the articles; these are the rules' own words."
            };
            return self.extract_after(read, involved, vec![warning.to_owned()]);
        }
        let cites = reply.sentences.iter().any(|sentence| !sentence.citations.is_empty());
        let stop = reply.stopped.map(|reason| stops::stop(reason, read.language));
        let with_extract = reply.text.is_empty() || !cites || stop.is_some();
        let mut citations = Self::citations(&read, &involved, with_extract);
        citations::mark_used(&mut citations, &reply.sentences);
        let mut warnings = Vec::new();
        let mut warn = |in_chinese: &str, in_english: &str| {
            warnings.push(if chinese { in_chinese } else { in_english }.to_owned());
        };
        let outcome = if reply.text.is_empty() {
            if reply.says_not_in_rules {
                Outcome::NotInRules
            } else {
                warn("模型沒有寫出任何內容。", "The model wrote nothing.");
                Outcome::Degraded
            }
        } else if reply.says_not_in_rules {
            Outcome::Insufficient
        } else if cites {
            Outcome::Answered
        } else {
            warn(
                "模型的回答沒有引用任何給它的條文，請以條文為準。",
                "The model's answer cites none of the articles it was given.",
            );
            Outcome::Degraded
        };
        if *finish_reason == FinishReason::Length {
            warn("模型的回答因長度上限而被截短。", "The model's answer was cut at its length limit.");
        }
        if reply.sentences.iter().any(|sentence| sentence.problems.iter().any(|problem| problem == WRONG_SCRIPT)) {
            warn("模型的回答夾雜簡體字。", "The model's answer holds Simplified characters.");
        }
        let text = (!reply.text.is_empty()).then(|| reply.text.clone());
        let mode = involved.mode();
        let blank = self.blank(outcome, &read, mode, stop, involved);
        self.done(Answer {
            answered_by: match text {
                Some(_) => AnsweredBy::Model { model: model.to_owned() },
                None => AnsweredBy::Nobody,
            },
            extract: with_extract.then_some(read.reading.extract),
            answer: text,
            sentences: reply.sentences.clone(),
            citations,
            warnings,
            ..blank
        })
    }

    /// No model's answer, and nothing shown of one.
    pub(crate) fn degraded(&self, read: Read, reason: Option<&str>, involved: Involved) -> Answer {
        self.done(Answer {
            warnings: vec![stops::no_model_answer(reason, read.language)],
            ..self.unanswered(Outcome::Degraded, None, read, involved)
        })
    }

    /// A reply that was cut off by a cap, or that a cap kept from being asked for: an answer like any other, with what
    /// there is.
    pub(crate) fn capped(&self, read: Read, draft: &str, stop: Stop, involved: Involved) -> Answer {
        self.done(Answer {
            draft: (!draft.is_empty()).then(|| draft.to_owned()),
            ..self.unanswered(Outcome::Stopped, Some(stop), read, involved)
        })
    }

    /// A reply that broke after it had begun, or that never came.
    pub(crate) fn broken(
        &self,
        read: Read,
        draft: &str,
        stop: Stop,
        (code, message): (String, String),
        involved: Involved,
    ) -> Answer {
        let failure = RunEvent::Failed { stop: involved.at_step(stop.clone()), code, message };
        let answer = Answer {
            draft: (!draft.is_empty()).then(|| draft.to_owned()),
            ..self.unanswered(Outcome::Stopped, Some(stop), read, involved)
        };
        self.tell(&answer);
        self.ask.events.report(failure);
        answer
    }

    fn unanswered(&self, outcome: Outcome, stop: Option<Stop>, read: Read, involved: Involved) -> Answer {
        let (mode, citations) = (involved.mode(), Self::citations(&read, &involved, true));
        let blank = self.blank(outcome, &read, mode, stop, involved);
        Answer { citations, extract: Some(read.reading.extract), ..blank }
    }

    pub(crate) fn done(&self, answer: Answer) -> Answer {
        self.tell(&answer);
        if self.ask.events.listens() {
            self.ask.events.report(RunEvent::Done { answer: Box::new(answer.clone()) });
        }
        answer
    }

    /// An answer with nothing in it but its circumstances.
    fn blank(&self, outcome: Outcome, read: &Read, mode: Mode, stop: Option<Stop>, involved: Involved) -> Answer {
        let stop = stop.map(|stop| involved.at_step(stop));
        let stopped = stop.as_ref().map(|stop| stop.reason);
        Answer {
            answer: None,
            outcome,
            note: outcome.note(read.language).to_owned(),
            answered_by: AnsweredBy::Nobody,
            sentences: Vec::new(),
            citations: Vec::new(),
            extract: None,
            draft: None,
            stop,
            warnings: Vec::new(),
            usage: involved.usage,
            timing: timing(self.clock, self.ask.started, read.retrieve, involved.waited),
            retriever: LEXICAL.to_owned(),
            mode,
            agent: involved.notes.as_ref().map(|notes| notes.trace(involved.run_calls, stopped)),
            request_id: self.ask.request_id.clone(),
            run_id: involved.run_id,
            asked_at: read.asked_at,
        }
    }
}

/// Tells an answer that is whole as if it were being written: what it rests on, then its text, or what there is of one, in
/// pieces of about a sentence.
pub(crate) fn tell_at_once(events: &dyn EventSink, answer: &Answer) {
    if !events.listens() {
        return;
    }
    events.report(RunEvent::Citations { citations: answer.citations.clone() });
    let text = answer.answer.as_deref().or(answer.draft.as_deref()).unwrap_or_default();
    for piece in text.split_inclusive(['。', '；', '\n', '!', '?', '！', '？']).filter(|piece| !piece.is_empty()) {
        events.report(RunEvent::Token { text: piece.to_owned() });
    }
}

/// Where the time went since `started`.
pub(crate) fn timing(clock: &dyn Clock, started: Duration, retrieve: Duration, waited: Duration) -> Timing {
    let total = clock.elapsed().saturating_sub(started);
    Timing {
        embed_ms: 0.0,
        retrieve_ms: milliseconds(retrieve),
        llm_ms: milliseconds(waited),
        serialize_ms: 0.0,
        total_ms: milliseconds(total),
        overhead_ms: milliseconds(total.saturating_sub(retrieve + waited)),
    }
}

pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}
