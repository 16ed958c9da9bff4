//! Keeping rule documents: versions, ingestion jobs, index generations.
//!
//! ```text
//!   bytes ─► job (durable) ─► corpus::read ─► version (stored) ─► generation built beside the old one ─► swapped
//!                                  └ fails: the old version keeps answering, the job says why
//! ```
//!
//! A data directory has one writer, who holds the [`ServiceLock`]. Readers need no lock: a generation is immutable and
//! published by renaming a folder. It knows nothing of HTTP or SQL; storage is behind [`DocumentStore`] and [`JobStore`].

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::allow_attributes, reason = "a failing test should panic and say where")
)]

mod error;
mod folders;
mod generations;
mod ingest;
mod jobs;
mod keep;
mod layout;
mod lock;
mod paths;
mod publish;
mod reading;
mod sources;
mod store;
mod uploads;
mod watch;

pub use error::LibraryError;
pub use folders::FilesBelow;
pub use ingest::{FolderReport, Stage};
pub use keep::{Library, LibrarySettings, Upload};
pub use layout::DataDirectory;
pub use lock::{LockHolder, ServiceLock};
pub use store::{DocumentStore, JobRecord, JobStore, SourceRecord, StoreError, StoredVersion, VersionRecord};
