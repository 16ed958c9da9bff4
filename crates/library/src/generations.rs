//! Index generations on disk: built aside, made durable, published by renaming a folder.

use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::{Arc, Weak},
};

use bylaw_contract::GenerationNumber;
use bylaw_retrieval::{BuildProgress, Generation, GenerationError, SourceInput, Vocabulary};
use tokio::{runtime::Handle, sync::watch, task};
use tokio_util::sync::CancellationToken;

use crate::{
    error::LibraryError,
    layout::{BUILDING, DataDirectory},
    store::{DocumentStore, SourceRecord, StoreError},
};

/// How many published generations stay on disk: the newest, and the one that other processes may be reading.
const KEPT: usize = 2;
/// How often a reader looks again when the generation it wanted to open has just been replaced.
const READER_ATTEMPTS: usize = 5;

/// What a generation is built from.
pub(crate) struct Recipe {
    pub(crate) directory: DataDirectory,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) documents: Arc<dyn DocumentStore>,
    /// The sources that are to answer, by name.
    pub(crate) records: Vec<SourceRecord>,
    pub(crate) number: GenerationNumber,
}

/// Generations that this process opened, so that folders it still reads are not removed.
#[derive(Default)]
pub(crate) struct Opened(Vec<(GenerationNumber, Weak<Generation>)>);

impl Opened {
    /// Remembers an opened generation.
    pub(crate) fn remember(&mut self, generation: &Arc<Generation>) {
        self.0.push((generation.number(), Arc::downgrade(generation)));
    }

    /// Removes old generations that nobody here reads. Never fails: what stays is removed another time.
    pub(crate) fn remove_old(&mut self, directory: &DataDirectory) {
        self.0.retain(|(_, generation)| generation.strong_count() > 0);
        for number in directory.published().unwrap_or_default().into_iter().skip(KEPT) {
            if self.0.iter().all(|(opened, _)| *opened != number)
                && let Err(error) = fs::remove_dir_all(directory.generation(number))
            {
                tracing::warn!(%number, %error, "an old index generation cannot be removed");
            }
        }
    }
}

/// Whether a generation was built from exactly these versions.
pub(crate) fn matches(generation: &Generation, records: &[SourceRecord]) -> bool {
    let built = generation.sources();
    built.len() == records.len()
        && built
            .iter()
            .zip(records)
            .all(|(built, stored)| built.name == stored.name && built.version == stored.current.version)
}

/// Builds, publishes and opens a generation. What is left of a failed build is removed.
pub(crate) async fn build(
    recipe: Recipe,
    progress: watch::Sender<BuildProgress>,
    cancel: CancellationToken,
) -> Result<Arc<Generation>, LibraryError> {
    let runtime = Handle::current();
    task::spawn_blocking(move || {
        let building = recipe.directory.building(recipe.number);
        let built = build_aside(&recipe, &building, &runtime, &progress, &cancel);
        if built.is_err() {
            // A build that cannot be removed is ignored by readers and removed when the library opens.
            let _ = fs::remove_dir_all(&building);
        }
        built?;
        let folder = recipe.directory.generation(recipe.number);
        Ok(Arc::new(Generation::open(&folder, recipe.vocabulary)?))
    })
    .await
    .map_err(|_| LibraryError::Internal { doing: "building the index" })?
}

fn build_aside(
    recipe: &Recipe,
    building: &Path,
    runtime: &Handle,
    progress: &watch::Sender<BuildProgress>,
    cancel: &CancellationToken,
) -> Result<(), LibraryError> {
    let generations = recipe.directory.generations();
    fs::create_dir_all(&generations).map_err(LibraryError::io(&generations))?;
    match fs::remove_dir_all(building) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(LibraryError::io(building)(error)),
        _ => {}
    }
    let total = recipe.records.iter().map(|record| record.current.articles).sum();
    let mut problem = None;
    // One document in memory at a time, asked for when the build wants it.
    let mut inputs =
        recipe.records.iter().map_while(|record| match runtime.block_on(input(&*recipe.documents, record)) {
            Ok(input) => Some(input),
            Err(error) => {
                problem = Some(error);
                None
            }
        });
    let built = bylaw_retrieval::build(building, recipe.number, &mut inputs, total, &mut |now| {
        progress.send_replace(now);
        !cancel.is_cancelled()
    });
    if let Some(error) = problem {
        return Err(error.into());
    }
    built?;
    if cancel.is_cancelled() {
        return Err(GenerationError::Cancelled.into());
    }
    make_durable(building).map_err(LibraryError::io(building))?;
    let folder = recipe.directory.generation(recipe.number);
    fs::rename(building, &folder).map_err(LibraryError::io(&folder))?;
    File::open(&generations).and_then(|folder| folder.sync_all()).map_err(LibraryError::io(&generations))
}

