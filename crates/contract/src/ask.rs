//! `POST /ask`: the request, the answer, and the events of a streamed answer.

use serde::{Deserialize, Serialize};

use crate::{
    article::{ArticleId, Span},
    citation::Citation,
    ids::{RequestId, RunId},
    money::MicroUsd,
    outcome::Outcome,
    stop::{Stop, StopReason},
    time::Timestamp,
    usage::TokenUsage,
};

/// How an answer is to be made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The extract when a quoted span answers the asked kind of fact, else the pipeline when a model is configured.
    #[default]
    Auto,
    /// The sentences that answer, verbatim. No model, free.
    Extract,
    /// Retrieve once, answer once.
    Pipeline,
    /// The model decides how often to search.
    Agent,
}

/// A question. Unknown fields are refused by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskRequest {
    /// 1–500 characters.
    #[schema(min_length = 1, max_length = 500)]
    pub question: String,
    /// Articles per retrieval, 1–15.
    #[serde(default = "default_k")]
    #[schema(minimum = 1, maximum = 15, default = 3)]
    pub k: u32,
    /// `false` neither reads nor writes a cache.
    #[serde(default = "default_true")]
    pub use_cache: bool,
    /// How the answer is made.
    #[serde(default)]
    pub mode: Mode,
    /// Agent mode: the answer must be checked once before it is given.
    #[serde(default)]
    pub self_check: bool,
    /// Restrict to one source, by its name (at most 200 characters).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Restrict to one chapter, 1–99.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 99)]
    pub chapter_no: Option<u32>,
    /// At most this many steps, 1–12.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 12)]
    pub max_steps: Option<u32>,
    /// At most this much money, as a decimal string in the currency that the service shows: `"0.5"`. More than 0, at most
    /// six decimals. The service's own ceiling holds where it is tighter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<String>,
    /// The same in New Taiwan dollars, more than 0, at most 10; only where the service shows that currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub max_twd: Option<serde_json::Number>,
    /// At most this many milliseconds of wall time, more than 0, at most 600,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub max_wall_ms: Option<serde_json::Number>,
    /// Answer as Server-Sent Events.
    #[serde(default)]
    pub stream: bool,
}

pub(crate) const fn default_true() -> bool {
    true
}

const fn default_k() -> u32 {
    3
}

/// A field that is out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct FieldError {
    /// The field's name.
    pub field: &'static str,
    /// What is wrong and what is allowed.
    pub problem: String,
}

impl FieldError {
    /// A problem with one field.
    #[must_use]
    pub fn new(field: &'static str, problem: impl Into<String>) -> Self {
        Self { field, problem: problem.into() }
    }
}

/// Longest question, in characters.
pub const MAX_QUESTION_CHARS: usize = 500;

/// Checks that a question has something to search for and is not too long.
///
/// # Errors
/// If it is empty, blank, over-long, holds a NUL, or has neither letter nor digit (emoji or punctuation only).
pub fn check_question(question: &str) -> Result<(), FieldError> {
    let problem = |text: &str| Err(FieldError::new("question", text));
    // `chars().count()` on an unbounded body would be wasted work: four bytes a character is the most there is.
    if question.len() > 4 * MAX_QUESTION_CHARS || question.chars().count() > MAX_QUESTION_CHARS {
        return problem("longer than 500 characters; ask one thing at a time");
    }
    if question.trim().is_empty() {
        return problem("empty; write the question in words");
    }
    if question.contains('\0') {
        return problem("contains a NUL character");
    }
    if !question.chars().any(char::is_alphanumeric) {
        return problem("has no word or number in it; write the question in words");
    }
    Ok(())
}

pub(crate) fn check_range(field: &'static str, value: u32, low: u32, high: u32) -> Result<(), FieldError> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(FieldError::new(field, format!("{value} is outside {low} to {high}")))
    }
}

pub(crate) fn check_source(source: Option<&str>) -> Result<(), FieldError> {
    match source {
        Some(name) if name.is_empty() || name.chars().count() > 200 => {
            Err(FieldError::new("source", "must have 1 to 200 characters"))
        }
        _ => Ok(()),
    }
}

pub(crate) fn check_number(
    field: &'static str,
    value: Option<&serde_json::Number>,
    high: f64,
) -> Result<(), FieldError> {
    match value.map(|number| number.as_f64().unwrap_or(f64::NAN)) {
        None => Ok(()),
        Some(number) if number > 0.0 && number <= high => Ok(()),
        Some(_) => Err(FieldError::new(field, format!("must be more than 0 and at most {high}"))),
    }
}

