//! Ingestion jobs: accepted durably, done one after another, done again after a crash.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bylaw_contract::{
    JobId, SourceName,
    documents::{IngestJob, JobEffect, JobError, JobStatus},
};
use bylaw_corpus::CorpusError;
use bylaw_retrieval::GenerationError;
use tokio::task;
use tokio_util::sync::CancellationToken;

use crate::{
    error::LibraryError,
    keep::{Kept, Library, Upload, Writing},
    publish::{Unpublished, to_the_end},
    reading::{self, Reading},
    store::JobRecord,
    uploads,
};

/// Jobs that share one generation at most. Bounds how long others wait for the right to write.
const BATCH_JOBS: usize = 32;
/// Bytes of uploads that share one generation, beyond the first.
const BATCH_BYTES: u64 = 32 * 1024 * 1024;
/// How long the work rests after storage failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Longest message of a failed job, in characters.
const MESSAGE_CHARACTERS: usize = 300;
/// Reading ends here, and indexing begins.
const READ_PERCENT: u8 = 50;

/// Jobs that are running, as they stand now; storage has them as they stood at the beginning of their stage.
#[derive(Default)]
pub(crate) struct Live(Mutex<HashMap<JobId, IngestJob>>);

impl Live {
    fn jobs(&self) -> MutexGuard<'_, HashMap<JobId, IngestJob>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn or(&self, stored: IngestJob) -> IngestJob {
        self.jobs().get(&stored.job_id).cloned().unwrap_or(stored)
    }
}

impl Library {
    /// Accepts a document: durable when this returns. [`Library::work`] does the rest.
    ///
    /// The disk bounds the number of queued jobs, since each keeps its bytes there.
    ///
    /// # Errors
    /// If the name's kind is not read, or the bytes cannot be stored.
    pub async fn submit(&self, source: SourceName, path: String, upload: Upload) -> Result<IngestJob, LibraryError> {
        let kept = Arc::clone(&self.kept);
        to_the_end("accepting a document", async move { kept.submit(source, path, upload).await }).await
    }

    /// One job.
    ///
    /// # Errors
    /// If storage fails.
    pub async fn job(&self, id: &JobId) -> Result<Option<IngestJob>, LibraryError> {
        let stored = self.kept.settings.jobs.job(id).await?;
        Ok(stored.map(|record| self.kept.live.or(record.job)))
    }

    /// The newest jobs first.
    ///
    /// # Errors
    /// If storage fails.
    pub async fn jobs(&self, limit: u32) -> Result<Vec<IngestJob>, LibraryError> {
        let stored = self.kept.settings.jobs.newest(limit).await?;
        Ok(stored.into_iter().map(|record| self.kept.live.or(record.job)).collect())
    }

    /// Does the queued jobs, one after another, those left over from a crash first, until `cancel` fires; a job that is
    /// running then is put back. Queued jobs that are ready together share one generation.
    ///
    /// A second call while one is working returns at once.
    pub async fn work(self: Arc<Self>, cancel: CancellationToken) {
        let kept = &self.kept;
        let Some(_claim) = kept.claim_work() else { return };
        while !cancel.is_cancelled() {
            // Asked for before looking, so that a job accepted in between rings.
            let bell = kept.bell.notified();
            match kept.work_once(&cancel).await {
                Ok(true) => {}
                Ok(false) => {
                    tokio::select! {
                        () = bell => {}
                        () = cancel.cancelled() => {}
                    }
                }
                Err(error) => {
                    tracing::error!(error = error.in_one_line(MESSAGE_CHARACTERS), "ingestion jobs cannot go on");
                    tokio::select! {
                        () = tokio::time::sleep(AFTER_FAILURE) => {}
                        () = cancel.cancelled() => {}
                    }
                }
            }
        }
    }
}

/// A job under way.
struct Running {
    record: JobRecord,
    /// When it began, on the clock that never goes back.
    began: Duration,
}

fn is_cancelled(error: &LibraryError) -> bool {
    matches!(error, LibraryError::Index(GenerationError::Cancelled))
}

