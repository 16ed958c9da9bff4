use crate::door::Plan;

#[tokio::test]
async fn an_article_comes_with_its_neighbours_and_references() {
    let door = Plan::new().open().await;
    let reply = door.get("/articles/work_rules.md/26-1").await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    insta::assert_json_snapshot!(reply.json(), { ".source_version" => "[version]" });
}

#[tokio::test]
async fn neighbours_end_where_the_source_ends() {
    let door = Plan::new().open().await;
    let first = door.get("/articles/work_rules.md/1").await.json();
    assert!(first["previous"].is_null(), "{first}");
    assert_eq!(first["next"], "work_rules.md#26");
    let last = door.get("/articles/work_rules.md/28").await.json();
    assert_eq!(last["previous"], "work_rules.md#27");
    assert!(last["next"].is_null(), "{last}");
}

#[tokio::test]
async fn names_may_hold_slashes_and_any_script() {
    let door = Plan::new().working().open().await;
    for name in ["hr/規則 1.md", "100%.md", "a?b#c.md"] {
        let encoded: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let form = format!(
            "--cut\r\ncontent-disposition: form-data; name=\"source\"\r\n\r\n{name}\r\n--cut\r\n\
             content-disposition: form-data; name=\"file\"; filename=\"x.md\"\r\n\r\n{}\r\n--cut--\r\n",
            crate::door::WORK_RULES
        );
        crate::documents::ingest(&door, form.into_bytes()).await;
        let reply = door.get(&format!("/articles/{encoded}/27")).await;
        assert_eq!(reply.status, 200, "{name}: {}", reply.text());
        assert_eq!(reply.json()["source"], name);
        assert_eq!(door.get(&format!("/sources/{encoded}")).await.json()["source"], name);
    }
    assert_eq!(door.get("/articles/hr/%E8%A6%8F%E5%89%87%201.md/27").await.status, 200, "a slash may stay");
}
