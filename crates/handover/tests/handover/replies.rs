//! Replies: what is said first, what is marked, and what a program gets.

use bylaw_contract::{Language, SourceName};
use bylaw_handover::HandoverSettings;
use serde_json::{Value, json};

use crate::support::{Pipe, Reply, ScriptedDoor, answer, article, hit, stopped};

fn lodging() -> Value {
    article("40", "第 40 條（住宿標準）", "住宿費每日上限新臺幣 2,400 元，檢據核實報支。")
}

fn allowance() -> Value {
    article("41", "第 41 條（出差餐費與日支費）", "日支費每日新臺幣 800 元。")
}

/// 「公司有健身房或運動補助嗎」, two steps: the seed's own case.
fn trap() -> Value {
    let text = "查到的條文沒有提到健身房或運動補助。";
    stopped(answer("not_in_rules", Some(text), &[lodging(), allowance()]), "steps", 2, 2)
}

async fn said(value: Value, tool: &str, arguments: Value, language: Language) -> (String, Value) {
    let settings = HandoverSettings { language, ..HandoverSettings::default() };
    let mut pipe = Pipe::open_with(ScriptedDoor::of([Reply::Gives(value)]), settings).await;
    let called = pipe.call(tool, arguments).await;
    assert!(!called.is_error, "{}", called.text);
    (called.text, called.structured)
}

#[tokio::test]
async fn a_question_that_the_rules_do_not_answer_and_two_steps() {
    for (name, question, language) in [
        ("trap_zh", "公司有健身房或運動補助嗎", Language::TraditionalChinese),
        ("trap_en", "Is there a gym?", Language::TraditionalChinese),
    ] {
        let arguments = json!({ "question": question, "mode": "agent", "max_steps": 2 });
        let (text, structured) = said(trap(), "ask", arguments, language).await;
        insta::assert_snapshot!(name, text);
        insta::assert_json_snapshot!(format!("{name}_structured"), structured);
        for word in ["根據", "依據", "based on"] {
            assert!(!text.to_lowercase().contains(word), "{word}: {text}");
        }
        let notice = text.lines().next().unwrap();
        assert!(notice.contains('2') && !notice.contains('3'), "two steps, and nothing says three: {notice}");
    }
}

#[tokio::test]
async fn a_limit_is_not_told_as_a_missing_rule() {
    for reason in ["cost", "time"] {
        let mut value = stopped(answer("stopped", None, &[lodging()]), reason, 1, 1);
        value["draft"] = "住宿費".into();
        value["extract"] = json!({ "sentences": [{
            "id": "work_rules.md#40", "span": { "start": 0, "end": 3 }, "text": "住宿費每日上限新臺幣 2,400 元，檢據核實報支。",
        }]});
        let (text, structured) = said(value, "ask", json!({ "question": "住宿費多少" }), Language::English).await;
        assert!(text.starts_with("（被攔下來，查了 1 次："), "{text}");
        assert!(text.contains("這不代表規章沒有規定"), "{text}");
        assert_eq!(structured["stop"], json!({ "reason": reason, "at_step": 1, "looked_up": 1 }));
        assert!(structured.get("answer").is_none());
        insta::assert_snapshot!(format!("stopped_by_{reason}"), text);
    }
}

#[tokio::test]
async fn an_answer_marks_what_it_uses_and_what_it_does_not_support() {
    let (mut used, mut named) = (lodging(), allowance());
    used["used"] = true.into();
    named["referenced"] = true.into();
    named["retrieved"] = false.into();
    let mut value = answer("answered", Some("每日上限 2,400 元。事假九十日。"), &[used, named]);
    value["sentences"] = json!([
        { "text": "每日上限 2,400 元。", "status": "supported", "citations": ["work_rules.md#40"], "problems": [] },
        { "text": "事假九十日。", "status": "unsupported", "citations": [], "problems": ["no_citation"] },
    ]);
    value["warnings"] = json!(["one warning"]);
    let (text, structured) =
        said(value, "ask", json!({ "question": "住宿費多少" }), Language::TraditionalChinese).await;
    insta::assert_snapshot!("answered", text);
    assert_eq!(structured["answer"], "每日上限 2,400 元。事假九十日。");
}

