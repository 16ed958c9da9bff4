//! Why a document cannot be read.

use bylaw_contract::ErrorCode;

/// Why a document cannot be read. Each says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CorpusError {
    /// The extension is not one that is read.
    #[error("{name}: this kind of document is not read yet; read today: {READ_TODAY}. Convert it to one of these")]
    UnsupportedFormat {
        /// The file's name.
        name: String,
    },
    /// Not UTF-8.
    #[error("{name}: byte {offset} is not UTF-8; save the document as UTF-8 and try again")]
    InvalidEncoding {
        /// The file's name.
        name: String,
        /// Offset of the first byte that cannot be decoded.
        offset: usize,
    },
    /// Nothing to read in it.
    #[error("{name}: there is no text in this document")]
    Empty {
        /// The file's name.
        name: String,
    },
    /// Larger than the limit.
    #[error("{name}: {bytes} bytes is more than the limit of {limit}; split the document")]
    TooLarge {
        /// The file's name.
        name: String,
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// A line of a JSONL collection cannot be read.
    #[error("{name}, line {line}: {problem}; each line is an object with \"id\" and \"text\"")]
    InvalidRecord {
        /// The file's name.
        name: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

/// The kinds of document that are read, for people.
pub const READ_TODAY: &str = "Markdown (.md, .markdown), text (.txt), HTML (.html, .htm), JSONL (.jsonl), all in UTF-8";

impl CorpusError {
    /// The stable code of this failure.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::UnsupportedFormat { .. } => ErrorCode::UnsupportedFormat,
            Self::InvalidEncoding { .. } => ErrorCode::InvalidEncoding,
            Self::Empty { .. } => ErrorCode::EmptyDocument,
            Self::TooLarge { .. } => ErrorCode::DocumentTooLarge,
            Self::InvalidRecord { .. } => ErrorCode::InvalidRecord,
        }
    }
}
