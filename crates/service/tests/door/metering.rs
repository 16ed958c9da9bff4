//! There is no way to a model that is not on the books.

use axum::http::Method;
use bylaw_gate::{LedgerStore, RowFilter, RowKind, RowNumber};
use bylaw_model::scripted::{Script, ScriptedReply};
use serde_json::json;

use crate::door::Plan;

/// Walks every operation that there is, `/ask` in every mode and form, and compares what arrived at the model with what was
/// booked.
#[tokio::test]
async fn whatever_is_called_each_request_to_the_model_has_its_row() {
    let script = Script::always(ScriptedReply::text("十四日[work_rules.md#27]。"));
    let door = Plan::new().model(script.clone()).paid().open().await;
    let json_body = ("content-type", "application/json");
    for operation in bylaw_service::operations() {
        let path =
            operation.address.replace("{source}", "handbook.md").replace("{article}", "12").replace("{job}", "x");
        let method = Method::from_bytes(operation.method.to_uppercase().as_bytes()).unwrap();
        let before = script.requests().len();
        for body in [json!({}), json!({"question": "事假一年最多幾天？"}), json!({"path": "work_rules.md"})] {
            door.call(method.clone(), &path, &[json_body], body.to_string().into_bytes()).await;
        }
        // The extract answers this question: by itself nothing asks a model.
        assert_eq!(script.requests().len(), before, "{operation:?}");
    }
    for mode in ["auto", "extract", "pipeline", "agent"] {
        for stream in [false, true] {
            for (use_cache, key) in [(true, None), (false, None), (false, Some("k"))] {
                let body = json!({
                    "question": "出差的交通怎麼報？", "mode": mode, "stream": stream, "use_cache": use_cache, "self_check": true,
                });
                let key = key.map(|key| ("idempotency-key", key));
                let headers: Vec<_> = [json_body].into_iter().chain(key).collect();
                door.call(Method::POST, "/ask", &headers, body.to_string().into_bytes()).await;
            }
        }
    }
    assert!(door.gate.flush().await);
    let rows = door.ledger.rows(&RowFilter::default(), RowNumber(0), 1_000).await.unwrap();
    let charged = rows.iter().filter(|stored| stored.row.kind != RowKind::Avoided).count();
    assert!(charged > 0);
    assert_eq!(charged, script.requests().len());
}