impl AskRequest {
    /// A request with every default.
    #[must_use]
    pub fn new(question: impl Into<String>) -> Self {
        Self {
            question: question.into(),
            k: default_k(),
            use_cache: true,
            mode: Mode::Auto,
            self_check: false,
            source: None,
            chapter_no: None,
            max_steps: None,
            max_cost: None,
            max_twd: None,
            max_wall_ms: None,
            stream: false,
        }
    }

    /// Checks every field's range.
    ///
    /// # Errors
    /// The first field that is out of range.
    pub fn check(&self) -> Result<(), FieldError> {
        check_question(&self.question)?;
        check_range("k", self.k, 1, 15)?;
        check_source(self.source.as_deref())?;
        self.chapter_no.map_or(Ok(()), |n| check_range("chapter_no", n, 1, 99))?;
        self.max_steps.map_or(Ok(()), |n| check_range("max_steps", n, 1, 12))?;
        check_number("max_twd", self.max_twd.as_ref(), 10.0)?;
        check_number("max_wall_ms", self.max_wall_ms.as_ref(), 600_000.0)
    }
}

/// Who wrote the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum AnsweredBy {
    /// Nobody: sentences of the rules themselves.
    Extract,
    /// A model, as it named itself in its reply.
    Model {
        /// The reported identity.
        model: String,
    },
    /// There is no answer.
    Nobody,
}

/// How well a sentence of an answer stands on what it cites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SentenceStatus {
    /// Verbatim from, or checked against, the articles it cites.
    Supported,
    /// It cites nothing that exists, or says what its article does not.
    Unsupported,
    /// It makes no claim about the rules.
    NoClaim,
}

/// One sentence of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Sentence {
    /// The sentence, a part of `answer`.
    pub text: String,
    /// How well it is supported.
    pub status: SentenceStatus,
    /// The articles it cites.
    #[schema(value_type = Vec<String>)]
    pub citations: Vec<ArticleId>,
    /// What is wrong with it, one short code each: `invalid_citation`, `wrong_script`, `no_citation`.
    pub problems: Vec<String>,
}

/// A verbatim sentence of the rules that answers, or comes nearest to answering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ExtractSentence {
    /// Where it stands.
    #[schema(value_type = String)]
    pub id: ArticleId,
    /// Bytes in the article's text.
    pub span: Span,
    /// The sentence, verbatim.
    pub text: String,
}

/// What the rules themselves say, without any model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Extract {
    /// At most four sentences, best article first.
    pub sentences: Vec<ExtractSentence>,
}

/// Milliseconds spent in each stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Timing {
    /// Embedding the question.
    pub embed_ms: f64,
    /// Searching.
    pub retrieve_ms: f64,
    /// Waiting for models.
    pub llm_ms: f64,
    /// Writing the reply.
    pub serialize_ms: f64,
    /// From the first byte of the request to the last of the answer.
    pub total_ms: f64,
    /// `total_ms` less the four above, never negative.
    pub overhead_ms: f64,
}

/// What an answer cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AnswerUsage {
    /// Tokens, all zero when the answer came from a cache or from the extract.
    #[serde(flatten)]
    pub tokens: TokenUsage,
    /// Whether the answer came from a cache, or from the call of somebody who asked the same at the same time.
    pub cached: bool,
    /// Attempts that were sent to a model.
    pub model_calls: u32,
    /// What this request cost, in millionths of a US dollar. It is what was booked: never less than what was received.
    pub cost_micro_usd: MicroUsd,
    /// Whether the cost is a bound, because the provider did not say what it used.
    pub estimated: bool,
    /// What a cache hit avoided, in millionths of a US dollar.
    pub avoided_micro_usd: MicroUsd,
    /// The cost as decimal text in `currency`.
    pub cost: String,
    /// The currency that the service shows, as three letters.
    pub currency: String,
    /// `cost` as a number, where the currency is TWD; null elsewhere. For showing only.
    pub cost_twd: Option<f64>,
    /// What a cache hit avoided, likewise.
    pub avoided_twd: Option<f64>,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Answer {
    /// The answer; null means that there is none. `note` says why.
    pub answer: Option<String>,
    /// What kind of answer this is.
    pub outcome: Outcome,
    /// The outcome as one sentence in the question's language.
    pub note: String,
    /// Who wrote it.
    pub answered_by: AnsweredBy,
    /// The answer, sentence by sentence.
    pub sentences: Vec<Sentence>,
    /// Articles, best first: retrieved, then referenced; in agent mode, everything that was read, in the order of reading.
    /// `used` marks what the answer rests on.
    pub citations: Vec<Citation>,
    /// Given whenever `answer` is null: what the rules say nearest to the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extract: Option<Extract>,
    /// What had been written when a stop cut the answer off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft: Option<String>,
    /// Present when the run ended before its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// Things worth knowing that change nothing: `min_similarity has no effect without vectors`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What it cost.
    pub usage: AnswerUsage,
    /// Where the time went.
    pub timing: Timing,
    /// The retriever that searched.
    pub retriever: String,
    /// The mode that made the answer: never `auto`.
    pub mode: Mode,
    /// What the agent did; null where none was asked for.
    pub agent: Option<AgentTrace>,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
    /// The run's id.
    #[schema(value_type = String)]
    pub run_id: RunId,
    /// When the question arrived.
    pub asked_at: Timestamp,
}

