//! The door over Streamable HTTP: who comes in, and in which session.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use bylaw_contract::Clock;
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService,
    streamable_http_server::{SessionManager, session::local::LocalSessionManager},
};
use tokio_util::sync::CancellationToken;

use super::{
    Authenticate, Credentials, Principal, RefusedCredentials, ToolServer,
    handler::{Handler, Who},
    sessions::{Found, SessionBounds, Sessions},
};

const SESSION: &str = "mcp-session-id";

/// How a server stands on HTTP.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The path it answers on.
    pub path: String,
    /// The names it may be called by, with or without a port; `localhost`, `127.0.0.1` and `::1` unless said otherwise.
    pub hosts: Vec<String>,
    /// The pages that may call it, as `https://example.com:443` or `http://localhost:*`; those of loopback unless said
    /// otherwise. Programs that are no browsers send none.
    pub origins: Vec<String>,
    /// Longest body of a request.
    pub max_body_bytes: usize,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
    /// Sessions of the older era, at most.
    pub max_sessions: usize,
    /// Of these, sessions of one principal.
    pub max_sessions_of_one: usize,
    /// After this long without a request, and without one that is still being answered, a session ends.
    pub session_idle: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
        Self {
            path: "/mcp".to_owned(),
            hosts: ["localhost", "127.0.0.1", "::1"].map(ToOwned::to_owned).into(),
            origins: origins.map(ToOwned::to_owned).into(),
            max_body_bytes: 1 << 20,
            body_timeout: Duration::from_secs(30),
            max_sessions: 1000,
            max_sessions_of_one: 100,
            session_idle: Duration::from_secs(1800),
        }
    }
}

/// A server on Streamable HTTP, in both eras.
#[derive(Clone)]
pub struct HttpMount {
    door: Arc<Door>,
    service: StreamableHttpService<Handler, LocalSessionManager>,
}

struct Door {
    authenticate: Arc<dyn Authenticate>,
    sessions: Arc<Sessions>,
    manager: Arc<LocalSessionManager>,
    options: HttpOptions,
    /// What `www-authenticate` names.
    realm: String,
}

impl HttpMount {
    /// Mounts a server. When `shutdown` fires, sessions and streams end.
    #[must_use]
    pub fn new(
        server: Arc<ToolServer>,
        authenticate: Arc<dyn Authenticate>,
        clock: Arc<dyn Clock>,
        options: HttpOptions,
        shutdown: CancellationToken,
    ) -> Self {
        let mut manager = LocalSessionManager::default();
        // The library's own timer goes on while a call waits for a human, so it is left out: the door counts.
        manager.session_config.keep_alive = None;
        let manager = Arc::new(manager);
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(true)
            .with_json_response(true)
            .with_allowed_hosts(options.hosts.clone())
            .with_allowed_origins(options.origins.clone())
            .enforce_origin_validation()
            .with_max_request_body_bytes(options.max_body_bytes)
            .with_cancellation_token(shutdown);
        let bounds = SessionBounds {
            all: options.max_sessions,
            of_one: options.max_sessions_of_one,
            idle: options.session_idle,
        };
        let realm = server.config.server_info.name.chars().filter(|c| c.is_ascii_graphic() && *c != '"').collect();
        let made = Handler { server, who: Who::Request };
        let service = StreamableHttpService::new(move || Ok(made.clone()), Arc::clone(&manager), config);
        let sessions = Sessions::new(bounds, clock);
        Self { door: Arc::new(Door { authenticate, sessions, manager, options, realm }), service }
    }

    /// The routes, to be served by [`super::listen`] or merged into others.
    pub fn router(&self) -> Router {
        Router::new()
            .route_service(&self.door.options.path, self.service.clone())
            .layer(middleware::from_fn_with_state(Arc::clone(&self.door), enter))
    }

    /// How many sessions of the older era there are.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.door.sessions.count()
    }
}

