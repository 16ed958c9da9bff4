//! One live connection to a server.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use reqwest::Url;
use rmcp::{
    model::{ClientRequest, ProgressToken, ProtocolVersion, ServerResult, SubscriptionFilter},
    service::{
        ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, PeerRequestOptions, RequestHandle,
        RoleClient, RunningService,
    },
    transport::streamable_http_client::{StreamableHttpClientTransport, StreamableHttpClientTransportConfig},
};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    CallOptions, ClientOptions, Host, McpAddress, McpError, McpServer,
    backoff::Backoff,
    error::one_line,
    handler::{Handler, Shared},
    http::Http,
    stdio::Pipes,
    timer::CallTimer,
    tls::http_client,
    trouble::{self, Asked, LastWords, Trouble},
};

type Service = RunningService<RoleClient, Shared>;

/// Requests of one connection that may be under way at once; more wait for their turn.
const CONCURRENT_POSTS: usize = 64;

pub(super) struct Connection {
    pub(super) server: String,
    pub(super) options: ClientOptions,
    pub(super) handler: Arc<Handler>,
    peer: Peer<RoleClient>,
    service: Mutex<Option<Service>>,
    words: Arc<LastWords>,
    listening: Mutex<Option<Listening>>,
}

impl Connection {
    /// Connects, in whichever era the server speaks; in the older at once if it is known to.
    pub(super) async fn open(
        server: &McpServer,
        older: bool,
        options: &ClientOptions,
        host: &Host,
        changes: tokio::sync::watch::Sender<u64>,
    ) -> Result<Self, McpError> {
        let name = server.name.clone();
        let backoff = Backoff {
            first: options.first_backoff,
            max: options.max_backoff,
            randomness: Arc::clone(&host.randomness),
        };
        let words = Arc::new(LastWords::default());
        let elicit = host.elicit.clone();
        let handler = Arc::new(Handler::new(name.clone(), elicit, options.elicit_timeout, changes));
        let greeting = async {
            let greet =
                |lifecycle| greet(server, options, &backoff, Arc::clone(&handler), Arc::clone(&words), lifecycle);
            match greet(if older { ClientLifecycleMode::Initialize } else { either_era() }).await {
                // It knows the newer greeting, but only to say that it is older.
                Err(McpError::NoVersion { offered, .. }) if speaks_older(&offered) => {
                    greet(ClientLifecycleMode::Initialize).await
                }
                other => other,
            }
        };
        let service = match tokio::time::timeout(options.connect_timeout, greeting).await {
            Ok(service) => service?,
            Err(_) => {
                return Err(match words.first_junk() {
                    Some(line) => McpError::NotMcp { server: name, why: format!("it wrote `{line}`") },
                    None => McpError::Silent { server: name, after: options.connect_timeout },
                });
            }
        };
        let peer = service.peer().clone();
        let listening = Mutex::new(listen(&peer, Arc::clone(&handler), backoff));
        Ok(Self {
            server: name,
            options: options.clone(),
            handler,
            peer,
            service: Mutex::new(Some(service)),
            words,
            listening,
        })
    }

    /// Whether nothing can be sent any more.
    pub(super) fn is_closed(&self) -> bool {
        // A child's end is known a moment before the task that served it is gone.
        self.peer.is_transport_closed() || self.words.end().is_some()
    }

