//! The same rules through MCP, in either era: a person who answers, and a model that tries.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use axum::{
    body::Body,
    extract::Request,
    middleware::{Next, from_fn},
    response::IntoResponse,
};
use bylaw_contract::Language;
use bylaw_leave::{
    domain::{ids::EmployeeId, status::Status, store::LeaveStore},
    server::{LeaveKeys, server},
};
use bylaw_mcp::{
    CallOptions, ClientOptions, Content, Elicit, ElicitReply, Elicitation, Host, HttpMount, HttpOptions, McpAddress,
    McpClient, McpServer, ToolOutcome, listen,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::company::{Counting, Office, principal};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    Older,
    Newer,
}

/// What a person does with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Human {
    Accepts,
    Declines,
    Dismisses,
    Waits,
    IsNotThere,
}

struct Person {
    office: Arc<Office>,
    does: Human,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Elicit for Person {
    async fn elicit(&self, request: Elicitation) -> ElicitReply {
        self.asked.lock().unwrap().push(request.message);
        match self.does {
            Human::Accepts => ElicitReply::Accept(json!({})),
            Human::Declines => ElicitReply::Decline,
            Human::Dismisses | Human::IsNotThere => ElicitReply::Cancel,
            // In the older era the call waits; in the newer one the answer comes too late.
            Human::Waits => {
                self.office.clock.forward(Duration::from_secs(660));
                tokio::time::sleep(Duration::from_millis(500)).await;
                ElicitReply::Accept(json!({}))
            }
        }
    }
}

struct House {
    office: Arc<Office>,
    mount: HttpMount,
    over: CancellationToken,
}

impl Drop for House {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

impl House {
    async fn open() -> Self {
        let office = Arc::new(Office::open().await);
        let over = CancellationToken::new();
        let clock = office.clock.clone();
        let built =
            server(&office.desk, Language::English, clock.clone(), Arc::new(Counting::default())).await.unwrap();
        let keys = Arc::new(LeaveKeys::new(office.store.clone()));
        let mount = HttpMount::new(built, keys, clock, HttpOptions::default(), over.clone());
        Self { office, mount, over }
    }

    /// A client of this era with a key of this employee.
    async fn client(&self, who: &str, era: Era, does: Human) -> (McpClient, Arc<Person>) {
        let id = EmployeeId::new(who).unwrap();
        let clock = self.office.clock.clone();
        let random = RandomOf(who.bytes().map(u64::from).sum::<u64>() * 1_000 + rand_of(&self.office));
        let (_, secret) = bylaw_leave::keys::create(&*self.office.store, &id, &*clock, &random).await.unwrap();
        let router = match era {
            Era::Newer => self.mount.router(),
            Era::Older => self.mount.router().layer(from_fn(forget)),
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(listen(listener, router, self.over.clone()));
        let bearer = Some(secret.reveal().to_owned());
        let address = McpServer { name: "leaves".to_owned(), address: McpAddress::Http { url, bearer } };
        let person = Arc::new(Person { office: self.office.clone(), does, asked: Mutex::default() });
        let elicit = (does != Human::IsNotThere).then(|| person.clone() as Arc<dyn Elicit>);
        let host = Host { elicit, clock, randomness: Arc::new(Counting::default()) };
        let client = McpClient::connect(address, ClientOptions::default(), host).await.unwrap();
        let protocol = client.protocol().await;
        assert_eq!(protocol.as_deref(), Some(if era == Era::Newer { "2026-07-28" } else { "2025-11-25" }));
        (client, person)
    }

    async fn status(&self, id: &str) -> Status {
        self.office.store.leave(&id.parse().unwrap()).await.unwrap().unwrap().status
    }

    /// A leave of ann's that has come so far.
    async fn leave(&self, steps: &[(&str, &str)], on: &str) -> String {
        let office = &self.office;
        let id = office.create("ann", "annual", on, on).await.unwrap().leave_id.to_string();
        for (who, status) in steps {
            office.look(who, &id).await.unwrap();
            office.set(who, &id, status, &bylaw_leave::domain::rules::Confirmation::NotAsked).await.unwrap();
        }
        id
    }
}

/// Keys must differ; everything else may count.
struct RandomOf(u64);

impl bylaw_contract::Randomness for RandomOf {
    fn fill(&self, bytes: &mut [u8]) {
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = self.0.to_le_bytes()[index % 8];
        }
    }
}

fn rand_of(office: &Office) -> u64 {
    let ticket = office.ticket();
    ticket.rsplit('-').next().unwrap().parse().unwrap()
}

/// Knows no `server/discover`, as servers of the older era do not.
async fn forget(request: Request, next: Next) -> axum::response::Response {
    let (parts, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, 1 << 24).await.unwrap();
    let message: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if message["method"] == "server/discover" {
        let error = json!({ "code": -32601, "message": "no such method" });
        return axum::Json(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })).into_response();
    }
    next.run(Request::from_parts(parts, Body::from(bytes))).await
}

