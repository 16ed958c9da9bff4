//! Every question is a run; what was answered before is the run that was paid for.

use axum::http::Method;
use bylaw_gate::Role;
use bylaw_model::scripted::{Script, ScriptedEnd, ScriptedReply};
use serde_json::{Value, json};

use crate::{
    door::{Door, Plan, events},
    runs::{names, told},
};

const REPLY: &str = "十四日[work_rules.md#27]。";

fn question(mode: &str, stream: bool) -> String {
    json!({ "question": "事假一年最多幾天？", "mode": mode, "stream": stream }).to_string()
}

async fn runs(door: &Door) -> Vec<Value> {
    assert!(door.runner.journal().flush().await);
    door.get("/runs").await.json()["runs"].as_array().unwrap().clone()
}

async fn asked(door: &Door, mode: &str, stream: bool) -> Value {
    let reply = door.post("/ask", &question(mode, stream)).await;
    if stream { events(&reply.text()).pop().unwrap().1 } else { reply.json() }
}

#[tokio::test]
async fn each_question_in_each_mode_and_form_is_a_run_with_its_events_in_order() {
    for (mode, stream) in [
        ("extract", false),
        ("extract", true),
        ("auto", false),
        ("auto", true),
        ("pipeline", false),
        ("pipeline", true),
    ] {
        let door = Plan::new().model(Script::always(ScriptedReply::text(REPLY))).open().await;
        let answer = asked(&door, mode, stream).await;
        let runs = runs(&door).await;
        assert_eq!(runs.len(), 1, "{mode} {stream}");
        let run = &runs[0];
        for (field, expected) in [
            ("run_id", &answer["run_id"]),
            ("request_id", &answer["request_id"]),
            ("kind", &json!("ask")),
            ("mode", &json!(mode)),
            ("status", &json!("ended")),
            ("stop", &json!("completed")),
            ("message", &json!("事假一年最多幾天？")),
            ("agent", &Value::Null),
        ] {
            assert_eq!(&run[field], expected, "{mode} {stream} {field}");
        }
        let id = run["run_id"].as_str().unwrap();
        let told = told(&door.get(&format!("/runs/{id}/events")).await.text());
        assert_eq!(names(&told), ["citations", "done"], "{mode} {stream}");
        assert_eq!(told.iter().filter_map(|event| event.id).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(told[1].data["answer"]["answer"], answer["answer"], "{mode} {stream}");
        let detail = door.get(&format!("/runs/{id}")).await.json();
        assert_eq!(detail["answer"], answer["answer"]);
    }
}

#[tokio::test]
async fn a_hit_has_its_own_request_and_the_run_that_was_paid_for() {
    let script = Script::always(ScriptedReply::text(REPLY));
    let door = Plan::new().model(script.clone()).open().await;
    let first = asked(&door, "pipeline", false).await;
    for stream in [false, true] {
        let hit = asked(&door, "pipeline", stream).await;
        assert_eq!((&hit["usage"]["cached"], &hit["run_id"]), (&json!(true), &first["run_id"]), "{stream}");
        assert_ne!(hit["request_id"], first["request_id"]);
    }
    assert_eq!((script.requests().len(), runs(&door).await.len()), (1, 1), "no run is written for a hit");
}

#[tokio::test]
async fn a_request_that_is_sent_again_is_no_run_of_its_own() {
    let door = Plan::new().model(Script::always(ScriptedReply::text(REPLY))).open().await;
    let headers = [("content-type", "application/json"), ("idempotency-key", "one")];
    for stream in [false, true, false] {
        let body =
            json!({ "question": "事假一年最多幾天？", "mode": "pipeline", "use_cache": false, "stream": stream });
        let reply = door.call(Method::POST, "/ask", &headers, body.to_string().into_bytes()).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
    let runs = runs(&door).await;
    assert_eq!((runs.len(), &runs[0]["stop"]), (1, &json!("completed")));
}

#[tokio::test]
async fn a_question_that_broke_is_a_run_that_says_why() {
    for stream in [false, true] {
        let cut = ScriptedReply::ending(["十四日"], ScriptedEnd::Cut);
        let door = Plan::new().model(Script::always(cut)).open().await;
        door.post("/ask", &question("pipeline", stream)).await;
        let runs = runs(&door).await;
        assert_eq!((runs.len(), &runs[0]["status"]), (1, &json!("ended")));
        assert_eq!(runs[0]["stop"], "upstream_incomplete", "{}", runs[0]);
    }
}

#[tokio::test]
async fn ones_questions_are_nobody_elses_runs() {
    let door = Plan::new().open().await;
    let (one, other) = (door.key(Role::Reader, None).await, door.key(Role::Reader, None).await);
    let answer = door.post_as(&one, "/ask", &question("extract", false)).await.json();
    assert!(door.runner.journal().flush().await);
    let path = format!("/runs/{}", answer["run_id"].as_str().unwrap());
    assert_eq!(door.get_as(&one, &path).await.status, 200);
    assert_eq!(door.get_as(&other, &path).await.error().1, "run_not_found");
}

#[tokio::test]
async fn a_question_that_is_being_answered_can_be_stopped_by_its_run() {
    for (mode, stream) in [("pipeline", false), ("pipeline", true), ("agent", true)] {
        let script = Script::always(ScriptedReply::ending(["十四"], ScriptedEnd::Stalls));
        let door = Plan::new().model(script.clone()).open().await;
        let body = question(mode, stream);
        let asked = door.post("/ask", &body);
        let stopped = async {
            let run = loop {
                if let Some(run) = runs(&door).await.pop().filter(|_| !script.requests().is_empty()) {
                    break run["run_id"].as_str().unwrap().to_owned();
                }
                tokio::task::yield_now().await;
            };
            door.call(Method::DELETE, &format!("/runs/{run}"), &[], Vec::new()).await.json()
        };
        let (reply, stopped) = tokio::join!(asked, stopped);
        assert_eq!(stopped["cancelled"], true, "{mode} {stream}");
        if stream {
            let (name, error) = events(&reply.text()).pop().unwrap();
            assert_eq!((name.as_str(), &error["code"]), ("error", &json!("cancelled")), "{mode}");
            assert_eq!(error["stop"]["reason"], "cancelled", "{mode}");
        } else {
            assert_eq!((reply.status.as_u16(), reply.error().1.as_str()), (409, "cancelled"), "{mode}");
        }
        let run = runs(&door).await.pop().unwrap();
        assert_eq!((&run["status"], &run["stop"]), (&json!("ended"), &json!("cancelled")), "{mode} {stream}");
    }
}
