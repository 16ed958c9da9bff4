use std::fmt::Write;

use axum::http::Method;

use crate::door::{Door, Plan};

const JSON: (&str, &str) = ("content-type", "application/json");

fn form(parts: &[&str]) -> Vec<u8> {
    let mut body = String::new();
    for part in parts {
        write!(body, "--cut\r\n{part}\r\n").unwrap();
    }
    body.push_str("--cut--\r\n");
    body.into_bytes()
}

async fn error(door: &Door, method: &str, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> String {
    let reply = door.call(Method::from_bytes(method.as_bytes()).unwrap(), path, headers, body).await;
    let (status, code, message) = reply.error();
    let allow = reply.header("allow").map(|allow| format!(" [allow {allow}]")).unwrap_or_default();
    format!("{status} {code}{allow}: {message}")
}

/// What every refusal looks like, in one table.
#[tokio::test]
async fn every_refusal_has_one_shape_and_says_what_is_wrong() {
    let door = Plan::new()
        .settings(|settings| {
            settings.upload_limit_bytes = 2_000;
            settings.json_limit_bytes = 4_096;
        })
        .open()
        .await;
    let long = format!(r#"{{"question":"{}"}}"#, "假".repeat(501));
    let huge = format!(r#"{{"question":"{}"}}"#, "a".repeat(5_000));
    let json = [
        ("/ask", ""),
        ("/ask", "{"),
        ("/ask", "[]"),
        ("/ask", "{}"),
        ("/ask", r#"{"question":""}"#),
        ("/ask", r#"{"question":"　"}"#),
        ("/ask", r#"{"question":"😀"}"#),
        ("/ask", r#"{"question":"？"}"#),
        ("/ask", "{\"question\":\"a\\u0000\"}"),
        ("/ask", &long),
        ("/ask", &huge),
        ("/ask", r#"{"question":"事假","k":0}"#),
        ("/ask", r#"{"question":"事假","k":16}"#),
        ("/ask", r#"{"question":"事假","k":-1}"#),
        ("/ask", r#"{"question":"事假","k":"3"}"#),
        ("/ask", r#"{"question":"事假","budgett":5}"#),
        ("/ask", r#"{"question":"事假","mode":"magic"}"#),
        ("/ask", r#"{"question":"事假","chapter_no":100}"#),
        ("/ask", r#"{"question":"事假","max_steps":13}"#),
        ("/ask", r#"{"question":"事假","max_twd":0}"#),
        ("/ask", r#"{"question":"事假","max_wall_ms":1e9}"#),
        ("/ask", r#"{"question":"事假","source":"nope.md"}"#),
        ("/ask", r#"{"question":"事假","source":"nope.md","stream":true}"#),
        ("/ask", r#"{"question":"","stream":true}"#),
        ("/ask?retriever=chroma", r#"{"question":"事假"}"#),
        ("/ask?retriver=lexical", r#"{"question":"事假"}"#),
        ("/search?retriever=numpy", r#"{"question":"事假"}"#),
        ("/search", r#"{"question":"事假","k":51}"#),
        ("/search", r#"{"question":"事假","min_similarity":1.5}"#),
        ("/search", r#"{"question":"事假","min_similarity":"high"}"#),
        ("/search", r#"{"question":"事假","stream":true}"#),
        ("/search", r#"{"question":"事假","source":"../work_rules.md"}"#),
        ("/documents", r#"{"path":"rules.md"}"#),
        ("/documents", r#"{"path":"rules.pdf","ocr":true}"#),
        ("/documents", r#"{"file":"rules.md"}"#),
    ];
    let mut table = String::new();
    for (path, body) in json {
        let shown: String = body.chars().take(60).collect();
        let refusal = error(&door, "POST", path, &[JSON], body.as_bytes().to_vec()).await;
        writeln!(table, "POST {path} {shown}\n  {refusal}").unwrap();
    }

    let multipart = ("content-type", "multipart/form-data; boundary=cut");
    let file = "content-disposition: form-data; name=\"file\"; filename=\"a.md\"\r\n\r\n# a";
    let other = [
        ("GET", "/nope", vec![], vec![]),
        ("GET", "/", vec![], vec![]),
        ("GET", "/ask/", vec![], vec![]),
        ("PUT", "/ask", vec![], vec![]),
        ("GET", "/ask", vec![], vec![]),
        ("OPTIONS", "/search", vec![], vec![]),
        ("POST", "/healthz", vec![], vec![]),
        ("PATCH", "/sources/work_rules.md", vec![], vec![]),
        ("POST", "/sources/work_rules.md", vec![], vec![]),
        ("POST", "/ask", vec![], b"{}".to_vec()),
        ("POST", "/ask", vec![("content-type", "text/plain")], b"{}".to_vec()),
        ("POST", "/ask", vec![JSON], b"{\"question\":\"\xff\xfe\"}".to_vec()),
        ("GET", "/articles/work_rules.md", vec![], vec![]),
        ("GET", "/articles/work_rules.md/99", vec![], vec![]),
        ("GET", "/articles/work_rules.md/", vec![], vec![]),
        ("GET", "/articles/nope.md/1", vec![], vec![]),
        ("GET", "/articles/work_rules.md/%00", vec![], vec![]),
        ("GET", "/articles/work_rules.md/%zz", vec![], vec![]),
        ("GET", "/articles/%ff/1", vec![], vec![]),
        ("GET", "/sources/nope.md", vec![], vec![]),
        ("GET", "/sources/..%2f..%2fetc%2fpasswd", vec![], vec![]),
        ("GET", "/sources/%00", vec![], vec![]),
        ("DELETE", "/sources/nope.md", vec![], vec![]),
        ("POST", "/sources/work_rules.md/undo", vec![], vec![]),
        ("GET", "/documents?limit=many", vec![], vec![]),
        ("GET", "/documents?page=2", vec![], vec![]),
        ("GET", "/documents/job_000000000000000000000099", vec![], vec![]),
        ("GET", "/documents/nope", vec![], vec![]),
        ("POST", "/documents", vec![], vec![]),
        ("POST", "/documents", vec![("content-type", "multipart/form-data")], vec![]),
        ("POST", "/documents", vec![multipart], b"nonsense".to_vec()),
        ("POST", "/documents", vec![multipart], form(&[])),
        ("POST", "/documents", vec![multipart], form(&["content-disposition: form-data; name=\"fil\"\r\n\r\nx"])),
        ("POST", "/documents", vec![multipart], form(&["content-disposition: form-data; name=\"file\"\r\n\r\nx"])),
        ("POST", "/documents", vec![multipart], form(&[file, file])),
        (
            "POST",
            "/documents",
            vec![multipart],
            form(&[file, "content-disposition: form-data; name=\"source\"\r\n\r\n../a.md"]),
        ),
        (
            "POST",
            "/documents",
            vec![multipart],
            form(&["content-disposition: form-data; name=\"file\"; filename=\"a.exe\"\r\n\r\nx"]),
        ),
        (
            "POST",
            "/documents",
            vec![multipart],
            form(&[&format!(
                "content-disposition: form-data; name=\"file\"; filename=\"a.md\"\r\n\r\n{}",
                "a".repeat(3_000)
            )]),
        ),
        ("POST", "/documents", vec![multipart, ("content-length", "99999999")], vec![]),
        ("GET", "/healthz", vec![("host", "evil.test")], vec![]),
        ("POST", "/search", vec![JSON, ("host", "localhost"), ("origin", "http://evil.test")], b"{}".to_vec()),
    ];
    for (method, path, headers, body) in other {
        let shown: Vec<String> = headers.iter().map(|(name, value)| format!(" {name}: {value}")).collect();
        let refusal = error(&door, method, path, &headers, body).await;
        writeln!(table, "{method} {path}{}\n  {refusal}", shown.concat()).unwrap();
    }
    insta::assert_snapshot!(table);
}

#[tokio::test]
async fn a_valid_label_is_kept_and_any_other_replaced() {
    let door = Plan::new().open().await;
    for (sent, kept) in
        [("abc-123", true), ("", false), ("a b", false), (&"x".repeat(65), false), (&"x".repeat(64), true)]
    {
        for path in ["/healthz", "/nope"] {
            let reply = door.call(Method::GET, path, &[("x-request-id", sent)], Vec::new()).await;
            let label = reply.header("x-request-id").unwrap();
            assert_eq!(label == sent, kept, "{path} {sent:?} {label:?}");
            let body = reply.json();
            let in_body = body["request_id"].as_str().or_else(|| body["error"]["request_id"].as_str());
            assert_eq!(in_body, Some(label), "{path}");
        }
    }
}

#[tokio::test]
async fn a_full_house_says_when_to_come_back() {
    let door = Plan::new().settings(|settings| settings.concurrent_asks = 0).open().await;
    let reply = door.post("/ask", r#"{"question":"事假幾天"}"#).await;
    assert_eq!(reply.error().0, 503);
    assert_eq!(reply.error().1, "overloaded");
    assert_eq!(reply.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let door = Plan::new().open().await;
    let reply = door.call(Method::HEAD, "/healthz", &[], Vec::new()).await;
    assert_eq!((reply.status.as_u16(), reply.bytes.len()), (200, 0));
    let reply = door.call(Method::HEAD, "/nope", &[], Vec::new()).await;
    assert_eq!((reply.status.as_u16(), reply.bytes.len()), (404, 0));
}
