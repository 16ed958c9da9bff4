//! Following files and folders.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bylaw_retrieval::GenerationError;
use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode},
};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    error::LibraryError,
    folders::{MissingRoot, is_hidden},
    ingest::{FolderReport, Manner},
    keep::Library,
};

/// How long changes are gathered by default: editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(300);
/// Changes that never pause are ingested after this many times the quiet time.
const LONGEST_WAIT: u32 = 10;

impl Library {
    /// Follows files and folders until `cancel` fires: changes are gathered for a moment, then ingested like
    /// [`Library::ingest_paths`] with pruning, and each report is given to `report`.
    ///
    /// It begins with a round of its own, since something may have changed before it began. Reports with nothing to tell
    /// are left out. Sources that a person deleted stay deleted until their files change.
    ///
    /// # Errors
    /// If a root cannot be watched.
    pub async fn watch(
        self: Arc<Self>,
        roots: Vec<PathBuf>,
        report: Box<dyn Fn(FolderReport) + Send + Sync>,
        cancel: CancellationToken,
    ) -> Result<(), LibraryError> {
        self.watch_gathering(QUIET, roots, report, cancel).await
    }

    /// Like [`Library::watch`]; changes are ingested when there was none for `quiet`.
    ///
    /// # Errors
    /// If a root cannot be watched.
    pub async fn watch_gathering(
        self: Arc<Self>,
        quiet: Duration,
        roots: Vec<PathBuf>,
        report: Box<dyn Fn(FolderReport) + Send + Sync>,
        cancel: CancellationToken,
    ) -> Result<(), LibraryError> {
        let kept = &self.kept;
        kept.permit()?;
        // Later a root may be missing, so its one spelling is found now.
        let roots = roots
            .iter()
            .map(|root| root.canonicalize().map_err(|_| LibraryError::FileNotFound { path: root.clone() }))
            .collect::<Result<Vec<_>, _>>()?;
        let data = kept.settings.directory.root();
        let (_watcher, mut changes) = follow(&roots, data.canonicalize().unwrap_or_else(|_| data.to_owned()))?;
        let manner = Manner { prune: true, missing: MissingRoot::Tolerate, restore_deleted: false };
        let (stage, _) = watch::channel(None);
        loop {
            match kept.ingest(&roots, manner, &stage, &cancel).await {
                Ok(done) if done.is_quiet() => {}
                Ok(done) => report(done),
                Err(LibraryError::Index(GenerationError::Cancelled)) => return Ok(()),
                Err(error) => {
                    let root = roots.first().cloned().unwrap_or_default();
                    report(FolderReport { failed: vec![(root, error)], ..FolderReport::default() });
                }
            }
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(()),
                change = changes.recv() => if change.is_none() { return Ok(()) },
            }
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(()),
                () = until_quiet(&mut changes, quiet) => {}
            }
        }
    }
}

/// Waits until nothing changed for a while.
async fn until_quiet(changes: &mut mpsc::Receiver<()>, quiet: Duration) {
    let gathered = async { while let Ok(Some(())) = tokio::time::timeout(quiet, changes.recv()).await {} };
    let _ = tokio::time::timeout(quiet.saturating_mul(LONGEST_WAIT), gathered).await;
}

/// Watches what has to be watched; each relevant change sends one message, and one waiting message stands for many.
fn follow(roots: &[PathBuf], data: PathBuf) -> Result<(RecommendedWatcher, mpsc::Receiver<()>), LibraryError> {
    let (sender, receiver) = mpsc::channel(1);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // A failure of the watcher may hide changes, so it counts as one.
        if event.map_or(true, |event| is_relevant(&event, &data)) {
            let _ = sender.try_send(());
        }
    })
    .map_err(|source| LibraryError::Watch { path: roots.first().cloned().unwrap_or_default(), source })?;
    let mut watched = BTreeSet::new();
    for root in roots {
        // Editors replace files, which ends the watch of a file but not of its folder.
        let (path, mode) = match root.parent() {
            Some(parent) if !root.is_dir() => (parent, RecursiveMode::NonRecursive),
            _ => (root.as_path(), RecursiveMode::Recursive),
        };
        if watched.insert((path.to_owned(), mode == RecursiveMode::Recursive)) {
            watcher.watch(path, mode).map_err(|source| LibraryError::Watch { path: path.to_owned(), source })?;
        }
    }
    Ok((watcher, receiver))
}

/// Whether an event can mean that a document changed. Reading files makes events too, and so does the data directory.
fn is_relevant(event: &Event, data: &Path) -> bool {
    let writes = match event.kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        EventKind::Any | EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Other => true,
    };
    let concerns = |path: &PathBuf| !path.starts_with(data) && !path.file_name().is_some_and(is_hidden);
    writes && (event.paths.is_empty() || event.paths.iter().any(concerns))
}
