//! Runs with their events and questions, conversations and artifacts.
//!
//! A batch is decided in memory, on what one statement reads of everything that it touches, and written in one statement
//! per table; all in one transaction that holds the write lock from its begin.
//!
//! ```text
//!   batch          writes of many runs
//!   find           runs, events and questions
//!   conversations  conversations and artifacts
//!   values         values as columns hold them
//! ```

mod batch;
mod conversations;
mod find;
mod values;

use async_trait::async_trait;
use bylaw_agent::{
    Artifact, ArtifactPut, Conversation, ConversationQuery, ConversationRecord, Deleted, GivenReply, KeptArtifact,
    KeptQuestion, Replied, RunQuery, RunRecord, RunStore, RunStoreError, RunWrite, Written,
};
use bylaw_contract::{ArtifactId, ConversationId, OwnerId, RunId, Timestamp, runs::NumberedEvent};

use self::values::failed;
use super::{SqliteStore, columns::Failure};

/// Runs `$work` in a transaction that may write, as one operation.
macro_rules! writing {
    ($store:ident, $operation:literal, |$transaction:ident| $work:expr) => {{
        let written = async {
            let mut transaction = $store.write().await?;
            let $transaction = &mut *transaction;
            let done = $work.await?;
            transaction.commit().await?;
            Ok(done)
        };
        written.await.map_err(|error: Failure| failed($operation, error))
    }};
}

/// Runs `$work` on a connection that reads.
macro_rules! reading {
    ($store:ident, $operation:literal, |$connection:ident| $work:expr) => {{
        let read = async {
            let mut connection = $store.readers.acquire().await?;
            let $connection = &mut *connection;
            $work.await
        };
        read.await.map_err(|error: Failure| failed($operation, error))
    }};
}

#[async_trait]
impl RunStore for SqliteStore {
    async fn write(&self, batch: Vec<RunWrite>) -> Result<Vec<Written>, RunStoreError> {
        writing!(self, "writing what happened in runs", |connection| batch::write(connection, batch))
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRecord>, RunStoreError> {
        reading!(self, "reading a run", |connection| find::run(connection, id))
    }

    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunRecord>, RunStoreError> {
        reading!(self, "listing runs", |connection| find::runs(connection, query))
    }

    async fn events(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<NumberedEvent>, RunStoreError> {
        reading!(self, "reading the events of a run", |connection| find::events(connection, run, after, limit))
    }

    async fn questions(&self, run: &RunId) -> Result<Vec<KeptQuestion>, RunStoreError> {
        reading!(self, "reading the questions of a run", |connection| find::questions(connection, run))
    }

    async fn reply(&self, run: &RunId, question: u32, given: &GivenReply) -> Result<Replied, RunStoreError> {
        writing!(self, "writing an answer to a run", |connection| batch::reply(connection, run, question, given))
    }

    async fn keep_process(&self, process: &OwnerId, until: Timestamp) -> Result<(), RunStoreError> {
        writing!(self, "saying that a process lives", |connection| batch::keep_process(connection, process, until))
    }

    async fn lost(&self, now: Timestamp, limit: usize) -> Result<Vec<RunRecord>, RunStoreError> {
        reading!(self, "looking for lost runs", |connection| find::lost(connection, now, limit))
    }

    async fn create_conversation(&self, record: &ConversationRecord) -> Result<bool, RunStoreError> {
        writing!(self, "keeping a conversation", |connection| conversations::create(connection, record))
    }

    async fn conversation(
        &self,
        id: &ConversationId,
    ) -> Result<Option<(ConversationRecord, Conversation)>, RunStoreError> {
        reading!(self, "reading a conversation", |connection| conversations::one(connection, id))
    }

    async fn conversations(&self, query: &ConversationQuery) -> Result<Vec<ConversationRecord>, RunStoreError> {
        reading!(self, "listing conversations", |connection| conversations::list(connection, query))
    }

    async fn delete_conversation(&self, id: &ConversationId) -> Result<Deleted, RunStoreError> {
        writing!(self, "deleting a conversation", |connection| conversations::delete(connection, id))
    }

    async fn put_artifact(
        &self,
        run: &RunId,
        artifact: &Artifact,
        most_bytes: u64,
    ) -> Result<ArtifactPut, RunStoreError> {
        writing!(self, "keeping an artifact", |connection| conversations::put_artifact(
            connection, run, artifact, most_bytes
        ))
    }

    async fn artifact(&self, id: &ArtifactId) -> Result<Option<KeptArtifact>, RunStoreError> {
        reading!(self, "reading an artifact", |connection| conversations::artifact(connection, id))
    }

    async fn prune(&self, before: Timestamp, limit: usize) -> Result<usize, RunStoreError> {
        writing!(self, "forgetting old runs", |connection| conversations::prune(connection, before, limit))
    }
}
