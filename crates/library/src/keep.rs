//! The library itself: one owner of what is kept, and of which generation answers.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use bylaw_contract::documents::JobStatus;
use bylaw_contract::{Clock, ErrorCode, GenerationNumber, Randomness, SourceName, VersionId, documents::JobError};
use bylaw_retrieval::{BuildProgress, Generation, Vocabulary};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    error::LibraryError,
    generations::{self, Opened, Recipe},
    jobs::Live,
    layout::DataDirectory,
    lock::{LockHolder, ServiceLock, explain},
    paths,
    store::{DocumentStore, JobStore, SourceRecord},
    uploads,
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

/// Keeps documents and owns the generation that answers.
///
/// Whoever calls a method that changes something may stop waiting for it: the change is completed all the same.
pub struct Library {
    /// Shared with the tasks that complete changes.
    pub(crate) kept: Arc<Kept>,
}

/// The library's state.
pub(crate) struct Kept {
    pub(crate) settings: LibrarySettings,
    pub(crate) answering: ArcSwap<Generation>,
    access: Access,
    /// Held where the library changes something and its caller did not take the lock.
    own_lock: Mutex<Option<ServiceLock>>,
    /// Whoever changes what answers holds this from the first stored change to the published generation.
    writing: tokio::sync::Mutex<Opened>,
    pub(crate) live: Live,
    /// Rung when a job was accepted.
    pub(crate) bell: Notify,
    working: AtomicBool,
    /// Versions that a person deleted. A followed folder that still has them does not bring them back.
    withheld: Mutex<HashSet<(SourceName, VersionId)>>,
}

/// What a library may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// Change documents, as long as nobody else holds the lock.
    Write,
    /// Nothing is written, ever.
    Read,
}

/// The right to change what answers.
pub(crate) type Writing<'a> = tokio::sync::MutexGuard<'a, Opened>;

impl Library {
    /// Opens a library for reading and, if the caller holds the service lock, for writing. The newest complete generation
    /// that matches what is stored answers at once; if there is none, one is built.
    ///
    /// If another process holds the lock, the generation that it published last answers, and nothing can be changed. If
    /// nobody does, the library takes the lock itself when something is to be changed.
    ///
    /// # Errors
    /// See [`LibraryError`].
    pub async fn open(settings: LibrarySettings) -> Result<Arc<Self>, LibraryError> {
        let directory = &settings.directory;
        // Held until this returns, unless the caller holds it anyway.
        let mut _taken = None;
        if !ServiceLock::is_held_here(directory) {
            match ServiceLock::acquire(directory, &LockHolder::this_process()) {
                Ok(lock) => _taken = Some(lock),
                Err(locked @ LibraryError::Locked { .. }) => {
                    // A service that is just building its first generation has nothing to read yet.
                    return Self::open_reader(settings).await.map_err(|error| match error {
                        LibraryError::NothingIndexed { .. } => locked,
                        other => other,
                    });
                }
                Err(other) => return Err(other),
            }
        }
        clean(&settings).await?;
        let records = settings.documents.sources().await?;
        let expected = records.clone();
        let accept = move |generation: &Generation| generations::matches(generation, &expected);
        let found = generations::newest(directory, &settings.vocabulary, accept).await?;
        let generation = match found {
            Some(generation) => generation,
            None if records.is_empty() => Arc::new(Generation::empty(Arc::clone(&settings.vocabulary))),
            None => {
                let number = generations::next_number(directory, GenerationNumber(0))?;
                let (progress, _) = watch::channel(BuildProgress { done: 0, total: 0 });
                generations::build(recipe(&settings, records, number), progress, CancellationToken::new()).await?
            }
        };
        Ok(Self::new(settings, Access::Write, generation))
    }

    /// Opens a library for reading only, beside whoever changes it. It never writes and needs no lock. The newest
    /// published generation answers until [`Library::refresh`].
    ///
    /// # Errors
    /// [`LibraryError::NothingIndexed`] if there is no generation yet; see [`LibraryError`] for the rest.
    pub async fn open_reader(settings: LibrarySettings) -> Result<Arc<Self>, LibraryError> {
        let generation = generations::newest_for_reader(&settings.directory, &settings.vocabulary).await?;
        Ok(Self::new(settings, Access::Read, generation))
    }

    fn new(settings: LibrarySettings, access: Access, generation: Arc<Generation>) -> Arc<Self> {
        let mut opened = Opened::default();
        opened.remember(&generation);
        let kept = Kept {
            settings,
            answering: ArcSwap::new(generation),
            access,
            own_lock: Mutex::default(),
            writing: tokio::sync::Mutex::new(opened),
            live: Live::default(),
            bell: Notify::new(),
            working: AtomicBool::new(false),
            withheld: Mutex::default(),
        };
        Arc::new(Self { kept: Arc::new(kept) })
    }

