//! Runs with something of everything in them, as tests need them.

use bylaw_agent::{NewRun, Owner, Purpose, RunStore, RunWrite};
use bylaw_contract::{
    KeyId, OwnerId, RequestId, RunEvent, RunId, Stop, StopReason, Timestamp, ask::Mode, runs::RunStatus,
};
use bylaw_store::SqliteStore;
use serde_json::json;

/// 2026-03-01T00:00:00Z.
const BEGIN: i64 = 1_772_323_200_000;

/// Keeps a question whose attempts are on the books of request `shared`, an agent's run that is under way and waits, of
/// request `worked`, and a question that broke, of request `broken`.
pub(crate) async fn keep(store: &SqliteStore) {
    let question = NewRun {
        owner: Owner::Key(KeyId::new(format!("key_{:024x}", 1)).unwrap()),
        purpose: Purpose::Ask(Mode::Pipeline),
        ..run(1, "shared")
    };
    let mut batch = vec![begin(question), event(1, json!({ "event": "citations", "citations": [] }))];
    batch.push(begin(NewRun { purpose: Purpose::Agent("leave".to_owned()), ..run(11, "worked") }));
    let worked = [
        json!({ "event": "started", "version": 1, "run_id": id(11), "agent": "leave", "model": "small",
            "message": "請假" }),
        json!({ "event": "model_call", "step": 0, "tools": 2, "last": false }),
        json!({ "event": "model_reply", "text": "", "finish": "tool_calls", "usage": null,
            "calls": [{ "call_id": "c1", "tool": "find", "arguments": "{}" }] }),
        json!({ "event": "tool_call", "call_id": "c1", "tool": "find", "server": "hr", "arguments": { "day": "一" },
            "may_repeat": true }),
        json!({ "event": "tool_result", "call_id": "c1", "tool": "find", "status": "succeeded",
            "text": format!("LV-1\n\u{1b}[31m{}", "長".repeat(200)) }),
        json!({ "event": "model_call", "step": 1, "tools": 0, "last": true }),
        json!({ "event": "model_failed", "message": "the endpoint cannot be reached" }),
        json!({ "event": "question", "id": 1, "kind": "approval", "message": "May it?" }),
        json!({ "event": "reply", "id": 1, "action": "decline", "by": "person" }),
        json!({ "event": "question", "id": 2, "kind": "elicitation", "message": "Which day?" }),
    ];
    batch.extend(worked.map(|told| event(11, told)));
    batch.push(begin(NewRun { purpose: Purpose::Ask(Mode::Auto), ..run(12, "broken") }));
    let stop = Stop { reason: StopReason::UpstreamTimeout, at_step: 0, message: "too late".to_owned() };
    let failed = RunEvent::Failed { stop, code: "upstream_timeout".to_owned(), message: "too late".to_owned() };
    batch.push(event(12, serde_json::to_value(failed).unwrap()));
    store.write(batch).await.unwrap();
    assert_eq!(store.run(&id(11)).await.unwrap().unwrap().status(), RunStatus::Waiting);
}

fn id(number: u64) -> RunId {
    RunId::new(format!("run_{number:024x}")).unwrap()
}

fn run(number: u64, request: &str) -> NewRun {
    NewRun {
        id: id(number),
        owner: Owner::LocalDoor,
        purpose: Purpose::Ask(Mode::Auto),
        model: None,
        conversation: None,
        message: "育嬰留停\n可以多久？".to_owned(),
        request_id: RequestId::new(request).unwrap(),
        started_at: Timestamp(BEGIN),
    }
}

fn begin(run: NewRun) -> RunWrite {
    RunWrite::Begin(Box::new(run), OwnerId::new(format!("own_{:024x}", 1)).unwrap())
}

fn event(run: u64, told: serde_json::Value) -> RunWrite {
    let event = Box::new(serde_json::from_value(told).unwrap());
    RunWrite::Event { run: id(run), at: Timestamp(BEGIN + 1_000), event }
}
