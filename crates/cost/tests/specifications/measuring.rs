//! Profiles from what was really asked.

use bylaw_contract::TokenUsage;
use bylaw_cost::{Attempt, Call, CostInput, FromLedger, Measured, Measurement, ProfileInput, Statistic, compare};

use crate::{base, figure};

fn usage(input_tokens: u64, cached_input_tokens: u64, output_tokens: u64) -> TokenUsage {
    TokenUsage { input_tokens, cached_input_tokens, output_tokens, ..TokenUsage::default() }
}

fn wanted() -> FromLedger {
    FromLedger { days: 30, model: "large".to_owned(), statistic: Statistic::Mean }
}

fn call(number: u64, task: &'static str, days_ago: u32, attempt: Attempt) -> Call<'static> {
    Call { number, corrects: None, task, run: Some(task), purpose: "answer", days_ago, attempt }
}

fn measured(calls: &[Call<'static>]) -> Option<Measured> {
    let mut measurement = Measurement::default();
    for call in calls {
        measurement.call(*call).unwrap();
    }
    measurement.finish(&wanted())
}

#[test]
fn calls_of_one_request_are_one_task_and_a_failed_attempt_is_a_retry() {
    let reported = |tokens| Attempt::Reported(usage(tokens, 0, 100));
    let measured = measured(&[
        call(1, "a", 9, reported(1_000)),
        Call { purpose: "search", ..call(2, "a", 9, reported(2_000)) },
        call(3, "b", 3, Attempt::Unknown),
        call(4, "b", 3, reported(3_000)),
        call(5, "c", 0, Attempt::Abandoned(usage(4_000, 1_000, 20))),
        // Nobody tried again after this one.
        call(6, "d", 0, Attempt::Estimated(usage(5_000, 0, 10))),
    ])
    .unwrap();
    assert_eq!((measured.tasks, measured.calls, measured.retries), (4, 5, 1));
    assert_eq!(measured.retry_rate, figure("0.2"));
    assert_eq!(measured.calls_per_task.mean, figure("1.25"));
    assert_eq!((measured.days, measured.tasks_per_day), (10, figure("0.4")));
    let prompt = measured.prompt_tokens;
    assert_eq!((prompt.p50, prompt.mean, prompt.p95), (figure("3000"), figure("3000"), figure("5000")));
    assert_eq!(measured.cached_tokens.mean, figure("200"));
}

#[test]
fn a_corrected_row_does_not_count() {
    let correction = Call { corrects: Some(1), ..call(2, "a", 0, Attempt::Reported(usage(700, 0, 70))) };
    let measured = measured(&[call(1, "a", 0, Attempt::Unknown), correction]).unwrap();
    assert_eq!((measured.calls, measured.retries), (1, 0));
    assert_eq!(measured.prompt_tokens.mean, figure("700"));
}

#[test]
fn questions_that_the_extract_answered_are_a_share_of_all() {
    let mut measurement = Measurement::default();
    measurement.call(call(1, "a", 0, Attempt::Reported(usage(700, 0, 70)))).unwrap();
    for task in ["b", "c", "b"] {
        measurement.answered_free(task);
    }
    measurement.cached("d");
    assert_eq!(measurement.finish(&wanted()).unwrap().answered_free_share, figure("0.5"));
}

#[test]
fn without_calls_whose_tokens_are_known_there_is_no_profile() {
    assert_eq!(measured(&[]), None);
    assert_eq!(measured(&[call(1, "a", 0, Attempt::Unknown)]), None);
}

#[test]
fn a_report_uses_what_was_measured_and_says_so() {
    let measured = measured(&[call(1, "a", 0, Attempt::Reported(usage(2_500, 0, 500)))]).unwrap();
    let mut input = CostInput { tasks_per_day: None, from_ledger: Some(wanted()), ..base() };
    input.api.profile = ProfileInput::default();
    let report = compare(input.clone(), Some(measured)).unwrap();
    assert_eq!(report.api.cost_per_task, figure("0.0045"));
    assert_eq!(report.tasks_per_day, figure("1"));
    let assumed: Vec<&str> = report.assumptions.iter().map(|one| one.field.as_str()).collect();
    assert!(assumed.contains(&"api.profile") && assumed.contains(&"tasks_per_day"), "{assumed:?}");
    assert_eq!(compare(input, None).unwrap_err().problems[0].field, "from_ledger");
}

#[test]
fn no_ledger_is_asked_for_no_days_or_no_model() {
    for (days, model, field) in
        [(0, "large", "from_ledger.days"), (367, "large", "from_ledger.days"), (30, " ", "from_ledger.model")]
    {
        let wanted = FromLedger { days, model: model.to_owned(), ..wanted() };
        assert_eq!(wanted.check().unwrap_err().problems[0].field, field);
    }
}
