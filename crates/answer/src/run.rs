//! One question's way through search, extract and model, with the events it reports.

use std::time::Duration;

use bylaw_contract::{
    Citation, Clock, Language, Outcome, RunEvent, StopReason, Timestamp,
    ask::{Answer, AnswerUsage, AnsweredBy, Mode, Sentence, SentenceStatus, Timing},
};
use bylaw_model::{ChatModel, FinishReason, ModelError};
use bylaw_retrieval::{Filter, Found, IndexedArticle, LEXICAL, Query};

use crate::{
    ask::{AnswerError, Ask},
    attribution::WRONG_SCRIPT,
    citations,
    extract::{self, Reading},
    pipeline::{self, Reply, ReplyEnd},
    stops,
};

/// What is known once the rules have been read.
struct Read {
    found: Found,
    reading: Reading,
    citations: Vec<Citation>,
    language: Language,
    asked_at: Timestamp,
    retrieve: Duration,
}

/// Runs one question.
pub(crate) async fn run(model: Option<&ChatModel>, clock: &dyn Clock, ask: Ask<'_>) -> Result<Answer, AnswerError> {
    if ask.request.mode == Mode::Agent {
        return Err(AnswerError::ModeUnavailable);
    }
    if ask.cancel.is_cancelled() {
        return Err(AnswerError::Cancelled);
    }
    let read = read(clock, &ask)?;
    let elapsed_ms = milliseconds(clock.elapsed().saturating_sub(ask.started));
    tracing::debug!(outcome = ?read.reading.outcome, elapsed_ms, "the rules have been read");
    ask.events.report(RunEvent::Citations { citations: read.citations.clone() });
    match (ask.request.mode, model) {
        (Mode::Extract, _) | (Mode::Auto, None) => Ok(from_extract(clock, &ask, read)),
        (Mode::Auto, Some(model)) => {
            if read.reading.outcome == Outcome::Insufficient {
                from_model(model, clock, &ask, read).await
            } else {
                Ok(from_extract(clock, &ask, read))
            }
        }
        (Mode::Pipeline | Mode::Agent, Some(model)) => {
            // Without any article there is nothing that a model could cite, and nothing to pay for.
            if read.citations.is_empty() {
                Ok(from_extract(clock, &ask, read))
            } else {
                from_model(model, clock, &ask, read).await
            }
        }
        (Mode::Pipeline | Mode::Agent, None) => {
            Ok(degraded(clock, &ask, read, None, AnswerUsage::default(), Duration::ZERO))
        }
    }
}

fn read(clock: &dyn Clock, ask: &Ask<'_>) -> Result<Read, AnswerError> {
    let asked_at = clock.now();
    let before = clock.elapsed();
    let source = match ask.request.source.as_deref() {
        None => None,
        Some(name) => {
            let unknown = || AnswerError::SourceNotFound(name.to_owned());
            let source = bylaw_contract::SourceName::new(name).map_err(|_| unknown())?;
            ask.generation.source(&source).ok_or_else(unknown)?;
            Some(source)
        }
    };
    let k = usize::try_from(ask.request.k).unwrap_or(usize::MAX);
    let filter = Filter { source: source.as_ref(), chapter_no: ask.request.chapter_no, readable: None };
    let question = ask.request.question.as_str();
    let query = Query { question, k: k.max(extract::READING_DEPTH), filter, follow_references: true };
    let deep = ask.generation.search(&query)?;
    let reading = extract::read(&ask.generation, question, &deep, filter)?;
    let found = citations::first_hits(&deep, k, &ask.generation);
    let mut citations = citations::citations_of(&found);
    // What is quoted is always shown, also where it was ranked behind the first k.
    for sentence in &reading.extract.sentences {
        if !citations.iter().any(|citation| citation.id == sentence.id)
            && let Some(hit) =
                deep.hits.iter().chain(&deep.referenced).chain(&reading.extra).find(|hit| hit.article.id == sentence.id)
        {
            let ranked = citations.iter().take_while(|citation| citation.retrieved).count();
            let citation = citations::citation_of(hit);
            citations.insert(if citation.retrieved { ranked } else { citations.len() }, citation);
        }
    }
    let language = deep.question.language;
    let retrieve = clock.elapsed().saturating_sub(before);
    Ok(Read { found: deep, reading, citations, language, asked_at, retrieve })
}