    /// Whether the server is of the older era.
    pub(super) fn is_older(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| info.protocol_version < ProtocolVersion::V_2026_07_28)
    }

    /// The version of the protocol that was agreed on.
    pub(super) fn protocol(&self) -> Option<String> {
        self.peer.peer_info().map(|info| info.protocol_version.to_string())
    }

    /// What the server says of how to use it.
    pub(super) fn instructions(&self) -> Option<String> {
        self.peer.peer_info()?.instructions.clone()
    }

    /// Sends one request and waits for its reply: cancelled and timed as `how` says.
    pub(super) async fn request(
        &self,
        request: ClientRequest,
        asked: Asked<'_>,
        how: &CallOptions,
    ) -> Result<ServerResult, Trouble> {
        let (server, tool) = (|| self.server.clone(), || asked.tool.to_owned());
        let cancelled = || Trouble::Final(McpError::Cancelled { server: server(), tool: tool() });
        if how.cancel.is_cancelled() {
            return Err(cancelled());
        }
        let is_call = matches!(request, ClientRequest::CallToolRequest(_));
        let over = how.cancel.child_token();
        let _over = over.clone().drop_guard();
        let entering = self.handler.entering.lock().await;
        let sent = self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        let handle = sent.map_err(|error| {
            // It was never handed to the transport.
            match trouble::of_request(asked, error, &self.words) {
                Trouble::Lost(why) => Trouble::Undelivered(McpError::Absent { server: server(), why }),
                other => other,
            }
        })?;
        let token = handle.progress_token.clone();
        let mut progress = is_call.then(|| self.handler.enter(token.clone(), handle.id.clone(), asked.tool, over));
        drop(entering);
        let mut flight = InFlight { handle: Some(handle), token, handler: &self.handler };

        let mut asking = self.handler.asking.subscribe();
        let silence = how.timeout.unwrap_or(self.options.call_timeout);
        let mut timer = CallTimer::start(silence, self.options.call_limit.max(silence));
        let mut furthest = f64::NEG_INFINITY;
        loop {
            timer.asking(*asking.borrow_and_update() > 0);
            let reply = async {
                match flight.handle.as_mut() {
                    Some(handle) => (&mut handle.rx).await,
                    None => std::future::pending().await,
                }
            };
            let news = async {
                match progress.as_mut() {
                    Some(progress) => progress.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                reply = reply => {
                    flight.landed();
                    let reply = reply.unwrap_or(Err(rmcp::ServiceError::TransportClosed));
                    return reply.map_err(|error| trouble::of_request(asked, error, &self.words));
                }
                () = how.cancel.cancelled() => return Err(cancelled()),
                Some(news) = news => {
                    timer.heard();
                    // What is received out of order is old.
                    if news.done > furthest {
                        furthest = news.done;
                        if let Some(sink) = &how.progress {
                            sink(news);
                        }
                    }
                }
                Ok(()) = asking.changed() => {}
                after = timer.expired() => {
                    return Err(Trouble::Final(McpError::TimedOut { server: server(), tool: tool(), after }));
                }
            }
        }
    }

    /// Says goodbye, for no longer than the options allow.
    pub(super) async fn close(&self) {
        let listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(listening) = listening {
            // First, because a server may wait for the end of whatever it still has to answer.
            listening.over.cancel();
            let _ = tokio::time::timeout(self.options.close_timeout, listening.task).await;
        }
        let service = self.service.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut service) = service {
            // A child that does not leave is given the time twice: to leave by itself, and to be killed.
            if service.close_with_timeout(self.options.close_timeout * 2 + Duration::from_secs(1)).await.is_err() {
                tracing::warn!(server = self.server, "the task of a connection panicked");
            }
        }
    }
}

/// A request that was sent. If it is dropped before its reply came, the server is told.
struct InFlight<'a> {
    handle: Option<RequestHandle<RoleClient>>,
    token: ProgressToken,
    handler: &'a Handler,
}

impl InFlight<'_> {
    fn landed(&mut self) {
        self.handle.take();
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.handler.leave(&self.token);
        if let (Some(handle), Ok(runtime)) = (self.handle.take(), tokio::runtime::Handle::try_current()) {
            // Beside the caller, who need not wait until the server has heard.
            runtime.spawn(handle.cancel(Some("the caller no longer waits".to_owned())));
        }
    }
}

fn either_era() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

