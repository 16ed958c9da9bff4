//! The page, as browsers get it. The files differ from build to build; how they are served does not.

use std::fmt::Write;

use axum::http::Method;
use bylaw_gate::Role;

use crate::door::{Door, Plan, Reply};

/// Headers of a reply, those of each file and request named instead of shown.
fn shown(reply: &Reply) -> String {
    let mut text = format!("{}\n", reply.status.as_u16());
    let mut names: Vec<&str> = reply.headers.keys().map(axum::http::HeaderName::as_str).collect();
    names.sort_unstable();
    for name in names {
        let value = match name {
            "etag" if reply.header(name).is_some_and(|tag| tag.ends_with("-gzip\"")) => "[tag]-gzip",
            "etag" => "[tag]",
            "x-request-id" | "x-total-ms" | "content-length" => "[...]",
            name => reply.header(name).unwrap(),
        };
        writeln!(text, "{name}: {value}").unwrap();
    }
    text
}

/// A file that the page begins with.
async fn asset(door: &Door) -> String {
    let index = door.get("/ui/").await.text();
    let named = index.split('"').find(|part| part.starts_with("/ui/assets/") && part.ends_with(".css"));
    named.unwrap_or_else(|| panic!("no style in {index}")).to_owned()
}

async fn browse(door: &Door, path: &str, headers: &[(&str, &str)]) -> Reply {
    door.call(Method::GET, path, headers, Vec::new()).await
}

#[tokio::test]
async fn browsers_are_told_how_to_treat_the_page_and_its_files() {
    let door = Plan::new().without_documents().open().await;
    let asset = asset(&door).await;
    let gzip = ("accept-encoding", "gzip, deflate, br, zstd");
    let mut text = String::new();
    for (name, path, headers) in [
        ("the page", "/ui/", vec![]),
        ("an address of the page", "/ui/rules/work_rules.md/26-1", vec![]),
        ("a file, packed", asset.as_str(), vec![gzip]),
        ("a file that is missing", "/ui/assets/gone-00000000.js", vec![]),
        ("without the slash", "/ui", vec![]),
        ("the root, for a browser", "/", vec![("accept", "text/html,application/xhtml+xml,*/*;q=0.8")]),
        ("the root, for a program", "/", vec![("accept", "*/*")]),
    ] {
        writeln!(text, "{name}\n{}", shown(&browse(&door, path, &headers).await)).unwrap();
    }
    insta::assert_snapshot!(text);
}

#[tokio::test]
async fn what_a_browser_has_is_not_sent_again() {
    let door = Plan::new().without_documents().open().await;
    let asset = asset(&door).await;
    for (path, encoding) in [("/ui/", "identity"), (asset.as_str(), "identity"), (asset.as_str(), "gzip")] {
        let first = browse(&door, path, &[("accept-encoding", encoding)]).await;
        let tag = first.header("etag").unwrap();
        let again = browse(&door, path, &[("accept-encoding", encoding), ("if-none-match", tag)]).await;
        assert_eq!((again.status.as_u16(), again.bytes.len()), (304, 0), "{path}");
        for name in ["etag", "cache-control", "vary", "content-security-policy"] {
            assert_eq!(again.header(name), first.header(name), "{path} {name}");
        }
        let other = browse(&door, path, &[("accept-encoding", encoding), ("if-none-match", "\"other\"")]).await;
        assert_eq!((other.status.as_u16(), other.bytes), (200, first.bytes), "{path}");
    }
}

#[tokio::test]
async fn a_packed_file_is_the_same_file() {
    use std::{
        io::Write as _,
        process::{Command, Stdio},
    };
    let door = Plan::new().without_documents().open().await;
    let asset = asset(&door).await;
    let (plain, packed) =
        (browse(&door, &asset, &[]).await, browse(&door, &asset, &[("accept-encoding", "gzip")]).await);
    assert_eq!((plain.header("content-encoding"), packed.header("content-encoding")), (None, Some("gzip")));
    assert!(packed.bytes.len() < plain.bytes.len());
    assert_ne!(plain.header("etag"), packed.header("etag"));
    let mut gzip = Command::new("gzip").arg("-dc").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = gzip.stdin.take().unwrap();
    let bytes = packed.bytes.clone();
    let writing = std::thread::spawn(move || stdin.write_all(&bytes).unwrap());
    let unpacked = gzip.wait_with_output().unwrap();
    writing.join().unwrap();
    assert_eq!(unpacked.stdout, plain.bytes);
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let door = Plan::new().without_documents().open().await;
    for path in ["/ui/", "/ui/history", &asset(&door).await] {
        let (got, head) = (browse(&door, path, &[]).await, door.call(Method::HEAD, path, &[], Vec::new()).await);
        assert!(!got.bytes.is_empty() && head.bytes.is_empty(), "{path}");
        assert_eq!(head.header("content-length"), Some(got.bytes.len().to_string().as_str()), "{path}");
        for name in ["etag", "content-type", "cache-control", "content-security-policy"] {
            assert_eq!(head.header(name), got.header(name), "{path} {name}");
        }
    }
}

