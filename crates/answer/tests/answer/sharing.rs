//! What is remembered, what is shared while it is made, and what is given again for an idempotency key.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use bylaw_answer::{AnswerError, IgnoreEvents};
use bylaw_contract::{
    MicroUsd, Outcome, SourceName, StopReason,
    ask::{Answer, AskRequest, Mode},
};
use bylaw_gate::{Budget, Period, ReadableSources, RowKind, ServiceBudgets};
use bylaw_model::scripted::{Script, ScriptedEnd, ScriptedReply};
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use crate::{
    bank::{Bank, Caller, Setup, Tokens, holder},
    money::rules,
    rulebook::Rulebook,
};

const REPLY: &str = "事假十四日[work_rules.md#27]。";

fn bank(script: &Script) -> Bank {
    Bank::open(rules(), script.clone(), Setup::default())
}

fn request(question: &str) -> AskRequest {
    AskRequest { mode: Mode::Pipeline, ..AskRequest::new(question) }
}

async fn ask(bank: &Bank, request: &AskRequest, caller: Caller) -> Answer {
    bank.ask(request, caller, &IgnoreEvents).await.expect("an answer of some kind")
}

#[tokio::test]
async fn the_same_question_twice_is_one_call_and_the_second_books_what_it_avoided() {
    let script = Script::always(ScriptedReply::text(REPLY));
    let bank = bank(&script);
    let first = bank.pipeline("事假幾天").await;
    let tokens = Tokens::default();
    let again = Caller { label: "again", ..Caller::default() };
    let second = bank.ask(&request("事假幾天"), again, &tokens).await.expect("an answer");
    assert_eq!(script.requests().len(), 1);
    assert_eq!((&second.answer, &second.run_id), (&first.answer, &first.run_id));
    assert_eq!(second.request_id.as_str(), "again");
    let (first, usage) = (first.usage, second.usage);
    assert_eq!((usage.cached, usage.cost_micro_usd, usage.model_calls), (true, MicroUsd::ZERO, 0));
    assert_eq!((usage.avoided_micro_usd, usage.tokens.output_tokens), (first.cost_micro_usd, 0));
    // A hit streams as a stream.
    assert_eq!(tokens.0.lock().expect("no test panics while it holds this").concat(), REPLY);
    let rows = bank.rows().await;
    assert_eq!((rows.len(), rows[1].row.kind, rows[1].row.amount), (2, RowKind::Avoided, first.cost_micro_usd));
    assert_eq!((&rows[1].row.labels.run_id, &rows[1].row.repeats), (&None, &rows[0].row.labels.run_id));
}

#[tokio::test]
async fn whatever_an_answer_depends_on_is_part_of_its_key() {
    let script = Script::always(ScriptedReply::text(REPLY));
    let base = request("事假幾天");
    let others = [
        request("事假幾日"),
        AskRequest { k: 4, ..base.clone() },
        AskRequest { self_check: true, ..base.clone() },
        AskRequest { source: Some("work_rules.md".to_owned()), ..base.clone() },
        AskRequest { use_cache: false, ..base.clone() },
    ];
    for other in others {
        let bank = bank(&script);
        assert!(!ask(&bank, &base, Caller::default()).await.usage.cached);
        // The model may have been asked exactly the same before; the answer was not remembered.
        ask(&bank, &other, Caller::default()).await;
        assert_eq!(bank.answerer.tallies().answer_hits, 0, "{other:?}");
    }
}

#[tokio::test]
async fn without_the_cache_nothing_is_read_or_written() {
    let script = Script::always(ScriptedReply::text(REPLY));
    let bank = bank(&script);
    let uncached = AskRequest { use_cache: false, ..request("事假幾天") };
    ask(&bank, &uncached, Caller::default()).await;
    assert!(!bank.pipeline("事假幾天").await.usage.cached);
    ask(&bank, &uncached, Caller::default()).await;
    assert_eq!(script.requests().len(), 3);
    // Nor is a call shared that is under way.
    tokio::join!(ask(&bank, &uncached, Caller::default()), ask(&bank, &uncached, Caller::default()));
    assert_eq!((script.requests().len(), bank.answerer.tallies().shared), (5, 0));
}

#[tokio::test]
async fn a_model_that_was_asked_exactly_this_is_not_asked_again() {
    let script = Script::always(ScriptedReply::text(REPLY));
    let bank = bank(&script);
    bank.pipeline("事假幾天").await;
    // Another k, and the same two articles: there are no more.
    let other = AskRequest { k: 9, ..request("事假幾天") };
    let answer = ask(&bank, &other, Caller::default()).await;
    assert_eq!((script.requests().len(), bank.answerer.tallies().call_hits), (1, 1));
    assert!(answer.usage.cached && answer.usage.avoided_micro_usd > MicroUsd::ZERO);
    assert_eq!(bank.booked().await[1].0, RowKind::Avoided);
}

