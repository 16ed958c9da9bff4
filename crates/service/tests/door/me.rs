use bylaw_gate::Role;
use bylaw_model::scripted::{Script, ScriptedReply};
use serde_json::{Value, json};

use crate::door::Plan;

const LEAVE: &str = "prompt = \"You look after leave.\"\n";

#[tokio::test]
async fn each_caller_is_told_who_they_are_and_what_is_there_for_them() {
    let script = Script::always(ScriptedReply::text("yes"));
    let door = Plan::new().model(script).agent("leave", LEAVE).agent("desk", LEAVE).open().await;
    let mut told = vec![door.get("/me").await.json()];
    let keys = [
        door.key(Role::Reader, Some(&["handbook.md", "to_come.md"])).await,
        door.key(Role::Editor, Some(&[])).await,
        door.key(Role::Admin, None).await,
    ];
    for key in &keys {
        told.push(door.get_as(key, "/me").await.json());
    }
    insta::assert_json_snapshot!(told, { "[].request_id" => "[request]" });
    assert_eq!(door.get("/me").await.error().1, "invalid_key");
}

#[tokio::test]
async fn without_a_model_and_agents_there_are_none() {
    let me = Plan::new().without_documents().open().await.get("/me").await.json();
    assert_eq!((&me["model"], &me["agents"], &me["name"]), (&json!(false), &json!([]), &Value::Null));
}
