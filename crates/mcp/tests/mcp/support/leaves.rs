//! A well-behaved server: a few tools of a leave system, in either era, over HTTP or pipes.

use std::{
    future::IntoFuture,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::serve::ListenerExt;
use bylaw_mcp::McpServer;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientResult, ContentBlock, DiscoverResult,
        ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorCode, Implementation, InputRequest,
        InputRequiredResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
        ResourceContents, ServerCapabilities, ServerConfig, ServerRequest, SubscriptionFilter, Tool, ToolAnnotations,
    },
    service::{RequestContext, SubscriptionContext},
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, streamable_http_server::session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

/// Which protocol a server speaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Era {
    Newer,
    Older,
    /// It knows `server/discover`, but offers the older version only.
    OlderThatDiscovers,
}

/// What a server remembers beyond its sessions.
pub(crate) struct World {
    pub(crate) calls: Mutex<Vec<String>>,
    pub(crate) started: Notify,
    pub(crate) cancelled: Notify,
    pub(crate) sessions: AtomicUsize,
    pub(crate) extra_tools: watch::Sender<usize>,
    pub(crate) bearer: Mutex<Option<String>>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            calls: Mutex::default(),
            started: Notify::new(),
            cancelled: Notify::new(),
            sessions: AtomicUsize::new(0),
            extra_tools: watch::Sender::new(0),
            bearer: Mutex::default(),
        }
    }
}

pub(crate) struct Leaves {
    era: Era,
    world: Arc<World>,
    user: Mutex<Option<String>>,
}

impl Leaves {
    pub(crate) fn new(era: Era, world: Arc<World>) -> Self {
        world.sessions.fetch_add(1, Ordering::SeqCst);
        Self { era, world, user: Mutex::default() }
    }

    fn tools(&self) -> Vec<Tool> {
        let schema =
            |properties: Value| Arc::new(super::arguments(json!({ "type": "object", "properties": properties })));
        let plain = |name: &'static str| Tool::new(name, format!("The tool {name}."), schema(json!({})));
        let mut echo =
            plain("echo").annotate(ToolAnnotations::new().read_only(true).open_world(false)).with_title("Echo");
        echo.input_schema = schema(json!({ "keyword": { "type": "string" } }));
        echo.output_schema = Some(schema(json!({ "keyword": {} })));
        let mut tools = vec![echo, plain("cancel_leave")];
        tools.extend(["slow", "steps", "confirm", "login", "whoami", "shapes", "never_enough", "grow"].map(plain));
        let extra = *self.world.extra_tools.borrow();
        tools.extend((0..extra).map(|n| Tool::new(format!("extra_{n}"), "", schema(json!({})))));
        tools
    }

    async fn confirm(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let able = context.client_capabilities().and_then(|able| able.elicitation).is_some();
        if !able {
            return Ok(CallToolResult::error(vec![ContentBlock::text("nobody can be asked")]).into());
        }
        let schema = json!({ "type": "object", "properties": { "yes": { "type": "boolean" } }, "required": ["yes"] });
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: "Really cancel LV-1?".to_owned(),
            requested_schema: serde_json::from_value(schema).unwrap(),
        };
        let reply: ElicitResult = if self.era == Era::Newer {
            match request.input_responses {
                None => {
                    let asked = InputRequest::Elicitation(ElicitRequest::new(params));
                    let state = Some("sealed: LV-1".to_owned());
                    return Ok(InputRequiredResult::new(Some([("sure".to_owned(), asked)].into()), state).into());
                }
                Some(mut responses) => {
                    assert_eq!(request.request_state.as_deref(), Some("sealed: LV-1"));
                    serde_json::from_value(responses.remove("sure").unwrap()).unwrap()
                }
            }
        } else {
            let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
            match context.peer.send_request(request).await {
                Ok(ClientResult::ElicitResult(reply)) => reply,
                other => return Err(ErrorData::internal_error(format!("{other:?}"), None)),
            }
        };
        let said = match reply.action {
            ElicitationAction::Accept => format!("cancelled: {}", reply.content.unwrap_or_default()),
            ElicitationAction::Decline => "declined".to_owned(),
            _ => "put away".to_owned(),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(said)]).into())
    }
}