fn from_extract(clock: &dyn Clock, ask: &Ask<'_>, read: Read) -> Answer {
    extract_after(clock, ask, read, AnswerUsage::default(), Duration::ZERO, Vec::new())
}

/// The extract as the answer, after what a model has cost already.
fn extract_after(
    clock: &dyn Clock,
    ask: &Ask<'_>,
    read: Read,
    usage: AnswerUsage,
    waited: Duration,
    mut warnings: Vec<String>,
) -> Answer {
    warnings.extend(read.found.question.missing_citations.iter().map(|name| {
        if read.language.is_chinese() {
            format!("規章裡找不到「{name}」。")
        } else {
            format!("There is no {name} in the rules.")
        }
    }));
    let answered = read.reading.outcome == Outcome::Answered;
    let mut citations = read.citations;
    let extract = read.reading.extract;
    let mut sentences = Vec::new();
    let mut text = None;
    if answered {
        citations::quote(&mut citations, &extract.sentences);
        let joined: Vec<&str> = extract.sentences.iter().map(|sentence| sentence.text.as_str()).collect();
        for (number, sentence) in joined.iter().enumerate() {
            let separator = if number == 0 { "" } else { "\n" };
            ask.events.report(RunEvent::Token { text: format!("{separator}{sentence}") });
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
    let answer = Answer {
        answer: text,
        answered_by: if answered { AnsweredBy::Extract } else { AnsweredBy::Nobody },
        sentences,
        citations,
        extract: (!answered).then_some(extract),
        warnings,
        usage,
        ..blank(clock, ask, read.reading.outcome, read.language, read.asked_at, Mode::Extract, read.retrieve, waited)
    };
    done(ask, answer)
}

async fn from_model(model: &ChatModel, clock: &dyn Clock, ask: &Ask<'_>, read: Read) -> Result<Answer, AnswerError> {
    let hits = read.found.hits.iter().chain(&read.found.referenced).chain(&read.reading.extra);
    let articles: Vec<&IndexedArticle> = read
        .citations
        .iter()
        .filter_map(|citation| hits.clone().find(|hit| hit.article.id == citation.id).map(|hit| &*hit.article))
        .collect();
    let before = clock.elapsed();
    let mut show = |text: String| ask.events.report(RunEvent::Token { text });
    let reply = pipeline::ask(model, read.language, &ask.request.question, &articles, &ask.cancel, &mut show).await;
    let waited = clock.elapsed().saturating_sub(before);
    let usage = AnswerUsage { tokens: reply.usage, model_calls: u32::from(reply.was_sent), ..AnswerUsage::default() };
    match reply.end {
        ReplyEnd::Broken(ModelError::Cancelled) => Err(AnswerError::Cancelled),
        ReplyEnd::Broken(ref error) => {
            let in_time = !matches!(error, ModelError::TimedOut { .. } | ModelError::Incomplete);
            if reply.text.is_empty() && in_time {
                Ok(degraded(clock, ask, read, Some(error), usage, waited))
            } else {
                let stop = stops::stop_of(error, read.language);
                let (code, message) = (error.code().as_str().to_owned(), error.to_string());
                Ok(stopped(clock, ask, read, reply, stop, code, message, usage, waited))
            }
        }
        ReplyEnd::Whole { finish_reason: FinishReason::ContentFilter, .. } => {
            let stop = stops::stop(StopReason::Refused, read.language);
            let code = bylaw_contract::ErrorCode::UpstreamFailed.as_str().to_owned();
            let message = stop.message.clone();
            Ok(stopped(clock, ask, read, reply, stop, code, message, usage, waited))
        }
        ReplyEnd::Whole { ref model, ref finish_reason } => {
            let (model, finish_reason) = (model.clone(), finish_reason.clone());
            Ok(written(clock, ask, read, reply, model, &finish_reason, usage, waited))
        }
    }
}

/// A reply that is whole.
#[expect(clippy::too_many_arguments, reason = "one call site; the values have nothing else in common")]
fn written(
    clock: &dyn Clock,
    ask: &Ask<'_>,
    read: Read,
    reply: Reply,
    model: String,
    finish_reason: &FinishReason,
    usage: AnswerUsage,
    waited: Duration,
) -> Answer {
    let chinese = read.language.is_chinese();
    // A model that sees no rule where a quoted sentence answers is overruled by the rule.
    if reply.text.is_empty() && reply.says_not_in_rules && read.reading.outcome == Outcome::Answered {
        let warning = if chinese {
            "模型認為條文沒有答案，但規章原句如上。"
        } else {
            "The model saw no answer in the articles; these are the rules' own words."
        };
        return extract_after(clock, ask, read, usage, waited, vec![warning.to_owned()]);
    }
    let mut citations = read.citations;
    citations::mark_used(&mut citations, &reply.sentences);
    let mut warnings = Vec::new();
    let mut warn = |in_chinese: &str, in_english: &str| {
        warnings.push(if chinese { in_chinese } else { in_english }.to_owned());
    };
    let cites = citations.iter().any(|citation| citation.used);
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
    let text = (!reply.text.is_empty()).then_some(reply.text);
    let extract = (text.is_none() || !cites).then_some(read.reading.extract);
    let answer = Answer {
        answered_by: if text.is_some() { AnsweredBy::Model { model } } else { AnsweredBy::Nobody },
        answer: text,
        sentences: reply.sentences,
        citations,
        extract,
        warnings,
        usage,
        ..blank(clock, ask, outcome, read.language, read.asked_at, Mode::Pipeline, read.retrieve, waited)
    };
    done(ask, answer)
}

/// No model's answer, and nothing shown of one.
fn degraded(
    clock: &dyn Clock,
    ask: &Ask<'_>,
    read: Read,
    error: Option<&ModelError>,
    usage: AnswerUsage,
    waited: Duration,
) -> Answer {
    let answer = Answer {
        citations: read.citations,
        extract: Some(read.reading.extract),
        warnings: vec![stops::no_model_answer(error, read.language)],
        usage,
        ..blank(clock, ask, Outcome::Degraded, read.language, read.asked_at, Mode::Pipeline, read.retrieve, waited)
    };
    done(ask, answer)
}

/// A reply that broke after it had begun, or that never came.
#[expect(clippy::too_many_arguments, reason = "two call sites; the values have nothing else in common")]
fn stopped(
    clock: &dyn Clock,
    ask: &Ask<'_>,
    read: Read,
    reply: Reply,
    stop: bylaw_contract::Stop,
    code: String,
    message: String,
    usage: AnswerUsage,
    waited: Duration,
) -> Answer {
    ask.events.report(RunEvent::Failed { stop: stop.clone(), code, message });
    Answer {
        citations: read.citations,
        extract: Some(read.reading.extract),
        draft: (!reply.text.is_empty()).then_some(reply.text),
        stop: Some(stop),
        usage,
        ..blank(clock, ask, Outcome::Stopped, read.language, read.asked_at, Mode::Pipeline, read.retrieve, waited)
    }
}

fn done(ask: &Ask<'_>, answer: Answer) -> Answer {
    ask.events.report(RunEvent::Done { answer: Box::new(answer.clone()) });
    answer
}

/// An answer with nothing in it but its circumstances.
#[expect(clippy::too_many_arguments, reason = "the circumstances of an answer")]
fn blank(
    clock: &dyn Clock,
    ask: &Ask<'_>,
    outcome: Outcome,
    language: Language,
    asked_at: Timestamp,
    mode: Mode,
    retrieve: Duration,
    waited: Duration,
) -> Answer {
    let total = clock.elapsed().saturating_sub(ask.started);
    Answer {
        answer: None,
        outcome,
        note: outcome.note(language).to_owned(),
        answered_by: AnsweredBy::Nobody,
        sentences: Vec::new(),
        citations: Vec::new(),
        extract: None,
        draft: None,
        stop: None,
        warnings: Vec::new(),
        usage: AnswerUsage::default(),
        timing: Timing {
            embed_ms: 0.0,
            retrieve_ms: milliseconds(retrieve),
            llm_ms: milliseconds(waited),
            serialize_ms: 0.0,
            total_ms: milliseconds(total),
            overhead_ms: milliseconds(total.saturating_sub(retrieve + waited)),
        },
        retriever: LEXICAL.to_owned(),
        mode,
        agent: None,
        request_id: ask.request_id.clone(),
        run_id: ask.run_id.clone(),
        asked_at,
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}
