//! The extract over the bundled rulebook: every fact inside the quoted sentences, nothing that is forbidden, at most
//! four sentences, and the right outcome.

use crate::rulebook::{Rulebook, questions};
use bylaw_contract::{Outcome, ask::Mode};

/// Asks a set: at least `floor` questions must be right, and none that the rules answer may be called not in the rules.
///
/// A floor is what was reached when it was written, less a small margin. Raise it with the extract; never lower it.
async fn check(set: &str, floor: usize) {
    let rulebook = Rulebook::bundled();
    let mut table = String::new();
    let (mut right, mut refused, mut all) = (0, 0, 0);
    for question in questions(set) {
        let answer = rulebook.ask(&question.question, Mode::Extract).await;
        let verdict = question.verdict(&answer);
        all += 1;
        right += usize::from(verdict.is_empty());
        refused += usize::from(question.outcome == "answered" && answer.outcome == Outcome::NotInRules);
        if !verdict.is_empty() {
            table.push_str(&question.row(&answer, &verdict));
        }
    }
    let summary = format!("{right} of {all} right; {refused} answerable ones called not in the rules\n{table}");
    assert!(right >= floor && refused == 0, "{summary}");
}

#[tokio::test]
async fn the_extract_answers_the_development_questions() {
    check("dev-questions.jsonl", 62).await;
}

#[tokio::test]
async fn a_situation_that_touches_two_articles_is_answered_from_both() {
    check("dev-scenarios.jsonl", 15).await;
}
