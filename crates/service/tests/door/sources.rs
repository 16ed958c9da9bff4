use axum::http::Method;
use serde_json::json;

use crate::door::Plan;

#[tokio::test]
async fn sources_are_listed_by_name_and_shown_in_full() {
    let door = Plan::new().open().await;
    let list = door.get("/sources").await.json();
    insta::assert_json_snapshot!(list, { "[].version" => "[version]" });
    let detail = door.get("/sources/work_rules.md").await.json();
    insta::assert_json_snapshot!(detail, { ".version" => "[version]", ".versions[].version" => "[version]" });
}

#[tokio::test]
async fn a_deleted_source_stops_answering_at_once_and_can_be_brought_back() {
    let door = Plan::new().open().await;
    let question = r#"{"question":"remote work two days per week"}"#;
    let sources_found = async || -> Vec<String> {
        let reply = door.post("/search", question).await.json();
        reply["hits"].as_array().unwrap().iter().map(|hit| hit["source"].as_str().unwrap().to_owned()).collect()
    };
    assert!(sources_found().await.contains(&"handbook.md".to_owned()));

    let deleted = door.call(Method::DELETE, "/sources/handbook.md", &[], Vec::new()).await;
    assert_eq!(deleted.status, 200);
    insta::assert_json_snapshot!(deleted.json());
    assert!(!sources_found().await.contains(&"handbook.md".to_owned()));
    assert_eq!(door.get("/sources/handbook.md").await.error().1, "source_not_found");
    assert_eq!(door.get("/articles/handbook.md/12").await.error().1, "source_not_found");
    let twice = door.call(Method::DELETE, "/sources/handbook.md", &[], Vec::new()).await;
    assert_eq!(twice.error().1, "source_not_found");

    let undone = door.call(Method::POST, "/sources/handbook.md/undo", &[], Vec::new()).await;
    assert_eq!(undone.status, 200);
    assert_eq!(undone.json()["chunks"], json!(2));
    assert!(sources_found().await.contains(&"handbook.md".to_owned()));
    let twice = door.call(Method::POST, "/sources/handbook.md/undo", &[], Vec::new()).await;
    assert_eq!((twice.error().0, twice.error().1.as_str()), (409, "nothing_to_undo"));
}
