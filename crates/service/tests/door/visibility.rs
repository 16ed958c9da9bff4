//! What a key may not read does not exist for it: each reply is that of a service that never had the other source.

use axum::http::Method;
use bylaw_gate::Role;
use serde_json::json;

use crate::{
    documents::upload,
    door::{Door, HANDBOOK, Held, Plan, Reply, WORK_RULES},
};

const SECRET: &str = "\
# 薪資級距

### 第 1 條（事假扣薪）
事假依員工工作規則第 27 條辦理，扣薪標準為日薪之百分之百。

### 第 2 條（年終獎金）
年終獎金為月薪之兩倍。
";

const RULES: &str = "\
# 出勤補充規定

### 第 3 條（準用）
本規定未盡事宜，準用薪資級距第 2 條。
";

/// A service with the other source, and one that never had it; the same key on both.
struct Worlds {
    with: (Door, Held),
    without: (Door, Held),
}

async fn worlds(role: Role) -> Worlds {
    let readable = Some(["handbook.md", "work_rules.md", "出勤.md", "new.md"].as_slice());
    let plan = || {
        Plan::new()
            .without_documents()
            .document("handbook.md", HANDBOOK)
            .document("work_rules.md", WORK_RULES)
            .document("出勤.md", RULES)
            .working()
    };
    let with = plan().document("薪資級距.md", SECRET).open().await;
    let without = plan().open().await;
    let (key, same_key) = (with.key(role, readable).await, without.key(role, readable).await);
    Worlds { with: (with, key), without: (without, same_key) }
}

impl Worlds {
    /// The same request to both.
    async fn call(&self, method: Method, path: &str, json: &str) -> [Reply; 2] {
        let headers = [("content-type", "application/json"), ("x-request-id", "same")];
        let mut replies = Vec::new();
        for (door, key) in [&self.with, &self.without] {
            replies.push(door.call_as(key, method.clone(), path, &headers, json.as_bytes().to_vec()).await);
        }
        replies.try_into().unwrap()
    }

    async fn check(&self, method: Method, path: &str, json: &str, status: u16) {
        let [with, without] = self.call(method.clone(), path, json).await;
        assert_eq!(with.status, status, "{method} {path} {}", with.text());
        assert_eq!(with.status, without.status, "{method} {path}");
        assert_eq!(with.text(), without.text(), "{method} {path}");
    }
}

const HIDDEN: &str = "%E8%96%AA%E8%B3%87%E7%B4%9A%E8%B7%9D.md";

#[tokio::test]
async fn reading_shows_nothing_of_another_source() {
    let worlds = worlds(Role::Reader).await;
    for (path, status) in [
        ("/sources", 200),
        ("/sources/work_rules.md", 200),
        ("/articles/work_rules.md/27", 200),
        ("/articles/%E5%87%BA%E5%8B%A4.md/3", 200),
        ("/healthz", 200),
        (&format!("/sources/{HIDDEN}"), 404),
        (&format!("/articles/{HIDDEN}/1"), 404),
        (&format!("/articles/{HIDDEN}/99"), 404),
        ("/sources/never.md", 404),
    ] {
        worlds.check(Method::GET, path, "", status).await;
    }
}

#[tokio::test]
async fn searching_shows_nothing_of_another_source() {
    let worlds = worlds(Role::Reader).await;
    for question in ["事假", "年終獎金", "薪資級距第2條", "特休可以遞延嗎", "remote work", "準用"]
    {
        for search in [
            json!({ "question": question }),
            json!({ "question": question, "k": 50 }),
            json!({ "question": question, "source": "work_rules.md" }),
        ] {
            worlds.check(Method::POST, "/search", &search.to_string(), 200).await;
        }
        let hidden = json!({ "question": question, "source": "薪資級距.md" }).to_string();
        worlds.check(Method::POST, "/search", &hidden, 404).await;
        worlds.check(Method::POST, "/ask", &hidden, 404).await;
        let mut answers = Vec::new();
        for reply in worlds.call(Method::POST, "/ask", &json!({ "question": question }).to_string()).await {
            let mut answer = reply.json();
            // Which other ids were given out before differs between the two.
            answer.as_object_mut().unwrap().remove("run_id");
            answers.push(answer);
        }
        assert_eq!(answers[0], answers[1], "{question}");
    }
}

