//! `bylaw ingest`: bring documents in, through the running service if there is one.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use bylaw_contract::{
    ErrorCode, SourceName,
    documents::{IngestJob, JobEffect, JobStatus},
};
use bylaw_library::{FilesBelow, FolderReport, LibraryError, LockHolder, ServiceLock, Stage};
use serde::Serialize;

use crate::{
    args::Ingest,
    assemble::{self, Access, Assembly},
    client::Client,
    config::Settings,
    dataset::DataSet,
    failure::{Failure, chain},
    progress::Progress,
    terminal::{self, Format},
};

/// Who changes the documents of a data set.
pub(crate) enum Writer {
    /// The service that runs on it.
    Service(Client),
    /// This process, which holds the lock.
    InProcess {
        /// The opened data set.
        assembly: Box<Assembly>,
        /// Held until the work is done.
        _lock: ServiceLock,
    },
}

/// The running service of a data set if there is one; else this process, with the lock taken.
pub(crate) async fn writer(data: &DataSet, settings: &Settings) -> Result<Writer, Failure> {
    if let Some(LockHolder { address: Some(address), .. }) = ServiceLock::holder(&data.directory) {
        return Ok(Writer::Service(Client::new(&format!("http://{address}"), settings.client_key.as_ref())?));
    }
    let lock = ServiceLock::acquire(&data.directory, &LockHolder { pid: std::process::id(), address: None })?;
    let assembly = Box::new(assemble::open(settings, data, Access::Write).await?);
    Ok(Writer::InProcess { assembly, _lock: lock })
}

pub(crate) async fn run(arguments: Ingest, settings: &Settings, format: Format) -> Result<ExitCode, Failure> {
    let report = match writer(&DataSet::to_write(settings)?, settings).await? {
        Writer::InProcess { assembly, .. } => Report::from(ingest(&assembly, &arguments.paths).await?),
        Writer::Service(client) => upload(&client, &arguments.paths).await?,
    };
    report.show(format);
    Ok(if report.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(report.exit_code()) })
}

/// Ingests in this process, with a progress bar.
pub(crate) async fn ingest(assembly: &Assembly, paths: &[PathBuf]) -> Result<FolderReport, Failure> {
    let progress = Progress::new();
    Ok(assembly.library.ingest_paths(paths, false, &|stage| progress.show(&stage)).await?)
}

async fn upload(client: &Client, paths: &[PathBuf]) -> Result<Report, Failure> {
    let files = FilesBelow::list(paths)?;
    let progress = Progress::new();
    let mut report = Report::default();
    let total = files.found.len();
    for (done, (source, path)) in files.found.into_iter().enumerate() {
        progress.show(&Stage::Reading { source: source.clone(), done, total });
        match client.upload(&path, &source, &|_job| ()).await {
            Ok(job) => report.add_job(&path, job),
            Err(failure) => report.failed.push(FailedFile::new(&path, failure.code, failure.message)),
        }
    }
    report.skipped = files.skipped;
    report.failed.extend(files.failed.into_iter().map(FailedFile::from));
    Ok(report)
}

/// What an ingestion did, as it is shown.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    added: Vec<SourceName>,
    updated: Vec<SourceName>,
    unchanged: Vec<SourceName>,
    deleted: Vec<SourceName>,
    failed: Vec<FailedFile>,
    skipped: Vec<PathBuf>,
}

#[derive(Debug, Serialize)]
struct FailedFile {
    path: String,
    code: ErrorCode,
    message: String,
}

impl FailedFile {
    fn new(path: &Path, code: ErrorCode, message: String) -> Self {
        Self { path: path.display().to_string(), code, message }
    }
}

impl From<(PathBuf, LibraryError)> for FailedFile {
    fn from((path, error): (PathBuf, LibraryError)) -> Self {
        Self::new(&path, error.code(), chain(&error))
    }
}

impl From<FolderReport> for Report {
    fn from(report: FolderReport) -> Self {
        Self {
            added: report.added,
            updated: report.updated,
            unchanged: report.unchanged,
            deleted: report.deleted,
            failed: report.failed.into_iter().map(FailedFile::from).collect(),
            skipped: report.skipped,
        }
    }
}

impl Report {
    fn add_job(&mut self, path: &Path, job: IngestJob) {
        match (job.status, job.effect, job.error) {
            (JobStatus::Done, Some(JobEffect::Added), _) => self.added.push(job.source),
            (JobStatus::Done, Some(JobEffect::Updated), _) => self.updated.push(job.source),
            (JobStatus::Done, _, _) => self.unchanged.push(job.source),
            (_, _, Some(error)) => self.failed.push(FailedFile::new(path, error.code, error.message)),
            (_, _, None) => {
                let message = "the job ended without a reason".to_owned();
                self.failed.push(FailedFile::new(path, ErrorCode::InternalError, message));
            }
        }
    }

    fn exit_code(&self) -> u8 {
        self.failed.first().map_or(0, |file| crate::failure::exit_code(file.code))
    }

    /// Writes the report.
    pub(crate) fn show(&self, format: Format) {
        if format == Format::Json {
            return terminal::json(self);
        }
        for (what, sources) in [("added", &self.added), ("updated", &self.updated), ("unchanged", &self.unchanged)] {
            sources.iter().for_each(|source| terminal::line(format!("{what:<10} {source}")));
        }
        self.show_problems();
    }

    /// Writes what changed while folders are followed.
    pub(crate) fn show_changes(&self) {
        for (what, sources) in [("added", &self.added), ("updated", &self.updated), ("deleted", &self.deleted)] {
            sources.iter().for_each(|source| terminal::note(format!("{what:<10} {source}")));
        }
        self.show_problems();
    }

    /// Writes what a person has to know even if they did not ask.
    pub(crate) fn show_problems(&self) {
        for file in &self.failed {
            // The message names the file already where the failure is about its content.
            let place =
                if file.message.contains(file.path.as_str()) { String::new() } else { format!("{}: ", file.path) };
            terminal::note(format!("failed     {place}{} [{}]", file.message, file.code.as_str()));
        }
        if !self.skipped.is_empty() {
            let count = self.skipped.len();
            let first = self.skipped.first().map(|path| path.display().to_string()).unwrap_or_default();
            terminal::note(format!("skipped    {count} of a kind that is not read (first: {first})"));
        }
    }
}