#[tokio::test]
async fn nothing_partial_is_ever_remembered() {
    let cut = ScriptedReply::ending(["事假"], ScriptedEnd::Cut);
    let script = Script::new([cut, ScriptedReply::text("公司沒有規定。"), ScriptedReply::text(REPLY)]);
    let bank = bank(&script);
    let outcomes = [Outcome::Stopped, Outcome::Degraded, Outcome::Answered];
    for (outcome, hits) in outcomes.into_iter().zip([0, 0, 1]) {
        let answer = bank.pipeline("事假幾天").await;
        // The second reply is whole and cites nothing: the call is remembered, the answer is not.
        if outcome == Outcome::Answered {
            assert_eq!((answer.outcome, bank.answerer.tallies().call_hits), (Outcome::Degraded, hits));
        } else {
            assert_eq!((answer.outcome, answer.usage.cached), (outcome, false));
        }
    }
    assert_eq!(bank.answerer.tallies().answer_hits, 0);
}

#[tokio::test]
async fn what_a_key_may_not_read_is_in_no_answer_that_it_gets() {
    let secret = "# 薪資\n\n### 第二十七條（事假）\n\n事假期間發給 P7 薪資帶的半數。\n";
    let rules = Rulebook::of(&[("work_rules.md", crate::money::RULES), ("salary.md", secret)]);
    let script = Script::answering(|request| {
        let all = request.messages[1].content().contains("salary.md");
        ScriptedReply::text(if all { "半數[salary.md#27]。" } else { REPLY })
    });
    let bank = Bank::open(rules, script, Setup::default());
    let only: BTreeSet<_> = [SourceName::new("work_rules.md").expect("a name")].into();
    let reader = || holder('2', ReadableSources::Only(only.clone()));
    let everything = || holder('1', ReadableSources::All);
    let caller = |principal| Caller { principal, ..Caller::default() };
    let hr = ask(&bank, &request("事假幾天"), caller(everything())).await;
    assert!(hr.answer.is_some_and(|text| text.contains("salary.md")));
    let answer = ask(&bank, &request("事假幾天"), caller(reader())).await;
    let shown = serde_json::to_string(&answer).expect("json");
    assert!(!answer.usage.cached && !shown.contains("salary.md") && !shown.contains("P7"), "{shown}");
    let named = AskRequest { source: Some("salary.md".to_owned()), ..request("事假幾天") };
    let refused = bank.ask(&named, caller(reader()), &IgnoreEvents).await;
    assert!(matches!(refused, Err(AnswerError::SourceNotFound(_))));
}

#[tokio::test]
async fn eight_who_ask_the_same_at_once_are_one_call() {
    let script = Script::always(ScriptedReply::pieces(["事假", "十四日", "[work_rules.md#27]。"]));
    let bank = bank(&script);
    let same = request("事假幾天");
    let answers = join_all((0..8).map(|_| ask(&bank, &same, Caller::default()))).await;
    assert_eq!(script.requests().len(), 1);
    assert!(answers.iter().all(|answer| answer.answer.as_deref() == Some(REPLY)));
    let paid = answers.iter().filter(|answer| answer.usage.cost_micro_usd > MicroUsd::ZERO).count();
    assert_eq!((paid, bank.answerer.tallies().shared), (1, 7));
    let kinds: Vec<RowKind> = bank.booked().await.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == RowKind::Spent).count(), 1);
    assert_eq!(kinds.iter().filter(|kind| **kind == RowKind::Avoided).count(), 7);
}

