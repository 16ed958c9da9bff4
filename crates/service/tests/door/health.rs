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
