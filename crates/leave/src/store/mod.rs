//! One SQLite file of the leave system's own: write-ahead log, one connection that writes durably, one that notes what was
//! shown without waiting for the disk, and a few that read.

mod books;
mod columns;
mod keys;
mod open;
mod records;
#[cfg(test)]
mod tests;
mod writes;

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use bylaw_contract::Timestamp;
use sqlx::{AssertSqlSafe, Sqlite, SqlitePool, Transaction};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::domain::{
    book::Book,
    history::HistoryEntry,
    ids::{EmployeeId, LeaveId, LeaveKeyId, OnceKey},
    leave::{Employee, Leave},
    rules::{Decline, OnceRecord, Shown},
    store::{Applied, Change, Company, LeaveKey, LeaveStore, Narrow, SecretHash, StoreError, Ticket},
};

const BEGIN: &str = "BEGIN IMMEDIATE";

/// The leave system's database. Cloning is cheap and shares the connections.
#[derive(Clone, Debug)]
pub struct SqliteLeaves {
    /// Durable when it returns.
    writer: SqlitePool,
    /// For what was shown: committed without waiting for the disk.
    quiet: SqlitePool,
    readers: SqlitePool,
    /// The two that write take turns here: inside SQLite they would wait in steps of milliseconds.
    turn: Arc<Mutex<()>>,
}

/// A transaction that may write, and its turn.
struct Writing {
    transaction: Transaction<'static, Sqlite>,
    _turn: OwnedMutexGuard<()>,
}

impl SqliteLeaves {
    /// Opens the file, creating and migrating it if need be.
    ///
    /// # Errors
    /// If it cannot be created, is something else, or was written by a newer version of the program.
    pub async fn open(file: &Path) -> Result<Self, StoreError> {
        let pools = open::file(file).await.map_err(|error| failed("opening the leave database", error))?;
        Ok(Self::over(pools))
    }

    /// A database in memory, for tests.
    ///
    /// # Errors
    /// If it cannot be created.
    pub async fn in_memory() -> Result<Self, StoreError> {
        let pools = open::memory().await.map_err(|error| failed("opening a leave database in memory", error))?;
        Ok(Self::over(pools))
    }

    fn over(open::Pools { writer, quiet, readers }: open::Pools) -> Self {
        Self { writer, quiet, readers, turn: Arc::default() }
    }

    /// Closes every connection; what was committed is on disk.
    pub async fn close(&self) {
        self.readers.close().await;
        self.quiet.close().await;
        // The last one to close folds the write-ahead log into the file.
        self.writer.close().await;
    }

    /// Lets the database grow to this many pages of 4 KiB, or to its present size if that is more, for as long as it is
    /// open. At the limit writing fails as it does on a full disk, and reading goes on.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn limit_pages(&self, pages: u32) -> Result<(), StoreError> {
        // A pragma takes no parameters. Zero would only ask for the limit.
        let pragma = format!("PRAGMA max_page_count = {}", pages.max(1));
        for pool in [&self.writer, &self.quiet] {
            sqlx::query(AssertSqlSafe(pragma.clone()))
                .fetch_one(pool)
                .await
                .map_err(|error| failed("limiting the size of the leave database", error))?;
        }
        Ok(())
    }

    /// A durable transaction. It takes the write lock at once, since one that reads first can fail to get it later.
    async fn write(&self) -> Result<Writing, sqlx::Error> {
        self.begin(&self.writer).await
    }

    /// A transaction that does not wait for the disk.
    async fn note(&self) -> Result<Writing, sqlx::Error> {
        self.begin(&self.quiet).await
    }

    async fn begin(&self, pool: &SqlitePool) -> Result<Writing, sqlx::Error> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let transaction = match pool.begin_with(BEGIN).await {
            Err(sqlx::Error::InvalidSavePointStatement) => {
                forget_transaction(pool).await?;
                pool.begin_with(BEGIN).await?
            }
            begun => begun?,
        };
        Ok(Writing { transaction, _turn: turn })
    }
}

/// On a full disk SQLite ends a transaction by itself. The driver then fails to roll it back, and believes from then on that
/// one is open. So it is given one: beginning another fails, and on failure the driver rolls back what is open.
async fn forget_transaction(pool: &SqlitePool) -> Result<(), sqlx::Error> {
    use sqlx::Connection as _;
    let mut connection = pool.acquire().await?;
    sqlx::query("BEGIN").execute(&mut *connection).await?;
    let _cannot_begin = connection.begin_with(BEGIN).await;
    Ok(())
}