#[tokio::test(start_paused = true)]
async fn when_the_leader_leaves_the_others_still_get_theirs() {
    let script =
        Script::always(ScriptedReply::ending(["事假"], ScriptedEnd::Stalls)).with_patience(Duration::from_secs(5));
    let bank = bank(&script);
    let same = request("事假幾天");
    let cancel = CancellationToken::new();
    let leader = bank.ask(&same, Caller { cancel: cancel.clone(), ..Caller::default() }, &IgnoreEvents);
    let tokens = Tokens::default();
    let follower = bank.ask(&same, Caller::default(), &tokens);
    let leaving = async {
        while tokens.0.lock().expect("no test panics while it holds this").is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (leader, follower, ()) = tokio::join!(leader, follower, leaving);
    assert!(matches!(leader, Err(AnswerError::Cancelled)));
    let follower = follower.expect("an answer of some kind");
    // The call went on until the model's own silence ended it.
    assert_eq!(follower.stop.map(|stop| stop.reason), Some(StopReason::UpstreamTimeout));
    assert_eq!((follower.draft.as_deref(), script.requests().len()), (Some("事假"), 1));
    assert_eq!(bank.booked().await[0].0, RowKind::Estimated);
}

#[tokio::test]
async fn a_leader_without_money_takes_nobody_along() {
    let script = Script::always(ScriptedReply::text(REPLY));
    let bank = bank(&script);
    let poor = {
        let mut record = match holder('1', ReadableSources::All) {
            bylaw_gate::Principal::Key(record) => (*record).clone(),
            bylaw_gate::Principal::LocalDoor => unreachable!("a holder has a key"),
        };
        record.budgets = vec![Budget { limit: MicroUsd(1), period: Period::Day }];
        bylaw_gate::Principal::Key(record.into())
    };
    let rich = holder('2', ReadableSources::All);
    let same = request("事假幾天");
    let caller = |principal| Caller { principal, ..Caller::default() };
    let (poor, rich) = tokio::join!(ask(&bank, &same, caller(poor)), ask(&bank, &same, caller(rich)));
    assert_eq!(poor.stop.map(|stop| stop.reason), Some(StopReason::Cost));
    assert_eq!((rich.outcome, rich.usage.cached), (Outcome::Answered, false));
}

fn keyed(key: &'static str) -> Caller {
    Caller { key: Some(key), ..Caller::default() }
}

#[tokio::test]
async fn a_keyed_request_sent_three_times_at_once_costs_once() {
    let script = Script::always(ScriptedReply::text(REPLY));
    let bank = bank(&script);
    // Without the cache, so that only the key keeps them together.
    let same = AskRequest { use_cache: false, ..request("事假幾天") };
    let answers = join_all((0..3).map(|_| ask(&bank, &same, keyed("a")))).await;
    let later = ask(&bank, &same, keyed("a")).await;
    assert_eq!(script.requests().len(), 1);
    for answer in answers.iter().chain([&later]) {
        assert_eq!((&answer.answer, &answer.run_id), (&answers[0].answer, &answers[0].run_id));
        assert_eq!(answer.usage, answers[0].usage);
    }
    let charged = bank.booked().await.into_iter().filter(|(kind, _)| *kind == RowKind::Spent).count();
    assert_eq!((charged, bank.answerer.tallies().repeated), (1, 3));
    ask(&bank, &same, keyed("b")).await;
    assert_eq!(script.requests().len(), 2);
}

#[tokio::test]
async fn a_key_stands_for_one_request() {
    let bank = bank(&Script::always(ScriptedReply::text(REPLY)));
    let (same, other) = (request("事假幾天"), request("特別休假幾天"));
    let streamed = AskRequest { stream: true, ..same.clone() };
    ask(&bank, &same, keyed("a")).await;
    ask(&bank, &streamed, keyed("a")).await;
    let conflict = bank.ask(&other, keyed("a"), &IgnoreEvents).await;
    assert!(matches!(conflict, Err(AnswerError::IdempotencyConflict)));
    let (first, second) =
        tokio::join!(bank.ask(&same, keyed("b"), &IgnoreEvents), bank.ask(&other, keyed("b"), &IgnoreEvents),);
    assert!(first.is_ok() && matches!(second, Err(AnswerError::IdempotencyConflict)));
    // Another's key of the same name is another key.
    let theirs = Caller { principal: holder('1', ReadableSources::All), ..keyed("a") };
    assert!(bank.ask(&other, theirs, &IgnoreEvents).await.is_ok());
}

#[tokio::test]
async fn a_keyed_request_that_was_cut_off_may_be_tried_afresh() {
    let script = Script::new([ScriptedReply::ending(["事假"], ScriptedEnd::Cut), ScriptedReply::text(REPLY)]);
    let bank = bank(&script);
    let first = ask(&bank, &request("事假幾天"), keyed("a")).await;
    assert_eq!(first.outcome, Outcome::Stopped);
    let second = ask(&bank, &request("事假幾天"), keyed("a")).await;
    assert_eq!((second.outcome, second.answer.as_deref()), (Outcome::Answered, Some(REPLY)));
    assert_eq!(ask(&bank, &request("事假幾天"), keyed("a")).await.answer.as_deref(), Some(REPLY));
    assert_eq!(script.requests().len(), 2);
}

#[tokio::test]
async fn only_equal_caps_share_a_call() {
    let script = Script::always(ScriptedReply::text(REPLY));
    let setup = Setup { budgets: ServiceBudgets::UNLIMITED, ..Setup::default() };
    let bank = Arc::new(Bank::open(rules(), script.clone(), setup));
    let free = request("事假幾天");
    let capped = AskRequest { max_cost: Some("0.001".to_owned()), ..free.clone() };
    let (capped, free) = tokio::join!(ask(&bank, &capped, Caller::default()), ask(&bank, &free, Caller::default()));
    assert_eq!(capped.stop.map(|stop| stop.reason), Some(StopReason::Cost));
    assert_eq!((free.outcome, script.requests().len()), (Outcome::Answered, 1));
}

#[tokio::test]
async fn a_call_that_was_good_for_nothing_has_avoided_nothing() {
    let script = Script::always(ScriptedReply::ending(["事假"], ScriptedEnd::Cut));
    let bank = bank(&script);
    let same = request("事假幾天");
    let (one, other) = tokio::join!(ask(&bank, &same, Caller::default()), ask(&bank, &same, Caller::default()));
    assert_eq!(script.requests().len(), 1);
    assert!([one, other].iter().all(|answer| answer.outcome == Outcome::Stopped && !answer.usage.cached));
    assert_eq!(bank.booked().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_leader_whose_time_is_up_while_others_go_on_is_told_a_bound() {
    let stalls = ScriptedReply::ending(["事假"], ScriptedEnd::Stalls);
    let bank = bank(&Script::always(stalls).with_patience(Duration::from_secs(5)));
    let hurried = AskRequest { max_wall_ms: Some(1_000.into()), ..request("事假幾天") };
    let patient = request("事假幾天");
    let (leader, follower) =
        tokio::join!(ask(&bank, &hurried, Caller::default()), ask(&bank, &patient, Caller::default()));
    assert_eq!(leader.stop.map(|stop| stop.reason), Some(StopReason::Time));
    assert!(leader.usage.estimated && leader.usage.cost_micro_usd.0 >= bank.booked().await[0].1);
    assert_eq!(follower.stop.map(|stop| stop.reason), Some(StopReason::UpstreamTimeout));
}

#[tokio::test]
async fn a_whole_reply_that_is_no_good_is_given_again_under_its_key() {
    let script = Script::new([ScriptedReply::text("公司沒有規定。"), ScriptedReply::text(REPLY)]);
    let bank = bank(&script);
    let uncached = AskRequest { use_cache: false, ..request("事假幾天") };
    for _ in 0..2 {
        let answer = ask(&bank, &uncached, keyed("a")).await;
        assert_eq!((answer.outcome, answer.answer.as_deref()), (Outcome::Degraded, Some("公司沒有規定。")));
    }
    assert_eq!(script.requests().len(), 1);
}

#[tokio::test]
async fn a_free_answer_is_made_afresh_under_its_key_and_another_body_is_still_a_conflict() {
    let bank = bank(&Script::new([]));
    let free = |question: &str| AskRequest { mode: Mode::Extract, ..AskRequest::new(question) };
    for _ in 0..2 {
        assert_eq!(ask(&bank, &free("事假一年幾天"), keyed("a")).await.outcome, Outcome::Answered);
    }
    let conflict = bank.ask(&free("特別休假幾天"), keyed("a"), &IgnoreEvents).await;
    assert!(matches!(conflict, Err(AnswerError::IdempotencyConflict)));
}

#[tokio::test]
async fn what_was_free_under_a_key_and_then_had_to_be_paid_for_is_paid_for_once() {
    let script = Script::always(ScriptedReply::text("事先申請[work_rules.md#27]。"));
    let mut bank = bank(&script);
    let question = AskRequest::new("事假一年幾天");
    assert_eq!(ask(&bank, &question, keyed("a")).await.usage.model_calls, 0);
    let silent = "# 工作規則\n\n### 第二十七條（事假）\n\n事假應事先提出申請。\n";
    bank.rules = Arc::new(Rulebook::of(&[("work_rules.md", silent)]));
    for _ in 0..2 {
        assert_eq!(ask(&bank, &question, keyed("a")).await.usage.model_calls, 1);
    }
    assert_eq!(script.requests().len(), 1);
}

#[tokio::test]
async fn a_recalled_answer_reads_as_the_answer_itself() {
    let script = Script::always(ScriptedReply::text("十四日：「\"usage\":{},\"timing\":{}」[work_rules.md#27]。"));
    let bank = bank(&script);
    let question = request("事假幾天");
    bank.pipeline("事假幾天").await;
    let recalled = bank.recall(&question).await.expect("it was answered before");
    let text = String::from_utf8(recalled.json().expect("json")).expect("text");
    assert_eq!(text, serde_json::to_string(&recalled.answer()).expect("json"));
    assert!(text.contains("\"cached\":true") && text.contains("\"request_id\":\"recalled\""));
    assert!(bank.recall(&AskRequest { use_cache: false, ..question }).await.is_none());
}