async fn call(client: &McpClient, tool: &str, arguments: Value) -> ToolOutcome {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    client.call(tool, &arguments, CallOptions::default()).await.unwrap()
}

fn text(outcome: &ToolOutcome) -> String {
    let text = |content: &Content| match content {
        Content::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    outcome.content.iter().map(text).collect()
}

const APPROVED: &[(&str, &str)] = &[("ann", "submitted"), ("dan", "consented"), ("boss", "approved")];
const CONSENTED: &[(&str, &str)] = &[("ann", "submitted"), ("dan", "consented")];

/// A tool, how far the leave has come, who calls it, with what, and where a yes leads.
type Row = (&'static str, &'static [(&'static str, &'static str)], &'static str, Value, Status);

/// Rule × tool × era × what the person does: what the model is told, and where the leave stands afterwards.
#[tokio::test]
async fn a_person_is_asked_in_either_era_and_every_answer_has_its_end() {
    let tools: [Row; 3] = [
        ("cancel_approved_leave", APPROVED, "ann", json!({ "reason": "plans changed" }), Status::Cancelled),
        ("update_leave_status", CONSENTED, "boss", json!({ "status": "rejected" }), Status::Rejected),
        ("update_leave_status", CONSENTED, "ann", json!({ "status": "withdrawn" }), Status::Withdrawn),
    ];
    for era in [Era::Older, Era::Newer] {
        for (tool, steps, who, arguments, end) in &tools {
            for (does, code, then) in [
                (Human::Accepts, None, None),
                (Human::Declines, Some("declined"), Some("said_no")),
                (Human::Dismisses, Some("dismissed"), Some("dismissed")),
                (Human::Waits, Some("not_answered"), Some("not_answered")),
                (Human::IsNotThere, Some("cannot_ask"), Some("cannot_ask")),
            ] {
                let told = format!("{tool} {arguments} {era:?} {does:?}");
                let house = House::open().await;
                let id = house.leave(steps, "2026-04-13").await;
                let before = house.status(&id).await;
                let (client, person) = house.client(who, era, does).await;
                call(&client, "get_leave", json!({ "leave_id": id })).await;
                let mut arguments = arguments.clone();
                arguments["leave_id"] = id.as_str().into();
                let outcome = call(&client, tool, arguments.clone()).await;
                let refused = |outcome: &ToolOutcome| {
                    outcome.structured.as_ref().and_then(|value| value["refused"].as_str().map(str::to_owned))
                };
                assert_eq!(outcome.is_error, code.is_some(), "{told}: {}", text(&outcome));
                assert_eq!(refused(&outcome).as_deref(), code, "{told}: {}", text(&outcome));
                assert_eq!(house.status(&id).await, if code.is_none() { *end } else { before }, "{told}");
                let asked = person.asked.lock().unwrap().clone();
                assert_eq!(asked.is_empty(), does == Human::IsNotThere, "{told}");
                assert!(asked.iter().all(|message| message.contains("name of ann") && message.contains(&id)), "{told}");
                if let Some(then) = then {
                    call(&client, "get_leave", json!({ "leave_id": id })).await;
                    let again = call(&client, tool, arguments).await;
                    assert_eq!(refused(&again).as_deref(), Some(then), "{told}: {}", text(&again));
                    assert_eq!(house.status(&id).await, before, "{told}");
                }
            }
        }
    }
}

#[tokio::test]
async fn the_seeds_two_calls_send_a_draft_for_review() {
    for era in [Era::Older, Era::Newer] {
        let house = House::open().await;
        let id = house.leave(&[], "2026-04-13").await;
        let (client, _) = house.client("ann", era, Human::IsNotThere).await;
        let submit = json!({ "leave_id": id, "status": "submitted" });
        let early = call(&client, "update_leave_status", submit.clone()).await;
        assert!(early.is_error && text(&early).contains("Look"), "{}", text(&early));
        let found = call(&client, "search_leaves", json!({ "keyword": "家庭旅遊" })).await;
        assert_eq!(found.structured.as_ref().unwrap()["leaves"][0]["leave_id"], id.as_str());
        let done = call(&client, "update_leave_status", submit).await;
        assert!(!done.is_error, "{}", text(&done));
        assert_eq!(done.structured.as_ref().unwrap()["status"], "submitted");
        let history = house.office.store.history(&id.parse().unwrap()).await.unwrap();
        let client = &history.last().unwrap().client;
        assert!(client.starts_with("bylaw ") && client.contains("HTTP, lk_"), "{client}");
    }
}

#[tokio::test]
async fn nobody_comes_in_without_a_key_or_with_a_revoked_one_and_no_argument_says_who_one_is() {
    let house = House::open().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(listen(listener, house.mount.router(), house.over.clone()));
    let host = || Host { elicit: None, clock: house.office.clock.clone(), randomness: Arc::new(Counting::default()) };
    let id = EmployeeId::new("ann").unwrap();
    let (key, secret) =
        bylaw_leave::keys::create(&*house.office.store, &id, &*house.office.clock, &RandomOf(7)).await.unwrap();
    house.office.store.revoke_key(&key.id, crate::company::NOW).await.unwrap();
    for bearer in [None, Some("leave_unknown".to_owned()), Some(secret.reveal().to_owned())] {
        let address = McpAddress::Http { url: url.clone(), bearer };
        let server = McpServer { name: "leaves".to_owned(), address };
        let refused = McpClient::connect(server, ClientOptions::default(), host()).await.map(drop).unwrap_err();
        assert!(refused.to_string().contains("key"), "{refused}");
    }
    let (client, _) = house.client("eve", Era::Newer, Human::IsNotThere).await;
    let tools = client.tools().await.unwrap();
    for tool in &tools {
        let properties = tool.input_schema["properties"].as_object().unwrap();
        assert!(properties.keys().all(|name| !["as", "employee", "applicant", "principal"].contains(&name.as_str())));
    }
    let acting = call(&client, "search_leaves", json!({ "keyword": "", "employee": "ann" })).await;
    assert!(acting.is_error, "{}", text(&acting));
}

#[tokio::test]
async fn every_tool_says_what_it_is_and_is_not_for_and_keeps_to_its_schema() {
    let house = House::open().await;
    let id = house.leave(APPROVED, "2026-04-13").await;
    let (client, _) = house.client("boss", Era::Newer, Human::IsNotThere).await;
    let tools = client.tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "search_leaves",
            "get_leave",
            "list_pending_approvals",
            "leave_balance",
            "list_leave_types",
            "create_leave",
            "update_leave",
            "update_leave_status",
            "cancel_approved_leave",
        ]
    );
    for tool in &tools {
        let description = tool.description.as_deref().unwrap();
        let says_not = description.contains("not ") || description.contains("not\u{a0}");
        assert!(says_not, "{}: {description}", tool.name);
        assert!(tool.title.is_some() && tool.output_schema.is_some(), "{}", tool.name);
    }
    // In debug builds the server holds replies against its output schemas.
    for (tool, arguments) in [
        ("search_leaves", json!({ "keyword": "特休" })),
        ("get_leave", json!({ "leave_id": id })),
        ("list_pending_approvals", json!({})),
        ("leave_balance", json!({ "type": "annual", "on": "2026-03-02" })),
        ("leave_balance", json!({})),
        ("list_leave_types", json!({})),
        (
            "create_leave",
            json!({ "type": "喪假", "title": "t", "start": "2026-03-16", "end": "2026-03-16", "event_case": "parent",
                    "event_date": "2026-03-01", "deputy": "dan" }),
        ),
    ] {
        let outcome = call(&client, tool, arguments).await;
        assert!(!outcome.is_error && !text(&outcome).is_empty(), "{tool}: {}", text(&outcome));
    }
    for (tool, arguments, told) in [
        ("create_leave", json!({ "type": "特休", "title": "t", "start": "2026-02-29", "end": "2026-03-02" }), "no day"),
        (
            "create_leave",
            json!({ "type": "特休", "title": "t", "start": "2026-03-10T25:00", "end": "2026-03-11" }),
            "no time",
        ),
        ("get_leave", json!({ "leave_id": "LV-000fff" }), "search_leaves"),
        ("update_leave_status", json!({ "leave_id": id, "status": "flying" }), "Use submitted"),
        ("cancel_approved_leave", json!({ "leave_id": id, "reason": "" }), "reason is empty"),
        ("cancel_approved_leave", json!({ "leave_id": id, "reason": "🏖".repeat(2_560) }), "2560 characters"),
        ("leave_balance", json!({ "type": "sabbatical" }), "Use one of"),
    ] {
        let outcome = call(&client, tool, arguments).await;
        assert!(outcome.is_error && text(&outcome).contains(told), "{tool}: {}", text(&outcome));
    }
    assert_eq!(principal("boss").employee.as_str(), "boss");
}
