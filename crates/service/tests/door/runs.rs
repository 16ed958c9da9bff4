//! `/runs`: the whole story of a run, over HTTP.

use axum::http::Method;
use bylaw_model::scripted::{Script, ScriptedReply};
use serde_json::{Value, json};

use crate::{
    door::{Door, Plan, Reply},
    servers::Leaves,
};

/// An agent that has the leave system, and whose person must allow what destroys.
pub(crate) fn leave_agent(server: &Leaves) -> String {
    format!(
        "prompt = \"You help with leaves.\"\n[approvals]\npolicy = \"destructive\"\n[servers.hr]\nurl = \"{}\"\n",
        server.url
    )
}

pub(crate) const ALONE: &str = "prompt = \"You talk.\"\n";

pub(crate) fn calls(number: usize, calls: &[(&str, &str)]) -> ScriptedReply {
    ScriptedReply::calls(number, calls)
}

pub(crate) const LEAVE: &str = r#"{"leave_id":"LV-1"}"#;

/// One event as it came.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) id: Option<u64>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// What an event stream told, comments left out.
pub(crate) fn told(stream: &str) -> Vec<Told> {
    let blocks = stream.split_terminator("\n\n").filter(|block| !block.starts_with(':'));
    blocks
        .map(|block| {
            let field = |name: &str| {
                let prefix = format!("{name}: ");
                block.lines().find_map(|line| line.strip_prefix(prefix.as_str()))
            };
            let data: Value = serde_json::from_str(field("data").unwrap()).unwrap();
            let name = field("event").unwrap().to_owned();
            assert!(data["event"] == name.as_str() || name == "error", "{block}");
            Told { id: field("id").map(|id| id.parse().unwrap()), name, data }
        })
        .collect()
}

impl Door {
    /// Starts a run; its id.
    pub(crate) async fn start(&self, body: &Value) -> String {
        let reply = self.post("/runs", &body.to_string()).await;
        assert_eq!(reply.status, 202, "{}", reply.text());
        reply.json()["run_id"].as_str().unwrap().to_owned()
    }

    /// All events of a run, to its end.
    pub(crate) async fn events_of(&self, run: &str) -> Vec<Told> {
        told(&self.get(&format!("/runs/{run}/events")).await.text())
    }

    /// Waits until a run asks, and gives the question.
    pub(crate) async fn question(&self, run: &str) -> Value {
        loop {
            let detail = self.get(&format!("/runs/{run}")).await.json();
            if let Some(question) = detail["questions"].as_array().unwrap().first() {
                return question.clone();
            }
            assert_ne!(detail["run"]["status"], "ended", "{detail}");
            tokio::task::yield_now().await;
        }
    }

    pub(crate) async fn answer(&self, run: &str, question: u64, body: &Value) -> Reply {
        self.post(&format!("/runs/{run}/replies/{question}"), &body.to_string()).await
    }

    pub(crate) async fn cancel(&self, run: &str) -> Reply {
        self.call(Method::DELETE, &format!("/runs/{run}"), &[], Vec::new()).await
    }
}

pub(crate) fn names(told: &[Told]) -> Vec<&str> {
    told.iter().map(|event| event.name.as_str()).collect()
}

#[tokio::test]
async fn a_run_reads_asks_waits_acts_and_answers() {
    let server = Leaves::open().await;
    let script = Script::new([
        calls(1, &[("read_leave", LEAVE)]),
        calls(2, &[("delete_leave", LEAVE)]),
        ScriptedReply::pieces(["The leave ", "is gone."]),
    ]);
    let door = Plan::new().model(script).agent("leave", leave_agent(&server)).open().await;
    let run = door.start(&json!({ "agent": "leave", "message": "Delete LV-1" })).await;
    let question = door.question(&run).await;
    assert_eq!((&question["kind"], &question["tool"]), (&json!("approval"), &json!("delete_leave")));
    assert_eq!(door.get(&format!("/runs/{run}")).await.json()["run"]["status"], "waiting");
    assert_eq!(server.calls(), [r#"read_leave {"leave_id":"LV-1"}"#]);
    let taken = door.answer(&run, 1, &json!({ "action": "accept" })).await;
    assert_eq!((taken.status.as_u16(), &taken.json()["action"]), (200, &json!("accept")));
    let told = door.events_of(&run).await;
    let logged: Vec<&Told> = told.iter().filter(|event| event.id.is_some()).collect();
    let numbers: Vec<u64> = logged.iter().filter_map(|event| event.id).collect();
    assert_eq!(numbers, (1..=logged.len() as u64).collect::<Vec<u64>>(), "numbered from 1, without a gap");
    assert_eq!(logged.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(), [
        "started", "model_call", "model_reply", "tool_call", "tool_result", "model_call", "model_reply", "question",
        "reply", "tool_call", "tool_result", "model_call", "model_reply", "ended",
    ]);
    assert_eq!(told.last().unwrap().data["answer"], "The leave is gone.");
    let detail = door.get(&format!("/runs/{run}")).await.json();
    assert_eq!((&detail["answer"], &detail["run"]["stop"]), (&json!("The leave is gone."), &json!("completed")));
    assert_eq!((&detail["steps"], &detail["tool_calls"]), (&json!(2), &json!(2)));
    assert_eq!(server.calls()[1], r#"delete_leave {"leave_id":"LV-1"}"#);
}
