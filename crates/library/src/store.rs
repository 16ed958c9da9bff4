//! The ports to storage. Each method is one atomic operation.

use async_trait::async_trait;
use bylaw_contract::{
    JobId, SourceName, Timestamp, VersionId,
    documents::{IngestJob, JobError, JobStatus},
};
use bylaw_corpus::Document;

/// Storage failed.
#[derive(Debug, thiserror::Error)]
#[error("{operation} failed")]
pub struct StoreError {
    /// What was being done.
    pub operation: &'static str,
    /// Why.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// A source and the version of it that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRecord {
    /// Its name.
    pub name: SourceName,
    /// The version that answers.
    pub current: VersionRecord,
    /// When it was deleted, if it is.
    pub deleted_at: Option<Timestamp>,
    /// The file or folder it was last taken from; `None` for uploads.
    pub origin: Option<String>,
}

/// One version, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRecord {
    /// Its id.
    pub version: VersionId,
    /// When it was read.
    pub ingested_at: Timestamp,
    /// Number of articles.
    pub articles: usize,
    /// The extractor.
    pub extractor: String,
    /// What the extractor had to say.
    pub warnings: Vec<String>,
}

/// One version with its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVersion {
    /// Its description.
    pub record: VersionRecord,
    /// The document as read.
    pub document: Document,
}

/// Documents, their versions, and the number of the generation that answers.
#[async_trait]
pub trait DocumentStore: Send + Sync {
    /// Every source that is not deleted, by name.
    async fn sources(&self) -> Result<Vec<SourceRecord>, StoreError>;
    /// One source, deleted or not.
    async fn source(&self, name: &SourceName) -> Result<Option<SourceRecord>, StoreError>;
    /// The versions of a source, the one that last began to answer first.
    async fn versions(&self, name: &SourceName) -> Result<Vec<VersionRecord>, StoreError>;
    /// One version with its document.
    async fn version(&self, name: &SourceName, version: &VersionId) -> Result<Option<StoredVersion>, StoreError>;
    /// Adds a version and makes it the one that answers; brings a deleted source back. Adding a version that exists only
    /// makes it current. `origin` is the file or folder it was taken from; `None` for an upload.
    async fn put_version(
        &self,
        name: &SourceName,
        version: &StoredVersion,
        origin: Option<&str>,
    ) -> Result<(), StoreError>;
    /// Marks a source deleted. Whether there was one that was not.
    async fn delete(&self, name: &SourceName, at: Timestamp) -> Result<bool, StoreError>;
    /// Brings a source back that was deleted at or after `not_before`. Whether there was one.
    async fn undo_delete(&self, name: &SourceName, not_before: Timestamp) -> Result<bool, StoreError>;
    /// Takes the newest version back because it could not be published: the source is again what `previous` says, or
    /// forgotten without one. The version stays among the old ones.
    async fn withdraw(&self, name: &SourceName, previous: Option<&SourceRecord>) -> Result<(), StoreError>;
    /// Remembers where a source was taken from. Nothing happens if there is no such source.
    async fn set_origin(&self, name: &SourceName, origin: Option<&str>) -> Result<(), StoreError>;
    /// Forgets sources deleted before `before`, with their versions. How many.
    async fn purge(&self, before: Timestamp) -> Result<usize, StoreError>;
    /// A number that grows with every change of the set of answering versions, also from other processes.
    async fn revision(&self) -> Result<u64, StoreError>;
}

/// A job as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    /// What is shown of it.
    pub job: IngestJob,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Ingestion jobs. They survive a restart.
#[async_trait]
pub trait JobStore: Send + Sync {
    /// Adds a queued job.
    async fn add(&self, record: &JobRecord) -> Result<(), StoreError>;
    /// Overwrites a job.
    async fn update(&self, record: &JobRecord) -> Result<(), StoreError>;
    /// One job.
    async fn job(&self, id: &JobId) -> Result<Option<JobRecord>, StoreError>;
    /// The newest jobs first, at most `limit`.
    async fn newest(&self, limit: u32) -> Result<Vec<JobRecord>, StoreError>;
    /// Jobs that have not ended, oldest first: after a crash, those that were queued or running.
    async fn unfinished(&self) -> Result<Vec<JobRecord>, StoreError>;
    /// Ends every unfinished job except those listed, with `error`. How many.
    async fn fail_unfinished(&self, except: &[JobId], error: &JobError, status: JobStatus)
    -> Result<usize, StoreError>;
}
