//! `bylaw ingest` and `bylaw sources`, with and without a running service.

use crate::program::{Home, Serving};

const RULES: &str = "# 測試規則\n\n## 第一章 休假\n\n### 第 1 條（特別休假）\n\n滿一年者，特別休假七日。\n\n### 第 2 條（事假）\n\n事假一年合計不得超過十四日。\n";

#[test]
fn ingesting_says_what_changed_and_the_same_bytes_change_nothing() {
    let home = Home::new();
    home.write("rules/a.md", RULES);
    home.write("rules/picture.png", b"\x89PNG");
    let first = home.run(&["ingest", "rules"]);
    assert_eq!((first.code, first.stdout.as_str()), (Some(0), "added      a.md\n"));
    assert!(first.stderr.contains("skipped    1"), "{}", first.stderr);
    assert_eq!(home.run(&["ingest", "rules"]).stdout, "unchanged  a.md\n");
    home.write("rules/a.md", RULES.replace("七日", "八日"));
    assert_eq!(home.run(&["ingest", "rules"]).stdout, "updated    a.md\n");
    let source = home.json(&["sources", "show", "a.md"]);
    assert_eq!(source["difference"]["changed"], serde_json::json!(["1"]));
    assert_eq!(source["versions"].as_array().unwrap().len(), 2);
}

#[test]
fn a_deleted_source_stops_answering_and_can_be_brought_back() {
    let home = Home::new();
    home.write("a.md", RULES);
    home.write("b.md", RULES.replace("特別休假", "家庭照顧假"));
    home.run(&["ingest", "a.md", "b.md"]);
    let deleted = home.json(&["sources", "delete", "a.md"]);
    assert_eq!((&deleted["removed"], &deleted["chunks_left"]), (&2.into(), &2.into()));
    let hits = home.json(&["search", "特別休假"]);
    assert!(hits["hits"].as_array().unwrap().iter().all(|hit| hit["source"] == "b.md"));
    assert_eq!(home.json(&["sources", "undo", "a.md"])["chunks"], 2);
    assert_eq!(home.json(&["search", "特別休假"])["hits"][0]["id"], "a.md#1");
    let nothing = home.run(&["sources", "undo", "a.md"]);
    assert_eq!(nothing.code, Some(3));
    assert!(nothing.stderr.contains("error[nothing_to_undo]"), "{}", nothing.stderr);
}

#[test]
fn commands_that_change_documents_go_through_the_running_service() {
    let home = Home::new();
    home.write("a.md", RULES);
    home.write("b.md", RULES.replace("特別休假", "颱風假"));
    let serving = Serving::start(&home, &["a.md"]);
    assert_eq!(home.run(&["ingest", "b.md"]).stdout, "added      b.md\n");
    let (status, body) = serving.http("POST", "/search", r#"{"question":"颱風假"}"#);
    assert_eq!(status, 200);
    assert!(body.contains("\"id\":\"b.md#1\""), "{body}");
    assert_eq!(home.run(&["sources", "delete", "b.md"]).code, Some(0));
    assert!(!serving.http("POST", "/search", r#"{"question":"颱風假"}"#).1.contains("b.md"));
    // Reading commands work beside the service.
    assert_eq!(home.json(&["sources"]).as_array().unwrap().len(), 1);
    assert_eq!(serving.stop(), Some(0));
}

#[test]
fn a_failed_update_leaves_the_old_version_answering() {
    let home = Home::new();
    home.write("a.md", RULES);
    home.run(&["ingest", "a.md"]);
    home.write("a.md", [RULES.as_bytes(), b"\xff"].concat());
    let failed = home.run(&["ingest", "a.md"]);
    assert_eq!(failed.code, Some(2));
    assert!(failed.stderr.contains(&format!("byte {}", RULES.len())), "{}", failed.stderr);
    assert!(failed.stderr.contains("[invalid_encoding]"), "{}", failed.stderr);
    assert_eq!(home.json(&["search", "特別休假"])["hits"][0]["id"], "a.md#1");
}

#[test]
fn the_list_of_sources_reads_as_it_is_meant_to() {
    let home = Home::new();
    home.write("a.md", RULES);
    home.run(&["ingest", "a.md"]);
    insta::assert_snapshot!("sources_list", home.run(&["sources"]).stdout);
    insta::assert_snapshot!("sources_show", home.run(&["sources", "show", "a.md"]).stdout);
}