#[tokio::test]
async fn what_articles_say_is_in_a_reply_once() {
    let words = "檢據核實報支";
    let (text, structured) =
        said(hit(&[lodging(), allowance()]), "search_rules", json!({ "query": "住宿費" }), Language::English).await;
    insta::assert_snapshot!("search", text);
    insta::assert_json_snapshot!("search_structured", structured);
    assert_eq!(text.matches(words).count(), 1);
    assert!(!structured.to_string().contains(words), "{structured}");
    let (text, structured) =
        said(answer("answered", Some("是。"), &[lodging()]), "ask", json!({ "question": "住宿費" }), Language::English)
            .await;
    assert_eq!(text.matches(words).count(), 1);
    assert!(!structured.to_string().contains(words), "{structured}");
}

#[tokio::test]
async fn a_search_without_any_hit_says_that_this_means_nothing() {
    let (text, structured) =
        said(hit(&[]), "search_rules", json!({ "query": "xyzzy" }), Language::TraditionalChinese).await;
    assert!(text.contains("does not mean that the rules are silent"), "{text}");
    assert_eq!(structured["articles"], json!([]));
}

#[tokio::test]
async fn an_article_comes_with_what_stands_near_it() {
    let mut value = lodging();
    let more = json!({
        "previous": "work_rules.md#39", "next": "work_rules.md#41", "refers_to": ["work_rules.md#38"], "referred_by": [],
        "generation": 1, "request_id": "req-of-the-service",
    });
    value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let arguments = json!({ "source": "work_rules.md", "article": "work_rules.md#40" });
    let (text, structured) = said(value, "read_article", arguments, Language::TraditionalChinese).await;
    insta::assert_snapshot!("article", text);
    insta::assert_json_snapshot!("article_structured", structured);
}

#[tokio::test]
async fn a_caller_gets_fewer_steps_and_never_more() {
    let settings = || HandoverSettings {
        max_steps: 4,
        source: Some(SourceName::new("work_rules.md").unwrap()),
        ..HandoverSettings::default()
    };
    for (given, sent, told) in
        [(json!(2), 2, false), (json!(4), 4, false), (json!(12), 4, true), (json!(0), 1, true), (json!(-3), 1, true)]
    {
        let door = ScriptedDoor::of([Reply::Gives(answer("answered", Some("是。"), &[]))]);
        let mut pipe = Pipe::open_with(door.clone(), settings()).await;
        let called = pipe.call("ask", json!({ "question": "事假幾天", "mode": "agent", "max_steps": given })).await;
        let request: Value = serde_json::from_str(door.asked()[0].strip_prefix("ask: ").unwrap()).unwrap();
        assert_eq!(request["max_steps"], sent);
        assert_eq!(request["max_wall_ms"], 45_000);
        assert_eq!(request["source"], "work_rules.md");
        assert_eq!(request["stream"], true);
        assert_eq!(called.text.contains("max_steps 已改為"), told, "{}", called.text);
    }
}

#[tokio::test]
async fn the_default_is_the_mode_that_decides_for_itself() {
    let door = ScriptedDoor::of([Reply::Gives(answer("answered", Some("是。"), &[]))]);
    let mut pipe = Pipe::open(door.clone()).await;
    pipe.call("ask", json!({ "question": "事假幾天" })).await;
    let request: Value = serde_json::from_str(door.asked()[0].strip_prefix("ask: ").unwrap()).unwrap();
    assert_eq!((&request["mode"], request.get("max_steps"), request.get("source")), (&json!("auto"), None, None));
}

#[tokio::test]
async fn aliases_speak_as_the_clients_that_insist_on_them() {
    let door = ScriptedDoor::of([
        Reply::Gives(hit(&[lodging()])),
        Reply::Gives({
            let mut value = lodging();
            let more = json!({ "previous": null, "next": null, "refers_to": [], "referred_by": [], "generation": 1, "request_id": "r" });
            value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            value
        }),
    ]);
    let settings = HandoverSettings { aliases: true, ..HandoverSettings::default() };
    let mut pipe = Pipe::open_with(door.clone(), settings).await;
    let found: Value = serde_json::from_str(&pipe.call("search", json!({ "query": "住宿費" })).await.text).unwrap();
    assert_eq!(found["results"][0]["url"], "rules://work_rules.md/40");
    let id = found["results"][0]["id"].clone();
    let read: Value = serde_json::from_str(&pipe.call("fetch", json!({ "id": id })).await.text).unwrap();
    assert_eq!((&read["id"], &read["title"]), (&json!("work_rules.md#40"), &json!("第 40 條（住宿標準）")));
    assert!(read["text"].as_str().unwrap().contains("檢據核實報支"));
}
