//! Who is let in where.

use std::{fmt::Write, time::Duration};

use axum::{
    body::Body,
    http::{Method, Request},
};
use bylaw_contract::Clock;
use bylaw_gate::{KeyStore, Role};
use bylaw_service::{Access, Operation};
use serde_json::json;

use crate::door::{Door, Held, Plan};

const JSON: (&str, &str) = ("content-type", "application/json");

fn address(operation: &Operation) -> String {
    let there = [("{source}", "handbook.md"), ("{article}", "12"), ("{job}", "job_x")];
    let absent = [("{run}", "run_x"), ("{question}", "1"), ("{conversation}", "cnv_x"), ("{artifact}", "art_x")];
    there.iter().chain(&absent).fold(operation.address.to_owned(), |path, (name, value)| path.replace(name, value))
}

/// Calls an operation with a body that is fit for it.
async fn call(door: &Door, key: Option<&Held>, operation: &Operation) -> u16 {
    let method = Method::from_bytes(operation.method.to_uppercase().as_bytes()).unwrap();
    let body = match operation.address {
        "/ask" | "/search" => r#"{"question":"事假"}"#,
        _ => "{}",
    };
    let (path, body) = (address(operation), body.as_bytes().to_vec());
    let reply = match key {
        None => door.call(method, &path, &[JSON], body).await,
        Some(key) => door.call_as(key, method, &path, &[JSON], body).await,
    };
    if reply.status == 401 {
        assert_eq!(reply.error().1, "invalid_key", "{path}");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"), "{path}");
    }
    if reply.status == 403 {
        assert_eq!(reply.error().1, "forbidden", "{path}");
    }
    reply.status.as_u16()
}

/// Every operation there is, without a key and with one of each role: 422 and 404 come from behind the door.
#[tokio::test]
async fn each_operation_lets_in_whom_it_says() {
    let door = Plan::new().open().await;
    let keys =
        [door.key(Role::Reader, None).await, door.key(Role::Editor, None).await, door.key(Role::Admin, None).await];
    let mut table = String::new();
    for operation in bylaw_service::operations() {
        let mut statuses = vec![call(&door, None, &operation).await];
        for key in &keys {
            statuses.push(call(&door, Some(key), &operation).await);
        }
        match operation.access {
            Access::Open => assert!(!statuses.contains(&401) && !statuses.contains(&403), "{operation:?}"),
            Access::Needs(action) => {
                assert_eq!(statuses[0], 401, "{operation:?}");
                for (role, status) in Role::ALL.into_iter().zip(&statuses[1..]) {
                    assert_eq!(*status == 403, role < action.least_role(), "{operation:?} {role}");
                }
            }
        }
        let [stranger, reader, editor, admin] = statuses[..] else { panic!("{statuses:?}") };
        let Operation { method, address, .. } = operation;
        writeln!(table, "{method:6} {address:30} {stranger} {reader} {editor} {admin}").unwrap();
    }
    insta::assert_snapshot!(table);
}

#[tokio::test]
async fn only_these_are_open() {
    let open: Vec<_> = bylaw_service::operations()
        .into_iter()
        .filter(|operation| operation.access == Access::Open)
        .map(|operation| operation.address)
        .collect();
    assert_eq!(open, ["/healthz", "/readyz", "/openapi.json"]);
}

#[tokio::test]
async fn without_keys_everyone_at_this_machine_may_do_everything() {
    let door = Plan::new().open().await;
    for operation in bylaw_service::operations() {
        let status = call(&door, None, &operation).await;
        assert!(status != 401 && status != 403, "{operation:?} {status}");
    }
    let stale =
        Held { id: bylaw_contract::KeyId::new(format!("key_{}", "0".repeat(24))).unwrap(), secret: "x".to_owned() };
    let reply = door.get_as(&stale, "/sources").await;
    assert_eq!(reply.error().1, "invalid_key", "what is presented must be valid");
    assert_eq!(door.get_as(&stale, "/healthz").await.status, 200);
}