impl Kept {
    async fn submit(&self, source: SourceName, path: String, upload: Upload) -> Result<IngestJob, LibraryError> {
        self.permit()?;
        if !bylaw_corpus::is_readable(source.as_str()) {
            return Err(CorpusError::UnsupportedFormat { name: source.to_string() }.into());
        }
        let settings = &self.settings;
        let now = settings.clock.now();
        let job = IngestJob {
            job_id: JobId::mint(&*settings.random),
            status: JobStatus::Queued,
            source: source.clone(),
            path,
            stage: String::new(),
            percent: 0,
            chunks: 0,
            effect: None,
            warnings: Vec::new(),
            elapsed_ms: None,
            error: None,
            created_at: now,
        };
        let (directory, id) = (settings.directory.clone(), job.job_id.clone());
        task::spawn_blocking(move || uploads::store(&directory, &id, &source, upload))
            .await
            .unwrap_or(Err(LibraryError::Internal { doing: "storing the document" }))?;
        let record = JobRecord { job, updated_at: now };
        if let Err(error) = settings.jobs.add(&record).await {
            uploads::remove(&settings.directory, &record.job.job_id);
            return Err(error.into());
        }
        self.withheld().retain(|(name, _)| *name != record.job.source);
        self.bell.notify_one();
        Ok(record.job)
    }

    /// Does the jobs that are ready. Whether there were any.
    async fn work_once(&self, cancel: &CancellationToken) -> Result<bool, LibraryError> {
        let batch = self.next_batch().await?;
        if batch.is_empty() {
            return Ok(false);
        }
        let mut writing = tokio::select! {
            writing = self.begin() => writing?,
            () = cancel.cancelled() => return Ok(true),
        };
        let done = self.work_batch(batch, &mut writing, cancel).await;
        if done.is_err() {
            // Storage failed underway: what was shown of these jobs is not true any more.
            self.live.jobs().clear();
        }
        done.map(|()| true)
    }

    async fn next_batch(&self) -> Result<Vec<JobRecord>, LibraryError> {
        let mut bytes = 0_u64;
        let mut batch = self.settings.jobs.unfinished().await?;
        let mut most = 0;
        for record in batch.iter().take(BATCH_JOBS) {
            let upload = self.settings.directory.upload(&record.job.job_id);
            bytes = bytes.saturating_add(std::fs::metadata(upload).map_or(0, |upload| upload.len()));
            if most > 0 && bytes > BATCH_BYTES {
                break;
            }
            most += 1;
        }
        batch.truncate(most);
        Ok(batch)
    }

    async fn work_batch(
        &self,
        batch: Vec<JobRecord>,
        writing: &mut Writing<'_>,
        cancel: &CancellationToken,
    ) -> Result<(), LibraryError> {
        let mut pending = Vec::new();
        let mut changes = Unpublished::default();
        for record in batch {
            if cancel.is_cancelled() {
                break;
            }
            let mut running = self.start(record).await?;
            match self.read(&mut running, &mut changes, cancel).await {
                Ok(()) => pending.push(running),
                Err(error) if is_cancelled(&error) => self.put_back(running).await?,
                Err(error) => self.fail(running, &error).await?,
            }
        }
        if pending.is_empty() {
            return Ok(());
        }
        let waiting: Vec<JobId> = pending.iter().map(|running| running.record.job.job_id.clone()).collect();
        let published = self
            .publish(writing, changes, cancel, &|progress| {
                let part = (progress.done * usize::from(100 - READ_PERCENT)).checked_div(progress.total).unwrap_or(0);
                let percent = READ_PERCENT.saturating_add(u8::try_from(part).unwrap_or(0)).min(99);
                let mut live = self.live.jobs();
                for id in &waiting {
                    if let Some(job) = live.get_mut(id) {
                        job.percent = percent;
                    }
                }
            })
            .await;
        for running in pending {
            match &published {
                Ok(()) => self.succeed(running).await?,
                Err(error) if is_cancelled(error) => self.put_back(running).await?,
                Err(error) => self.fail(running, error).await?,
            }
        }
        Ok(())
    }

