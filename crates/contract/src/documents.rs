//! `/documents`: bringing rule documents in, as jobs.

use serde::{Deserialize, Serialize};

use crate::{
    error::ErrorCode,
    ids::{JobId, SourceName},
    time::Timestamp,
};

/// Ingest a file below the configured documents root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct IngestRequest {
    /// Path relative to the documents root.
    pub path: String,
    /// Read scanned pages. Not available yet; `true` is refused.
    #[serde(default)]
    pub ocr: bool,
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// Accepted and durable, not begun.
    Queued,
    /// Being read.
    Running,
    /// Its articles answer.
    Done,
    /// It changed nothing; `error` says why.
    Failed,
}

/// What a finished job did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobEffect {
    /// The source is new.
    Added,
    /// The source has a new version.
    Updated,
    /// The same bytes were there already.
    Unchanged,
}

/// One ingestion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct IngestJob {
    /// Its id.
    #[schema(value_type = String)]
    pub job_id: JobId,
    /// Where it stands.
    pub status: JobStatus,
    /// The source it is about.
    #[schema(value_type = String)]
    pub source: SourceName,
    /// The path or file name that was given.
    pub path: String,
    /// What is being done: `reading`, `indexing`, or empty.
    pub stage: String,
    /// Work done so far, 0–100.
    pub percent: u8,
    /// Number of articles, once known.
    pub chunks: usize,
    /// What it did, once done.
    pub effect: Option<JobEffect>,
    /// What the extractor had to say.
    pub warnings: Vec<String>,
    /// Milliseconds from start to end, once ended.
    pub elapsed_ms: Option<f64>,
    /// Why it failed, at most 300 characters.
    pub error: Option<JobError>,
    /// When it was accepted.
    pub created_at: Timestamp,
}

/// Why a job failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct JobError {
    /// A stable code.
    pub code: ErrorCode,
    /// One sentence that says what to do.
    pub message: String,
}
