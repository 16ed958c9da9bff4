//! What is remembered, shared and repeated.

use std::time::Duration;

use bylaw_contract::{RunEvent, ask::AskRequest};
use bylaw_model::scripted::{Script, ScriptedReply};

use super::{
    ANSWER, answers,
    house::{Caller, Heard, House, question},
    search,
};

/// Searches once and answers.
fn script() -> Script {
    Script::answering(|request| match request.results().len() {
        0 => search(1, "特別休假"),
        _ => answers(2, ANSWER),
    })
}

#[tokio::test]
async fn an_answer_is_remembered_with_everything_that_it_depends_on() {
    let script = script();
    let house = House::of(&script);
    let base = question("特休幾天");
    let first = house.ask(&base, &Heard::default()).await;
    let again = house.ask(&base, &Heard::default()).await;
    assert_eq!(script.requests().len(), 2);
    assert_eq!((&again.answer, &again.citations, &again.agent), (&first.answer, &first.citations, &first.agent));
    assert!(again.usage.cached && again.usage.avoided_micro_usd == first.usage.cost_micro_usd && !first.usage.cached);
    assert_eq!(again.run_id, first.run_id);
    let others = [
        AskRequest { k: 4, ..base.clone() },
        AskRequest { max_steps: Some(3), ..base.clone() },
        AskRequest { self_check: true, ..base.clone() },
        AskRequest { source: Some("work_rules.md".to_owned()), ..base.clone() },
        AskRequest { chapter_no: Some(2), ..base.clone() },
        AskRequest { use_cache: false, ..base.clone() },
        AskRequest { mode: bylaw_contract::ask::Mode::Pipeline, ..base.clone() },
    ];
    for (number, other) in others.iter().enumerate() {
        let before = script.requests().len();
        house.ask(other, &Heard::default()).await;
        assert!(script.requests().len() > before, "{number}: {other:?}");
    }
    // What costs nothing needs no allowance.
    let before = script.requests().len();
    let tight = AskRequest { max_cost: Some("0.000001".to_owned()), max_wall_ms: Some(1.into()), ..base };
    assert!(house.ask(&tight, &Heard::default()).await.usage.cached);
    assert_eq!(script.requests().len(), before);
}

#[tokio::test]
async fn what_a_cap_has_stopped_is_not_remembered() {
    let script = Script::answering(|request| match request.tools.is_empty() {
        true => ScriptedReply::text("滿一年七日[work_rules.md#26]。"),
        false => search(request.messages.len(), "特別休假"),
    });
    let house = House::of(&script);
    let request = AskRequest { max_steps: Some(1), ..question("特休幾天") };
    for _ in 0..2 {
        let answer = house.ask(&request, &Heard::default()).await;
        assert!(answer.answer.is_some() && answer.stop.is_some() && !answer.usage.cached);
    }
    assert_eq!(script.requests().len(), 4);
}

#[tokio::test]
async fn eight_who_ask_the_same_at_once_are_one_run_whose_steps_all_hear() {
    let script = Script::answering(|request| {
        let reply = if request.results().is_empty() { search(1, "特別休假") } else { answers(2, ANSWER) };
        reply.after(Duration::from_millis(20))
    });
    let house = House::of(&script);
    tokio::time::pause();
    let heard: Vec<Heard> = (0..8).map(|_| Heard::default()).collect();
    let request = question("特休幾天");
    let all = futures_util::future::join_all(heard.iter().map(|heard| house.ask(&request, heard))).await;
    assert_eq!(script.requests().len(), 2);
    assert_eq!(all.iter().filter(|answer| !answer.usage.cached).count(), 1);
    let logs = |heard: &&Heard| heard.all().iter().any(|event| matches!(event, RunEvent::Loop(_)));
    assert_eq!(heard.iter().filter(logs).count(), 1, "one run has one log");
    assert!(heard.iter().all(|one| one.told() == heard[0].told() && one.told().len() > 4));
    assert_eq!(house.booked().await.len(), 2);
}

#[tokio::test]
async fn a_keyed_request_sent_three_times_at_once_costs_once() {
    let script = script();
    let house = House::of(&script);
    let request = AskRequest { use_cache: false, ..question("特休幾天") };
    let heard: Vec<Heard> = (0..3).map(|_| Heard::default()).collect();
    let keyed = || Caller { key: Some("order-7"), ..Caller::default() };
    let all = futures_util::future::join_all(heard.iter().map(|heard| house.try_ask(&request, keyed(), heard))).await;
    let all: Vec<_> = all.into_iter().map(Result::unwrap).collect();
    assert!(all.iter().all(|answer| answer.answer == all[0].answer && answer.run_id == all[0].run_id));
    let later = house.try_ask(&request, keyed(), &heard[0]).await.unwrap();
    assert_eq!((later.answer, later.agent), (all[0].answer.clone(), all[0].agent.clone()));
    assert_eq!((script.requests().len(), house.booked().await.len()), (2, 2));
    assert!(heard.iter().all(|heard| heard.told().last().map(String::as_str) == Some("done")));
}
