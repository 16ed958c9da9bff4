//! A server of our own: a desk at which things can be looked up, cancelled and waited for.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bylaw_contract::{Clock, Language, Randomness, Timestamp};
use bylaw_mcp::{
    Authenticate, CallContext, Caller, Confirmation, ConfirmationGate, ConfirmationKey, ConfirmationUse,
    ConfirmationUses, ConfirmationUsesError, Content, Credentials, Era, HttpMount, HttpOptions, McpServer, MemoryUses,
    Principal, Progress, PromptArgument, PromptMessage, PromptRole, PromptSpec, Question, RefusedCredentials,
    ResourceBody, ResourceSpec, ResourceTemplate, ServerPrompt, ServerResources, ServerTool, ToolAnnotations,
    ToolReply, ToolServer, ToolServerBuilder, ToolSpec, ToolStop, Words,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// A clock whose date moves with its measure.
#[derive(Default)]
pub(crate) struct DeskClock(AtomicU64);

impl DeskClock {
    pub(crate) fn advance(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for DeskClock {
    fn now(&self) -> Timestamp {
        Timestamp(i64::try_from(self.0.load(Ordering::SeqCst)).unwrap())
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
}

#[derive(Default)]
struct Counting(AtomicU64);

impl Randomness for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let next = self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes();
        for (byte, value) in bytes.iter_mut().zip(next.iter().cycle()) {
            *byte = *value;
        }
    }
}

/// Something that happens, each time for one who waits for it.
pub(crate) struct Signal(Semaphore);

impl Default for Signal {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

impl Signal {
    pub(crate) fn give(&self) {
        self.0.add_permits(1);
    }

    pub(crate) async fn take(&self) {
        self.0.acquire().await.unwrap().forget();
    }
}

/// What the desk and a test both see.
#[derive(Default)]
pub(crate) struct Desk {
    pub(crate) clock: Arc<DeskClock>,
    pub(crate) version: AtomicU64,
    /// What was done, in order.
    pub(crate) done: Mutex<Vec<String>>,
    pub(crate) started: Signal,
    pub(crate) cancelled: Signal,
    pub(crate) go_on: Signal,
    pub(crate) at_once: AtomicUsize,
    pub(crate) uses: Uses,
}

impl Desk {
    pub(crate) fn done(&self) -> Vec<String> {
        self.done.lock().unwrap().clone()
    }
}

/// Uses that can fail.
#[derive(Default)]
pub(crate) struct Uses {
    memory: MemoryUses,
    pub(crate) broken: std::sync::atomic::AtomicBool,
    pub(crate) seen: Mutex<Vec<ConfirmationUse>>,
}

struct UsesOf(Arc<Desk>);

#[async_trait]
impl ConfirmationUses for UsesOf {
    async fn spend(&self, used: &ConfirmationUse) -> Result<bool, ConfirmationUsesError> {
        if self.0.uses.broken.load(Ordering::SeqCst) {
            return Err(ConfirmationUsesError("the disk is full".into()));
        }
        self.0.uses.seen.lock().unwrap().push(used.clone());
        self.0.uses.memory.spend(used).await
    }
}

/// One tool of the desk.
struct DeskTool(&'static str, Arc<Desk>);

#[async_trait]
impl ServerTool for DeskTool {
    fn spec(&self) -> ToolSpec {
        let id = json!({
            "type": "object",
            "properties": { "id": { "type": "string", "description": "The leave's id." } },
            "required": ["id"],
            "additionalProperties": false,
        });
        match self.0 {
            "look_up" => ToolSpec::new("look_up", Words::new("Looks one leave up.", "查一張假單。"))
                .titled(Words::new("Look up", "查假單"))
                .taking(id)
                .giving(json!({ "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] }))
                .that(ToolAnnotations::READS),
            "cancel" | "reject" => {
                ToolSpec::new(self.0, "Ends one leave for good.").taking(id).that(ToolAnnotations::DESTROYS)
            }
            "shorten" => ToolSpec::new("shorten", "Asks by how much.").taking(id).that(ToolAnnotations::DESTROYS),
            other => ToolSpec::new(other, "Takes nothing.").that(ToolAnnotations::READS),
        }
    }

    async fn call(&self, call: CallContext) -> Result<ToolReply, ToolStop> {
        let desk = &self.1;
        let id = call.arguments.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        match self.0 {
            "look_up" if id == "LV-9" => Err(ToolStop::refused("There is no leave LV-9. Search for it first.")),
            "look_up" => Ok(ToolReply::text(format!("{id} is yours.")).structured(json!({ "id": id }))),
            "who" => {
                let Caller { principal, client, era, .. } = &call.caller;
                let era = match era {
                    Era::Older => "older",
                    Era::Newer => "newer",
                };
                let client = client.as_ref().map_or("?", |client| client.name.as_str());
                Ok(ToolReply::text(format!("{} through {client}, {era}", principal.id())))
            }
            "cancel" | "reject" => {
                let version = desk.version.load(Ordering::SeqCst).to_string();
                let message = format!("Cancel {id}, version {version}?");
                let done = match call.confirm(Question::new(&id, version, message)).await? {
                    Confirmation::Accepted(_) => format!("{} {id}", self.0),
                    Confirmation::Declined => format!("the person said no to {id}"),
                    Confirmation::Dismissed => "put away".to_owned(),
                    Confirmation::TimedOut => "nobody answered".to_owned(),
                    Confirmation::Unsupported => {
                        return Err(ToolStop::refused("Your client cannot ask. Cancel it on the web page instead."));
                    }
                };
                desk.done.lock().unwrap().push(done.clone());
                Ok(ToolReply::text(done))
            }
            "shorten" => {
                let form = json!({
                    "type": "object",
                    "properties": { "days": { "type": "integer", "title": "Days", "minimum": 1 } },
                    "required": ["days"],
                });
                let question = Question::new(&id, "1", "By how many days?").with_form(form);
                match call.confirm(question).await? {
                    Confirmation::Accepted(filled) => Ok(ToolReply::text(format!("shortened by {}", filled["days"]))),
                    other => Ok(ToolReply::text(format!("{other:?}"))),
                }
            }
            "ask_twice" => {
                let _ = call.confirm(Question::new("a", "1", "One?")).await?;
                let _ = call.confirm(Question::new("b", "1", "Two?")).await?;
                Ok(ToolReply::text("asked twice"))
            }
            "wait" => {
                desk.started.give();
                call.cancel.cancelled().await;
                desk.cancelled.give();
                Err(ToolStop::refused("cancelled"))
            }
            "hold" => {
                desk.at_once.fetch_add(1, Ordering::SeqCst);
                desk.started.give();
                desk.go_on.take().await;
                desk.at_once.fetch_sub(1, Ordering::SeqCst);
                Ok(ToolReply::text("held"))
            }
            "steps" => {
                for step in 1..=3 {
                    let message = Some(format!("step {step}"));
                    call.progress.report(Progress { done: f64::from(step), total: Some(3.0), message }).await;
                }
                Ok(ToolReply::text("done"))
            }
            "shapes" => Ok(ToolReply {
                content: vec![
                    Content::Text("text".into()),
                    Content::Image { mime: "image/png".into(), bytes: "image".into() },
                    Content::Audio { mime: "audio/wav".into(), bytes: "sound".into() },
                    Content::Resource { uri: "leave://1".into(), mime: None, body: ResourceBody::Text("words".into()) },
                    Content::Link {
                        uri: "leave://2".into(),
                        name: "two".into(),
                        description: Some("the second".into()),
                        mime: None,
                    },
                ],
                structured: None,
            }),
            "panic" => panic!("a tool with a mistake"),
            other => unreachable!("{other}"),
        }
    }
}

struct DeskResources;

#[async_trait]
impl ServerResources for DeskResources {
    async fn list(&self, caller: &Caller) -> Result<Vec<ResourceSpec>, String> {
        let mut spec = ResourceSpec::new("leave://policy", "policy");
        spec.title = Some(Words::new("Policy", "請假規則"));
        let own = ResourceSpec::new(format!("leave://of/{}", caller.principal.id()), "own");
        Ok(vec![spec, own])
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        let (uri_template, name) = ("leave://of/{employee}".to_owned(), "leaves".to_owned());
        vec![ResourceTemplate { uri_template, name, description: None, mime: Some("text/plain".to_owned()) }]
    }

    async fn read(&self, caller: &Caller, uri: &str) -> Result<Option<(Option<String>, ResourceBody)>, String> {
        let plain = Some("text/plain".to_owned());
        if uri == "leave://policy" {
            return Ok(Some((plain, ResourceBody::Text("Ask first.".to_owned()))));
        }
        let own = uri.strip_prefix("leave://of/") == Some(caller.principal.id());
        Ok(own.then(|| (plain, ResourceBody::Bytes("none".into()))))
    }
}

struct Plan;

#[async_trait]
impl ServerPrompt for Plan {
    fn spec(&self) -> PromptSpec {
        let argument = |name: &str, required| PromptArgument { name: name.to_owned(), description: None, required };
        let arguments = vec![argument("month", true), argument("days", false)];
        PromptSpec { name: "plan".to_owned(), title: None, description: Some("Plans leaves.".into()), arguments }
    }

    async fn render(
        &self,
        caller: &Caller,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Vec<PromptMessage>, String> {
        let text = format!("Plan the leaves of {} in {}.", caller.principal.id(), arguments["month"]);
        Ok(vec![PromptMessage { role: PromptRole::User, content: Content::Text(text) }])
    }
}

/// Keys are the names of principals.
pub(crate) struct Names;

#[async_trait]
impl Authenticate for Names {
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Principal, RefusedCredentials> {
        match credentials.bearer {
            None => Ok(Principal::new("anybody")),
            Some(name @ ("amy" | "bob")) => Ok(Principal::new(name)),
            Some("down") => Err(RefusedCredentials::Unavailable("keys cannot be looked up; come back later".into())),
            Some(_) => Err(RefusedCredentials::Unknown("this key is not known: ask for one".into())),
        }
    }
}

const KEY: [u8; 32] = [7; 32];

/// A gate that waits so long in the older era.
pub(crate) fn patient(desk: &Arc<Desk>, older: Duration) -> ConfirmationGate {
    let clock = Arc::clone(&desk.clock) as Arc<dyn Clock>;
    let uses = Arc::new(UsesOf(Arc::clone(desk)));
    let gate = ConfirmationGate::new(ConfirmationKey::new(&KEY), uses, clock, Arc::new(Counting::default()));
    gate.with_patience(older, Duration::from_secs(600))
}

pub(crate) fn builder(desk: &Arc<Desk>) -> ToolServerBuilder {
    let names =
        ["look_up", "who", "cancel", "reject", "shorten", "ask_twice", "wait", "hold", "steps", "shapes", "panic"];
    let tools = names.map(|name| Arc::new(DeskTool(name, Arc::clone(desk))) as Arc<dyn ServerTool>);
    let gate = patient(desk, Duration::from_secs(120));
    ToolServer::builder("desk", "1")
        .instructed("Look up before you change.")
        .in_language(Language::English)
        .tools(tools)
        .prompt(Plan)
        .resources(DeskResources)
        .gate(gate)
}

/// The desk on loopback, which ends with this value.
pub(crate) struct Mounted {
    pub(crate) url: String,
    pub(crate) desk: Arc<Desk>,
    pub(crate) mount: HttpMount,
    over: CancellationToken,
}

impl Mounted {
    pub(crate) async fn start() -> Self {
        Self::start_with(HttpOptions::default(), |builder| builder).await
    }

    pub(crate) async fn start_with(
        options: HttpOptions,
        change: impl FnOnce(ToolServerBuilder) -> ToolServerBuilder,
    ) -> Self {
        let desk = Arc::new(Desk::default());
        let server = change(builder(&desk)).build().unwrap();
        Self::mount(desk, server, options).await
    }

    pub(crate) async fn mount(desk: Arc<Desk>, server: Arc<ToolServer>, options: HttpOptions) -> Self {
        let over = CancellationToken::new();
        let clock = Arc::clone(&desk.clock) as Arc<dyn Clock>;
        let mount = HttpMount::new(server, Arc::new(Names), clock, options, over.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(bylaw_mcp::listen(listener, mount.router(), over.clone()));
        Self { url, desk, mount, over }
    }

    pub(crate) fn server(&self, bearer: Option<&str>) -> McpServer {
        let mut server = McpServer::http("desk", &self.url);
        if let (bylaw_mcp::McpAddress::Http { bearer: slot, .. }, Some(bearer)) = (&mut server.address, bearer) {
            *slot = Some(bearer.to_owned());
        }
        server
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

/// A client of one era, over HTTP.
pub(crate) async fn client(
    mounted: &Mounted,
    era: Era,
    bearer: Option<&str>,
    human: Option<&Arc<super::Human>>,
) -> bylaw_mcp::McpClient {
    let server = match era {
        Era::Newer => mounted.server(bearer),
        Era::Older => mounted.older(bearer).await,
    };
    let host = human.map_or_else(super::host, super::host_with);
    let client = bylaw_mcp::McpClient::connect(server, super::options(), host).await.unwrap();
    let protocol = client.protocol().await;
    assert_eq!(protocol.as_deref(), Some(if era == Era::Newer { "2026-07-28" } else { "2025-11-25" }));
    client
}

impl Mounted {
    /// The same server behind a door that knows no `server/discover`, as older ones do not.
    async fn older(&self, bearer: Option<&str>) -> McpServer {
        use axum::{
            body::Body,
            extract::Request,
            middleware::{Next, from_fn},
            response::IntoResponse,
        };
        let forget = from_fn(|request: Request, next: Next| async move {
            let (parts, body) = request.into_parts();
            let bytes = axum::body::to_bytes(body, 1 << 24).await.unwrap();
            let message: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            if message["method"] == "server/discover" {
                let error = json!({ "code": -32601, "message": "no such method" });
                return axum::Json(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })).into_response();
            }
            next.run(Request::from_parts(parts, Body::from(bytes))).await
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(bylaw_mcp::listen(listener, self.mount.router().layer(forget), self.over.clone()));
        let mut server = self.server(bearer);
        if let bylaw_mcp::McpAddress::Http { url: slot, .. } = &mut server.address {
            *slot = url;
        }
        server
    }
}
