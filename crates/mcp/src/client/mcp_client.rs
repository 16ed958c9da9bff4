//! One server, whatever becomes of its connections.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    CallOptions, ClientOptions, Host, McpError, McpServer, RemoteTool, ToolAnnotations, ToolOutcome,
    backoff::Backoff,
    connection::Connection,
    trouble::{Asked, Trouble, into_error},
};

/// How a client and its server stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// Not connected yet, or not any more: the next call connects.
    Connecting,
    /// Connected.
    Ready,
    /// The last attempt to connect failed.
    Failed {
        /// In one line.
        why: McpError,
    },
    /// Closed for good.
    Closed,
}

/// A client of one server. Cheap to clone; all clones share one connection, so that a server that remembers who logged
/// in finds them in the same session. A connection that breaks is replaced when it is next needed.
#[derive(Clone)]
pub struct McpClient {
    shared: Arc<Shared>,
}

struct Shared {
    server: McpServer,
    options: ClientOptions,
    host: Host,
    state: watch::Sender<ServerState>,
    changes: watch::Sender<u64>,
    /// Held while connecting, so that all who wait share one attempt.
    live: tokio::sync::Mutex<Live>,
    /// What the tools that were listed last say of themselves.
    known: Mutex<HashMap<String, ToolAnnotations>>,
    closed: CancellationToken,
}

#[derive(Default)]
struct Live {
    connection: Option<Arc<Connection>>,
    failures: u32,
    /// By the host's clock.
    not_before: Duration,
    listed: bool,
    /// Whether the server last spoke the older protocol, which saves asking again.
    older: bool,
}

impl McpClient {
    /// Connects to `server`.
    ///
    /// # Errors
    /// If it is absent, silent, speaks something else, or refuses the key.
    pub async fn connect(server: McpServer, options: ClientOptions, host: Host) -> Result<Self, McpError> {
        let client = Self::new(server, options, host);
        client.ready().await?;
        Ok(client)
    }

    /// A client that connects when it is first needed.
    #[must_use]
    pub fn new(server: McpServer, options: ClientOptions, host: Host) -> Self {
        Self {
            shared: Arc::new(Shared {
                server,
                options,
                host,
                state: watch::Sender::new(ServerState::Connecting),
                changes: watch::Sender::new(0),
                live: tokio::sync::Mutex::default(),
                known: Mutex::default(),
                closed: CancellationToken::new(),
            }),
        }
    }

    /// The server's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.server.name
    }

    /// How it stands, now and from now on.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<ServerState> {
        self.shared.state.subscribe()
    }

    /// A count that grows when the list of tools may have changed: because the server said so, or because it was
    /// connected anew.
    #[must_use]
    pub fn list_changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// The version of the protocol that is spoken; nothing while not connected.
    pub async fn protocol(&self) -> Option<String> {
        self.shared.live.lock().await.connection.as_ref()?.protocol()
    }

    /// What the server says of how to use it, for a model; nothing while not connected.
    pub async fn instructions(&self) -> Option<String> {
        self.shared.live.lock().await.connection.as_ref()?.instructions()
    }

    /// All its tools, asked afresh. They arrive in the server's order, each name once.
    ///
    /// # Errors
    /// If it cannot be connected, or its list has no end or passes a limit of the options.
    pub async fn tools(&self) -> Result<Vec<RemoteTool>, McpError> {
        let asked = Asked { server: self.name(), tool: "tools/list" };
        let mut tried = false;
        loop {
            let connection = self.ready().await?;
            let trouble = match connection.list_tools(&CallOptions::default()).await {
                Ok(tools) => {
                    self.shared.remember(&tools);
                    self.shared.live.lock().await.listed = true;
                    return Ok(tools);
                }
                Err(trouble) => trouble,
            };
            self.shared.drop_broken(&connection, &trouble).await;
            if tried || matches!(trouble, Trouble::Final(_)) {
                return Err(match trouble {
                    // A list is no deed of which anybody needs to wonder whether it happened.
                    Trouble::Lost(why) => McpError::NotMcp { server: self.name().to_owned(), why },
                    other => into_error(other, asked),
                });
            }
            tried = true;
        }
    }

    /// Calls a tool. Its own failures are outcomes (`is_error`), not errors.
    ///
    /// Dropping the future cancels the call, like `how.cancel`. A call that the server refused unread, because it had
    /// forgotten the session or was away, is made once more on a new connection. So is one that was cut off, if the
    /// tool as last listed may be repeated; else the error is [`McpError::Unknown`].
    ///
    /// # Errors
    /// If there is no outcome; [`McpError::may_have_happened`] tells whether the tool may have run.
    pub async fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        how: CallOptions,
    ) -> Result<ToolOutcome, McpError> {
        let asked = Asked { server: self.name(), tool };
        let mut tried = false;
        loop {
            let connection = tokio::select! {
                connection = self.ready() => connection?,
                () = how.cancel.cancelled() => {
                    return Err(McpError::Cancelled { server: self.name().to_owned(), tool: tool.to_owned() });
                }
            };
            let trouble = match connection.call(tool, arguments, &how).await {
                Ok(outcome) => return Ok(outcome),
                Err(trouble) => trouble,
            };
            self.shared.drop_broken(&connection, &trouble).await;
            let again = match &trouble {
                Trouble::Undelivered(_) => true,
                Trouble::Lost(_) => self.shared.may_repeat(tool),
                Trouble::Final(_) => false,
            };
            if tried || !again {
                return Err(into_error(trouble, asked));
            }
            tracing::debug!(server = self.name(), tool, ?trouble, "a call is made again");
            tried = true;
        }
    }

    /// Ends the session or the child process. Calls in flight end, later ones fail.
    pub async fn close(&self) {
        self.shared.closed.cancel();
        let connection = self.shared.live.lock().await.connection.take();
        if let Some(connection) = connection {
            connection.close().await;
        }
        self.shared.state.send_replace(ServerState::Closed);
    }

    /// The live connection, made if there is none and it is time to try.
    pub(super) async fn ready(&self) -> Result<Arc<Connection>, McpError> {
        let shared = &self.shared;
        let closed = || McpError::Closed { server: shared.server.name.clone() };
        tokio::select! {
            biased;
            () = shared.closed.cancelled() => Err(closed()),
            connection = shared.ready() => connection,
        }
    }
}