fn failed(operation: &'static str, source: impl Into<columns::Failure>) -> StoreError {
    StoreError { operation, source: source.into() }
}

macro_rules! told {
    ($operation:literal, $work:expr) => {
        $work.await.map_err(|error| failed($operation, error))
    };
}

#[async_trait]
impl LeaveStore for SqliteLeaves {
    async fn employee(&self, id: &EmployeeId) -> Result<Option<Employee>, StoreError> {
        told!("reading an employee", books::employee(&self.readers, id))
    }

    async fn employees(&self) -> Result<Vec<Employee>, StoreError> {
        told!("reading the employees", books::employees(&self.readers))
    }

    async fn is_manager(&self, id: &EmployeeId) -> Result<bool, StoreError> {
        told!("reading who manages", books::is_manager(&self.readers, id))
    }

    async fn leave(&self, id: &LeaveId) -> Result<Option<Leave>, StoreError> {
        told!("reading a leave", books::leave(&self.readers, id))
    }

    async fn visible(&self, viewer: &EmployeeId, narrow: &Narrow) -> Result<Vec<Leave>, StoreError> {
        told!("reading leaves", books::visible(&self.readers, viewer, narrow))
    }

    async fn book(&self, applicant: &EmployeeId) -> Result<Option<Book>, StoreError> {
        told!("reading a person's leaves", books::book(&self.readers, applicant))
    }

    async fn shown(&self, to: &EmployeeId, leave: &LeaveId) -> Result<Option<Shown>, StoreError> {
        told!("reading what was shown", records::shown(&self.readers, to, leave))
    }

    async fn note_shown(&self, to: &EmployeeId, leaves: &[(LeaveId, u32)], at: Timestamp) -> Result<(), StoreError> {
        told!("noting what was shown", self.put_shown(to, leaves, at))
    }

    async fn once(&self, by: &EmployeeId, key: &OnceKey) -> Result<Option<OnceRecord>, StoreError> {
        told!("reading an idempotency key", records::once(&self.readers, by, key))
    }

    async fn apply(&self, change: &Change, forget_before: Timestamp) -> Result<Applied, StoreError> {
        told!("writing a leave", self.put(change, forget_before))
    }

    async fn spend(&self, ticket: &Ticket, now: Timestamp) -> Result<bool, StoreError> {
        told!("using up a confirmation", self.put_ticket(ticket, now))
    }

    async fn decline(&self, decline: &Decline, ticket: &Ticket, entry: &HistoryEntry) -> Result<bool, StoreError> {
        told!("remembering a no", self.put_decline(decline, ticket, entry))
    }

    async fn reopen(&self, leave: &LeaveId, entry: &HistoryEntry) -> Result<Vec<Decline>, StoreError> {
        told!("reopening a leave", self.take_declines(leave, entry))
    }

    async fn record(&self, entry: &HistoryEntry) -> Result<(), StoreError> {
        told!("adding to the history", self.put_entry(entry))
    }

    async fn history(&self, leave: &LeaveId) -> Result<Vec<HistoryEntry>, StoreError> {
        told!("reading the history", records::history(&self.readers, leave))
    }

    async fn add_key(&self, key: &LeaveKey, hash: &SecretHash) -> Result<(), StoreError> {
        told!("storing a key", self.put_key(key, hash))
    }

    async fn key(&self, hash: &SecretHash) -> Result<Option<LeaveKey>, StoreError> {
        told!("reading a key", keys::by_hash(&self.readers, hash))
    }

    async fn keys(&self) -> Result<Vec<LeaveKey>, StoreError> {
        told!("reading the keys", keys::all(&self.readers))
    }

    async fn revoke_key(&self, id: &LeaveKeyId, at: Timestamp) -> Result<bool, StoreError> {
        told!("revoking a key", self.end_key(id, at))
    }

    async fn seal(&self, fresh: &[u8; 32]) -> Result<[u8; 32], StoreError> {
        told!("reading the secret of confirmations", self.get_seal(fresh))
    }

    async fn found(&self, company: &Company, at: Timestamp) -> Result<bool, StoreError> {
        told!("founding the company", self.put_company(company, at))
    }
}