    /// The generation that answers now. A query keeps the value it began with.
    #[must_use]
    pub fn generation(&self) -> Arc<Generation> {
        self.kept.generation()
    }

    /// In a library opened for reading: takes the newest generation if another process has published one. Whether it did.
    ///
    /// # Errors
    /// If the generations cannot be read; the old one keeps answering.
    pub async fn refresh(&self) -> Result<bool, LibraryError> {
        let kept = &self.kept;
        let answering = kept.generation().number();
        if kept.access == Access::Write {
            return Ok(false);
        }
        let directory = &kept.settings.directory;
        let newest = directory.published().map_err(LibraryError::io(directory.generations()))?.into_iter().next();
        if newest.is_none_or(|newest| newest <= answering) {
            return Ok(false);
        }
        let generation = generations::newest_for_reader(directory, &kept.settings.vocabulary).await?;
        let newer = generation.number() > answering;
        if newer {
            kept.answering.store(generation);
        }
        Ok(newer)
    }

    /// Checks a path given by a client against the documents root: relative, no climbing, no link that leaves it.
    ///
    /// # Errors
    /// [`LibraryError::InvalidPath`] or [`LibraryError::FileNotFound`].
    pub fn resolve_below(root: Option<&Path>, path: &str) -> Result<PathBuf, LibraryError> {
        paths::resolve_below(root, path)
    }
}

impl Kept {
    pub(crate) fn generation(&self) -> Arc<Generation> {
        self.answering.load_full()
    }

    /// Refuses what a library opened for reading, or beside another writer, must not do.
    pub(crate) fn permit(&self) -> Result<(), LibraryError> {
        let directory = &self.settings.directory;
        if self.access == Access::Read {
            let folder = directory.root().to_owned();
            return Err(match ServiceLock::holder(directory) {
                Some(holder) => LibraryError::Locked { folder, holder },
                None => LibraryError::ReadOnly { folder },
            });
        }
        let mut own = self.own_lock.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_none() && !ServiceLock::is_held_here(directory) {
            *own = Some(ServiceLock::acquire(directory, &LockHolder::this_process())?);
        }
        Ok(())
    }

    /// Waits for the right to change what answers.
    pub(crate) async fn begin(&self) -> Result<Writing<'_>, LibraryError> {
        self.permit()?;
        Ok(self.writing.lock().await)
    }

    /// Versions that a person deleted.
    pub(crate) fn withheld(&self) -> MutexGuard<'_, HashSet<(SourceName, VersionId)>> {
        self.withheld.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Claims the work on jobs, which one task does at a time, until the claim is dropped.
    pub(crate) fn claim_work(&self) -> Option<WorkClaim<'_>> {
        (!self.working.swap(true, Ordering::AcqRel)).then_some(WorkClaim(&self.working))
    }
}

/// The work on jobs, claimed. Given back also where that work panics.
pub(crate) struct WorkClaim<'a>(&'a AtomicBool);

impl Drop for WorkClaim<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// A build of the generation `number` from `records`.
pub(crate) fn recipe(settings: &LibrarySettings, records: Vec<SourceRecord>, number: GenerationNumber) -> Recipe {
    Recipe {
        directory: settings.directory.clone(),
        vocabulary: Arc::clone(&settings.vocabulary),
        documents: Arc::clone(&settings.documents),
        records,
        number,
    }
}

/// Puts a data directory in order that nobody else writes to: what a crash left behind goes.
async fn clean(settings: &LibrarySettings) -> Result<(), LibraryError> {
    let directory = &settings.directory;
    for folder in [directory.generations(), directory.uploads()] {
        std::fs::create_dir_all(folder).map_err(|error| LibraryError::DataDirectory {
            folder: directory.root().to_owned(),
            problem: explain(&error),
        })?;
    }
    generations::remove_unfinished(directory);
    Opened::default().remove_old(directory);
    let window = i64::try_from(settings.undo_window.as_millis()).unwrap_or(i64::MAX);
    let now = settings.clock.now();
    settings.documents.purge(bylaw_contract::Timestamp(now.0.saturating_sub(window))).await?;
    let unfinished: Vec<_> = settings.jobs.unfinished().await?.into_iter().map(|record| record.job.job_id).collect();
    let with_bytes = uploads::sweep(directory, &unfinished);
    if with_bytes.len() < unfinished.len() {
        let lost = JobError {
            code: ErrorCode::StorageFailed,
            message: "the bytes of this document were lost; send it again".to_owned(),
        };
        settings.jobs.fail_unfinished(&with_bytes, &lost, JobStatus::Failed).await?;
    }
    Ok(())
}
