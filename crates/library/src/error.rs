//! Why documents cannot be kept.

use std::path::PathBuf;

use bylaw_contract::{ErrorCode, SourceName, chain};
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
    /// There is nothing to read yet.
    #[error("nothing has been brought into {folder} yet; ingest documents first, or choose another with --data")]
    NothingIndexed {
        /// The data directory.
        folder: PathBuf,
    },
    /// This library was opened for reading.
    #[error("data directory {folder} was opened for reading only")]
    ReadOnly {
        /// The data directory.
        folder: PathBuf,
    },
    /// A folder or file cannot be followed.
    #[error("{path} cannot be followed for changes")]
    Watch {
        /// What was to be followed.
        path: PathBuf,
        /// Why not.
        #[source]
        source: notify::Error,
    },
    /// A part of the program panicked.
    #[error("{doing} failed inside the program; its log says more")]
    Internal {
        /// What was being done.
        doing: &'static str,
    },
    /// The library is shutting down.
    #[error("the service is shutting down; try again when it is back")]
    ShuttingDown,
}

impl LibraryError {
    /// Attaches a path to a failure of the disk.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// The whole chain of causes in one line of at most `limit` characters.
    pub(crate) fn in_one_line(&self, limit: usize) -> String {
        let mut text = chain(self);
        if text.chars().count() > limit {
            text = text.chars().take(limit.saturating_sub(1)).collect();
            text.push('…');
        }
        text
    }

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
            Self::Store(_) | Self::Io { .. } => ErrorCode::StorageFailed,
            Self::NothingIndexed { .. } => ErrorCode::NotReady,
            Self::ReadOnly { .. } => ErrorCode::DataDirectoryLocked,
            Self::Watch { .. } => ErrorCode::InvalidPath,
            Self::Internal { .. } => ErrorCode::InternalError,
            Self::ShuttingDown => ErrorCode::ShuttingDown,
        }
    }
}
