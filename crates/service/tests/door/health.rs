use bylaw_model::scripted::Script;

use crate::door::Plan;

#[tokio::test]
async fn health_says_what_the_process_is_made_of() {
    let door = Plan::new().open().await;
    insta::assert_json_snapshot!(door.get("/healthz").await.json(), { ".version" => "[version]" });
    let ready = door.get("/readyz").await;
    assert_eq!((ready.status.as_u16(), ready.bytes.len()), (204, 0));
}

#[tokio::test]
async fn an_empty_library_is_ready() {
    let door = Plan::new().without_documents().open().await;
    assert_eq!(door.get("/readyz").await.status, 204);
    assert_eq!(door.get("/healthz").await.json()["chunks"], 0);
    assert_eq!(door.post("/search", r#"{"question":"事假"}"#).await.json()["hits"].as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn a_ledger_that_cannot_be_written_is_named_and_the_rules_still_answer() {
    let door = Plan::new().model(Script::new([])).open().await;
    door.ledger.break_down();
    let asked = door.post("/ask", r#"{"question":"事假一年最多幾天？","mode":"pipeline"}"#).await.json();
    assert_eq!(asked["outcome"], "degraded");
    let parts: Vec<_> = door.get("/healthz").await.json()["degraded"].as_array().unwrap().clone();
    assert!(parts.iter().any(|degraded| degraded["part"] == "ledger"), "{parts:?}");
    assert_eq!(door.get("/readyz").await.status, 204);
    assert_eq!(door.post("/ask", r#"{"question":"事假一年最多幾天？"}"#).await.json()["outcome"], "answered");
}
