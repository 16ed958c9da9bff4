//! What went wrong underneath, sorted by what may be done about it.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use rmcp::{
    model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage},
    service::{ClientInitializeError, ServiceError},
    transport::{DynamicTransportError, streamable_http_client::StreamableHttpError},
};
use serde_json::{Value, json};

use super::{
    error::{McpError, one_line},
    http::HttpTrouble,
};

/// Why a request has no result.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The server did not take the request; a new connection may help.
    Undelivered(McpError),
    /// The server may have run it: the reply was cut off, or is unreadable.
    Lost(String),
    /// Nothing to try.
    Final(McpError),
}

/// Whose request it was, for the errors.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) server: &'a str,
    pub(super) tool: &'a str,
}

/// What a child process said and how it ended: told when it fails.
#[derive(Debug, Default)]
pub(super) struct LastWords(Mutex<Words>);

#[derive(Debug, Default)]
struct Words {
    junk: Option<String>,
    ended: Option<String>,
    errors: VecDeque<String>,
}

impl LastWords {
    fn words(&self) -> std::sync::MutexGuard<'_, Words> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the first line that was no message.
    pub(super) fn junk(&self, line: &[u8]) {
        self.words().junk.get_or_insert_with(|| one_line(&String::from_utf8_lossy(line)));
    }

    /// Keeps the last few lines of the error output.
    pub(super) fn error_line(&self, line: &str) {
        let mut words = self.words();
        if words.errors.len() == 4 {
            words.errors.pop_front();
        }
        words.errors.push_back(one_line(line));
    }

    /// Keeps how the process ended.
    pub(super) fn ended(&self, how: String) {
        self.words().ended = Some(how);
    }

    /// How it ended and what it said last, if it ended.
    pub(super) fn end(&self) -> Option<String> {
        let words = self.words();
        let how = words.ended.as_ref()?;
        Some(words.errors.back().map_or_else(|| how.clone(), |line| format!("{how}, its last words: {line}")))
    }

    /// The first line that was no message.
    pub(super) fn first_junk(&self) -> Option<String> {
        self.words().junk.clone()
    }
}

/// Why a server could not be connected.
pub(super) fn of_connecting(server: &str, error: &ClientInitializeError, words: &LastWords) -> McpError {
    let name = || server.to_owned();
    match error {
        ClientInitializeError::TransportError { error, .. } => match http_trouble(error) {
            Some(StreamableHttpError::Client(trouble)) => match trouble {
                HttpTrouble::Absent(why) | HttpTrouble::Cut(why) => {
                    McpError::Absent { server: name(), why: why.clone() }
                }
                HttpTrouble::Junk(why) => McpError::NotMcp { server: name(), why: why.clone() },
                HttpTrouble::Status { status, why } => match status {
                    401 | 403 => McpError::Unauthorized { server: name(), status: *status },
                    429 | 500.. => McpError::Status { server: name(), status: *status, why: why.clone() },
                    _ => McpError::NotMcp { server: name(), why: format!("it answered HTTP {status}: {why}") },
                },
            },
            Some(other) => McpError::NotMcp { server: name(), why: one_line(&other.to_string()) },
            None => ended(server, words),
        },
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_connecting(server, fallback, words),
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => McpError::NoVersion {
            server: name(),
            offered: server_supported.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        },
        ClientInitializeError::JsonRpcError(error) => McpError::NotMcp {
            server: name(),
            why: format!("it refused the greeting: {} ({})", one_line(&error.message), error.code.0),
        },
        ClientInitializeError::ConnectionClosed(_) => ended(server, words),
        other => McpError::NotMcp { server: name(), why: one_line(&other.to_string()) },
    }
}

fn ended(server: &str, words: &LastWords) -> McpError {
    let server = server.to_owned();
    match (words.end(), words.first_junk()) {
        (_, Some(line)) => McpError::NotMcp { server, why: format!("it wrote `{line}`") },
        (Some(why), None) => McpError::Ended { server, why },
        (None, None) => McpError::NotMcp { server, why: "it broke off while introducing itself".to_owned() },
    }
}

