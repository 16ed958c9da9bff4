//! A store that fails to write, or takes its time, when a test tells it to.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bylaw_agent::{
    Artifact, ArtifactPut, Conversation, ConversationQuery, ConversationRecord, Deleted, GivenReply, KeptArtifact,
    KeptQuestion, MemoryRuns, Replied, RunQuery, RunRecord, RunStore, RunStoreError, RunWrite, Written,
};
use bylaw_contract::{ArtifactId, ConversationId, OwnerId, RunId, Timestamp, runs::NumberedEvent};
use tokio::sync::{Notify, RwLock};

/// Memory whose `write` can be made to fail, or to wait.
#[derive(Default)]
pub(crate) struct Faulty {
    memory: MemoryRuns,
    fails: AtomicBool,
    /// Held by a test, it makes writes wait.
    pub(crate) commit: RwLock<()>,
    /// Told when a write begins.
    pub(crate) writing: Notify,
}

impl Faulty {
    pub(crate) fn fail(&self, fails: bool) {
        self.fails.store(fails, Ordering::SeqCst);
    }
}

type Kept<T> = Result<T, RunStoreError>;

#[async_trait]
impl RunStore for Faulty {
    async fn write(&self, batch: Vec<RunWrite>) -> Kept<Vec<Written>> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(RunStoreError::Unavailable { operation: "writing", source: "the disk is full".into() });
        }
        self.writing.notify_one();
        let _committing = self.commit.read().await;
        self.memory.write(batch).await
    }

    async fn run(&self, id: &RunId) -> Kept<Option<RunRecord>> {
        self.memory.run(id).await
    }

    async fn runs(&self, query: &RunQuery) -> Kept<Vec<RunRecord>> {
        self.memory.runs(query).await
    }

    async fn events(&self, run: &RunId, after: u64, limit: usize) -> Kept<Vec<NumberedEvent>> {
        self.memory.events(run, after, limit).await
    }

    async fn questions(&self, run: &RunId) -> Kept<Vec<KeptQuestion>> {
        self.memory.questions(run).await
    }

    async fn reply(&self, run: &RunId, question: u32, given: &GivenReply) -> Kept<Replied> {
        self.memory.reply(run, question, given).await
    }

    async fn keep_process(&self, process: &OwnerId, until: Timestamp) -> Kept<()> {
        self.memory.keep_process(process, until).await
    }

    async fn lost(&self, now: Timestamp, limit: usize) -> Kept<Vec<RunRecord>> {
        self.memory.lost(now, limit).await
    }

    async fn create_conversation(&self, record: &ConversationRecord) -> Kept<bool> {
        self.memory.create_conversation(record).await
    }

    async fn conversation(&self, id: &ConversationId) -> Kept<Option<(ConversationRecord, Conversation)>> {
        self.memory.conversation(id).await
    }

    async fn conversations(&self, query: &ConversationQuery) -> Kept<Vec<ConversationRecord>> {
        self.memory.conversations(query).await
    }

    async fn delete_conversation(&self, id: &ConversationId) -> Kept<Deleted> {
        self.memory.delete_conversation(id).await
    }

    async fn put_artifact(&self, run: &RunId, artifact: &Artifact, most_bytes: u64) -> Kept<ArtifactPut> {
        self.memory.put_artifact(run, artifact, most_bytes).await
    }

    async fn artifact(&self, id: &ArtifactId) -> Kept<Option<KeptArtifact>> {
        self.memory.artifact(id).await
    }

    async fn prune(&self, before: Timestamp, limit: usize) -> Kept<usize> {
        self.memory.prune(before, limit).await
    }
}
