//! What research may cost and how long it may take.

use std::time::Duration;

use bylaw_contract::{Outcome, StopReason, ask::AskRequest};
use bylaw_gate::RowKind;
use bylaw_model::scripted::{Script, ScriptedEnd, ScriptedReply};

use super::{
    answers,
    house::{Caller, Heard, House, question},
    search,
};

#[tokio::test]
async fn a_cap_on_money_stops_before_the_call_that_does_not_fit_and_gives_what_was_read() {
    let script =
        Script::answering(|request| search(request.messages.len(), &format!("特別休假 {}", request.messages.len())));
    let (house, heard) = (House::of(&script), Heard::default());
    // One call reserves some five thousand micro-dollars, and costs a few hundred.
    let request = AskRequest { max_cost: Some("0.17".to_owned()), ..question("特休幾天") };
    let answer = house.ask(&request, &heard).await;
    let stop = answer.stop.clone().unwrap();
    assert_eq!((answer.outcome, stop.reason), (Outcome::Stopped, StopReason::Cost));
    let asked = script.requests().len();
    assert!(asked >= 1 && stop.at_step as usize == asked, "{stop:?} {asked}");
    assert!(stop.message.contains("這個問題"), "{}", stop.message);
    assert!(answer.citations.iter().any(|citation| citation.id.to_string() == "work_rules.md#26"));
    assert!(answer.answer.is_none() && answer.extract.is_some());
    assert_eq!(heard.told().last().map(String::as_str), Some("done"));
    let (spent, open) = house.balance().await;
    assert_eq!((spent, open), (answer.usage.cost_micro_usd.0, 0));
    assert!(spent <= 5_312, "{spent}");
}

#[tokio::test]
async fn a_cap_on_time_cuts_the_call_and_keeps_what_there_is() {
    let stalls = ScriptedReply::ending(["滿一年七日[work_rules.md#26]"], ScriptedEnd::Stalls);
    let script = Script::new([search(1, "特別休假"), stalls]).with_patience(Duration::from_secs(900));
    let (house, heard) = (House::of(&script), Heard::default());
    tokio::time::pause();
    let request = AskRequest { max_wall_ms: Some(2_000.into()), ..question("特休幾天") };
    let answer = house.ask(&request, &heard).await;
    assert_eq!((answer.outcome, answer.answer.as_deref()), (Outcome::Stopped, None));
    assert_eq!(answer.stop.as_ref().map(|stop| (stop.reason, stop.at_step)), Some((StopReason::Time, 1)));
    assert_eq!(answer.draft.as_deref(), Some("滿一年七日[work_rules.md#26]"));
    assert_eq!(heard.tokens(), "滿一年七日[work_rules.md#26]");
    assert!(answer.extract.is_some() && !answer.citations.is_empty());
    assert_eq!(house.booked().await, [RowKind::Spent, RowKind::Estimated]);
}

#[tokio::test]
async fn who_leaves_stops_the_run_within_a_quarter_of_a_second() {
    let script =
        Script::new([search(1, "特別休假"), ScriptedReply::NeverAnswers]).with_patience(Duration::from_secs(900));
    let house = std::sync::Arc::new(House::of(&script));
    tokio::time::pause();
    let asking = tokio::spawn({
        let house = std::sync::Arc::clone(&house);
        async move { house.try_ask(&question("特休幾天"), Caller::default(), &Heard::default()).await }
    });
    while script.requests().len() < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    asking.abort();
    let left = tokio::time::Instant::now();
    while house.answerer.tallies().calls_abandoned == 0 {
        assert!(left.elapsed() < Duration::from_millis(250), "the upstream call goes on");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(house.booked().await, [RowKind::Spent, RowKind::Abandoned]);
    assert_eq!(house.balance().await.1, 0);
}

#[tokio::test]
async fn thirty_two_who_ask_at_once_are_done_in_the_time_of_one() {
    let slow = |reply: ScriptedReply| reply.after(Duration::from_secs(1));
    let script = Script::answering(move |request| match request.results().len() {
        0 => slow(search(1, "特別休假")),
        _ => slow(answers(2, super::ANSWER)),
    })
    .with_patience(Duration::from_secs(60));
    let house = House::of(&script);
    tokio::time::pause();
    let before = tokio::time::Instant::now();
    let asked: Vec<AskRequest> = (0..32).map(|number| question(&format!("特休幾天 {number}"))).collect();
    let heard = Heard::default();
    let all = futures_util::future::join_all(asked.iter().map(|request| house.ask(request, &heard))).await;
    assert!(all.iter().all(|answer| answer.outcome == Outcome::Answered));
    // Two calls of a second each, one after the other.
    assert!(before.elapsed() < Duration::from_millis(2_500), "{:?}", before.elapsed());
    assert_eq!(script.requests().len(), 64);
}