#[tokio::test]
async fn what_opens_nothing_is_refused_in_the_same_words() {
    let door = Plan::new().open().await;
    let (revoked, good) = (door.key(Role::Admin, None).await, door.key(Role::Admin, None).await);
    door.keys.revoke(&revoked.id, door.clock.now()).await.unwrap();
    door.clock.forward(Duration::from_millis(100));
    let mut said = Vec::new();
    for secret in [revoked.secret.as_str(), &good.secret.replace("bylaw_", "bylaw_0"), "bylaw_", "x"] {
        let bearer = format!("Bearer {secret}");
        let headers = [("authorization", bearer.as_str()), ("x-request-id", "same")];
        said.push(door.call(Method::GET, "/sources", &headers, Vec::new()).await.text());
    }
    assert!(said.iter().all(|text| *text == said[0]), "{said:?}");
    assert_eq!(door.get_as(&good, "/sources").await.status, 200);
}

#[tokio::test]
async fn the_refusals_say_what_is_needed() {
    let door = Plan::new().open().await;
    let reader = door.key(Role::Reader, None).await;
    let mut replies = vec![door.get("/sources").await.json()];
    for header in ["Basic YTpi", "Bearer nonsense"] {
        replies.push(door.call(Method::GET, "/sources", &[("authorization", header)], Vec::new()).await.json());
    }
    for path in ["/documents", "/budgets"] {
        replies.push(door.get_as(&reader, path).await.json());
    }
    insta::assert_json_snapshot!(replies, { "[].error.request_id" => "[request]" });
}

/// The body of a stranger is not even looked at.
#[tokio::test]
async fn a_stranger_is_refused_before_the_body_is_touched() {
    let door = Plan::new().open().await;
    let reader = door.key(Role::Reader, None).await;
    for (key, expected) in [(None, 401), (Some(&reader), 403)] {
        let never = futures_util::stream::poll_fn(|_| -> std::task::Poll<Option<Result<Vec<u8>, std::io::Error>>> {
            panic!("the body was read")
        });
        let mut request = Request::post("/documents").header("content-type", "multipart/form-data; boundary=cut");
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {}", key.secret));
        }
        let reply = door.send(request.body(Body::from_stream(never)).unwrap()).await;
        assert_eq!(reply.status, expected, "{}", reply.text());
    }
}

/// Where a key is needed a browser has nothing that a foreign page could make it send along.
#[tokio::test]
async fn the_name_that_a_keyed_service_is_called_by_does_not_matter() {
    let door = Plan::new().open().await;
    let foreign = [("host", "rules.example"), ("origin", "http://evil.test"), JSON];
    let body = || br#"{"question":"x"}"#.to_vec();
    assert_eq!(door.call(Method::POST, "/search", &foreign, body()).await.status, 421);
    let reader = door.key(Role::Reader, None).await;
    assert_eq!(door.call_as(&reader, Method::POST, "/search", &foreign, body()).await.status, 200);
    assert_eq!(door.call(Method::POST, "/search", &foreign, body()).await.status, 401);
    assert_eq!(door.call(Method::GET, "/healthz", &foreign, Vec::new()).await.status, 200);
}

#[tokio::test]
async fn what_is_kept_is_no_business_of_strangers() {
    let door = Plan::new().open().await;
    let counts = |health: serde_json::Value| (health["chunks"].clone(), health["sources"].clone());
    assert_eq!(counts(door.get("/healthz").await.json()), (json!(7), json!(2)));
    let (all, some) = (door.key(Role::Reader, None).await, door.key(Role::Reader, Some(&["handbook.md"])).await);
    let nothing = door.key(Role::Admin, Some(&[])).await;
    assert_eq!(counts(door.get("/healthz").await.json()), (json!(0), json!(0)));
    assert_eq!(counts(door.get_as(&all, "/healthz").await.json()), (json!(7), json!(2)));
    assert_eq!(counts(door.get_as(&some, "/healthz").await.json()), (json!(2), json!(1)));
    assert_eq!(counts(door.get_as(&nothing, "/healthz").await.json()), (json!(0), json!(0)));
}