/// The names of the two kinds of sources that there are not are the same but for the name.
#[tokio::test]
async fn hidden_and_never_there_are_said_in_the_same_words() {
    let Worlds { with: (door, key), .. } = worlds(Role::Editor).await;
    for (method, path) in [
        (Method::GET, "/sources/NAME"),
        (Method::DELETE, "/sources/NAME"),
        (Method::POST, "/sources/NAME/undo"),
        (Method::GET, "/articles/NAME/1"),
    ] {
        let mut said = Vec::new();
        for name in [HIDDEN, "never.md", "new.md"] {
            let path = path.replace("NAME", name);
            let reply = door.call_as(&key, method.clone(), &path, &[("x-request-id", "same")], Vec::new()).await;
            said.push(reply.text().replace("薪資級距.md", "X").replace("never.md", "X").replace("new.md", "X"));
        }
        assert!(said.iter().all(|text| *text == said[0]), "{method} {path} {said:?}");
    }
}

#[tokio::test]
async fn deleting_and_restoring_reach_only_what_may_be_read() {
    let worlds = worlds(Role::Editor).await;
    worlds.check(Method::DELETE, &format!("/sources/{HIDDEN}"), "", 404).await;
    worlds.check(Method::POST, &format!("/sources/{HIDDEN}/undo"), "", 409).await;
    worlds.check(Method::DELETE, "/sources/handbook.md", "", 200).await;
    worlds.check(Method::POST, "/sources/handbook.md/undo", "", 200).await;
    let (door, _) = &worlds.with;
    let admin = door.key(Role::Admin, None).await;
    let reached = async || door.get_as(&admin, &format!("/articles/{HIDDEN}/1")).await.status.as_u16();
    assert_eq!(reached().await, 200, "it was not deleted");
    door.call_as(&admin, Method::DELETE, &format!("/sources/{HIDDEN}"), &[], Vec::new()).await;
    worlds.check(Method::POST, &format!("/sources/{HIDDEN}/undo"), "", 409).await;
    assert_eq!(reached().await, 404, "it was not brought back");
}

#[tokio::test]
async fn an_editor_writes_only_what_the_key_may_read() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("薪資級距.md"), "# x\n\n### 第 1 條\nx\n").unwrap();
    let path = root.path().to_path_buf();
    let door = Plan::new()
        .document("薪資級距.md", SECRET)
        .settings(move |settings| settings.documents_root = Some(path))
        .open()
        .await;
    let editor = door.key(Role::Editor, Some(&["new.md"])).await;
    let admin = door.key(Role::Admin, None).await;
    let form = [("content-type", "multipart/form-data; boundary=cut")];
    for (name, status) in [("薪資級距.md", 403), ("never.md", 403), ("never.exe", 403), ("new.md", 202)] {
        let reply = door.call_as(&editor, Method::POST, "/documents", &form, upload(name, "# a\n\nb\n")).await;
        assert_eq!(reply.status, status, "{name} {}", reply.text());
    }
    let mut said = Vec::new();
    for name in ["薪資級距.md", "never.md"] {
        let reply = door.post_as(&editor, "/documents", &json!({ "path": name }).to_string()).await;
        let (status, code, message) = reply.error();
        said.push((status, code, message.replace(name, "X")));
    }
    assert_eq!(said[0], said[1]);
    assert_eq!((said[0].0, said[0].1.as_str()), (403, "forbidden"));
    let jobs = door.get_as(&admin, "/documents").await.json();
    assert_eq!(jobs.as_array().unwrap().len(), 1, "what is refused leaves no job: {jobs}");
}

#[tokio::test]
async fn jobs_about_other_sources_are_not_there() {
    let door = Plan::new().open().await;
    let (admin, editor) = (door.key(Role::Admin, None).await, door.key(Role::Editor, Some(&["mine.md"])).await);
    let form = [("content-type", "multipart/form-data; boundary=cut")];
    let submit = async |name: &str| {
        let reply = door.call_as(&admin, Method::POST, "/documents", &form, upload(name, "# a\n\nb\n")).await;
        reply.json()["job_id"].as_str().unwrap().to_owned()
    };
    let mine = submit("mine.md").await;
    let mut hidden = String::new();
    for number in 0..30 {
        hidden = submit(&format!("{number}.md")).await;
    }
    for query in ["", "?limit=1", "?limit=100"] {
        let jobs = door.get_as(&editor, &format!("/documents{query}")).await.json();
        let ids: Vec<_> = jobs.as_array().unwrap().iter().map(|job| &job["job_id"]).collect();
        assert_eq!(ids, [&json!(mine)], "{query}");
    }
    assert_eq!(door.get_as(&editor, &format!("/documents/{mine}")).await.status, 200);
    let never = "job_ffffffffffffffffffffffff";
    let mut said = Vec::new();
    for id in [hidden.as_str(), never] {
        let (status, code, message) = door.get_as(&editor, &format!("/documents/{id}")).await.error();
        said.push((status, code, message.replace(id, "X")));
    }
    assert_eq!(said[0], said[1]);
    assert_eq!(said[0].0, 404);
}