/// What an agent did for one answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentTrace {
    /// Turns that used tools. A last answer that a cap has forced is not counted.
    pub steps: u32,
    /// Searches that were made.
    pub searches: u32,
    /// Attempts that were sent to a model, by the run that made the answer.
    pub llm_calls: u32,
    /// What was searched for, in order.
    pub queries: Vec<String>,
    /// How many of the searches had been made before.
    pub repeats: u32,
    /// Whether the cap on steps was reached.
    pub hit_cap: bool,
    /// How many drafts were checked.
    pub n_checks: u32,
    /// Whether the last check found a problem.
    pub flagged: bool,
    /// Whether the answer differs from the last draft that was checked, white space aside.
    pub revised: bool,
    /// Why the run ended before its time; null if it did not.
    pub stopped_reason: Option<StopReason>,
    /// How many steps had been completed then; null likewise.
    pub stopped_at_step: Option<u32>,
}

/// What an agent did with one tool, told as it happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StepEvent {
    /// The step that it belongs to, from 1. One step may use several tools.
    pub step: u32,
    /// The tool: `search`, `read_article`, `check`, `answer`, or whatever the model called it.
    pub tool: String,
    /// What was asked of it, in short.
    pub query: String,
    /// The articles that came of it: found, read, or cited.
    #[schema(value_type = Vec<String>)]
    pub found: Vec<ArticleId>,
    /// What was wrong, in short: with the call, or with the draft that was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// First event of a streamed answer, sent before any model is called; in agent mode, sent once the agent has read what it
/// needs, after its steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CitationsEvent {
    /// What was found.
    pub citations: Vec<Citation>,
    /// Milliseconds since the request arrived.
    pub elapsed_ms: f64,
}

/// A piece of the answer. The pieces joined equal `answer` of the last event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TokenEvent {
    /// The piece.
    pub text: String,
}

/// Last event of a stream that ended well: the whole answer, and when its first piece was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DoneEvent {
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
    /// Milliseconds from the request to the first piece; null when nothing was sent.
    pub first_token_ms: Option<f64>,
}

/// Last event of a stream that broke.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StreamErrorEvent {
    /// A stable code.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// What had been sent, if anything.
    pub partial_answer: Option<String>,
    /// Characters sent.
    pub sent_chars: usize,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
    /// Why the run ended.
    pub stop: Stop,
    /// What the rules themselves say, free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extract: Option<Extract>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(json: &str) -> String {
        match serde_json::from_str::<AskRequest>(json) {
            Err(error) => error.to_string(),
            Ok(request) => request.check().map_or_else(|e| e.to_string(), |()| "fine".to_owned()),
        }
    }

    #[test]
    fn each_field_out_of_range_is_named() {
        let rows = [
            (r#"{"question":"事假幾天"}"#, "fine"),
            (r#"{"question":""}"#, "question: empty"),
            (r#"{"question":"　 "}"#, "question: empty"),
            (r#"{"question":"😀😀"}"#, "question: has no word"),
            (r#"{"question":"？"}"#, "question: has no word"),
            ("{\"question\":\"a\\u0000\"}", "question: contains a NUL"),
            (r#"{"question":"a","k":0}"#, "k: 0 is outside 1 to 15"),
            (r#"{"question":"a","k":16}"#, "k: 16 is outside 1 to 15"),
            (r#"{"question":"a","max_steps":13}"#, "max_steps: 13"),
            (r#"{"question":"a","max_twd":0}"#, "max_twd: must be more than 0"),
            (r#"{"question":"a","max_wall_ms":600001}"#, "max_wall_ms: must be more than 0"),
            (r#"{"question":"a","chapter_no":0}"#, "chapter_no: 0 is outside"),
            (r#"{"question":"a","source":""}"#, "source: must have"),
            (r#"{"question":"a","budgett":5}"#, "unknown field `budgett`"),
            (r#"{"question":"a","mode":"magic"}"#, "unknown variant `magic`"),
        ];
        for (json, expected) in rows {
            assert!(problem(json).contains(expected), "{json}: {}", problem(json));
        }
        assert!(problem(&format!(r#"{{"question":"{}"}}"#, "假".repeat(501))).contains("longer than 500"));
        assert_eq!(problem(&format!(r#"{{"question":"{}"}}"#, "假".repeat(500))), "fine");
    }
}
