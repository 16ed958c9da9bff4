//! What is counted.

use bylaw_gate::Role;
use bylaw_model::scripted::{Script, ScriptedReply};

use crate::door::{Door, Plan};

async fn lines(door: &Door) -> Vec<String> {
    door.get("/metrics").await.text().lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn requests_answers_and_the_moment_are_told() {
    let door = Plan::new().open().await;
    door.post("/ask", r#"{"question":"事假一年最多幾天？"}"#).await;
    door.post("/ask", r#"{"question":""}"#).await;
    door.get("/articles/work_rules.md/27").await;
    door.get("/nope").await;
    let reply = door.get("/metrics").await;
    assert_eq!(reply.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let text = reply.text();
    for line in [
        r#"bylaw_http_requests_total{method="post",route="/ask",status="2xx"} 1"#,
        r#"bylaw_http_requests_total{method="post",route="/ask",status="4xx"} 1"#,
        r#"bylaw_http_requests_total{method="get",route="/articles/{source}/{article}",status="2xx"} 1"#,
        r#"bylaw_http_requests_total{method="other",route="other",status="4xx"} 1"#,
        r#"bylaw_http_requests_total{method="get",route="/sources",status="2xx"} 0"#,
        r#"bylaw_answers_total{mode="extract",outcome="answered",answered_by="extract"} 1"#,
        "bylaw_reserved_micro_usd 0",
        "bylaw_calls_in_flight 0",
        "bylaw_ledger_available 1",
        "bylaw_generation 1",
        "process_start_time_seconds 1767225599.988",
    ] {
        assert!(text.lines().any(|told| told == line), "{line} is not in\n{text}");
    }
}

#[tokio::test]
async fn what_the_answerer_counts_is_told_too() {
    let script = Script::always(ScriptedReply::text("事假一年合計不得超過十四日[work_rules.md#27]。"));
    let door = Plan::new().model(script).open().await;
    for _ in 0..3 {
        let reply = door.post("/ask", r#"{"question":"事假一年最多幾天？","mode":"pipeline"}"#).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
    let lines = lines(&door).await;
    let calls = lines.iter().filter_map(|line| line.strip_prefix("bylaw_upstream_calls_total{")?.split_once("} "));
    assert_eq!(calls.map(|(_, number)| number.parse::<u64>().unwrap()).sum::<u64>(), 1, "{lines:?}");
    assert!(lines.contains(&r#"bylaw_cache_hits_total{cache="answer"} 2"#.to_owned()), "{lines:?}");
}

#[tokio::test]
async fn runs_are_counted_by_why_they_ended() {
    let door =
        Plan::new().model(Script::always(ScriptedReply::text("x"))).agent("talk", crate::runs::ALONE).open().await;
    let run = door.start(&serde_json::json!({ "agent": "talk", "message": "x" })).await;
    door.events_of(&run).await;
    let lines = lines(&door).await;
    for line in [
        r#"bylaw_runs_total{stop="completed"} 1"#,
        r#"bylaw_runs_total{stop="cancelled"} 0"#,
        "bylaw_runs_active 0",
        "bylaw_questions_open 0",
    ] {
        assert!(lines.iter().any(|told| told == line), "{line} is not in {lines:?}");
    }
}

/// Names and labels are what others build upon.
#[tokio::test]
async fn the_names_are_stable() {
    let door = Plan::new().open().await;
    let names: Vec<_> = lines(&door).await.into_iter().filter(|line| line.starts_with('#')).collect();
    insta::assert_snapshot!(names.join("\n"));
}

#[tokio::test]
async fn a_ledger_that_cannot_be_read_is_told_and_not_an_error() {
    let door = Plan::new().open().await;
    door.ledger.break_down();
    assert!(lines(&door).await.contains(&"bylaw_ledger_available 0".to_owned()));
}

#[tokio::test]
async fn no_key_and_no_question_is_in_what_is_counted() {
    let door = Plan::new().open().await;
    let admin = door.key(Role::Admin, None).await;
    door.post_as(&admin, "/ask", r#"{"question":"事假一年最多幾天？"}"#).await;
    let text = door.get_as(&admin, "/metrics").await.text();
    assert!(!text.contains("事假") && !text.contains(admin.id.as_str()) && !text.contains(&admin.secret), "{text}");
}