fn speaks_older(offered: &str) -> bool {
    let older = |version: &&ProtocolVersion| **version < ProtocolVersion::V_2026_07_28;
    ProtocolVersion::KNOWN_VERSIONS.iter().filter(older).any(|version| offered.contains(version.as_str()))
}

async fn greet(
    server: &McpServer,
    options: &ClientOptions,
    backoff: &Backoff,
    handler: Arc<Handler>,
    words: Arc<LastWords>,
    lifecycle: ClientLifecycleMode,
) -> Result<Service, McpError> {
    let name = || server.name.clone();
    let greeted: Result<Service, ClientInitializeError> = match &server.address {
        McpAddress::Http { url, bearer } => {
            let bad = || McpError::BadAddress { server: name(), url: url.clone() };
            let parsed: Url = url.parse().map_err(|_| bad())?;
            if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
                return Err(bad());
            }
            let client = http_client(&parsed, options.connect_timeout)
                .map_err(|error| McpError::NoTls { server: name(), why: one_line(&error.to_string()) })?;
            let mut config = StreamableHttpClientTransportConfig::with_uri(parsed.as_str())
                .max_concurrent_requests(CONCURRENT_POSTS)
                // A forgotten session is a new connection here, which lists the tools again.
                .reinit_on_expired_session(false);
            config.retry_config = Arc::new(backoff.clone());
            config.auth_header.clone_from(bearer);
            let http = Http { client, max_message_bytes: options.max_message_bytes };
            let transport = StreamableHttpClientTransport::with_client(http, config);
            Shared(handler).serve_with_lifecycle(transport, lifecycle).await
        }
        McpAddress::Stdio { command, args, env } => {
            let limits = (options.max_message_bytes, options.close_timeout);
            let pipes = Pipes::start(command, args, env, limits, Arc::clone(&words)).map_err(|error| {
                McpError::NotStarted { server: name(), command: command.clone(), why: one_line(&error.to_string()) }
            })?;
            Shared(handler).serve_with_lifecycle(pipes, lifecycle).await
        }
    };
    greeted.map_err(|error| trouble::of_connecting(&server.name, &error, &words))
}

/// How often a stream of news is opened again after it failed, before it is given up.
const LISTEN_FAILURES: u32 = 8;

/// The task that hears of changed tools; ends with its connection.
struct Listening {
    task: JoinHandle<()>,
    over: CancellationToken,
    _ends: DropGuard,
}

/// Hears of changed tools in the newer era, where a client must ask for such news. In the older they just arrive.
fn listen(peer: &Peer<RoleClient>, handler: Arc<Handler>, backoff: Backoff) -> Option<Listening> {
    let info = peer.peer_info()?;
    let tells = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed).unwrap_or(false);
    if info.protocol_version < ProtocolVersion::V_2026_07_28 || !tells {
        return None;
    }
    let over = CancellationToken::new();
    let (peer, ended) = (peer.clone(), over.clone());
    let changed = move || handler.changes.send_modify(|changes| *changes += 1);
    let task = tokio::spawn(async move {
        let mut failures = 0;
        while failures < LISTEN_FAILURES && !peer.is_transport_closed() {
            let mut filter = SubscriptionFilter::new();
            filter.tools_list_changed = Some(true);
            let Some(stream) = ended.run_until_cancelled(peer.listen(filter)).await else { return };
            if let Ok(mut news) = stream {
                if failures > 0 {
                    // Something may have been missed.
                    changed();
                }
                loop {
                    match ended.run_until_cancelled(news.next()).await {
                        Some(Ok(Some(_))) => {
                            failures = 0;
                            changed();
                        }
                        Some(Ok(None) | Err(_)) => break,
                        None => {
                            let _ = news.cancel().await;
                            return;
                        }
                    }
                }
            }
            failures += 1;
            if ended.run_until_cancelled(tokio::time::sleep(backoff.after(failures))).await.is_none() {
                return;
            }
        }
    });
    Some(Listening { task, _ends: over.clone().drop_guard(), over })
}
