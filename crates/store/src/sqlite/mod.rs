//! SQLite: one file, write-ahead log, one connection that writes, a few that read, and one for reports.

mod answers;
mod columns;
mod damage;
mod documents;
mod jobs;
mod keys;
mod ledger;
mod limit;
mod open;
mod runs;
#[cfg(test)]
mod tests;

use std::path::Path;

use bylaw_library::StoreError;
use sqlx::{Connection, Sqlite, SqlitePool, Transaction};

const BEGIN: &str = "BEGIN IMMEDIATE";

/// One SQLite database that serves every port.
///
/// Cloning is cheap and shares the connections. Changes of other processes are seen by the next call.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    /// One connection: SQLite lets one transaction write at a time, and waiting here is fairer than waiting there.
    writer: SqlitePool,
    /// For what is short and awaited: keys, health, kept answers.
    readers: SqlitePool,
    /// For whatever may read the whole ledger. Who asks for reports again and again delays only reports.
    reports: SqlitePool,
}

impl SqliteStore {
    /// Opens the database file, creating and migrating it if need be.
    ///
    /// # Errors
    /// If the file cannot be created, is not a database, or was written by a newer version of the program.
    pub async fn open(file: &Path) -> Result<Self, StoreError> {
        let pools = open::file(file).await.map_err(|error| failed("opening the database", error))?;
        Ok(Self::over(pools))
    }

    /// A database that lives in memory, for tests.
    ///
    /// # Errors
    /// If it cannot be created.
    pub async fn in_memory() -> Result<Self, StoreError> {
        let pools = open::memory().await.map_err(|error| failed("opening a database in memory", error))?;
        Ok(Self::over(pools))
    }

    fn over(open::Pools { writer, readers, reports }: open::Pools) -> Self {
        Self { writer, readers, reports }
    }

    /// Whether the database answers; names what is wrong otherwise.
    ///
    /// # Errors
    /// If it does not.
    pub async fn check(&self) -> Result<(), StoreError> {
        const OPERATION: &str = "checking the database";
        let mut connection = self.readers.acquire().await.map_err(|error| failed(OPERATION, error))?;
        connection.ping().await.map_err(|error| failed(OPERATION, error))?;
        sqlx::query("SELECT value FROM revision")
            .fetch_one(&mut *connection)
            .await
            .map_err(|error| failed(OPERATION, error))?;
        Ok(())
    }

    /// Closes every connection; what was committed is on disk.
    pub async fn close(&self) {
        self.reports.close().await;
        self.readers.close().await;
        // The last one to close folds the write-ahead log into the file.
        self.writer.close().await;
    }

    /// A transaction that may write. It takes the write lock at once, since one that reads first can fail to get it later.
    async fn write(&self) -> Result<Transaction<'static, Sqlite>, sqlx::Error> {
        match self.writer.begin_with(BEGIN).await {
            Err(sqlx::Error::InvalidSavePointStatement) => {
                self.forget_transaction().await?;
                self.writer.begin_with(BEGIN).await
            }
            begun => begun,
        }
    }

    /// On a full disk SQLite ends a transaction by itself. The driver then fails to roll it back, and believes from then on
    /// that one is open. So it is given one: beginning another fails, and on failure the driver rolls back what is open.
    async fn forget_transaction(&self) -> Result<(), sqlx::Error> {
        let mut connection = self.writer.acquire().await?;
        sqlx::query("BEGIN").execute(&mut *connection).await?;
        let _cannot_begin = connection.begin_with(BEGIN).await;
        Ok(())
    }
}

fn failed(operation: &'static str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError { operation, source: source.into() }
}
