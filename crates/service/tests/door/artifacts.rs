//! `GET /artifacts/{artifact}`: what a run kept aside.

use bylaw_gate::Role;
use bylaw_model::scripted::{Script, ScriptedReply};
use serde_json::json;

use crate::{
    door::Plan,
    runs::{LEAVE, calls, leave_agent, told},
    servers::Leaves,
};

#[tokio::test]
async fn what_was_too_long_to_be_said_is_given_whole_and_to_nobody_else() {
    let server = Leaves::open().await;
    let script = Script::new([calls(1, &[("export_leave", LEAVE)]), ScriptedReply::text("Done.")]);
    let door = Plan::new().model(script).agent("leave", leave_agent(&server)).open().await;
    let (owner, other) = (door.key(Role::Reader, None).await, door.key(Role::Reader, None).await);
    let body = json!({ "agent": "leave", "message": "go" }).to_string();
    let run = door.post_as(&owner, "/runs", &body).await.json()["run_id"].as_str().unwrap().to_owned();
    let events = told(&door.get_as(&owner, &format!("/runs/{run}/events")).await.text());
    let result = events.iter().find(|event| event.name == "tool_result").unwrap();
    let mut kinds = Vec::new();
    for artifact in result.data["artifacts"].as_array().unwrap() {
        let path = format!("/artifacts/{}", artifact["id"].as_str().unwrap());
        let reply = door.get_as(&owner, &path).await;
        assert_eq!(reply.bytes.len() as u64, artifact["size_bytes"].as_u64().unwrap());
        assert_eq!(reply.header("content-disposition"), Some("attachment"));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        kinds.push(reply.header("content-type").unwrap().to_owned());
        let hidden = door.get_as(&other, &path).await.error();
        assert_eq!((hidden.0, hidden.1.as_str()), (404, "artifact_not_found"));
    }
    kinds.sort();
    // What a browser could take for a page is not called by its name.
    assert_eq!(kinds, ["application/octet-stream", "text/plain; charset=utf-8"]);
    assert_eq!(door.get_as(&owner, "/artifacts/art_x").await.error().1, "artifact_not_found");
}
