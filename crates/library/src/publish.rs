//! From a stored change to the generation that answers, or back.

use bylaw_contract::SourceName;
use bylaw_retrieval::BuildProgress;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    error::LibraryError,
    generations::{self, Opened},
    keep::{Kept, Writing, recipe},
    store::SourceRecord,
};

/// Stored changes that no published generation has yet, newest last: each source with what it was before.
#[derive(Default)]
pub(crate) struct Unpublished(Vec<(SourceName, Option<SourceRecord>)>);

impl Unpublished {
    /// Remembers that `name` changes, and what it was.
    pub(crate) fn changes(&mut self, name: &SourceName, before: Option<SourceRecord>) {
        self.0.push((name.clone(), before));
    }
}

impl Kept {
    /// Publishes a generation of what is stored, if it differs from what answers. If that fails, stored changes are taken
    /// back, so that what is stored and what answers stay the same.
    pub(crate) async fn publish(
        &self,
        writing: &mut Writing<'_>,
        changes: Unpublished,
        cancel: &CancellationToken,
        progress: &(dyn Fn(BuildProgress) + Sync),
    ) -> Result<(), LibraryError> {
        let published = self.try_publish(writing, cancel, progress).await;
        if published.is_err() {
            self.take_back(changes).await;
        }
        published
    }

    /// Takes stored changes back that will not be published.
    pub(crate) async fn take_back(&self, changes: Unpublished) {
        for (name, before) in changes.0.into_iter().rev() {
            if let Err(error) = self.settings.documents.withdraw(&name, before.as_ref()).await {
                // The next start builds what is stored, so nothing is lost; until then the old generation answers.
                tracing::error!(source = %name, %error, "a change that could not be published cannot be taken back");
            }
        }
    }

    async fn try_publish(
        &self,
        opened: &mut Opened,
        cancel: &CancellationToken,
        progress: &(dyn Fn(BuildProgress) + Sync),
    ) -> Result<(), LibraryError> {
        let records = self.settings.documents.sources().await?;
        if generations::matches(&self.generation(), &records) {
            return Ok(());
        }
        let number = generations::next_number(&self.settings.directory, self.generation().number())?;
        let (sender, mut receiver) = watch::channel(BuildProgress { done: 0, total: 0 });
        let building = generations::build(recipe(&self.settings, records, number), sender, cancel.clone());
        tokio::pin!(building);
        let generation = loop {
            tokio::select! {
                biased;
                built = &mut building => break built?,
                Ok(()) = receiver.changed() => progress(*receiver.borrow_and_update()),
            }
        };
        opened.remember(&generation);
        self.answering.store(generation);
        opened.remove_old(&self.settings.directory);
        Ok(())
    }
}

/// Completes a change even if the caller stops waiting for it.
pub(crate) async fn to_the_end<T: Send + 'static>(
    doing: &'static str,
    change: impl Future<Output = Result<T, LibraryError>> + Send + 'static,
) -> Result<T, LibraryError> {
    tokio::spawn(change).await.unwrap_or(Err(LibraryError::Internal { doing }))
}
