//! Why documents cannot be kept.

use std::path::PathBuf;

use bylaw_contract::{ErrorCode, SourceName};
use bylaw_corpus::CorpusError;
use bylaw_retrieval::GenerationError;

use crate::{lock::LockHolder, store::StoreError};

/// Why documents cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The document cannot be read.
    #[error(transparent)]
    Document(#[from] CorpusError),
    /// No such file.
    #[error("{path}: there is no such file or folder")]
    FileNotFound {
        /// The path as given.
        path: PathBuf,
    },
    /// The path is not below the documents root, or none is configured.
    #[error("{path}: {problem}")]
    InvalidPath {
        /// The path as given.
        path: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// No such source.
    #[error("there is no source named {0}")]
    SourceNotFound(SourceName),
    /// Nothing to undo.
    #[error("there is nothing to undo for {0}: it is not deleted, or the time to undo is over")]
    NothingToUndo(SourceName),
    /// Another process holds the service lock.
    #[error("data directory {folder} is in use by {holder}; stop that process or choose another with --data")]
    Locked {
        /// The data directory.
        folder: PathBuf,
        /// Who holds it.
        holder: LockHolder,
    },
    /// The data directory cannot be used.
    #[error("data directory {folder} cannot be used: {problem}; choose another with --data")]
    DataDirectory {
        /// The folder.
        folder: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The index failed.
    #[error("the index cannot be built or read")]
    Index(#[from] GenerationError),
    /// Storage failed.
    #[error("storage")]
    Store(#[from] StoreError),
    /// The disk failed.
    #[error("{path}")]
    Io {
        /// What was being read or written.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// The library is shutting down.
    #[error("the service is shutting down; try again when it is back")]
    ShuttingDown,
}

impl LibraryError {
    /// The stable code of this failure.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Document(error) => error.code(),
            Self::FileNotFound { .. } => ErrorCode::DocumentNotFound,
            Self::InvalidPath { .. } => ErrorCode::InvalidPath,
            Self::SourceNotFound(_) => ErrorCode::SourceNotFound,
            Self::NothingToUndo(_) => ErrorCode::NothingToUndo,
            Self::Locked { .. } => ErrorCode::DataDirectoryLocked,
            Self::DataDirectory { .. } => ErrorCode::DataDirectoryUnusable,
            Self::Index(_) => ErrorCode::NotReady,
            Self::Store(_) => ErrorCode::StorageFailed,
            Self::Io { .. } => ErrorCode::StorageFailed,
            Self::ShuttingDown => ErrorCode::ShuttingDown,
        }
    }
}