async fn input(documents: &dyn DocumentStore, record: &SourceRecord) -> Result<SourceInput, StoreError> {
    let version = documents.version(&record.name, &record.current.version).await?.ok_or_else(|| StoreError {
        operation: "reading a version that a source names",
        source: format!("{} has no version {}", record.name, record.current.version).into(),
    })?;
    Ok(SourceInput {
        name: record.name.clone(),
        version: version.record.version,
        ingested_at: version.record.ingested_at,
        document: version.document,
    })
}

/// Forces a folder and everything below it to disk, so that a published generation survives a power failure.
fn make_durable(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { make_durable(&path)? } else { File::open(&path)?.sync_all()? }
    }
    File::open(folder)?.sync_all()
}

/// The newest published generation that opens and that `accept` takes. Damaged ones are passed over.
pub(crate) async fn newest(
    directory: &DataDirectory,
    vocabulary: &Arc<Vocabulary>,
    accept: impl Fn(&Generation) -> bool + Send + 'static,
) -> Result<Option<Arc<Generation>>, LibraryError> {
    let (directory, vocabulary) = (directory.clone(), Arc::clone(vocabulary));
    task::spawn_blocking(move || {
        let published = directory.published().map_err(LibraryError::io(directory.generations()))?;
        for number in published.into_iter().take(KEPT) {
            match Generation::open(&directory.generation(number), Arc::clone(&vocabulary)) {
                Ok(generation) if accept(&generation) => return Ok(Some(Arc::new(generation))),
                Ok(_) => {}
                Err(error) => tracing::warn!(%number, %error, "an index generation cannot be used"),
            }
        }
        Ok(None)
    })
    .await
    .map_err(|_| LibraryError::Internal { doing: "opening the index" })?
}

/// The newest generation for a reader beside a writer, who may replace and remove generations meanwhile.
pub(crate) async fn newest_for_reader(
    directory: &DataDirectory,
    vocabulary: &Arc<Vocabulary>,
) -> Result<Arc<Generation>, LibraryError> {
    for _ in 0..READER_ATTEMPTS {
        let before = published(directory)?;
        if let Some(generation) = newest(directory, vocabulary, |_| true).await? {
            return Ok(generation);
        }
        if published(directory)? == before {
            if let Some(number) = before.first() {
                // Opened once more for what is wrong with it.
                let generation = Generation::open(&directory.generation(*number), Arc::clone(vocabulary))?;
                return Ok(Arc::new(generation));
            }
            break;
        }
    }
    Err(LibraryError::NothingIndexed { folder: directory.root().to_owned() })
}

fn published(directory: &DataDirectory) -> Result<Vec<GenerationNumber>, LibraryError> {
    directory.published().map_err(LibraryError::io(directory.generations()))
}

/// The number after every one that exists.
pub(crate) fn next_number(
    directory: &DataDirectory,
    answering: GenerationNumber,
) -> Result<GenerationNumber, LibraryError> {
    let newest = published(directory)?.into_iter().next().unwrap_or_default();
    Ok(GenerationNumber(newest.max(answering).0 + 1))
}

/// Removes builds that a crash left behind.
pub(crate) fn remove_unfinished(directory: &DataDirectory) {
    for entry in fs::read_dir(directory.generations()).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(BUILDING)
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            tracing::warn!(%error, "an unfinished index generation cannot be removed");
        }
    }
}
