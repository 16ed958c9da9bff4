//! Long questions: progress, giving up, and the end of patience.

use bylaw_contract::ask::StepEvent;
use bylaw_handover::News;
use serde_json::json;

use crate::support::{Pipe, Reply, ScriptedDoor};

fn step() -> News {
    News::Step(StepEvent {
        step: 1,
        tool: "search".to_owned(),
        query: "特休".to_owned(),
        found: vec!["work_rules.md#26".parse().unwrap()],
        problem: None,
    })
}

#[tokio::test]
async fn who_wants_to_know_hears_how_it_goes() {
    let door = ScriptedDoor::of([Reply::Tells(vec![step(), News::Found(3), News::Written(12)])]);
    let mut pipe = Pipe::open(door).await;
    let params = json!({ "name": "ask", "arguments": { "question": "特休幾天" }, "_meta": { "progressToken": "t" } });
    pipe.begin("tools/call", params).await;
    let (mut heard, mut last) = (Vec::new(), 0.0);
    while heard.len() < 3 {
        let notice = pipe.hear().await;
        assert_eq!(
            (&notice["method"], &notice["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("t"))
        );
        let done = notice["params"]["progress"].as_f64().unwrap();
        assert!(done > last);
        last = done;
        let message = notice["params"]["message"].as_str().unwrap().to_owned();
        if message != "處理中" {
            heard.push(message);
        }
    }
    assert_eq!(heard, ["第 1 步 search 特休（1 條）", "查到 3 條，正在作答", "已寫 12 字"]);
}

#[tokio::test]
async fn a_caller_who_gives_up_takes_the_request_at_the_door_with_them() {
    for tool in ["ask", "search_rules"] {
        let door = ScriptedDoor::of([Reply::Tells(vec![])]);
        let mut pipe = Pipe::open(door.clone()).await;
        let argument = if tool == "ask" { "question" } else { "query" };
        let id = pipe.begin("tools/call", json!({ "name": tool, "arguments": { argument: "特休幾天" } })).await;
        door.begun.notified().await;
        let gone = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        pipe.say(&gone).await;
        door.given_up.notified().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_door_that_never_answers_is_left_before_clients_give_up() {
    let door = ScriptedDoor::of([Reply::Tells(vec![])]);
    let mut pipe = Pipe::open(door.clone()).await;
    let started = tokio::time::Instant::now();
    let called = pipe.call("ask", json!({ "question": "特休幾天" })).await;
    assert!(called.is_error && called.text.contains("53 秒內沒有回覆"), "{}", called.text);
    assert!(started.elapsed().as_secs() < 60);
    door.given_up.notified().await;
}
