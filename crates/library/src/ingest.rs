//! Ingesting files and folders.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::Arc,
};

use bylaw_contract::SourceName;
use bylaw_retrieval::{BuildProgress, GenerationError};
use tokio::{sync::watch, task};
use tokio_util::sync::CancellationToken;

use crate::{
    error::LibraryError,
    folders::{self, Found, Listing, MissingRoot},
    keep::{Kept, Library},
    publish::{Unpublished, to_the_end},
    reading::{self, Reading},
    store::SourceRecord,
};

/// What an ingestion is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading one of several documents.
    Reading {
        /// The source.
        source: SourceName,
        /// Documents done.
        done: usize,
        /// Documents in all.
        total: usize,
    },
    /// Building the generation.
    Indexing {
        /// Articles done.
        done: usize,
        /// Articles in all.
        total: usize,
    },
}

/// What following files and folders did.
#[derive(Debug, Default)]
pub struct FolderReport {
    /// Sources that are new.
    pub added: Vec<SourceName>,
    /// Sources with a new version.
    pub updated: Vec<SourceName>,
    /// Sources that were there already, byte for byte.
    pub unchanged: Vec<SourceName>,
    /// Sources whose files are gone; undo works.
    pub deleted: Vec<SourceName>,
    /// Files that could not be read, each with its reason; their old versions keep answering.
    pub failed: Vec<(PathBuf, LibraryError)>,
    /// Files of a kind that is not read.
    pub skipped: Vec<PathBuf>,
}

impl FolderReport {
    /// Whether there is nothing to tell: nothing changed and nothing failed.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.added.is_empty() && self.updated.is_empty() && self.deleted.is_empty() && self.failed.is_empty()
    }
}

/// How files and folders are ingested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Whether sources whose files are gone are deleted.
    pub(crate) prune: bool,
    pub(crate) missing: MissingRoot,
    /// Whether files that a person deleted as sources come back while their bytes are the same.
    pub(crate) restore_deleted: bool,
}

impl Library {
    /// Reads files and folders (recursively; hidden ones and unreadable kinds are skipped) and publishes one generation
    /// for all of them. A file's source name is its path relative to the folder that was given, or its own name. Sources
    /// that an earlier call took from the same roots and whose files are gone are deleted (undo works) when `prune`.
    ///
    /// Files of one call never share a name: a later one gets as many of its folders in front as it takes.
    ///
    /// # Errors
    /// If a root does not exist or storage fails; a file that cannot be read is in the report instead.
    pub async fn ingest_paths(
        &self,
        roots: &[PathBuf],
        prune: bool,
        progress: &(dyn Fn(Stage) + Sync),
    ) -> Result<FolderReport, LibraryError> {
        let manner = Manner { prune, missing: MissingRoot::Refuse, restore_deleted: true };
        let (sender, mut stages) = watch::channel(None);
        let (kept, roots) = (Arc::clone(&self.kept), roots.to_vec());
        let whole = to_the_end("reading the documents", async move {
            kept.ingest(&roots, manner, &sender, &CancellationToken::new()).await
        });
        tokio::pin!(whole);
        loop {
            tokio::select! {
                biased;
                report = &mut whole => return report,
                Ok(()) = stages.changed() => {
                    if let Some(stage) = stages.borrow_and_update().clone() {
                        progress(stage);
                    }
                }
            }
        }
    }
}

impl Kept {
    /// One round over files and folders. When `cancel` fires, nothing is changed.
    pub(crate) async fn ingest(
        &self,
        roots: &[PathBuf],
        manner: Manner,
        stage: &watch::Sender<Option<Stage>>,
        cancel: &CancellationToken,
    ) -> Result<FolderReport, LibraryError> {
        let mut writing = self.begin().await?;
        let (listed, except) = (roots.to_vec(), self.settings.directory.root().to_owned());
        let listing = task::spawn_blocking(move || folders::list(&listed, &except, manner.missing))
            .await
            .unwrap_or(Err(LibraryError::Internal { doing: "listing the documents" }))?;
        let mut changes = Unpublished::default();
        let report = match self.store_files(listing, manner, stage, cancel, &mut changes).await {
            Ok(report) => report,
            Err(error) => {
                self.take_back(changes).await;
                return Err(error);
            }
        };
        self.publish(&mut writing, changes, cancel, &|BuildProgress { done, total }| {
            stage.send_replace(Some(Stage::Indexing { done, total }));
        })
        .await?;
        Ok(report)
    }

    async fn store_files(
        &self,
        listing: Listing,
        manner: Manner,
        stage: &watch::Sender<Option<Stage>>,
        cancel: &CancellationToken,
        changes: &mut Unpublished,
    ) -> Result<FolderReport, LibraryError> {
        let Listing { files, skipped, failed, complete } = listing;
        let mut report = FolderReport { skipped, failed, ..FolderReport::default() };
        let stored: HashMap<SourceName, SourceRecord> =
            self.settings.documents.sources().await?.into_iter().map(|record| (record.name.clone(), record)).collect();
        let total = files.len();
        for (done, file) in files.iter().enumerate() {
            if cancel.is_cancelled() {
                return Err(GenerationError::Cancelled.into());
            }
            stage.send_replace(Some(Stage::Reading { source: file.name.clone(), done, total }));
            self.store_file(file, stored.get(&file.name), manner, changes, &mut report).await?;
        }
        if manner.prune {
            // Files that failed to be read are there, only not readable now.
            let there: HashSet<&SourceName> = files.iter().map(|file| &file.name).collect();
            let mut gone: Vec<&SourceRecord> = stored
                .values()
                .filter(|record| !there.contains(&record.name))
                .filter(|record| record.origin.as_ref().is_some_and(|origin| complete.contains(origin)))
                .collect();
            gone.sort_by(|a, b| a.name.cmp(&b.name));
            for record in gone {
                changes.changes(&record.name, Some(record.clone()));
                self.settings.documents.delete(&record.name, self.settings.clock.now()).await?;
                report.deleted.push(record.name.clone());
            }
        }
        Ok(report)
    }

    async fn store_file(
        &self,
        file: &Found,
        stored: Option<&SourceRecord>,
        manner: Manner,
        changes: &mut Unpublished,
        report: &mut FolderReport,
    ) -> Result<(), LibraryError> {
        let documents = &self.settings.documents;
        let known = stored.map(|record| record.current.version.clone());
        let reading = match reading::read(file.name.clone(), file.path.clone(), known, self.settings.clock.now()).await
        {
            Ok(reading) => reading,
            Err(error) => {
                report.failed.push((file.path.clone(), error));
                return Ok(());
            }
        };
        match reading {
            Reading::Known => {
                if stored.is_some_and(|record| record.origin.as_ref() != Some(&file.origin)) {
                    documents.set_origin(&file.name, Some(&file.origin)).await?;
                }
                report.unchanged.push(file.name.clone());
            }
            Reading::New(version) => {
                let id = (file.name.clone(), version.record.version.clone());
                if !manner.restore_deleted && self.withheld().contains(&id) {
                    report.skipped.push(file.path.clone());
                    return Ok(());
                }
                let before = documents.source(&file.name).await?;
                changes.changes(&file.name, before);
                documents.put_version(&file.name, &version, Some(&file.origin)).await?;
                self.withheld().remove(&id);
                if stored.is_some() { &mut report.updated } else { &mut report.added }.push(file.name.clone());
            }
        }
        Ok(())
    }
}
