//! The extract over the bundled rulebook: every fact inside the quoted sentences, nothing that is forbidden, at most
//! four sentences, and the right outcome.

mod rulebook;

use bylaw_contract::ask::Mode;
use rulebook::{Rulebook, questions};

#[tokio::test]
async fn the_extract_answers_the_development_questions() {
    let rulebook = Rulebook::bundled();
    let mut table = String::new();
    let (mut right, mut refused, mut all, mut answerable) = (0, 0, 0, 0);
    for question in questions() {
        let answer = rulebook.ask(&question.question, Mode::Extract).await;
        let verdict = question.verdict(&answer);
        all += 1;
        right += usize::from(verdict.is_empty());
        if question.outcome == "answered" {
            answerable += 1;
            refused += usize::from(answer.outcome == bylaw_contract::Outcome::NotInRules);
        }
        if !verdict.is_empty() {
            table.push_str(&question.row(&answer, &verdict));
        }
    }
    let summary =
        format!("{right} of {all} right, {refused} of {answerable} answerable ones called not in the rules\n{table}");
    assert!(right >= 52 && refused == 0, "{summary}");
}
