//! What is kept, as it is shown; deleting and bringing back.

use std::{collections::HashMap, sync::Arc};

use bylaw_contract::{
    ArticleAddress, RequestId, SourceName, Timestamp,
    sources::{DeleteResult, Difference, OutlineEntry, SourceDetail, SourceSummary, UndoResult, VersionSummary},
};
use bylaw_corpus::Document;
use bylaw_retrieval::{Generation, GenerationSource, IndexedArticle, Ordinal};
use tokio::task;
use tokio_util::sync::CancellationToken;

use crate::{
    error::LibraryError,
    keep::{Kept, Library},
    publish::{Unpublished, to_the_end},
};

impl Library {
    /// Every source.
    ///
    /// # Errors
    /// If storage fails.
    pub async fn sources(&self) -> Result<Vec<SourceSummary>, LibraryError> {
        let generation = self.generation();
        let sources = generation.sources().iter();
        Ok(sources.map(|source| summary(source, generation.addresses(source).collect())).collect())
    }

    /// One source with outline, versions, and the difference between its two newest versions.
    ///
    /// # Errors
    /// [`LibraryError::SourceNotFound`].
    pub async fn source(&self, name: &SourceName, request_id: &RequestId) -> Result<SourceDetail, LibraryError> {
        let generation = self.generation();
        let source = generation.source(name).cloned().ok_or_else(|| LibraryError::SourceNotFound(name.clone()))?;
        let documents = &self.kept.settings.documents;
        let versions: Vec<VersionSummary> = documents
            .versions(name)
            .await?
            .into_iter()
            .map(|record| VersionSummary {
                current: record.version == source.version,
                version: record.version,
                ingested_at: record.ingested_at,
                articles: record.articles,
                extractor: record.extractor,
                warnings: record.warnings,
            })
            .collect();
        let difference = match versions.as_slice() {
            [current, before, ..] => {
                let before = documents.version(name, &before.version).await?;
                let current = documents.version(name, &current.version).await?;
                match (before, current) {
                    (Some(before), Some(current)) => Some(
                        in_background("comparing versions", move || {
                            Ok(difference(&before.document, &current.document))
                        })
                        .await?,
                    ),
                    _ => None,
                }
            }
            _ => None,
        };
        let outlined = source.clone();
        let outline: Vec<OutlineEntry> = in_background("reading a source", move || {
            articles(&generation, &outlined).map(|article| article.map(|article| outline_entry(&article))).collect()
        })
        .await?;
        let addresses = outline.iter().map(|entry| entry.article.clone()).collect();
        Ok(SourceDetail {
            summary: summary(&source, addresses),
            outline,
            versions,
            difference,
            request_id: request_id.clone(),
        })
    }

    /// Deletes a source: it stops answering before this returns, and can be brought back for a while.
    ///
    /// # Errors
    /// [`LibraryError::SourceNotFound`].
    pub async fn delete(&self, name: &SourceName, request_id: &RequestId) -> Result<DeleteResult, LibraryError> {
        let (kept, name, request_id) = (Arc::clone(&self.kept), name.clone(), request_id.clone());
        to_the_end("deleting a source", async move { kept.delete(name, request_id).await }).await
    }

    /// Brings a deleted source back: it answers when this returns.
    ///
    /// # Errors
    /// [`LibraryError::NothingToUndo`].
    pub async fn undo_delete(&self, name: &SourceName, request_id: &RequestId) -> Result<UndoResult, LibraryError> {
        let (kept, name, request_id) = (Arc::clone(&self.kept), name.clone(), request_id.clone());
        to_the_end("bringing a source back", async move { kept.undo_delete(name, request_id).await }).await
    }
}

