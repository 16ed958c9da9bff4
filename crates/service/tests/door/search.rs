use bylaw_answer::citations_of;
use bylaw_contract::{RequestId, search::SearchResponse};
use bylaw_retrieval::{Filter, Query};
use serde_json::json;

use crate::door::{Plan, shape};

#[tokio::test]
async fn a_search_finds_the_article_and_those_it_names() {
    let door = Plan::new().open().await;
    let reply = door.post("/search", r#"{"question":"特休沒休完可以遞延嗎","k":1}"#).await;
    assert_eq!(reply.status, 200);
    insta::assert_json_snapshot!(shape(&reply.json()));
}

/// The reply is written from borrowed values; it must be what the contract's own type would be.
#[tokio::test]
async fn the_reply_is_what_the_contract_says() {
    let door = Plan::new().open().await;
    for (question, body) in [
        ("特休沒休完可以遞延嗎", r#"{"question":"特休沒休完可以遞延嗎"}"#),
        ("remote work", r#"{"question":"remote work"}"#),
        ("第26條之1", r#"{"question":"第26條之1"}"#),
        ("zebra", r#"{"question":"zebra"}"#),
    ] {
        let reply = door.post("/search", body).await;
        let generation = door.library.generation();
        let query = Query { question, k: 5, filter: Filter::default(), follow_references: true };
        let expected = SearchResponse {
            hits: citations_of(&generation.search(&query).unwrap()),
            retriever: "lexical".to_owned(),
            k: 5,
            filtered: false,
            embedding_tokens: 0,
            elapsed_ms: 0.0,
            generation: generation.number(),
            warnings: Vec::new(),
            request_id: RequestId::new(reply.header("x-request-id").unwrap()).unwrap(),
        };
        assert_eq!(reply.text(), serde_json::to_string(&expected).unwrap(), "{question}");
    }
}

#[tokio::test]
async fn conditions_narrow_and_say_so() {
    let door = Plan::new().open().await;
    let rows = [
        (r#"{"question":"假"}"#, json!(false)),
        (r#"{"question":"假","source":"work_rules.md"}"#, json!(true)),
        (r#"{"question":"假","source":"work_rules.md","chapter_no":2}"#, json!(true)),
        (r#"{"question":"假","min_similarity":0.5}"#, json!(true)),
    ];
    for (body, filtered) in rows {
        let reply = door.post("/search?retriever=lexical", body).await.json();
        assert_eq!(reply["filtered"], filtered, "{body}");
        assert!(!reply["hits"].as_array().unwrap().is_empty(), "{body}");
        let warned = reply["warnings"] == json!(["min_similarity has no effect without vectors"]);
        assert_eq!(warned, body.contains("min_similarity"), "{body}");
    }
    let elsewhere = door.post("/search", r#"{"question":"特別休假","source":"work_rules.md","chapter_no":1}"#).await;
    for hit in elsewhere.json()["hits"].as_array().unwrap() {
        assert_eq!(hit["article_no"], 1, "{hit}");
    }
}

#[tokio::test]
async fn markup_in_a_rule_is_only_text() {
    let hostile = "# 規則\n\n### 第 1 條（<img src=x onerror=alert(1)>）\n停車請見 [這裡](javascript:alert(1)) \
                   ![](http://evil.test/?d=1) </script><script>alert(1)</script>。\n";
    let door = Plan::new().document("hostile.md", hostile).open().await;
    let reply = door.post("/search", r#"{"question":"停車","source":"hostile.md"}"#).await;
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    let reply = reply.json();
    assert!(reply["hits"][0]["text"].as_str().unwrap().contains("停車"), "{reply}");
}
