//! SQLite: one file, write-ahead log.

use std::path::Path;

use bylaw_library::StoreError;

/// One SQLite database that serves every port.
#[derive(Clone, Debug)]
pub struct SqliteStore {}

impl SqliteStore {
    /// Opens the database file, creating and migrating it if need be.
    ///
    /// # Errors
    /// If the file cannot be created, is not a database, or was written by a newer version of the program.
    pub async fn open(file: &Path) -> Result<Self, StoreError> {
        let _ = file;
        todo!("written by the store part")
    }

    /// A database that lives in memory, for tests.
    ///
    /// # Errors
    /// If it cannot be created.
    pub async fn in_memory() -> Result<Self, StoreError> {
        todo!("written by the store part")
    }

    /// Whether the database answers; names what is wrong otherwise.
    ///
    /// # Errors
    /// If it does not.
    pub async fn check(&self) -> Result<(), StoreError> {
        todo!("written by the store part")
    }

    /// Closes every connection; what was committed is on disk.
    pub async fn close(&self) {
        todo!("written by the store part")
    }
}
