//! What a model should do about a failure.

use bylaw_contract::{ErrorCode, Language};

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Correct the arguments and call again.
    Fix,
    /// Wait a little, then call again as it was.
    Wait,
    /// Call again once, at once.
    Retry,
    /// Do not call again; tell the person.
    GiveUp,
}

impl Advice {
    /// Every piece of advice, in the order of the enum.
    pub const ALL: [Self; 4] = [Self::Fix, Self::Wait, Self::Retry, Self::GiveUp];

    /// What to do about a code of the front door.
    #[must_use]
    pub const fn about(code: ErrorCode) -> Self {
        match code {
            ErrorCode::InvalidRequest
            | ErrorCode::NotFound
            | ErrorCode::MethodNotAllowed
            | ErrorCode::UnsupportedMediaType
            | ErrorCode::PayloadTooLarge
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
            | ErrorCode::DocumentNotFound
            | ErrorCode::QuestionAnswered
            | ErrorCode::QuestionClosed
            | ErrorCode::IdempotencyConflict
            | ErrorCode::NothingToUndo
            | ErrorCode::InvalidPath
            | ErrorCode::EmptyDocument
            | ErrorCode::DocumentTooLarge
            | ErrorCode::UnsupportedFormat
            | ErrorCode::InvalidEncoding
            | ErrorCode::InvalidRecord => Self::Fix,
            ErrorCode::NotReady
            | ErrorCode::Overloaded
            | ErrorCode::ShuttingDown
            | ErrorCode::ConversationBusy
            | ErrorCode::DataDirectoryLocked
            | ErrorCode::LedgerUnavailable
            | ErrorCode::ServiceUnreachable => Self::Wait,
            ErrorCode::UpstreamFailed
            | ErrorCode::UpstreamTimeout
            | ErrorCode::UpstreamIncomplete
            | ErrorCode::RunLost => Self::Retry,
            ErrorCode::InvalidKey
            | ErrorCode::Forbidden
            | ErrorCode::Cancelled
            | ErrorCode::NoModel
            | ErrorCode::DataDirectoryUnusable
            | ErrorCode::AddressUnavailable
            | ErrorCode::InvalidConfiguration
            | ErrorCode::LedgerFaulty
            | ErrorCode::StorageFailed
            | ErrorCode::InternalError => Self::GiveUp,
        }
    }

    /// Its name for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fix => "fix",
            Self::Wait => "wait",
            Self::Retry => "retry",
            Self::GiveUp => "give_up",
        }
    }

    /// The advice in words.
    #[must_use]
    pub const fn sentence(self, language: Language) -> &'static str {
        match (self, language.is_chinese()) {
            (Self::Fix, true) => "請修正參數後再呼叫；原樣重試沒有用。",
            (Self::Wait, true) => "請等幾秒再原樣呼叫一次；若仍然如此，請告訴使用者。",
            (Self::Retry, true) => "可以原樣再試一次；若仍然如此，請告訴使用者。",
            (Self::GiveUp, true) => "重試沒有用；請把這一句告訴使用者，由管理者處理。",
            (Self::Fix, false) => "Correct the arguments and call again; the same call will fail again.",
            (Self::Wait, false) => {
                "Wait some seconds and make the same call once more; if it goes on, tell the person."
            }
            (Self::Retry, false) => "Make the same call once more; if it goes on, tell the person.",
            (Self::GiveUp, false) => {
                "Calling again will not help: tell the person this sentence, for whoever runs the service."
            }
        }
    }
}
