//! Every failure as a reply: the status of each code, the body, and what is logged.
//!
//! A handler returns a [`Failure`]. It travels in the reply's extensions to [`crate::front`], which alone knows the
//! request id and writes the body, so that no reply can leave with another shape.

use std::{borrow::Cow, error::Error, sync::Arc};

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bylaw_answer::AnswerError;
use bylaw_contract::{ApiError, ErrorCode, RequestId, ask::FieldError, chain, error::ErrorResponse};
use bylaw_gate::LedgerError;
use bylaw_library::LibraryError;
use bylaw_retrieval::GenerationError;

use crate::openai::{self, refusal};

/// Longest message, in characters. Messages may repeat what the caller sent.
const MAX_MESSAGE_CHARS: usize = 500;

/// The HTTP status of each code.
#[must_use]
pub const fn status_of(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::InvalidPath => StatusCode::BAD_REQUEST,
        ErrorCode::InvalidKey => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden => StatusCode::FORBIDDEN,
        ErrorCode::NotFound
        | ErrorCode::UnknownRetriever
        | ErrorCode::SourceNotFound
        | ErrorCode::ArticleNotFound
        | ErrorCode::JobNotFound
        | ErrorCode::KeyNotFound
        | ErrorCode::ModelNotFound
        | ErrorCode::RequestNotFound
        | ErrorCode::RunNotFound
        | ErrorCode::AgentNotFound
        | ErrorCode::ConversationNotFound
        | ErrorCode::ArtifactNotFound
        | ErrorCode::QuestionNotFound
        | ErrorCode::DocumentNotFound => StatusCode::NOT_FOUND,
        ErrorCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::NothingToUndo
        | ErrorCode::IdempotencyConflict
        | ErrorCode::ConversationBusy
        | ErrorCode::QuestionAnswered
        | ErrorCode::QuestionClosed
        | ErrorCode::Cancelled => StatusCode::CONFLICT,
        ErrorCode::PayloadTooLarge | ErrorCode::DocumentTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::UnsupportedMediaType | ErrorCode::UnsupportedFormat => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorCode::InvalidRequest
        | ErrorCode::NoModel
        | ErrorCode::EmptyDocument
        | ErrorCode::InvalidEncoding
        | ErrorCode::InvalidRecord => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::DataDirectoryUnusable
        | ErrorCode::AddressUnavailable
        | ErrorCode::InvalidConfiguration
        | ErrorCode::StorageFailed
        | ErrorCode::LedgerFaulty
        | ErrorCode::RunLost
        | ErrorCode::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorCode::UpstreamFailed | ErrorCode::UpstreamIncomplete | ErrorCode::ServiceUnreachable => {
            StatusCode::BAD_GATEWAY
        }
        ErrorCode::NotReady
        | ErrorCode::Overloaded
        | ErrorCode::ShuttingDown
        | ErrorCode::LedgerUnavailable
        | ErrorCode::DataDirectoryLocked => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::UpstreamTimeout => StatusCode::GATEWAY_TIMEOUT,
    }
}

/// The code for a reply that some layer below made with a bare status.
const fn code_of(status: StatusCode) -> ErrorCode {
    match status {
        StatusCode::UNAUTHORIZED => ErrorCode::InvalidKey,
        StatusCode::FORBIDDEN => ErrorCode::Forbidden,
        StatusCode::NOT_FOUND => ErrorCode::NotFound,
        StatusCode::METHOD_NOT_ALLOWED => ErrorCode::MethodNotAllowed,
        StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::PayloadTooLarge,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ErrorCode::UnsupportedMediaType,
        StatusCode::SERVICE_UNAVAILABLE => ErrorCode::Overloaded,
        other if other.as_u16() < 500 => ErrorCode::InvalidRequest,
        _ => ErrorCode::InternalError,
    }
}

