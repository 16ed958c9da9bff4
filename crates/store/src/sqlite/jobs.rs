//! Ingestion jobs.

use async_trait::async_trait;
use bylaw_contract::{
    JobId, Timestamp,
    documents::{IngestJob, JobError, JobStatus},
};
use bylaw_library::{JobRecord, JobStore, StoreError};
use sqlx::{Row, sqlite::SqliteRow};

use super::{
    SqliteStore,
    columns::{Failure, from_integer, from_json, from_optional_word, from_text, from_word, integer, word},
    failed,
};

#[async_trait]
impl JobStore for SqliteStore {
    async fn add(&self, record: &JobRecord) -> Result<(), StoreError> {
        let JobRecord { job, updated_at } = record;
        let written = async {
            sqlx::query(
                "INSERT INTO jobs (id, status, source, path, stage, percent, chunks, effect, warnings, elapsed_ms,
                   error_code, error_message, created_at, updated_at)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )
            .bind(job.job_id.as_str())
            .bind(word(&job.status)?)
            .bind(job.source.as_str())
            .bind(job.path.as_str())
            .bind(job.stage.as_str())
            .bind(i64::from(job.percent))
            .bind(integer(job.chunks)?)
            .bind(job.effect.as_ref().map(word).transpose()?)
            .bind(serde_json::to_string(&job.warnings)?)
            .bind(job.elapsed_ms)
            .bind(job.error.as_ref().map(|error| error.code.as_str()))
            .bind(job.error.as_ref().map(|error| error.message.as_str()))
            .bind(job.created_at.0)
            .bind(updated_at.0)
            .execute(&self.writer)
            .await?;
            Ok(())
        };
        written.await.map_err(|error: Failure| failed("storing a job", error))
    }

    async fn update(&self, record: &JobRecord) -> Result<(), StoreError> {
        let JobRecord { job, updated_at } = record;
        let written = async {
            sqlx::query(
                "UPDATE jobs SET status = ?, source = ?, path = ?, stage = ?, percent = ?, chunks = ?, effect = ?,
                   warnings = ?, elapsed_ms = ?, error_code = ?, error_message = ?, created_at = ?, updated_at = ?
                 WHERE id = ?",
            )
            .bind(word(&job.status)?)
            .bind(job.source.as_str())
            .bind(job.path.as_str())
            .bind(job.stage.as_str())
            .bind(i64::from(job.percent))
            .bind(integer(job.chunks)?)
            .bind(job.effect.as_ref().map(word).transpose()?)
            .bind(serde_json::to_string(&job.warnings)?)
            .bind(job.elapsed_ms)
            .bind(job.error.as_ref().map(|error| error.code.as_str()))
            .bind(job.error.as_ref().map(|error| error.message.as_str()))
            .bind(job.created_at.0)
            .bind(updated_at.0)
            .bind(job.job_id.as_str())
            .execute(&self.writer)
            .await?;
            Ok(())
        };
        written.await.map_err(|error: Failure| failed("updating a job", error))
    }

    async fn job(&self, id: &JobId) -> Result<Option<JobRecord>, StoreError> {
        let read = async {
            sqlx::query("SELECT * FROM jobs WHERE id = ?")
                .bind(id.as_str())
                .fetch_optional(&self.readers)
                .await?
                .as_ref()
                .map(job_record)
                .transpose()
        };
        read.await.map_err(|error: Failure| failed("reading a job", error))
    }

    async fn newest(&self, limit: u32) -> Result<Vec<JobRecord>, StoreError> {
        let read = async {
            sqlx::query("SELECT * FROM jobs ORDER BY sequence DESC LIMIT ?")
                .bind(i64::from(limit))
                .fetch_all(&self.readers)
                .await?
                .iter()
                .map(job_record)
                .collect::<Result<Vec<_>, Failure>>()
        };
        read.await.map_err(|error: Failure| failed("reading the newest jobs", error))
    }

    async fn unfinished(&self) -> Result<Vec<JobRecord>, StoreError> {
        let read = async {
            sqlx::query("SELECT * FROM jobs WHERE status IN ('queued', 'running') ORDER BY sequence")
                .fetch_all(&self.readers)
                .await?
                .iter()
                .map(job_record)
                .collect::<Result<Vec<_>, Failure>>()
        };
        read.await.map_err(|error: Failure| failed("reading unfinished jobs", error))
    }

    async fn fail_unfinished(
        &self,
        except: &[JobId],
        error: &JobError,
        status: JobStatus,
    ) -> Result<usize, StoreError> {
        let written = async {
            let changed = sqlx::query(
                "UPDATE jobs SET status = ?, error_code = ?, error_message = ?, stage = ''
                 WHERE status IN ('queued', 'running') AND id NOT IN (SELECT value FROM json_each(?))",
            )
            .bind(word(&status)?)
            .bind(error.code.as_str())
            .bind(error.message.as_str())
            .bind(serde_json::to_string(except)?)
            .execute(&self.writer)
            .await?;
            Ok(usize::try_from(changed.rows_affected())?)
        };
        written.await.map_err(|error: Failure| failed("ending unfinished jobs", error))
    }
}

fn job_record(row: &SqliteRow) -> Result<JobRecord, Failure> {
    let error = match from_optional_word(row, "error_code")? {
        Some(code) => {
            Some(JobError { code, message: row.try_get::<Option<String>, _>("error_message")?.unwrap_or_default() })
        }
        None => None,
    };
    Ok(JobRecord {
        job: IngestJob {
            job_id: from_text(row, "id")?,
            status: from_word(row, "status")?,
            source: from_text(row, "source")?,
            path: row.try_get("path")?,
            stage: row.try_get("stage")?,
            percent: from_integer(row, "percent")?,
            chunks: from_integer(row, "chunks")?,
            effect: from_optional_word(row, "effect")?,
            warnings: from_json(row, "warnings")?,
            elapsed_ms: row.try_get("elapsed_ms")?,
            error,
            created_at: Timestamp(row.try_get("created_at")?),
        },
        updated_at: Timestamp(row.try_get("updated_at")?),
    })
}
