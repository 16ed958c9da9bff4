//! The leave system behind MCP, a client of either era, and a person who answers.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use axum::{
    Router,
    body::Body,
    extract::Request,
    middleware::{Next, from_fn},
    response::IntoResponse,
};
use bylaw_contract::Language;
use bylaw_leave::{
    domain::{status::Status, store::LeaveStore},
    server::{LeaveKeys, server},
};
use bylaw_mcp::{
    CallOptions, ClientOptions, Content, Elicit, ElicitReply, Elicitation, Host, HttpMount, HttpOptions, McpAddress,
    McpClient, McpServer, ToolOutcome, ToolServer, listen,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::company::{Counting, Office, id};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Older,
    Newer,
}

/// What a person does with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Human {
    Accepts,
    Declines,
    Dismisses,
    Waits,
    IsNotThere,
}

pub(crate) struct Person {
    office: Arc<Office>,
    does: Human,
    pub(crate) asked: Mutex<Vec<String>>,
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

/// The leave system behind its doors.
pub(crate) struct House {
    pub(crate) office: Arc<Office>,
    pub(crate) server: Arc<ToolServer>,
    pub(crate) mount: HttpMount,
    pub(crate) over: CancellationToken,
}

impl Drop for House {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

impl House {
    pub(crate) async fn open() -> Self {
        let office = Arc::new(Office::open().await);
        let over = CancellationToken::new();
        let clock = office.clock.clone();
        let built =
            server(&office.desk, Language::English, clock.clone(), Arc::new(Counting::default())).await.unwrap();
        let keys = Arc::new(LeaveKeys::new(office.store.clone(), clock.clone()));
        let mount = HttpMount::new(built.clone(), keys, clock, HttpOptions::default(), over.clone());
        Self { office, server: built, mount, over }
    }

    /// A key of this employee.
    async fn key(&self, who: &str) -> String {
        let clock = &self.office.clock;
        let random = RandomOf(who.bytes().map(u64::from).sum::<u64>() * 1_000 + rand_of(&self.office));
        let made = bylaw_leave::keys::create(&*self.office.store, &id(who), &**clock, &random).await;
        made.unwrap().1.reveal().to_owned()
    }

    /// An address that answers, and a key of this employee.
    pub(crate) async fn door(&self, who: &str) -> (String, String) {
        (self.listening(self.mount.router()).await, self.key(who).await)
    }

    async fn listening(&self, router: Router) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(listen(listener, router, self.over.clone()));
        url
    }

    /// A client of this era with a key of this employee.
    pub(crate) async fn client(&self, who: &str, era: Era, does: Human) -> (McpClient, Arc<Person>) {
        let clock = self.office.clock.clone();
        let router = match era {
            Era::Newer => self.mount.router(),
            Era::Older => self.mount.router().layer(from_fn(forget)),
        };
        let url = self.listening(router).await;
        let bearer = Some(self.key(who).await);
        let address = McpServer { name: "leaves".to_owned(), address: McpAddress::Http { url, bearer } };
        let person = Arc::new(Person { office: self.office.clone(), does, asked: Mutex::default() });
        let elicit = (does != Human::IsNotThere).then(|| person.clone() as Arc<dyn Elicit>);
        let host = Host { elicit, clock, randomness: Arc::new(Counting::default()) };
        let client = McpClient::connect(address, ClientOptions::default(), host).await.unwrap();
        let protocol = client.protocol().await;
        assert_eq!(protocol.as_deref(), Some(if era == Era::Newer { "2026-07-28" } else { "2025-11-25" }));
        (client, person)
    }

    pub(crate) async fn status(&self, id: &str) -> Status {
        self.office.store.leave(&id.parse().unwrap()).await.unwrap().unwrap().status
    }

    /// A leave of ann's that has come so far.
    pub(crate) async fn leave(&self, steps: &[(&str, &str)], on: &str) -> String {
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
pub(crate) struct RandomOf(pub(crate) u64);

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

pub(crate) async fn call(client: &McpClient, tool: &str, arguments: Value) -> ToolOutcome {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    client.call(tool, &arguments, CallOptions::default()).await.unwrap()
}

pub(crate) fn text(outcome: &ToolOutcome) -> String {
    let text = |content: &Content| match content {
        Content::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    outcome.content.iter().map(text).collect()
}

pub(crate) const APPROVED: &[(&str, &str)] = &[("ann", "submitted"), ("dan", "consented"), ("boss", "approved")];
pub(crate) const CONSENTED: &[(&str, &str)] = &[("ann", "submitted"), ("dan", "consented")];
