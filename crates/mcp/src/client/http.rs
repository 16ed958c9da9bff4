//! Streamable HTTP underneath rmcp's transport, which keeps sessions and streams.
//!
//! A backend of our own, because only here can be seen what rmcp's would flatten to text: whether a server was reached
//! at all, which status it gave, and how much it is sending.

use std::{collections::HashMap, sync::Arc};

use futures_util::{StreamExt, stream::BoxStream};
use reqwest::{
    Client, RequestBuilder, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue},
};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
    },
};
use sse_stream::Sse;
use thiserror::Error;

use super::{error::one_line, lenient::read_message, sse};

const SESSION: &str = "mcp-session-id";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// How much of a refusal is read for its reason.
const REASON_BYTES: usize = 4 << 10;

/// What an HTTP request ran into.
#[derive(Debug, Error)]
pub(super) enum HttpTrouble {
    /// Nothing was sent: there is nobody.
    #[error("{0}")]
    Absent(String),
    /// It may have been sent, and no whole reply came.
    #[error("{0}")]
    Cut(String),
    /// A reply that is none of MCP's.
    #[error("{0}")]
    Junk(String),
    /// A refusal.
    #[error("HTTP {status}: {why}")]
    Status { status: u16, why: String },
}

type Failed = StreamableHttpError<HttpTrouble>;

impl From<HttpTrouble> for Failed {
    fn from(trouble: HttpTrouble) -> Self {
        Self::Client(trouble)
    }
}

/// The HTTP client of one server.
#[derive(Clone)]
pub(super) struct Http {
    pub(super) client: Client,
    pub(super) max_message_bytes: usize,
}

impl Http {
    async fn send(
        &self,
        mut request: RequestBuilder,
        session: Option<Arc<str>>,
        bearer: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Response, Failed> {
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(bearer) = bearer {
            request = request.bearer_auth(bearer);
        }
        if let Some(session) = session {
            request = request.header(SESSION, session.as_ref());
        }
        request.send().await.map_err(|error| {
            let why = root_cause(&error);
            if error.is_connect() || error.is_builder() { HttpTrouble::Absent(why) } else { HttpTrouble::Cut(why) }
                .into()
        })
    }

    async fn post(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        bearer: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let in_session = session.is_some();
        let request = self.client.post(uri.as_ref()).header(ACCEPT, format!("{JSON}, {EVENTS}")).json(&message);
        let response = self.send(request, session, bearer, headers).await?;
        let status = response.status();
        let answers = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            ClientJsonRpcMessage::Response(_)
            | ClientJsonRpcMessage::Error(_)
            | ClientJsonRpcMessage::Notification(_) => None,
        };
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return self.refusal(&message, status, response).await;
        }
        // To what asks nothing, any success is an answer; servers send 200 with odd bodies.
        let Some(answers) = answers else { return Ok(StreamableHttpPostResponse::Accepted) };
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let session = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(ToOwned::to_owned);
        match media_type(&response).as_str() {
            EVENTS => {
                let events = sse::events(response.bytes_stream(), self.max_message_bytes, Some(answers));
                Ok(StreamableHttpPostResponse::Sse(events, session))
            }
            JSON => {
                let body = self.body(response).await?;
                let message = read_message(&body)
                    .map_err(|error| HttpTrouble::Junk(format!("{error}, in its reply `{}`", one_line(&body))))?;
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            "" => Err(HttpTrouble::Junk("its reply has no media type".to_owned()).into()),
            other => Err(HttpTrouble::Junk(format!("it replied with {}", one_line(other))).into()),
        }
    }

    /// What a reply that is no success means. The JSON-RPC error in it counts more than its status. A 4xx to the newer
    /// greeting is how older servers, and whatever stands before them, say that they do not know it.
    async fn refusal(
        &self,
        message: &ClientJsonRpcMessage,
        status: StatusCode,
        response: Response,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let body = prefix(response).await;
        let refused_key = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let said = match read_message(&body) {
            Ok(ServerJsonRpcMessage::Error(error)) if !refused_key => Some(error.error),
            _ => None,
        };
        let request = match message {
            ClientJsonRpcMessage::Request(request) => Some(request),
            _ => None,
        };
        let greets = request.is_some_and(|request| matches!(request.request, ClientRequest::DiscoverRequest(_)));
        let said = said.or_else(|| {
            (greets && status.is_client_error() && !refused_key)
                .then(|| ErrorData::invalid_request(format!("HTTP {status}"), None))
        });
        if let (Some(request), Some(said)) = (request, said) {
            // With the id of our request: what refuses it before it is read cannot know it.
            let error = ServerJsonRpcMessage::error(said, Some(request.id.clone()));
            return Ok(StreamableHttpPostResponse::Json(error, None));
        }
        let why = if body.trim().is_empty() {
            status.canonical_reason().unwrap_or_default().to_owned()
        } else {
            one_line(&body)
        };
        Err(HttpTrouble::Status { status: status.as_u16(), why }.into())
    }

    /// The whole body, unless it is too long.
    async fn body(&self, response: Response) -> Result<String, Failed> {
        let limit = self.max_message_bytes;
        let too_large = || StreamableHttpError::ResponseBodyTooLarge { max_size: limit };
        if response.content_length().is_some_and(|length| length > limit as u64) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| HttpTrouble::Cut(root_cause(&error)))?;
            if body.len() + chunk.len() > limit {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}

impl StreamableHttpClient for Http {
    type Error = HttpTrouble;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        self.post(uri, message, session_id, auth_header, custom_headers).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        _limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        self.post(uri, message, session_id, auth_header, custom_headers).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        let request = self.client.delete(uri.as_ref());
        // Whatever it answers: a server need not let go of a session when asked.
        self.send(request, Some(session_id), auth_header, custom_headers).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let mut request = self.client.get(uri.as_ref()).header(ACCEPT, EVENTS);
        if let Some(last) = last_event_id {
            request = request.header("last-event-id", last);
        }
        let response = self.send(request, session_id, auth_header, custom_headers).await?;
        let status = response.status();
        if status.is_success() && media_type(&response) == EVENTS {
            return Ok(sse::events(response.bytes_stream(), self.max_message_bytes, None::<RequestId>));
        }
        // Such a stream is optional, and asking again will not make a server offer it.
        if status.is_success() || status.is_client_error() {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        Err(HttpTrouble::Status { status: status.as_u16(), why: String::new() }.into())
    }
}

fn media_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

async fn prefix(response: Response) -> String {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(Ok(chunk)) = chunks.next().await {
        body.extend_from_slice(&chunk);
        if body.len() >= REASON_BYTES {
            break;
        }
    }
    body.truncate(REASON_BYTES);
    String::from_utf8_lossy(&body).into_owned()
}

/// The innermost reason, which is the one a person can use: "connection refused" rather than "error sending request".
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    one_line(&cause.to_string())
}