/// Why a request of a connected server has no result.
pub(super) fn of_request(asked: Asked<'_>, error: ServiceError, words: &LastWords) -> Trouble {
    match error {
        ServiceError::McpError(error) => of_error_data(&error, asked),
        ServiceError::TransportSend(error) => match http_trouble(&error) {
            Some(http) => of_http(asked, http),
            None => Trouble::Lost(words.end().unwrap_or_else(|| one_line(&error.error.to_string()))),
        },
        ServiceError::TransportClosed => {
            Trouble::Lost(words.end().unwrap_or_else(|| "the connection was cut before the result came".to_owned()))
        }
        ServiceError::Cancelled { .. } => {
            Trouble::Final(McpError::Cancelled { server: asked.server.to_owned(), tool: asked.tool.to_owned() })
        }
        other => Trouble::Lost(one_line(&other.to_string())),
    }
}

fn http_trouble(error: &DynamicTransportError) -> Option<&StreamableHttpError<HttpTrouble>> {
    error.error.downcast_ref()
}

fn of_http(asked: Asked<'_>, error: &StreamableHttpError<HttpTrouble>) -> Trouble {
    let server = asked.server.to_owned();
    match error {
        StreamableHttpError::SessionExpired => {
            Trouble::Undelivered(McpError::Status { server, status: 404, why: "it forgot this session".to_owned() })
        }
        StreamableHttpError::ResponseBodyTooLarge { max_size } => {
            Trouble::Final(McpError::TooLarge { server, tool: asked.tool.to_owned(), limit: *max_size })
        }
        StreamableHttpError::Client(trouble) => match trouble {
            HttpTrouble::Absent(why) => Trouble::Undelivered(McpError::Absent { server, why: why.clone() }),
            HttpTrouble::Cut(why) | HttpTrouble::Junk(why) => Trouble::Lost(why.clone()),
            HttpTrouble::Status { status, why } => match status {
                401 | 403 => Trouble::Final(McpError::Unauthorized { server, status: *status }),
                // 503 is said instead of doing the work; other errors of a server may come after it.
                503 => Trouble::Final(McpError::Status { server, status: *status, why: why.clone() }),
                500.. => Trouble::Lost(format!("HTTP {status}: {why}")),
                _ => Trouble::Final(McpError::Status { server, status: *status, why: why.clone() }),
            },
        },
        other => Trouble::Lost(one_line(&other.to_string())),
    }
}

fn of_error_data(error: &ErrorData, asked: Asked<'_>) -> Trouble {
    let (server, tool) = (asked.server.to_owned(), asked.tool.to_owned());
    if let Some(limit) = error.data.as_ref().and_then(|data| data.get(TOO_LARGE)).and_then(Value::as_u64) {
        return Trouble::Final(McpError::TooLarge {
            server,
            tool,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
        });
    }
    Trouble::Final(McpError::Refused { server, tool, code: error.code.0, message: one_line(&error.message) })
}

/// The error for a caller who can try nothing more.
pub(super) fn into_error(trouble: Trouble, asked: Asked<'_>) -> McpError {
    match trouble {
        Trouble::Final(error) | Trouble::Undelivered(error) => error,
        Trouble::Lost(why) => McpError::Unknown { server: asked.server.to_owned(), tool: asked.tool.to_owned(), why },
    }
}

const TOO_LARGE: &str = "tooLarge";

/// The message that stands in for a reply longer than `limit` bytes; nothing if it answers nothing.
pub(super) fn too_large(answers: RequestId, limit: usize) -> ServerJsonRpcMessage {
    let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, "reply too large", Some(json!({ TOO_LARGE: limit })));
    ServerJsonRpcMessage::error(error, Some(answers))
}

/// The same, as text.
pub(super) fn too_large_message(answers: Option<RequestId>, limit: usize) -> Option<String> {
    serde_json::to_string(&too_large(answers?, limit)).ok()
}
