use std::{fs, time::Duration};

use axum::{
    body::Body,
    http::{Method, Request},
};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use crate::door::{Door, Plan, Reply};

const MULTIPART: (&str, &str) = ("content-type", "multipart/form-data; boundary=cut");

pub(crate) fn upload(file_name: &str, text: &str) -> Vec<u8> {
    format!(
        "--cut\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{file_name}\"\r\ncontent-type: \
         text/markdown\r\n\r\n{text}\r\n--cut--\r\n"
    )
    .into_bytes()
}

async fn submit(door: &Door, form: Vec<u8>) -> Reply {
    door.call(Method::POST, "/documents", &[MULTIPART], form).await
}

/// The job at its end. A job is short; the limit is for when it never ends.
async fn ended(door: &Door, accepted: &Reply) -> Value {
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    let location = accepted.header("location").unwrap().to_owned();
    let wait = async {
        loop {
            let job = door.get(&location).await.json();
            if job["status"] == "done" || job["status"] == "failed" {
                return job;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), wait).await.unwrap()
}

pub(crate) async fn ingest(door: &Door, form: Vec<u8>) {
    let accepted = submit(door, form).await;
    let job = ended(door, &accepted).await;
    assert_eq!(job["status"], "done", "{job}");
}

/// Unfinished uploads. Finished ones are the library's.
fn leftovers(door: &Door) -> usize {
    let Ok(entries) = fs::read_dir(door.folder.path().join("data/uploads")) else { return 0 };
    entries.filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().ends_with(".part")).count()
}

#[tokio::test]
async fn an_upload_becomes_a_job_and_then_answers() {
    let door = Plan::new().without_documents().working().open().await;
    let text = "# 停車辦法\n\n### 第 3 條（停車費）\n機車停車費每月新臺幣三百元。\n";
    let accepted = submit(&door, upload("../../etc/停車.md", text)).await;
    insta::assert_json_snapshot!("accepted", accepted.json());
    insta::assert_json_snapshot!("ended", ended(&door, &accepted).await);
    let found = door.post("/search", r#"{"question":"機車停車費多少"}"#).await.json();
    assert_eq!(found["hits"][0]["id"], "停車.md#3", "{found}");

    let again = submit(&door, upload("停車.md", text)).await;
    assert_eq!(ended(&door, &again).await["effect"], "unchanged");
    let changed = submit(&door, upload("停車.md", &text.replace("三百", "四百"))).await;
    assert_eq!(ended(&door, &changed).await["effect"], "updated");
    let detail = door.get("/sources/%E5%81%9C%E8%BB%8A.md").await.json();
    assert_eq!(detail["difference"]["changed"], json!(["3"]), "{detail}");
    assert_eq!(leftovers(&door), 0);
}

#[tokio::test]
async fn a_document_that_cannot_be_read_fails_its_job_and_says_where() {
    let door = Plan::new().working().open().await;
    let mut form = upload("work_rules.md", "# x\n");
    let at = form.windows(3).position(|window| window == b"# x").unwrap();
    form[at] = 0xff;
    let accepted = submit(&door, form).await;
    let job = ended(&door, &accepted).await;
    assert_eq!(job["error"]["code"], "invalid_encoding", "{job}");
    assert!(job["error"]["message"].as_str().unwrap().contains("byte 0"), "{job}");
    assert_eq!(door.get("/articles/work_rules.md/27").await.status, 200, "the old version keeps answering");
    assert_eq!(leftovers(&door), 0);
}

#[tokio::test]
async fn the_field_source_names_it_before_or_after_the_file() {
    let door = Plan::new().open().await;
    let file = "content-disposition: form-data; name=\"file\"; filename=\"x.md\"\r\n\r\n# x\n";
    let source = "content-disposition: form-data; name=\"source\"\r\n\r\nhr/leave.md";
    for parts in [[file, source], [source, file]] {
        let form = format!("--cut\r\n{}\r\n--cut\r\n{}\r\n--cut--\r\n", parts[0], parts[1]);
        let job = submit(&door, form.into_bytes()).await.json();
        assert_eq!(job["source"], "hr/leave.md", "{job}");
        assert_eq!(job["path"], "x.md");
    }
}

#[tokio::test]
async fn an_upload_is_cut_at_the_limit_and_leaves_nothing() {
    let door = Plan::new().settings(|settings| settings.upload_limit_bytes = 10_000_000).open().await;
    let head = upload("big.md", "");
    let file = head[..head.len() - "\r\n--cut--\r\n".len()].to_vec();
    let headers = b"--cut\r\nx-endless: ".to_vec();
    for (begin, code) in [(file, "payload_too_large"), (headers, "invalid_request")] {
        let endless = stream::once(async move { Ok::<_, std::io::Error>(begin) })
            .chain(stream::repeat_with(|| Ok(vec![b'a'; 8_192])));
        let body = Body::from_stream(endless);
        let request = Request::post("/documents").header(MULTIPART.0, MULTIPART.1).body(body).unwrap();
        let refusal = door.send(request).await.error();
        assert_eq!(refusal.1, code, "{refusal:?}");
        assert_eq!(leftovers(&door), 0);
    }
}

#[tokio::test]
async fn an_upload_that_breaks_off_leaves_nothing() {
    let door = Plan::new().open().await;
    let mut form = upload("a.md", "# a");
    form.truncate(form.len() - 8);
    let reply = submit(&door, form).await;
    assert_eq!(reply.error().1, "invalid_request");
    assert_eq!(leftovers(&door), 0);
    assert_eq!(door.get("/documents").await.json(), json!([]));
}

#[tokio::test]
async fn remains_of_a_crash_are_removed_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let uploads = folder.path().to_path_buf();
    fs::write(uploads.join("incoming-0000000000000001.part"), "x").unwrap();
    fs::write(uploads.join("job_000000000000000000000001.bin"), "x").unwrap();
    let _door = Plan::new()
        .settings({
            let uploads = uploads.clone();
            move |settings| settings.uploads = uploads
        })
        .open()
        .await;
    let names: Vec<_> = fs::read_dir(&uploads).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["job_000000000000000000000001.bin"]);
}

