//! Every failure that a user can see has a stable code.

use serde::{Deserialize, Serialize};

use crate::ids::RequestId;

macro_rules! error_codes {
    ($($(#[$meta:meta])* $name:ident = $code:tt,)+) => {
        /// A stable code for programs. HTTP statuses and exit codes are assigned at the edges.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
        pub enum ErrorCode {
            $($(#[$meta])* #[serde(rename = $code)] $name,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the enum.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The code as it crosses the network.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)+ }
            }
        }
    };
}

error_codes! {
    /// A field is missing, unknown or out of range, or the body is not JSON.
    InvalidRequest = "invalid_request",
    /// A key is needed, and the one that came, if one came, does not open the door.
    InvalidKey = "invalid_key",
    /// The key is valid, and may not do this.
    Forbidden = "forbidden",
    /// No such address.
    NotFound = "not_found",
    /// The address exists, the method does not.
    MethodNotAllowed = "method_not_allowed",
    /// The body is not of a type that this address reads.
    UnsupportedMediaType = "unsupported_media_type",
    /// The body is larger than the limit.
    PayloadTooLarge = "payload_too_large",
    /// The index is not loaded yet, or a part that is needed is broken.
    NotReady = "not_ready",
    /// The retriever that was asked for does not exist.
    UnknownRetriever = "unknown_retriever",
    /// No such source.
    SourceNotFound = "source_not_found",
    /// No such article in that source.
    ArticleNotFound = "article_not_found",
    /// No such job.
    JobNotFound = "job_not_found",
    /// No such key.
    KeyNotFound = "key_not_found",
    /// No call of this model is on the books in that time.
    ModelNotFound = "model_not_found",
    /// Nothing is on the books under this request id.
    RequestNotFound = "request_not_found",
    /// No such run.
    RunNotFound = "run_not_found",
    /// No such agent.
    AgentNotFound = "agent_not_found",
    /// No such conversation.
    ConversationNotFound = "conversation_not_found",
    /// A run is going on in this conversation.
    ConversationBusy = "conversation_busy",
    /// No such artifact.
    ArtifactNotFound = "artifact_not_found",
    /// The run has no such question.
    QuestionNotFound = "question_not_found",
    /// The question was answered before; the message says what was answered.
    QuestionAnswered = "question_answered",
    /// Nobody waits for an answer to the question any more.
    QuestionClosed = "question_closed",
    /// No model is configured, and this needs one.
    NoModel = "no_model",
    /// The run was stopped on request.
    Cancelled = "cancelled",
    /// The process that did the run is gone; what it was doing may have happened.
    RunLost = "run_lost",
    /// This `Idempotency-Key` came before with another body.
    IdempotencyConflict = "idempotency_conflict",
    /// Nothing to undo: the source is not deleted, or the time to undo is over.
    NothingToUndo = "nothing_to_undo",
    /// The path leaves the documents root, or no root is configured.
    InvalidPath = "invalid_path",
    /// No such file.
    DocumentNotFound = "document_not_found",
    /// The document has no text.
    EmptyDocument = "empty_document",
    /// The document is larger than the limit.
    DocumentTooLarge = "document_too_large",
    /// The kind of document is not read.
    UnsupportedFormat = "unsupported_format",
    /// The bytes are not UTF-8; the message gives the offset.
    InvalidEncoding = "invalid_encoding",
    /// A line of a JSONL collection cannot be read; the message gives the line.
    InvalidRecord = "invalid_record",
    /// The service is full; try again shortly.
    Overloaded = "overloaded",
    /// The service is shutting down.
    ShuttingDown = "shutting_down",
    /// The model's endpoint cannot be reached or refused the call.
    UpstreamFailed = "upstream_failed",
    /// The model's endpoint did not answer in time.
    UpstreamTimeout = "upstream_timeout",
    /// The model's reply ended without its end marker.
    UpstreamIncomplete = "upstream_incomplete",
    /// Another process holds the service lock of this data directory.
    DataDirectoryLocked = "data_directory_locked",
    /// The data directory cannot be read or written.
    DataDirectoryUnusable = "data_directory_unusable",
    /// The address to listen on is taken or not allowed.
    AddressUnavailable = "address_unavailable",
    /// The configuration cannot be understood.
    InvalidConfiguration = "invalid_configuration",
    /// A service could not be reached.
    ServiceUnreachable = "service_unreachable",
    /// The ledger cannot be used, so nothing may be spent; searching goes on.
    LedgerUnavailable = "ledger_unavailable",
    /// The ledger is not as it was written: a row is missing or changed, or an account does not add up.
    LedgerFaulty = "ledger_faulty",
    /// Storage failed.
    StorageFailed = "storage_failed",
    /// Something broke inside; the log has the details under the request id.
    InternalError = "internal_error",
}

/// The body of every reply that is not 2xx: `{"error": {…}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ErrorResponse {
    /// What went wrong.
    pub error: ApiError,
}

/// What went wrong, for programs, for people and for support.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error, utoipa::ToSchema)]
#[error("{message}")]
pub struct ApiError {
    /// For programs.
    pub code: ErrorCode,
    /// For people: what is wrong, and what to do about it.
    pub message: String,
    /// For both: the request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
    /// What to try, where something helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// An error and everything that led to it, outermost first. What repeats its cause's words says them once.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.ends_with(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_snake_case_and_survive_json() {
        let mut seen = std::collections::BTreeSet::new();
        for code in ErrorCode::ALL {
            assert!(seen.insert(code.as_str()), "{code:?} twice");
            assert!(code.as_str().bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{code:?}");
            let json = serde_json::to_string(code).unwrap_or_default();
            assert_eq!(serde_json::from_str::<ErrorCode>(&json).ok(), Some(*code));
            assert_eq!(json, format!("\"{}\"", code.as_str()));
        }
    }
}