impl Kept {
    async fn delete(&self, name: SourceName, request_id: RequestId) -> Result<DeleteResult, LibraryError> {
        let mut writing = self.begin().await?;
        let settings = &self.settings;
        let now = settings.clock.now();
        let record = settings.documents.source(&name).await?.filter(|record| record.deleted_at.is_none());
        let Some(record) = record else {
            return Err(LibraryError::SourceNotFound(name));
        };
        // Those whose time is over go now, so that a long-running service does not collect them.
        settings.documents.purge(self.undone_since(now)).await?;
        settings.documents.delete(&name, now).await?;
        let (removed, version) = (record.current.articles, record.current.version.clone());
        let mut changes = Unpublished::default();
        changes.changes(&name, Some(record));
        self.publish(&mut writing, changes, &CancellationToken::new(), &|_| {}).await?;
        self.withheld().insert((name.clone(), version));
        Ok(DeleteResult {
            source: name,
            removed,
            chunks_left: self.generation().article_count(),
            undo_until: now.plus(settings.undo_window),
            request_id,
        })
    }

    async fn undo_delete(&self, name: SourceName, request_id: RequestId) -> Result<UndoResult, LibraryError> {
        let mut writing = self.begin().await?;
        let settings = &self.settings;
        let record = settings.documents.source(&name).await?.filter(|record| record.deleted_at.is_some());
        let Some(record) = record else {
            return Err(LibraryError::NothingToUndo(name));
        };
        if !settings.documents.undo_delete(&name, self.undone_since(settings.clock.now())).await? {
            return Err(LibraryError::NothingToUndo(name));
        }
        let (chunks, version) = (record.current.articles, record.current.version.clone());
        let mut changes = Unpublished::default();
        changes.changes(&name, Some(record));
        self.publish(&mut writing, changes, &CancellationToken::new(), &|_| {}).await?;
        self.withheld().remove(&(name.clone(), version));
        Ok(UndoResult { source: name, chunks, request_id })
    }

    /// Sources that were deleted at or after this can be brought back.
    fn undone_since(&self, now: Timestamp) -> Timestamp {
        let window = i64::try_from(self.settings.undo_window.as_millis()).unwrap_or(i64::MAX);
        Timestamp(now.0.saturating_sub(window))
    }
}

async fn in_background<T: Send + 'static>(
    doing: &'static str,
    work: impl FnOnce() -> Result<T, LibraryError> + Send + 'static,
) -> Result<T, LibraryError> {
    task::spawn_blocking(work).await.unwrap_or(Err(LibraryError::Internal { doing }))
}

/// The articles of a source, in order.
fn articles(
    generation: &Generation,
    source: &GenerationSource,
) -> impl Iterator<Item = Result<Arc<IndexedArticle>, LibraryError>> {
    let first = source.first.0;
    (first..first.saturating_add(source.articles)).map(|ordinal| Ok(generation.article(Ordinal(ordinal))?))
}

fn summary(source: &GenerationSource, articles: Vec<ArticleAddress>) -> SourceSummary {
    SourceSummary {
        source: source.name.clone(),
        title: source.title.clone(),
        chunks: articles.len(),
        articles,
        structure: source.structure,
        version: source.version.clone(),
        ingested_at: source.ingested_at,
    }
}

fn outline_entry(article: &IndexedArticle) -> OutlineEntry {
    OutlineEntry {
        heading_path: article.heading_path.iter().map(|heading| heading.text.clone()).collect(),
        article: article.id.article.clone(),
        title: article.title.clone(),
    }
}

/// What changed between two versions, by the articles' own words.
fn difference(before: &Document, after: &Document) -> Difference {
    let mut old: HashMap<&ArticleAddress, &str> =
        before.articles.iter().map(|article| (&article.address, before.text_of(article))).collect();
    let mut difference = Difference::default();
    for article in &after.articles {
        match old.remove(&article.address) {
            None => difference.added.push(article.address.clone()),
            Some(text) if text != after.text_of(article) => difference.changed.push(article.address.clone()),
            Some(_) => {}
        }
    }
    let gone = before.articles.iter().filter(|article| old.contains_key(&article.address));
    difference.removed = gone.map(|article| article.address.clone()).collect();
    difference
}
