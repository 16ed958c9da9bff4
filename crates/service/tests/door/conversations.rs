//! `/conversations`: many runs in a row.

use axum::http::Method;
use bylaw_gate::Role;
use bylaw_model::scripted::{Script, ScriptedReply};
use serde_json::json;

use crate::{
    door::{Door, Plan},
    runs::{ALONE, LEAVE, calls, leave_agent},
    servers::Leaves,
};

async fn begin(door: &Door) -> String {
    let reply = door.post("/conversations", r#"{"agent":"talk","title":"特休"}"#).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    reply.json()["conversation"]["conversation_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_run_knows_what_was_said_before_it_in_its_conversation() {
    let script = Script::new(["Hello, Lin.", "You are Lin."].map(ScriptedReply::text));
    let door = Plan::new().model(script.clone()).agent("talk", ALONE).open().await;
    let conversation = begin(&door).await;
    let mut runs = Vec::new();
    for message in ["I am Lin.", "Who am I?"] {
        // The agent is the conversation's.
        let run = door.start(&json!({ "conversation": conversation, "message": message })).await;
        // Whoever hears of the end may go on at once.
        door.events_of(&run).await;
        runs.insert(0, run);
    }
    let heard = script.requests()[1].messages.len();
    assert_eq!(heard, 4, "prompt, question, answer, question");
    let detail = door.get(&format!("/conversations/{conversation}")).await.json();
    let said: Vec<_> = detail["messages"].as_array().unwrap().iter().map(|message| &message["text"]).collect();
    assert_eq!(said, ["I am Lin.", "Hello, Lin.", "Who am I?", "You are Lin."]);
    let listed: Vec<_> = detail["runs"].as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap()).collect();
    assert_eq!(listed, runs);
    assert_eq!((&detail["conversation"]["title"], &detail["conversation"]["busy"]), (&json!("特休"), &json!(null)));
}

#[tokio::test]
async fn a_conversation_has_one_run_at_a_time() {
    let server = Leaves::open().await;
    let script = Script::always(calls(1, &[("delete_leave", LEAVE)]));
    let door = Plan::new().model(script).agent("talk", leave_agent(&server)).open().await;
    let conversation = begin(&door).await;
    let body = json!({ "conversation": conversation, "message": "go" });
    let run = door.start(&body).await;
    door.question(&run).await;
    let (status, code, message) = door.post("/runs", &body.to_string()).await.error();
    assert_eq!((status, code.as_str()), (409, "conversation_busy"), "{message}");
    assert!(message.contains(&run), "{message}");
    let path = format!("/conversations/{conversation}");
    let (status, code, _) = door.call(Method::DELETE, &path, &[], Vec::new()).await.error();
    assert_eq!((status, code.as_str()), (409, "conversation_busy"));
    door.cancel(&run).await;
    door.events_of(&run).await;
    assert_eq!(door.call(Method::DELETE, &path, &[], Vec::new()).await.status, 200);
    assert_eq!(door.get(&path).await.error().1, "conversation_not_found");
    assert_eq!(door.get(&format!("/runs/{run}")).await.error().1, "run_not_found", "its runs went with it");
}

#[tokio::test]
async fn conversations_are_seen_by_their_principal_and_by_admins() {
    let door = Plan::new().model(Script::always(ScriptedReply::text("x"))).agent("talk", ALONE).open().await;
    let (owner, other) = (door.key(Role::Reader, None).await, door.key(Role::Reader, None).await);
    let admin = door.key(Role::Admin, None).await;
    let begun = door.post_as(&owner, "/conversations", r#"{"agent":"talk"}"#).await.json();
    let id = begun["conversation"]["conversation_id"].as_str().unwrap();
    let never = format!("cnv_{}", "f".repeat(24));
    for method in [Method::GET, Method::DELETE] {
        let hidden = door.call_as(&other, method.clone(), &format!("/conversations/{id}"), &[], vec![]).await.error();
        let absent = door.call_as(&other, method, &format!("/conversations/{never}"), &[], vec![]).await.error();
        assert_eq!(hidden.2.replace(id, "ID"), absent.2.replace(&never, "ID"));
    }
    // Nor can a run be started in it, by an admin neither: it would be said in somebody else's name.
    let body = json!({ "conversation": id, "message": "go" }).to_string();
    for key in [&other, &admin] {
        assert_eq!(door.post_as(key, "/runs", &body).await.error().1, "conversation_not_found");
    }
    let listed = async |key| door.get_as(key, "/conversations").await.json()["conversations"].as_array().unwrap().len();
    assert_eq!([listed(&owner).await, listed(&other).await, listed(&admin).await], [1, 0, 1]);
}

#[tokio::test]
async fn what_is_no_conversation_is_refused_by_name() {
    let door = Plan::new().agent("talk", ALONE).open().await;
    let long = "字".repeat(201);
    for (body, status, code) in [
        (json!({ "agent": "nobody" }), 404, "agent_not_found"),
        (json!({ "agent": "" }), 422, "invalid_request"),
        (json!({ "title": long }), 422, "invalid_request"),
        (json!({ "title": "a\nb" }), 422, "invalid_request"),
        (json!({ "name": "x" }), 422, "invalid_request"),
    ] {
        let (got, got_code, message) = door.post("/conversations", &body.to_string()).await.error();
        assert_eq!((got, got_code.as_str()), (status, code), "{body}: {message}");
    }
    assert_eq!(door.get("/conversations/x").await.error().1, "conversation_not_found");
}