#[tokio::test]
async fn nothing_but_the_page_is_reached_below_it() {
    let door = Plan::new().without_documents().open().await;
    for path in [
        "/ui/../Cargo.toml",
        "/ui/..%2fCargo.toml",
        "/ui/%2e%2e/%2e%2e/etc/passwd",
        "/ui/assets/../../../Cargo.toml",
        "/ui/assets/..%5c..%5cCargo.toml",
        "/ui/rules/%00",
        "/ui/.git",
        "/ui/Cargo.toml",
        "/ui//etc/../passwd",
    ] {
        assert_eq!(browse(&door, path, &[]).await.error().1, "not_found", "{path}");
    }
    assert_eq!(browse(&door, "/ui/%ff", &[]).await.error().1, "invalid_request");
    for method in [Method::POST, Method::DELETE, Method::PUT] {
        let reply = door.call(method.clone(), "/ui/", &[], Vec::new()).await;
        assert_eq!((reply.error().0, reply.header("allow")), (405, Some("GET,HEAD")), "{method}");
    }
}

#[tokio::test]
async fn only_the_configured_pages_may_frame_and_only_the_embedded_view() {
    let origins = ["https://portal.example", "http://localhost:3000"].map(|origin| origin.parse().unwrap());
    let framed = Plan::new().without_documents().settings(move |settings| settings.frame_ancestors = origins.to_vec());
    let (framed, alone) = (framed.open().await, Plan::new().without_documents().open().await);
    let ours = "frame-ancestors https://portal.example http://localhost:3000";
    let rows = [
        (&framed, "/ui/embed", ours),
        (&framed, "/ui/embed/", ours),
        (&framed, "/ui/", "frame-ancestors 'none'"),
        (&framed, "/ui/embedded", "frame-ancestors 'none'"),
        (&framed, "/ui/rules/embed", "frame-ancestors 'none'"),
        (&alone, "/ui/embed", "frame-ancestors 'none'"),
    ];
    for (door, path, expected) in rows {
        let reply = browse(door, path, &[]).await;
        let policy = reply.header("content-security-policy").unwrap();
        assert_eq!(policy.rsplit("; ").next(), Some(expected), "{path}");
        assert!(!policy.contains("unsafe"), "{policy}");
    }
}

#[tokio::test]
async fn the_page_needs_no_key_and_a_foreign_name_does_not_serve_it() {
    let door = Plan::new().without_documents().open().await;
    assert_eq!(browse(&door, "/ui/", &[("host", "evil.test")]).await.status, 421);
    door.key(Role::Reader, None).await;
    for headers in [vec![], vec![("authorization", "Bearer nonsense")], vec![("host", "rules.example")]] {
        assert_eq!(browse(&door, "/ui/", &headers).await.status, 200, "{headers:?}");
    }
}

/// While there are no keys, the page's own origin is all that lets it in.
#[tokio::test]
async fn every_operation_answers_the_page_and_changes_nothing_for_the_pages_of_others() {
    let door = Plan::new().open().await;
    for operation in bylaw_service::operations() {
        let method = Method::from_bytes(operation.method.to_uppercase().as_bytes()).unwrap();
        let path = operation.address.replace("{source}", "none.md").replace(['{', '}'], "");
        for (host, origin, ours) in [
            ("127.0.0.1:8024", "http://127.0.0.1:8024", true),
            ("localhost:8024", "http://localhost:8024", true),
            ("[::1]:8024", "http://[::1]:8024", true),
            ("localhost:8024", "http://localhost:3000", false),
            ("localhost:8024", "http://127.0.0.1:8024", false),
            ("localhost:8024", "null", false),
            ("localhost:8024", "https://evil.test", false),
        ] {
            let headers = [("host", host), ("origin", origin), ("content-type", "application/json")];
            let reply = door.call(method.clone(), &path, &headers, b"{}".to_vec()).await;
            let refused = matches!(reply.status.as_u16(), 403 | 421);
            assert_eq!(refused, !ours && !method.is_safe(), "{method} {path} {origin}: {}", reply.text());
            assert_eq!(reply.header("access-control-allow-origin"), None, "{path}");
        }
    }
}
