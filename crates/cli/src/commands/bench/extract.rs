//! `bylaw bench extract`: whether extracts hold the facts that right answers hold.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use bylaw_answer::{Answerer, Ask, IgnoreEvents};
use bylaw_contract::{
    Clock, Outcome, RequestId, RunId,
    ask::{Answer, AskRequest, Mode},
};
use bylaw_gate::Principal;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::collection::{Collection, json_rows};
use crate::{
    args::BenchExtract,
    failure::Failure,
    system::{SystemClock, SystemRandom},
    terminal::{self, Format, shorten},
};

#[derive(Deserialize)]
struct Question {
    id: Value,
    question: String,
    #[serde(default)]
    facts: Vec<String>,
    #[serde(default)]
    forbid: Vec<String>,
    outcome: Option<Outcome>,
}

/// Most sentences that a good extract has.
const MAX_SENTENCES: usize = 4;

#[derive(Default, Serialize)]
struct Report {
    /// Questions with facts.
    questions: usize,
    /// All facts quoted, nothing forbidden, at most four sentences.
    right: usize,
    /// Questions with facts that were answered `not_in_rules`.
    wrongly_not_in_rules: usize,
    /// Questions without facts: how many were answered as if the rules did.
    silent_questions: usize,
    silent_but_answered: usize,
    /// Of the questions that state an outcome: how many got it.
    outcomes_stated: usize,
    outcomes_right: usize,
}

pub(super) async fn run(arguments: &BenchExtract, format: Format) -> Result<ExitCode, Failure> {
    let collection = Collection::index(&arguments.corpus)?;
    let mut report = Report::default();
    for question in read(&arguments.questions)? {
        let answer = extract(&collection, &question.question).await?;
        let problem = report.judge(&question, &answer);
        if let (true, Some(problem)) = (arguments.misses, problem) {
            terminal::note(format!("{} {}", question.id, question.question));
            terminal::note(format!("   {:?}: {problem}", answer.outcome));
            for sentence in quoted(&answer) {
                terminal::note(format!("   > {}", shorten(sentence, 120)));
            }
        }
    }
    show(&report, format);
    Ok(ExitCode::SUCCESS)
}

fn read(paths: &[PathBuf]) -> Result<Vec<Question>, Failure> {
    let mut questions = Vec::new();
    for path in paths {
        questions.extend(json_rows::<Question>(path)?);
    }
    Ok(questions)
}

async fn extract(collection: &Collection, question: &str) -> Result<Answer, Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let mut request = AskRequest::new(question);
    request.mode = Mode::Extract;
    let ask = Ask {
        request: &request,
        generation: Arc::clone(&collection.generation),
        principal: Principal::LocalDoor,
        idempotency_key: None,
        request_id: RequestId::mint(&SystemRandom),
        run_id: RunId::mint(&SystemRandom),
        started: clock.elapsed(),
        cancel: CancellationToken::new(),
        events: &IgnoreEvents,
    };
    Ok(Answerer::without_model(clock, Arc::new(SystemRandom)).ask(ask).await?)
}

/// The quoted sentences, whether they answer or only come nearest.
fn quoted(answer: &Answer) -> Vec<&str> {
    let answered = answer.sentences.iter().map(|sentence| sentence.text.as_str());
    let nearest = answer.extract.iter().flat_map(|extract| &extract.sentences).map(|sentence| sentence.text.as_str());
    answered.chain(nearest).collect()
}

impl Report {
    /// Counts one answer and says what is wrong with it.
    fn judge(&mut self, question: &Question, answer: &Answer) -> Option<String> {
        let mut problems = Vec::new();
        if let Some(outcome) = question.outcome {
            self.outcomes_stated += 1;
            if outcome == answer.outcome {
                self.outcomes_right += 1;
            } else {
                problems.push(format!("outcome should be {outcome:?}"));
            }
        }
        if question.facts.is_empty() {
            self.silent_questions += 1;
            if answer.outcome == Outcome::Answered {
                self.silent_but_answered += 1;
                problems.push("answered, though the rules are silent".to_owned());
            }
        } else {
            self.questions += 1;
            let sentences = quoted(answer);
            let holds = |text: &String| sentences.iter().any(|sentence| sentence.contains(text.as_str()));
            let missing: Vec<&String> = question.facts.iter().filter(|fact| !holds(fact)).collect();
            let forbidden: Vec<&String> = question.forbid.iter().filter(|text| holds(text)).collect();
            if answer.outcome == Outcome::NotInRules {
                self.wrongly_not_in_rules += 1;
            }
            if missing.is_empty() && forbidden.is_empty() && sentences.len() <= MAX_SENTENCES {
                self.right += 1;
            } else {
                problems.push(format!("missing {missing:?}, forbidden {forbidden:?}, {} sentences", sentences.len()));
            }
        }
        if problems.is_empty() { None } else { Some(problems.join("; ")) }
    }
}

fn show(report: &Report, format: Format) {
    if format == Format::Json {
        return terminal::json(report);
    }
    terminal::line(format!(
        "facts quoted {}/{}   wrongly not_in_rules {}   silent but answered {}/{}   outcomes {}/{}",
        report.right,
        report.questions,
        report.wrongly_not_in_rules,
        report.silent_but_answered,
        report.silent_questions,
        report.outcomes_right,
        report.outcomes_stated
    ));
}
