//! The rules by address.

use serde_json::{Value, json};

use crate::support::{Pipe, Reply, ScriptedDoor, article, refusal};

fn summary() -> Value {
    json!({
        "source": "員工/rules.md", "title": "員工工作規則", "chunks": 2, "articles": ["40", "41"], "structure": "articles",
        "version": "0".repeat(64), "ingested_at": 0,
    })
}

#[tokio::test]
async fn sources_are_listed_and_read_as_outlines_whose_addresses_lead_on() {
    let mut detail = summary();
    let more = json!({
        "outline": [
            { "heading_path": ["第三章 出差"], "article": "40", "title": "第 40 條（住宿標準）" },
            { "heading_path": ["第三章 出差"], "article": "41", "title": "第 41 條（日支費）" },
        ],
        "versions": [], "difference": null, "request_id": "r",
    });
    detail.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut one = article("40", "第 40 條（住宿標準）", "住宿費每日上限新臺幣 2,400 元。");
    let more = json!({ "previous": null, "next": null, "refers_to": [], "referred_by": [], "generation": 1, "request_id": "r" });
    one.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let door = ScriptedDoor::of([Reply::Gives(json!([summary()])), Reply::Gives(detail), Reply::Gives(one)]);
    let mut pipe = Pipe::open(door.clone()).await;
    let listed = pipe.request("resources/list", json!({})).await["result"]["resources"].clone();
    assert_eq!(listed[0]["title"], "員工工作規則");
    let outline = pipe.request("resources/read", json!({ "uri": listed[0]["uri"] })).await;
    let outline = outline["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    insta::assert_snapshot!("outline", outline);
    let uri = outline.split_whitespace().find(|word| word.starts_with("rules://")).unwrap();
    let read = pipe.request("resources/read", json!({ "uri": uri })).await;
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("2,400"));
    assert_eq!(door.asked(), ["sources", "source: 員工/rules.md", "article: 員工/rules.md 40"]);
}

#[tokio::test]
async fn what_is_not_there_is_told_apart_from_what_cannot_be_read() {
    let absent = refusal(bylaw_contract::ErrorCode::ArticleNotFound, "there is no article");
    let down = bylaw_handover::DoorError::Unreachable("refused".to_owned());
    let mut pipe = Pipe::open(ScriptedDoor::of([Reply::Fails(absent), Reply::Fails(down)])).await;
    let missing = pipe.request("resources/read", json!({ "uri": "rules://a.md/1" })).await;
    assert!(missing["error"]["message"].as_str().unwrap().contains("there is no resource"), "{missing}");
    let failed = pipe.request("resources/read", json!({ "uri": "rules://a.md/1" })).await;
    assert!(failed["error"]["message"].as_str().unwrap().contains("這不是查無資料"), "{failed}");
    let templates = pipe.request("resources/templates/list", json!({})).await;
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "rules://{source}/{article}");
}
