use std::collections::BTreeSet;

use axum::http::Method;
use serde_json::Value;

use crate::door::Plan;

fn documented(document: &Value) -> BTreeSet<(String, String)> {
    let mut operations = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        operations.extend(item.as_object().unwrap().keys().map(|method| (method.clone(), path.clone())));
    }
    operations
}

#[tokio::test]
async fn the_document_is_served_and_stable() {
    let door = Plan::new().without_documents().open().await;
    let document = door.get("/openapi.json").await.json();
    insta::assert_json_snapshot!(document, { ".info.version" => "[version]" });
}

#[test]
fn every_route_is_documented_and_every_documented_route_exists() {
    let document = serde_json::to_value(bylaw_service::document()).unwrap();
    let routed: BTreeSet<(String, String)> = bylaw_service::operations()
        .into_iter()
        .map(|operation| (operation.method.to_owned(), operation.address.to_owned()))
        .collect();
    assert_eq!(documented(&document), routed);
}

/// The table of routes says which methods there are; the router is asked whether that is so.
#[tokio::test]
async fn the_router_answers_the_documented_methods_and_no_others() {
    let door = Plan::new().open().await;
    let operations: Vec<_> =
        bylaw_service::operations().into_iter().map(|operation| (operation.method, operation.address)).collect();
    for path in operations.iter().map(|(_, path)| path).collect::<BTreeSet<_>>() {
        for method in [Method::GET, Method::POST, Method::DELETE, Method::PUT, Method::PATCH] {
            let known = operations.contains(&(method.as_str().to_lowercase().as_str(), path));
            let address = path.replace("{source}", "none.md").replace(['{', '}'], "");
            let reply = door.call(method.clone(), &address, &[], Vec::new()).await;
            let refused = reply.status == 405;
            // A source may itself be named `…/undo`: reading it is a question about a source that is not there.
            let about_a_source = reply.status == 404 && reply.error().1 == "source_not_found";
            assert!(known != refused || about_a_source, "{method} {path}: {}", reply.text());
            assert!(!known || reply.status != 404 || reply.error().1 != "not_found", "{method} {path}");
        }
    }
}
