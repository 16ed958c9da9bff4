//! Long results: cut where an article ends, and how to read on.

use bylaw_handover::MOST_CHARS;
use serde_json::{Value, json};

use crate::support::{Pipe, Reply, ScriptedDoor, article, hit};

fn full(address: &str, text: &str) -> Value {
    let mut value = article(address, "第一條", text);
    let more = json!({ "previous": null, "next": null, "refers_to": [], "referred_by": [], "generation": 1, "request_id": "r" });
    value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    value
}

/// About 200 kB.
fn huge() -> String {
    (0..5000).map(|n| format!("第{n}項之規定，從其所定。\n")).collect()
}

#[tokio::test]
async fn a_huge_article_is_read_in_parts_that_are_the_whole() {
    let text = huge();
    assert!(text.len() > 150_000);
    let (mut read, mut next) = (String::new(), "1".to_owned());
    for part in 1.. {
        let mut pipe = Pipe::open(ScriptedDoor::of([Reply::Gives(full("1", &text))])).await;
        let called = pipe.call("read_article", json!({ "source": "work_rules.md", "article": next })).await;
        assert!(!called.is_error, "{}", called.text);
        assert!(called.text.chars().count() < MOST_CHARS + 400);
        let lines = called.text.lines().filter(|line| line.starts_with('第') && line.contains("從其所定"));
        lines.for_each(|line| read.push_str(&format!("{line}\n")));
        let parts = called.structured["parts"].as_u64().unwrap();
        assert_eq!(called.structured["part"], part);
        if part == parts {
            assert!(parts > 3 && called.text.contains("最後一段"), "{parts}");
            break;
        }
        next = format!("1~{}", part + 1);
        assert!(called.text.contains(&format!("article=\"{next}\"")), "{}", &called.text[called.text.len() - 300..]);
    }
    assert_eq!(read, text);
}

#[tokio::test]
async fn a_part_that_there_is_not_is_refused() {
    let mut pipe = Pipe::open(ScriptedDoor::of([Reply::Gives(full("1", "短"))])).await;
    let called = pipe.call("read_article", json!({ "source": "work_rules.md", "article": "1~2" })).await;
    assert!(called.is_error && called.text.contains("the article has 1 parts"), "{}", called.text);
}

#[tokio::test]
async fn a_search_shows_whole_articles_and_names_the_rest() {
    let long = "規".repeat(5000);
    let articles: Vec<Value> = (1..=4).map(|n| article(&n.to_string(), "第 n 條", &long)).collect();
    let mut pipe = Pipe::open(ScriptedDoor::of([Reply::Gives(hit(&articles))])).await;
    let called = pipe.call("search_rules", json!({ "query": "規定" })).await;
    assert_eq!(called.text.matches(&long).count(), 2);
    assert!(!called.text.replace(&long, "").contains("規規"), "no article is there in part");
    assert!(
        called.text.contains("另有 2 條沒有列出內文：work_rules.md#3, work_rules.md#4"),
        "{}",
        &called.text[called.text.len() - 300..]
    );
    assert_eq!(
        (called.structured["articles_shown"].as_u64(), called.structured["articles"].as_array().unwrap().len()),
        (Some(2), 4)
    );
}

#[tokio::test]
async fn a_search_that_finds_a_huge_article_first_begins_it() {
    let articles = [article("1", "第一條", &huge()), article("2", "第二條", "短")];
    let mut pipe = Pipe::open(ScriptedDoor::of([Reply::Gives(hit(&articles))])).await;
    let called = pipe.call("search_rules", json!({ "query": "規定" })).await;
    assert!(called.text.chars().count() < MOST_CHARS + 600);
    assert!(
        called.text.contains("article=\"1~2\"") && called.text.contains("work_rules.md#2"),
        "{}",
        &called.text[called.text.len() - 300..]
    );
}

#[tokio::test]
async fn any_k_is_moved_into_its_range_and_said() {
    for (k, sent, told) in [(json!(-1), 1, true), (json!(1_000_000_000), 10, true), (json!(7), 7, false)] {
        let door = ScriptedDoor::of([Reply::Gives(hit(&[]))]);
        let mut pipe = Pipe::open(door.clone()).await;
        let called = pipe.call("search_rules", json!({ "query": "事假", "k": k })).await;
        assert!(!called.is_error, "{}", called.text);
        assert!(door.asked()[0].contains(&format!("\"k\":{sent},")), "{:?}", door.asked());
        assert_eq!(called.text.contains(&format!("k 已改為 {sent}")), told, "{}", called.text);
        assert_eq!(called.structured["k"], sent);
    }
}
