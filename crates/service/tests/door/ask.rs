use bylaw_gate::{LedgerStore, RowFilter, RowNumber};
use bylaw_model::scripted::{Script, ScriptedReply};

use crate::door::{Plan, shape};

#[tokio::test]
async fn an_answer_without_a_model_quotes_the_rules() {
    let door = Plan::new().open().await;
    let reply = door.post("/ask", r#"{"question":"事假一年最多幾天？","k":1}"#).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("x-total-ms"), Some("0.00"));
    assert_eq!(reply.header("x-llm-ms"), None);
    insta::assert_json_snapshot!(shape(&reply.json()));
}

#[tokio::test]
async fn a_model_answers_when_it_is_asked_for() {
    let script = Script::always(ScriptedReply::text("事假一年合計不得超過十四日[work_rules.md#27]。"));
    let door = Plan::new().model(script).open().await;
    let reply = door.post("/ask", r#"{"question":"事假一年最多幾天？","mode":"pipeline"}"#).await.json();
    assert_eq!(reply["outcome"], "answered", "{reply}");
    assert_eq!(reply["answered_by"]["by"], "model", "{reply}");
    assert_eq!(reply["mode"], "pipeline");
    assert!(door.gate.flush().await);
    assert_eq!(door.ledger.rows(&RowFilter::default(), RowNumber(0), 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_model_that_fails_degrades_the_answer_and_health_remembers() {
    let script = Script::new([
        ScriptedReply::Unreachable,
        ScriptedReply::text("事假一年合計不得超過十四日[work_rules.md#27]。"),
    ]);
    let door = Plan::new().model(script).open().await;
    let question = r#"{"question":"事假一年最多幾天？","mode":"pipeline","use_cache":false}"#;
    let parts = |health: serde_json::Value| -> Vec<String> {
        health["degraded"].as_array().unwrap().iter().map(|part| part["part"].as_str().unwrap().to_owned()).collect()
    };

    let reply = door.post("/ask", question).await.json();
    assert_eq!(reply["outcome"], "degraded", "{reply}");
    assert_eq!(parts(door.get("/healthz").await.json()), ["model"]);
    assert_eq!(door.get("/readyz").await.status, 204, "search is still served");

    door.post("/ask", question).await;
    assert!(parts(door.get("/healthz").await.json()).is_empty());
}
