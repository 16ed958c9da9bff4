//! The library itself: one owner of what is kept, and of which generation answers.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bylaw_contract::{
    Clock, JobId, Randomness, RequestId, SourceName,
    documents::IngestJob,
    sources::{DeleteResult, SourceDetail, SourceSummary, UndoResult},
};
use bylaw_retrieval::{Generation, Vocabulary};
use tokio_util::sync::CancellationToken;

use crate::{
    error::LibraryError,
    layout::DataDirectory,
    store::{DocumentStore, JobStore},
};

/// What a library is built with.
pub struct LibrarySettings {
    /// Where generations and uploads lie.
    pub directory: DataDirectory,
    /// How long a deleted source can be brought back.
    pub undo_window: Duration,
    /// Glossary and topics.
    pub vocabulary: Arc<Vocabulary>,
    /// Documents and versions.
    pub documents: Arc<dyn DocumentStore>,
    /// Jobs.
    pub jobs: Arc<dyn JobStore>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness, for job ids.
    pub random: Arc<dyn Randomness>,
}

/// The bytes of a document that is being brought in.
#[derive(Debug)]
pub enum Upload {
    /// In memory.
    Bytes(Vec<u8>),
    /// A finished file that the library takes over (moved into the data directory).
    File(PathBuf),
    /// A file that stays where it is and is copied.
    Copy(PathBuf),
}

/// What an ingestion is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading one of several documents.
    Reading {
        /// The source.
        source: SourceName,
        /// Documents done.
        done: usize,
        /// Documents in all.
        total: usize,
    },
    /// Building the generation.
    Indexing {
        /// Articles done.
        done: usize,
        /// Articles in all.
        total: usize,
    },
}

/// What following files and folders did.
#[derive(Debug, Default)]
pub struct FolderReport {
    /// Sources that are new.
    pub added: Vec<SourceName>,
    /// Sources with a new version.
    pub updated: Vec<SourceName>,
    /// Sources that were there already, byte for byte.
    pub unchanged: Vec<SourceName>,
    /// Files that could not be read, each with its reason; their old versions keep answering.
    pub failed: Vec<(PathBuf, LibraryError)>,
    /// Files of a kind that is not read.
    pub skipped: Vec<PathBuf>,
}

/// Keeps documents and owns the generation that answers.
pub struct Library {}

impl Library {
    /// Opens a library for reading and, if the caller holds the service lock, for writing. The newest complete generation
    /// that matches what is stored answers at once; if there is none, one is built.
    ///
    /// # Errors
    /// See [`LibraryError`].
    pub async fn open(settings: LibrarySettings) -> Result<Arc<Self>, LibraryError> {
        let _ = settings;
        todo!("written by the library part")
    }

    /// The generation that answers now. A query keeps the value it began with.
    #[must_use]
    pub fn generation(&self) -> Arc<Generation> {
        todo!("written by the library part")
    }

    /// Accepts a document: durable when this returns. [`Library::work`] does the rest.
    ///
    /// # Errors
    /// If the name's kind is not read, or the bytes cannot be stored.
    pub async fn submit(&self, source: SourceName, path: String, upload: Upload) -> Result<IngestJob, LibraryError> {
        let _ = (source, path, upload);
        todo!("written by the library part")
    }

    /// One job.
    ///
    /// # Errors
    /// If storage fails.
    pub async fn job(&self, id: &JobId) -> Result<Option<IngestJob>, LibraryError> {
        let _ = id;
        todo!("written by the library part")
    }

    /// The newest jobs first.
    ///
    /// # Errors
    /// If storage fails.
    pub async fn jobs(&self, limit: u32) -> Result<Vec<IngestJob>, LibraryError> {
        let _ = limit;
        todo!("written by the library part")
    }

    /// Does the queued jobs, one after another, those left over from a crash first, until `cancel` fires; a job that is
    /// running then is put back. Queued jobs that are ready together share one generation.
    pub async fn work(self: Arc<Self>, cancel: CancellationToken) {
        let _ = cancel;
        todo!("written by the library part")
    }

    /// Reads files and folders (recursively; hidden ones and unreadable kinds are skipped) and publishes one generation
    /// for all of them. A file's source name is its path relative to the folder that was given, or its own name. Sources
    /// that an earlier call took from the same roots and whose files are gone are deleted (undo works) when `prune`.
    ///
    /// # Errors
    /// If a root does not exist or storage fails; a file that cannot be read is in the report instead.
    pub async fn ingest_paths(
        &self,
        roots: &[PathBuf],
        prune: bool,
        progress: &(dyn Fn(Stage) + Sync),
    ) -> Result<FolderReport, LibraryError> {
        let _ = (roots, prune, progress);
        todo!("written by the library part")
    }

    /// Follows files and folders until `cancel` fires: changes are gathered for a moment, then ingested like
    /// [`Library::ingest_paths`] with pruning, and each report is given to `report`.
    ///
    /// # Errors
    /// If a root cannot be watched.
    pub async fn watch(
        self: Arc<Self>,
        roots: Vec<PathBuf>,
        report: Box<dyn Fn(FolderReport) + Send + Sync>,
        cancel: CancellationToken,
    ) -> Result<(), LibraryError> {
        let _ = (roots, report, cancel);
        todo!("written by the library part")
    }

    /// Every source.
    ///
    /// # Errors
    /// If storage fails.
    pub async fn sources(&self) -> Result<Vec<SourceSummary>, LibraryError> {
        todo!("written by the library part")
    }

    /// One source with outline, versions, and the difference between its two newest versions.
    ///
    /// # Errors
    /// [`LibraryError::SourceNotFound`].
    pub async fn source(&self, name: &SourceName, request_id: &RequestId) -> Result<SourceDetail, LibraryError> {
        let _ = (name, request_id);
        todo!("written by the library part")
    }

    /// Deletes a source: it stops answering before this returns, and can be brought back for a while.
    ///
    /// # Errors
    /// [`LibraryError::SourceNotFound`].
    pub async fn delete(&self, name: &SourceName, request_id: &RequestId) -> Result<DeleteResult, LibraryError> {
        let _ = (name, request_id);
        todo!("written by the library part")
    }

    /// Brings a deleted source back: it answers when this returns.
    ///
    /// # Errors
    /// [`LibraryError::NothingToUndo`].
    pub async fn undo_delete(&self, name: &SourceName, request_id: &RequestId) -> Result<UndoResult, LibraryError> {
        let _ = (name, request_id);
        todo!("written by the library part")
    }

    /// Checks a path given by a client against the documents root: relative, no climbing, no link that leaves it.
    ///
    /// # Errors
    /// [`LibraryError::InvalidPath`] or [`LibraryError::FileNotFound`].
    pub fn resolve_below(root: Option<&Path>, path: &str) -> Result<PathBuf, LibraryError> {
        let _ = (root, path);
        todo!("written by the library part")
    }
}