async fn enter(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0);
    let credentials = Credentials { bearer: bearer(request.headers()), peer };
    let principal = match door.authenticate.authenticate(credentials).await {
        Ok(principal) => principal,
        Err(refused) => return door.refuse(refused, credentials.bearer.is_some()),
    };
    let named = match request.headers().get(SESSION).map(HeaderValue::to_str) {
        None => None,
        Some(Ok(id)) => Some(id.to_owned()),
        Some(Err(_)) => return no_session(),
    };
    if let Some(id) = &named {
        let (found, expired) = door.sessions.find(id, principal.id());
        door.close(expired).await;
        match found {
            Found::Own(lease) => {
                request.extensions_mut().insert(lease);
            }
            Found::None => return no_session(),
        }
    }
    let speaker: Arc<str> = Arc::from(principal.id());
    request.extensions_mut().insert::<Principal>(principal);
    let (request, may_open) = match door.with_body(request).await {
        Ok((request, body)) => (request, named.is_none() && says_initialize(&body)),
        Err(refused) => return refused,
    };
    let mut room = None;
    if may_open {
        let (made, closed) = door.sessions.make_room(&speaker);
        door.close(closed).await;
        if made.is_none() {
            return busy();
        }
        room = made;
    }
    let is_delete = *request.method() == Method::DELETE;
    let mut response = next.run(request).await;
    if is_delete && response.status() == StatusCode::ACCEPTED {
        // Some clients take "accepted" for a failure to end the session.
        response = StatusCode::NO_CONTENT.into_response();
    }
    if let Some(id) = named.filter(|_| is_delete || response.status() == StatusCode::NOT_FOUND) {
        door.sessions.forget(&id);
    }
    if let Some(Ok(id)) = response.headers().get(SESSION).map(HeaderValue::to_str) {
        match room {
            Some(room) => room.fill(id),
            // Opened by words that nobody writes so, to get past the bounds.
            None => {
                door.close(vec![Arc::from(id)]).await;
                return busy();
            }
        }
    }
    response
}

impl Door {
    async fn close(&self, sessions: Vec<Arc<str>>) {
        for id in sessions {
            if let Err(error) = self.manager.close_session(&id).await {
                tracing::debug!(%error, "a session could not be closed");
            }
        }
    }

    fn refuse(&self, refused: RefusedCredentials, had_token: bool) -> Response {
        match refused {
            RefusedCredentials::Unknown(sentence) => {
                let error = if had_token { ", error=\"invalid_token\"" } else { "" };
                let challenge = format!("Bearer realm=\"{}\"{error}", self.realm);
                (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)], sentence).into_response()
            }
            RefusedCredentials::Unavailable(sentence) => {
                (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "5")], sentence).into_response()
            }
        }
    }

    /// The request with its whole body, if it arrives in time and is not too long.
    async fn with_body(&self, request: Request) -> Result<(Request, Bytes), Response> {
        if *request.method() != Method::POST {
            return Ok((request, Bytes::new()));
        }
        let (parts, body) = request.into_parts();
        let most = self.options.max_body_bytes;
        match tokio::time::timeout(self.options.body_timeout, axum::body::to_bytes(body, most)).await {
            Ok(Ok(bytes)) => Ok((Request::from_parts(parts, Body::from(bytes.clone())), bytes)),
            Ok(Err(_)) => {
                let sentence = format!("the body could not be read, or is longer than {most} bytes: send less");
                Err((StatusCode::PAYLOAD_TOO_LARGE, sentence).into_response())
            }
            Err(_) => {
                Err((StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time: send it again").into_response())
            }
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether a body may ask for a session: a cheap look before anything is parsed.
fn says_initialize(body: &[u8]) -> bool {
    let word = b"\"initialize\"";
    body.windows(word.len()).any(|window| window == word)
}

/// What is another's, and what never was, is answered alike.
fn no_session() -> Response {
    (StatusCode::NOT_FOUND, "there is no such session: begin a new one").into_response()
}

fn busy() -> Response {
    let sentence = "there are too many sessions: close one, or come back later";
    (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "10")], sentence).into_response()
}
