//! `POST /runs/{run}/replies/{question}`: the first answer counts, and it must be one.

use bylaw_model::scripted::{Script, ScriptedReply};
use futures_util::future::join_all;
use serde_json::json;

use crate::{
    door::{Door, Plan},
    runs::{LEAVE, calls, leave_agent},
    servers::Leaves,
};

async fn asking(tool: &str, server: &Leaves) -> (Door, String) {
    let script = Script::new([calls(1, &[(tool, LEAVE)]), ScriptedReply::text("Done.")]);
    let door = Plan::new().model(script).agent("leave", leave_agent(server)).open().await;
    let run = door.start(&json!({ "agent": "leave", "message": "go" })).await;
    (door, run)
}

#[tokio::test]
async fn what_a_server_asks_is_answered_as_its_schema_says() {
    let server = Leaves::open().await;
    let (door, run) = asking("cancel_leave", &server).await;
    let question = door.question(&run).await;
    assert_eq!((&question["kind"], &question["server"]), (&json!("elicitation"), &json!("hr")));
    assert_eq!(question["message"], "Why is the leave cancelled?");
    for (bad, says) in [
        (json!({ "action": "accept" }), "reason"),
        (json!({ "action": "accept", "content": { "reason": 7 } }), "reason"),
        (json!({ "action": "accept", "content": { "reason": "x" } }), "reason"),
        (json!({ "action": "accept", "content": "because" }), "object"),
        (json!({ "action": "decline", "content": {} }), "content"),
        (json!({ "action": "yes" }), "action"),
        (json!({ "action": "accept", "contents": {} }), "contents"),
    ] {
        let (status, code, message) = door.answer(&run, 1, &bad).await.error();
        assert_eq!((status, code.as_str()), (422, "invalid_request"), "{bad}: {message}");
        assert!(message.contains(says), "{bad}: {message}");
    }
    let good = json!({ "action": "accept", "content": { "reason": "ill" } });
    assert_eq!(door.answer(&run, 1, &good).await.status, 200);
    assert_eq!(door.events_of(&run).await.last().unwrap().data["answer"], "Done.");
    assert!(server.calls()[0].contains(r#""reason":"ill""#), "{:?}", server.calls());
}

#[tokio::test]
async fn of_many_answers_at_once_the_first_counts_and_the_others_hear_which_that_was() {
    let server = Leaves::open().await;
    let (door, run) = asking("delete_leave", &server).await;
    door.question(&run).await;
    let actions = ["accept", "decline", "cancel"];
    let bodies: Vec<_> = (0..30).map(|number| json!({ "action": actions[number % 3] })).collect();
    let replies = join_all(bodies.iter().map(|body| door.answer(&run, 1, body))).await;
    let won: Vec<_> = replies.iter().filter(|reply| reply.status == 200).collect();
    assert_eq!(won.len(), 1);
    let action = won[0].json()["action"].as_str().unwrap().to_owned();
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        let (status, code, message) = reply.error();
        assert_eq!((status, code.as_str()), (409, "question_answered"), "{message}");
        assert!(message.ends_with(&format!("answered already: {action}")), "{message}");
    }
    let events = door.events_of(&run).await;
    let written: Vec<_> = events.iter().filter(|event| event.name == "reply").collect();
    assert_eq!((written.len(), &written[0].data["action"]), (1, &json!(action)));
    assert_eq!(server.calls().len(), usize::from(action == "accept"));
    // Also when the run is over.
    let (status, code, message) = door.answer(&run, 1, &json!({ "action": "accept" })).await.error();
    assert_eq!((status, code.as_str()), (409, "question_answered"), "{message}");
}

#[tokio::test]
async fn what_was_never_asked_or_nobody_waits_for_cannot_be_answered() {
    let server = Leaves::open().await;
    let (door, run) = asking("delete_leave", &server).await;
    door.question(&run).await;
    let accept = json!({ "action": "accept" });
    for path in ["2", "0", "x", "-1", "99999999999"] {
        let reply = door.post(&format!("/runs/{run}/replies/{path}"), &accept.to_string()).await;
        assert_eq!((reply.error().0, reply.error().1.as_str()), (404, "question_not_found"), "{path}");
    }
    door.cancel(&run).await;
    door.events_of(&run).await;
    let (status, code, message) = door.answer(&run, 1, &accept).await.error();
    assert_eq!((status, code.as_str()), (409, "question_closed"), "{message}");
    assert!(server.calls().is_empty());
}