/// Why a request gets no 2xx. The message is for the caller; the cause is for the log.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    code: ErrorCode,
    message: Cow<'static, str>,
    hint: Option<Cow<'static, str>>,
    /// The field that is wrong, if it is one.
    field: Option<Cow<'static, str>>,
    retry_after_seconds: Option<u16>,
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl Failure {
    pub(crate) fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        let retry_after_seconds = match code {
            ErrorCode::Overloaded => Some(1),
            ErrorCode::ShuttingDown => Some(5),
            _ => None,
        };
        Self {
            status: status_of(code),
            code,
            message: message.into(),
            hint: None,
            field: None,
            retry_after_seconds,
            cause: None,
        }
    }

    pub(crate) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    pub(crate) fn internal(cause: impl Error + Send + Sync + 'static) -> Self {
        Self::hidden(ErrorCode::InternalError, cause)
    }

    /// A failure whose details are for the log only: they may name files of this machine.
    fn hidden(code: ErrorCode, cause: impl Error + Send + Sync + 'static) -> Self {
        let message = match code {
            ErrorCode::StorageFailed => "storage failed; the log has the details under this request id",
            ErrorCode::NotReady => "the index cannot be read; the log has the details under this request id",
            _ => "something broke inside; the log has the details under this request id",
        };
        Self { cause: Some(Arc::new(cause)), ..Self::new(code, message) }
    }

    /// A failure of storage.
    pub(crate) fn storage(cause: impl Error + Send + Sync + 'static) -> Self {
        Self::hidden(ErrorCode::StorageFailed, cause)
    }

    pub(crate) fn with_hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Names the field that is wrong.
    pub(crate) fn about(self, field: impl Into<Cow<'static, str>>) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    /// Another status than the code's own, where HTTP has a more exact one.
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    pub(crate) const fn code(&self) -> ErrorCode {
        self.code
    }

    pub(crate) fn message(&self) -> String {
        match self.message.char_indices().nth(MAX_MESSAGE_CHARS) {
            None => self.message.clone().into_owned(),
            Some((end, _)) => format!("{}...", &self.message[..end]),
        }
    }

    /// One line in the log: what is ours to repair as an error, what is the caller's for who looks.
    pub(crate) fn log(&self, request_id: &RequestId, method: &str, path: &str) {
        let cause = self.cause.as_ref().map(|cause| chain(&**cause)).unwrap_or_default();
        let (status, code) = (self.status.as_u16(), self.code.as_str());
        if self.status.is_server_error() {
            tracing::error!(%request_id, method, path, status, code, cause, "{}", self.message());
        } else {
            tracing::debug!(%request_id, method, path, status, code, cause, "{}", self.message());
        }
    }

    /// The whole reply, for who called this path. Headers that the failing layer set (`Allow`) are kept.
    pub(crate) fn write(self, request_id: RequestId, path: &str, bare: &Response) -> Response {
        let message = self.message();
        let error = ApiError { code: self.code, message, request_id, hint: self.hint.map(Cow::into_owned) };
        let mut reply = if openai::is_below(path) {
            let status = refusal::status(self.status);
            (status, axum::Json(refusal::body(error, status, self.field.map(Cow::into_owned)))).into_response()
        } else {
            (self.status, axum::Json(ErrorResponse { error })).into_response()
        };
        if let Some(allow) = bare.headers().get(header::ALLOW) {
            reply.headers_mut().insert(header::ALLOW, allow.clone());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            reply.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after_seconds {
            reply.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        reply
    }

    /// The failure inside a reply that is not 2xx, or one made up for a bare status.
    pub(crate) fn of(reply: &mut Response) -> Self {
        reply.extensions_mut().remove::<Self>().unwrap_or_else(|| {
            let status = reply.status();
            Self::new(code_of(status), status.canonical_reason().unwrap_or("the request failed")).with_status(status)
        })
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut reply = self.status.into_response();
        reply.extensions_mut().insert(self);
        reply
    }
}

impl From<FieldError> for Failure {
    fn from(error: FieldError) -> Self {
        Self::invalid(error.to_string()).about(error.field)
    }
}

impl From<LibraryError> for Failure {
    fn from(error: LibraryError) -> Self {
        let code = error.code();
        if status_of(code).is_server_error() && code != ErrorCode::ShuttingDown {
            Self::hidden(code, error)
        } else {
            Self::new(code, chain(&error))
        }
    }
}

impl From<AnswerError> for Failure {
    fn from(error: AnswerError) -> Self {
        let code = error.code();
        if status_of(code).is_server_error() { Self::hidden(code, error) } else { Self::new(code, error.to_string()) }
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        let message = match &error {
            LedgerError::Unavailable { .. } => "the ledger cannot be read now; try again shortly",
            LedgerError::Corrupt { .. } => "the ledger is corrupt; nothing is spent until it is repaired",
        };
        let failure = Self::new(ErrorCode::LedgerUnavailable, message);
        Self { cause: Some(Arc::new(error)), ..failure }.with_hint("bylaw ledger verify says what is wrong with it")
    }
}

impl From<GenerationError> for Failure {
    fn from(error: GenerationError) -> Self {
        Self::hidden(ErrorCode::NotReady, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_an_error_status() {
        for &code in ErrorCode::ALL {
            let status = status_of(code);
            assert!(status.is_client_error() || status.is_server_error(), "{code:?} {status}");
        }
    }

    #[test]
    fn a_reply_with_a_bare_status_gets_the_code_that_fits() {
        let rows = [
            (400, "invalid_request"),
            (404, "not_found"),
            (405, "method_not_allowed"),
            (413, "payload_too_large"),
            (415, "unsupported_media_type"),
            (418, "invalid_request"),
            (500, "internal_error"),
            (503, "overloaded"),
        ];
        for (status, code) in rows {
            let mut bare = StatusCode::from_u16(status).unwrap().into_response();
            assert_eq!(Failure::of(&mut bare).code().as_str(), code, "{status}");
        }
    }

    #[test]
    fn a_message_is_cut_and_a_cause_is_told_once() {
        assert_eq!(Failure::invalid("假".repeat(2_000)).message().chars().count(), MAX_MESSAGE_CHARS + 3);
        let io = LibraryError::Io { path: "rules.md".into(), source: std::io::Error::other("disk full") };
        assert_eq!(chain(&io), "rules.md: disk full");
        assert!(!Failure::from(io).message().contains("rules.md"));
    }
}