fn said(text: impl Into<String>) -> Result<CallToolResponse, ErrorData> {
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

impl ServerHandler for Leaves {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("leaves", "1"))
            .with_instructions("Search before you change.")
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        match self.era {
            Era::Newer => std::borrow::Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS),
            Era::Older | Era::OlderThatDiscovers => std::borrow::Cow::Owned(vec![ProtocolVersion::V_2025_11_25]),
        }
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        if self.era == Era::Older {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "server/discover", None));
        }
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), self.get_info()))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut extra = self.world.extra_tools.subscribe();
        self.world.started.notify_one();
        loop {
            tokio::select! {
                Ok(()) = extra.changed() => {
                    let _ = context.sink().notify_tool_list_changed().await;
                }
                () = context.cancelled() => break,
            }
        }
        Ok(())
    }

    /// Three a page.
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let from: usize = request.and_then(|page| page.cursor).map_or(0, |cursor| cursor.parse().unwrap());
        let all = self.tools();
        let mut page = ListToolsResult::with_all_items(all.iter().skip(from).take(3).cloned().collect());
        page.next_cursor = (from + 3 < all.len()).then(|| (from + 3).to_string());
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.world.calls.lock().unwrap().push(request.name.to_string());
        let argument = |name: &str| request.arguments.as_ref().and_then(|all| all.get(name)).cloned();
        match request.name.as_ref() {
            "echo" => Ok(CallToolResult::structured(Value::Object(request.arguments.unwrap_or_default())).into()),
            "cancel_leave" => Ok(CallToolResult::error(vec![ContentBlock::text("403 not your own leave")]).into()),
            "slow" => {
                self.world.started.notify_one();
                context.ct.cancelled().await;
                self.world.cancelled.notify_one();
                said("too late")
            }
            "steps" => {
                let token = context.meta.get_progress_token().unwrap();
                for step in 1..=3 {
                    let news = ProgressNotificationParam::new(token.clone(), f64::from(step)).with_total(3.0);
                    let _ = context.peer.notify_progress(news).await;
                    tokio::task::yield_now().await;
                }
                said("done")
            }
            "grow" => {
                self.world.extra_tools.send_modify(|extra| *extra += 1);
                if self.era != Era::Newer {
                    let _ = context.peer.notify_tool_list_changed().await;
                }
                said("grown")
            }
            "confirm" => self.confirm(request, context).await,
            "login" => {
                *self.user.lock().unwrap() = argument("user").and_then(|user| user.as_str().map(ToOwned::to_owned));
                said("welcome")
            }
            "whoami" => said(self.user.lock().unwrap().clone().unwrap_or_else(|| "nobody".to_owned())),
            "shapes" => Ok(CallToolResult::success(vec![
                ContentBlock::text("text"),
                ContentBlock::image("aW1hZ2U=", "image/png"),
                ContentBlock::audio("c291bmQ=", "audio/wav"),
                ContentBlock::resource(ResourceContents::blob("Ynl0ZXM=", "leave://1")),
                ContentBlock::embedded_text("leave://2", "words"),
            ])
            .into()),
            "never_enough" if self.era == Era::Newer => Ok(InputRequiredResult::from_request_state("more").into()),
            other => Err(ErrorData::invalid_params(format!("there is no tool {other}"), None)),
        }
    }
}

/// A server on loopback, which ends with this value.
pub(crate) struct Served {
    pub(crate) url: String,
    pub(crate) world: Arc<World>,
    over: CancellationToken,
    task: tokio::task::JoinHandle<()>,
    sessions: Arc<LocalSessionManager>,
}

impl Served {
    pub(crate) async fn start(era: Era) -> Self {
        Self::start_at("127.0.0.1:0", era).await
    }

    pub(crate) async fn start_at(address: &str, era: Era) -> Self {
        let world = Arc::new(World::default());
        let over = CancellationToken::new();
        let sessions = Arc::new(LocalSessionManager::default());
        let config =
            StreamableHttpServerConfig::default().with_json_response(true).with_cancellation_token(over.child_token());
        let made = Arc::clone(&world);
        let service =
            StreamableHttpService::new(move || Ok(Leaves::new(era, Arc::clone(&made))), Arc::clone(&sessions), config);
        let checked = Arc::clone(&world);
        let check = axum::middleware::from_fn(move |request: axum::extract::Request, next: axum::middleware::Next| {
            let wanted = checked.bearer.lock().unwrap().as_ref().map(|bearer| format!("Bearer {bearer}"));
            let given =
                request.headers().get("authorization").and_then(|given| given.to_str().ok()).map(ToOwned::to_owned);
            async move {
                if wanted.is_some() && wanted != given {
                    return axum::response::IntoResponse::into_response(axum::http::StatusCode::UNAUTHORIZED);
                }
                next.run(request).await
            }
        });
        let app = axum::Router::new().nest_service("/mcp", service).layer(check);
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let listener = listener.tap_io(|socket| socket.set_nodelay(true).unwrap());
        let stop = over.clone();
        let task = tokio::spawn(async move {
            tokio::select! {
                _ = axum::serve(listener, app).into_future() => {}
                () = stop.cancelled() => {}
            }
        });
        Self { url, world, over, task, sessions }
    }

    pub(crate) fn server(&self) -> McpServer {
        McpServer::http("leaves", &self.url)
    }

    /// Forgets every session, as a server that was restarted does.
    pub(crate) async fn forget_sessions(&self) {
        use rmcp::transport::streamable_http_server::SessionManager;
        let ids: Vec<_> = self.sessions.sessions.read().await.keys().cloned().collect();
        for id in ids {
            self.sessions.close_session(&id).await.unwrap();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.over.cancel();
        self.task.abort();
    }
}