impl Shared {
    async fn ready(&self) -> Result<Arc<Connection>, McpError> {
        let mut live = self.live.lock().await;
        if let Some(connection) = live.connection.as_ref().filter(|connection| !connection.is_closed()) {
            return Ok(Arc::clone(connection));
        }
        live.connection = None;
        let wait = live.not_before.saturating_sub(self.host.clock.elapsed());
        if !wait.is_zero() {
            let why = match &*self.state.borrow() {
                ServerState::Failed { why } => why.to_string(),
                ServerState::Connecting | ServerState::Ready | ServerState::Closed => String::new(),
            };
            return Err(McpError::Waiting { server: self.server.name.clone(), wait, why });
        }
        self.state.send_replace(ServerState::Connecting);
        match Connection::open(&self.server, live.older, &self.options, &self.host, self.changes.clone()).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                live.connection = Some(Arc::clone(&connection));
                live.older = connection.is_older();
                live.failures = 0;
                live.not_before = Duration::ZERO;
                if live.listed {
                    // A new session: what is known of its tools, and what their headers must say, is learned again.
                    if let Ok(tools) = connection.list_tools(&CallOptions::default()).await {
                        self.remember(&tools);
                    }
                    self.changes.send_modify(|changes| *changes += 1);
                }
                self.state.send_replace(ServerState::Ready);
                Ok(connection)
            }
            Err(error) => {
                live.older = false;
                live.failures = live.failures.saturating_add(1);
                let backoff = Backoff {
                    first: self.options.first_backoff,
                    max: self.options.max_backoff,
                    randomness: Arc::clone(&self.host.randomness),
                };
                live.not_before = self.host.clock.elapsed() + backoff.after(live.failures);
                self.state.send_replace(ServerState::Failed { why: error.clone() });
                Err(error)
            }
        }
    }

    /// Lets go of a connection that is of no more use; whoever still waits on it keeps it until then.
    async fn drop_broken(&self, broken: &Arc<Connection>, trouble: &Trouble) {
        let useless = match trouble {
            Trouble::Undelivered(_) => true,
            Trouble::Lost(_) | Trouble::Final(_) => broken.is_closed(),
        };
        let mut live = self.live.lock().await;
        if useless && live.connection.as_ref().is_some_and(|connection| Arc::ptr_eq(connection, broken)) {
            live.connection = None;
            self.state.send_if_modified(|state| {
                let was_ready = *state == ServerState::Ready;
                if was_ready {
                    *state = ServerState::Connecting;
                }
                was_ready
            });
        }
    }

    fn remember(&self, tools: &[RemoteTool]) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = tools.iter().map(|tool| (tool.name.clone(), tool.annotations)).collect();
    }

    fn may_repeat(&self, tool: &str) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(tool).is_some_and(ToolAnnotations::may_repeat)
    }
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient")
            .field("server", &self.shared.server)
            .field("state", &*self.shared.state.borrow())
            .finish()
    }
}