#[tokio::test]
async fn a_path_is_read_below_the_root_only() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("hr")).unwrap();
    fs::write(root.path().join("hr/leave.md"), "# 假\n\n### 第 1 條\n事假十四日。\n").unwrap();
    let path = root.path().to_path_buf();
    let door = Plan::new().settings(move |settings| settings.documents_root = Some(path)).working().open().await;
    let accepted = door.post("/documents", r#"{"path":"./hr/leave.md"}"#).await;
    let job = ended(&door, &accepted).await;
    assert_eq!((&job["status"], &job["source"]), (&json!("done"), &json!("hr/leave.md")), "{job}");
    assert!(root.path().join("hr/leave.md").exists(), "a file that is read by path stays where it is");
    for (path, code) in [
        ("../leave.md", "invalid_path"),
        ("/etc/passwd", "invalid_path"),
        ("hr/../../x.md", "invalid_path"),
        ("", "invalid_path"),
        ("hr/none.md", "document_not_found"),
    ] {
        let reply = door.post("/documents", &format!(r#"{{"path":"{path}"}}"#)).await;
        let (_, answered, message) = reply.error();
        assert_eq!(answered, code, "{path}");
        assert!(!message.contains(root.path().to_str().unwrap()), "{message}");
    }
}

#[tokio::test]
async fn jobs_are_listed_newest_first_within_the_limit() {
    let door = Plan::new().open().await;
    for number in 1..=3 {
        submit(&door, upload(&format!("{number}.md"), "# x\n\ntext\n")).await;
    }
    for (query, expected) in [("", 3), ("?limit=2", 2), ("?limit=0", 1), ("?limit=-5", 1), ("?limit=1000", 3)] {
        let jobs = door.get(&format!("/documents{query}")).await.json();
        assert_eq!(jobs.as_array().unwrap().len(), expected, "{query}");
        assert_eq!(jobs[0]["source"], "3.md", "{query}");
    }
}
