//! How a command fails: one line for a person, a stable code for programs, an exit code for shells.

use std::{error::Error, fmt};

use bylaw_contract::{ApiError, ErrorCode};

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) request_id: Option<String>,
}

impl Failure {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, request_id: None }
    }

    /// A failure whose message is the whole chain of causes.
    pub(crate) fn from_error(code: ErrorCode, error: &dyn Error) -> Self {
        Self::new(code, chain(error))
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The process's exit code.
    pub(crate) const fn exit_code(&self) -> u8 {
        exit_code(self.code)
    }
}

/// The chain of causes in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    bylaw_contract::chain(error).replace('\n', " ")
}

/// Exit codes: 2 is what was asked, 3 is not there, 4 is in use or unreachable, 5 is the model, 1 is everything else.
/// (Wrong flags are 2 as well.)
pub(crate) const fn exit_code(code: ErrorCode) -> u8 {
    match code {
        ErrorCode::InvalidRequest
        | ErrorCode::UnsupportedMediaType
        | ErrorCode::MethodNotAllowed
        | ErrorCode::UnknownRetriever
        | ErrorCode::InvalidPath
        | ErrorCode::EmptyDocument
        | ErrorCode::DocumentTooLarge
        | ErrorCode::PayloadTooLarge
        | ErrorCode::UnsupportedFormat
        | ErrorCode::InvalidEncoding
        | ErrorCode::InvalidRecord
        | ErrorCode::InvalidKey
        | ErrorCode::Forbidden
        | ErrorCode::IdempotencyConflict
        | ErrorCode::QuestionAnswered
        | ErrorCode::QuestionClosed
        | ErrorCode::NoModel
        | ErrorCode::InvalidConfiguration => 2,
        ErrorCode::NotFound
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
        | ErrorCode::NothingToUndo
        | ErrorCode::DocumentNotFound => 3,
        ErrorCode::NotReady
        | ErrorCode::Overloaded
        | ErrorCode::ConversationBusy
        | ErrorCode::ShuttingDown
        | ErrorCode::DataDirectoryLocked
        | ErrorCode::LedgerUnavailable
        | ErrorCode::AddressUnavailable
        | ErrorCode::ServiceUnreachable => 4,
        ErrorCode::UpstreamFailed | ErrorCode::UpstreamTimeout | ErrorCode::UpstreamIncomplete => 5,
        ErrorCode::DataDirectoryUnusable
        | ErrorCode::LedgerFaulty
        | ErrorCode::StorageFailed
        | ErrorCode::RunLost
        | ErrorCode::Cancelled
        | ErrorCode::InternalError => 1,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.code.as_str(), self.message)?;
        if let Some(id) = &self.request_id {
            write!(f, " (request {id})")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self {
            code: error.code,
            message: error.message,
            hint: error.hint,
            request_id: Some(error.request_id.to_string()),
        }
    }
}

macro_rules! from_coded {
    ($($error:ty),+) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::from_error(error.code(), &error)
            }
        })+
    };
}

from_coded!(bylaw_library::LibraryError, bylaw_answer::AnswerError, bylaw_gate::ListenRefused, bylaw_model::ModelError);

impl From<bylaw_library::StoreError> for Failure {
    fn from(error: bylaw_library::StoreError) -> Self {
        Self::from_error(ErrorCode::StorageFailed, &error)
    }
}

impl From<bylaw_agent::RunStoreError> for Failure {
    fn from(error: bylaw_agent::RunStoreError) -> Self {
        Self::from_error(ErrorCode::StorageFailed, &error)
    }
}

impl From<bylaw_gate::KeyStoreError> for Failure {
    fn from(error: bylaw_gate::KeyStoreError) -> Self {
        Self::from_error(ErrorCode::StorageFailed, &error)
    }
}

impl From<bylaw_gate::CreateKeyError> for Failure {
    fn from(error: bylaw_gate::CreateKeyError) -> Self {
        match error {
            bylaw_gate::CreateKeyError::Invalid(error) => Self::from_error(ErrorCode::InvalidRequest, &error),
            bylaw_gate::CreateKeyError::Store(error) => error.into(),
        }
    }
}

impl From<bylaw_gate::LedgerError> for Failure {
    fn from(error: bylaw_gate::LedgerError) -> Self {
        match &error {
            bylaw_gate::LedgerError::Unavailable { .. } => Self::from_error(ErrorCode::LedgerUnavailable, &error),
            bylaw_gate::LedgerError::Corrupt { .. } => {
                Self::from_error(ErrorCode::LedgerFaulty, &error).hint(FAULTY_LEDGER)
            }
        }
    }
}

/// What to do about a ledger that is not as it was written.
pub(crate) const FAULTY_LEDGER: &str = "stop the service, so that nothing is spent meanwhile; keep a copy of the data directory; then restore it from a \
     backup that bylaw ledger verify finds in order";

impl From<bylaw_retrieval::VocabularyError> for Failure {
    fn from(error: bylaw_retrieval::VocabularyError) -> Self {
        Self::from_error(ErrorCode::InvalidConfiguration, &error)
    }
}

impl From<bylaw_agent::CatalogueError> for Failure {
    fn from(error: bylaw_agent::CatalogueError) -> Self {
        // Its words hold their cause already.
        Self::new(ErrorCode::InvalidConfiguration, error.to_string())
    }
}

impl From<bylaw_agent::BeginError> for Failure {
    fn from(error: bylaw_agent::BeginError) -> Self {
        let code = match &error {
            bylaw_agent::BeginError::Busy(_) => ErrorCode::NotReady,
            bylaw_agent::BeginError::NoSuchConversation => ErrorCode::NotFound,
            bylaw_agent::BeginError::Store(_) => ErrorCode::StorageFailed,
            bylaw_agent::BeginError::Closed => ErrorCode::ShuttingDown,
        };
        Self::from_error(code, &error)
    }
}

impl From<bylaw_retrieval::GenerationError> for Failure {
    fn from(error: bylaw_retrieval::GenerationError) -> Self {
        Self::from_error(ErrorCode::NotReady, &error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_of_causes_is_one_line_without_echoes() {
        let io = std::io::Error::other("disk\nfull");
        let error = bylaw_library::LibraryError::Io { path: "a.md".into(), source: io };
        assert_eq!(chain(&error), "a.md: disk full");
        let document = bylaw_corpus::CorpusError::Empty { name: "a.md".to_owned() };
        assert_eq!(chain(&bylaw_library::LibraryError::Document(document)), "a.md: there is no text in this document");
    }
}
