//! When hosting a model oneself pays.

use std::time::Duration;

use bylaw_contract::{Clock, MicroUsd, OwnerId, RequestId, TokenUsage};
use bylaw_gate::{Labels, Lease, LedgerStore, Role, Row, RowKind, Write};
use serde_json::{Value, json};

use crate::door::{Door, Plan};

fn options() -> Value {
    json!({
        "currency": "USD",
        "tasks_per_day": 40_000,
        "api": {
            "input_price": 1,
            "output_price": 4,
            "profile": { "prompt_tokens": 2_500, "completion_tokens": 500 },
        },
        "self_hosted": {
            "gpu_price_per_hour": 2,
            "prefill_tokens_per_second": 20_000,
            "decode_tokens_per_second": 1_500,
            "labour_per_month": 3_300,
        },
    })
}

async fn book(door: &Door, day: &str, task: &str, model: &str, kind: RowKind, tokens: (u64, u64)) {
    let row = Row {
        kind,
        at: door.clock.now(),
        day: day.parse().unwrap(),
        labels: Labels {
            request_id: RequestId::new(task).unwrap(),
            run_id: None,
            key: None,
            model: model.to_owned(),
            mode: None,
            purpose: "answer".to_owned(),
        },
        reservation: None,
        reserved: MicroUsd::ZERO,
        covered: MicroUsd::ZERO,
        amount: MicroUsd::ZERO,
        tokens: TokenUsage { input_tokens: tokens.0, output_tokens: tokens.1, ..TokenUsage::default() },
        budgets: Vec::new(),
        corrects: None,
        repeats: None,
        note: None,
    };
    let owner = OwnerId::new(format!("own_{}", "9".repeat(24))).unwrap();
    let lease = Lease { owner, until: door.clock.now().plus(Duration::from_secs(3_600)) };
    door.ledger.commit(&lease, vec![Write::Record(row)]).await.unwrap();
}

#[tokio::test]
async fn two_options_are_compared() {
    let door = Plan::new().without_documents().open().await;
    let report = door.post("/cost", &options().to_string()).await.json();
    assert_eq!(report["break_even"]["first_tasks_per_day"], 45_426.42);
    assert_eq!(report["break_even"]["naive_fits"], false);
    assert_eq!(report["self_hosted"]["cost_per_month"], 6_222);
    assert_eq!(report["explanation"].as_array().unwrap().len(), 3);
    assert!(report["request_id"].is_string());
}

#[tokio::test]
async fn what_is_wrong_is_named_and_nothing_unknown_is_taken() {
    let door = Plan::new().without_documents().open().await;
    let mut wrong = options();
    wrong["api"]["input_price"] = json!(-1);
    wrong["self_hosted"]["target_utilisation"] = json!(1.5);
    let reply = door.post("/cost", &wrong.to_string()).await;
    let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!((reply.status.as_u16(), reply.error().1.as_str()), (422, "invalid_request"));
    assert!(message.contains("api.input_price: -1 is negative"), "{message}");
    assert!(message.contains("self_hosted.target_utilisation: 1.5 is more than 1"), "{message}");
    let mut unknown = options();
    unknown["api"]["profile"]["tokens"] = json!(1);
    let reply = door.post("/cost", &unknown.to_string()).await;
    assert_eq!(reply.status, 422);
    assert!(reply.text().contains("tokens: unknown field"), "{}", reply.text());
}

#[tokio::test]
async fn a_profile_is_measured_for_admins_alone() {
    let door = Plan::new().without_documents().open().await;
    let [reader, admin] = [door.key(Role::Reader, None).await, door.key(Role::Admin, None).await];
    for (day, task, model, kind, tokens) in [
        ("2025-11-01", "long-ago", "large", RowKind::Spent, (9_000, 9_000)),
        ("2025-12-31", "a", "large", RowKind::Spent, (2_000, 400)),
        ("2025-12-31", "a", "large", RowKind::Spent, (3_000, 600)),
        ("2026-01-01", "b", "small", RowKind::Spent, (9, 9)),
        ("2026-01-01", "c", "large", RowKind::Unknown, (0, 0)),
        ("2026-01-01", "c", "large", RowKind::Spent, (2_500, 500)),
        ("2026-01-01", "d", "extract", RowKind::Avoided, (0, 0)),
        ("2026-01-01", "e", "large", RowKind::Avoided, (2_500, 500)),
    ] {
        book(&door, day, task, model, kind, tokens).await;
    }
    let mut wanted = options();
    wanted["from_ledger"] = json!({ "days": 30, "model": "large" });
    let (text, path) = (wanted.to_string(), "/cost");
    let refused = door.post_as(&reader, path, &text).await;
    assert_eq!((refused.status.as_u16(), refused.error().1.as_str()), (403, "forbidden"));
    assert_eq!(door.post_as(&reader, path, &options().to_string()).await.status, 200, "with figures of one's own");

    let measured = door.post_as(&admin, path, &text).await.json()["measured"].clone();
    insta::assert_json_snapshot!(measured);
    wanted["from_ledger"]["model"] = json!("nobody");
    let missing = door.post_as(&admin, path, &wanted.to_string()).await;
    assert_eq!((missing.status.as_u16(), missing.error().1.as_str()), (404, "model_not_found"));
}