    async fn start(&self, mut record: JobRecord) -> Result<Running, LibraryError> {
        // A job that a crash interrupted keeps the effect it had announced: its version may be stored already.
        if record.job.status == JobStatus::Queued {
            record.job.effect = None;
        }
        record.job.status = JobStatus::Running;
        "reading".clone_into(&mut record.job.stage);
        record.job.percent = 0;
        let mut running = Running { record, began: self.settings.clock.elapsed() };
        self.save(&mut running).await?;
        Ok(running)
    }

    /// Reads the document and stores its version, if it is a new one.
    async fn read(
        &self,
        running: &mut Running,
        changes: &mut Unpublished,
        cancel: &CancellationToken,
    ) -> Result<(), LibraryError> {
        let settings = &self.settings;
        let (source, id) = (running.record.job.source.clone(), running.record.job.job_id.clone());
        let before = settings.documents.source(&source).await?;
        let answering = before.as_ref().filter(|record| record.deleted_at.is_none()).map(|record| &record.current);
        let known = answering.map(|current| current.version.clone());
        let is_new = answering.is_none();
        let path = settings.directory.upload(&id);
        // Only waiting for the reading is given up; what concerns storage is done to its end.
        let reading = tokio::select! {
            biased;
            reading = reading::read(source.clone(), path, known, settings.clock.now()) => reading?,
            () = cancel.cancelled() => return Err(GenerationError::Cancelled.into()),
        };
        let job = &mut running.record.job;
        "indexing".clone_into(&mut job.stage);
        job.percent = READ_PERCENT;
        match reading {
            Reading::Known => {
                let current = answering.into_iter().next();
                job.chunks = current.map_or(0, |current| current.articles);
                job.warnings = current.map(|current| current.warnings.clone()).unwrap_or_default();
                job.effect = job.effect.or(Some(JobEffect::Unchanged));
                self.save(running).await
            }
            Reading::New(version) => {
                job.chunks = version.record.articles;
                job.warnings.clone_from(&version.record.warnings);
                job.effect = Some(if is_new { JobEffect::Added } else { JobEffect::Updated });
                // Before the version, so that after a crash between the two the effect is known.
                self.save(running).await?;
                changes.changes(&source, before);
                settings.documents.put_version(&source, &version, None).await?;
                Ok(())
            }
        }
    }

    async fn succeed(&self, mut running: Running) -> Result<(), LibraryError> {
        let job = &mut running.record.job;
        job.status = JobStatus::Done;
        job.percent = 100;
        self.end(running).await
    }

    async fn fail(&self, mut running: Running, error: &LibraryError) -> Result<(), LibraryError> {
        let job = &mut running.record.job;
        tracing::warn!(job = %job.job_id, source = %job.source, error = error.in_one_line(MESSAGE_CHARACTERS), "ingestion failed");
        job.status = JobStatus::Failed;
        job.effect = None;
        job.error = Some(JobError { code: error.code(), message: error.in_one_line(MESSAGE_CHARACTERS) });
        self.end(running).await
    }

    async fn end(&self, mut running: Running) -> Result<(), LibraryError> {
        let elapsed = self.settings.clock.elapsed().saturating_sub(running.began);
        running.record.job.elapsed_ms = Some(elapsed.as_secs_f64() * 1000.0);
        running.record.job.stage.clear();
        self.save(&mut running).await?;
        // After the row: bytes without an unfinished job are swept, a job without bytes would be lost.
        uploads::remove(&self.settings.directory, &running.record.job.job_id);
        self.live.jobs().remove(&running.record.job.job_id);
        Ok(())
    }

    async fn put_back(&self, mut running: Running) -> Result<(), LibraryError> {
        let job = &mut running.record.job;
        job.status = JobStatus::Queued;
        job.percent = 0;
        job.stage.clear();
        job.effect = None;
        self.save(&mut running).await?;
        self.live.jobs().remove(&running.record.job.job_id);
        Ok(())
    }

    async fn save(&self, running: &mut Running) -> Result<(), LibraryError> {
        running.record.updated_at = self.settings.clock.now();
        let job = &running.record.job;
        self.live.jobs().insert(job.job_id.clone(), job.clone());
        self.settings.jobs.update(&running.record).await?;
        Ok(())
    }
}
