//! A library in a folder of its own, with a clock that only moves when told to.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use bylaw_contract::{
    Clock, JobId, Randomness, RequestId, SourceName, Timestamp,
    documents::{IngestJob, JobStatus},
};
use bylaw_library::{DataDirectory, JobStore, Library, LibrarySettings};
use bylaw_retrieval::{Filter, Generation, Query, Vocabulary};
use bylaw_store::SqliteStore;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// How long deleted sources can be brought back, in milliseconds.
pub(crate) const UNDO_WINDOW: i64 = 1000;

/// A clock that stands still.
#[derive(Default)]
pub(crate) struct StillClock(AtomicI64);

impl StillClock {
    pub(crate) fn advance(&self, milliseconds: i64) {
        self.0.fetch_add(milliseconds, Ordering::SeqCst);
    }
}

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst).unsigned_abs())
    }
}

/// Bytes that are different each time.
#[derive(Default)]
struct Counting(AtomicU64);

impl Randomness for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let next = self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes();
        bytes.fill(0);
        let at = bytes.len().saturating_sub(next.len());
        bytes[at..].copy_from_slice(&next);
    }
}

/// A data directory, its database, and what else a library needs.
pub(crate) struct House {
    pub(crate) folder: TempDir,
    pub(crate) store: SqliteStore,
    pub(crate) clock: Arc<StillClock>,
    random: Arc<Counting>,
    vocabulary: Arc<Vocabulary>,
}

impl House {
    pub(crate) async fn new() -> Self {
        let folder = folder();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        let store = SqliteStore::open(&folder.path().join("data/bylaw.sqlite")).await.unwrap();
        let clock = Arc::new(StillClock::default());
        clock.advance(1_000_000);
        let vocabulary = Arc::new(Vocabulary::with_operator_file("test", "replace = true").unwrap());
        Self { folder, store, clock, random: Arc::default(), vocabulary }
    }

    pub(crate) fn directory(&self) -> DataDirectory {
        DataDirectory::new(self.folder.path().join("data"))
    }

    pub(crate) fn settings(&self) -> LibrarySettings {
        LibrarySettings {
            directory: self.directory(),
            undo_window: Duration::from_millis(UNDO_WINDOW.unsigned_abs()),
            vocabulary: Arc::clone(&self.vocabulary),
            documents: Arc::new(self.store.clone()),
            jobs: Arc::new(self.store.clone()),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            random: Arc::clone(&self.random) as Arc<dyn Randomness>,
        }
    }

    pub(crate) async fn open(&self) -> Arc<Library> {
        Library::open(self.settings()).await.unwrap()
    }

    pub(crate) fn jobs(&self) -> &dyn JobStore {
        &self.store
    }

    /// A path beside the data directory.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// Writes a file beside the data directory, with the folders above it.
    pub(crate) fn write(&self, relative: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// A folder for a test, in memory where the system has such a place: what is tested forces hundreds of writes to disk, and
/// a busy disk would be what is measured.
pub(crate) fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

pub(crate) fn name(text: &str) -> SourceName {
    SourceName::new(text).unwrap()
}

pub(crate) fn request() -> RequestId {
    RequestId::new("test").unwrap()
}

/// A rule document of `articles` articles that all say `word`.
pub(crate) fn rules(word: &str, articles: u32) -> String {
    (1..=articles).map(|number| format!("## 第 {number} 條\n\n員工{word}應依本條辦理。\n\n")).collect()
}

/// What answers: each source and the words of its first article.
pub(crate) fn answering(generation: &Generation) -> Vec<(String, String)> {
    let first = |source: &bylaw_retrieval::GenerationSource| generation.article(source.first).unwrap().text.clone();
    generation.sources().iter().map(|source| (source.name.to_string(), first(source))).collect()
}

/// Names of the sources that answer.
pub(crate) fn names(library: &Library) -> Vec<String> {
    library.generation().sources().iter().map(|source| source.name.to_string()).collect()
}

/// Sources whose articles are found for a question.
pub(crate) fn found(generation: &Generation, question: &str) -> Vec<String> {
    let query = Query { question, k: 10, filter: Filter::default(), follow_references: false };
    let mut sources: Vec<String> =
        generation.search(&query).unwrap().hits.into_iter().map(|hit| hit.article.id.source.to_string()).collect();
    sources.sort();
    sources.dedup();
    sources
}

/// Ingests paths and panics where that fails as a whole.
pub(crate) async fn ingest(library: &Library, roots: &[PathBuf], prune: bool) -> bylaw_library::FolderReport {
    library.ingest_paths(roots, prune, &|_| {}).await.unwrap()
}

/// Lets the library work until a job has ended, and returns it.
pub(crate) async fn ended(library: &Arc<Library>, id: &JobId) -> IngestJob {
    let cancel = CancellationToken::new();
    let work = tokio::spawn(Arc::clone(library).work(cancel.clone()));
    let job = until(async || {
        let job = library.job(id).await.unwrap().unwrap();
        matches!(job.status, JobStatus::Done | JobStatus::Failed).then_some(job)
    })
    .await;
    cancel.cancel();
    work.await.unwrap();
    job
}

/// Asks again and again until there is something; every question is a round through the runtime.
pub(crate) async fn until<T>(ask: impl AsyncFn() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(found) = ask().await {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(300), asking).await.expect("it happens in time")
}

/// Names of the entries of a folder.
pub(crate) fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
