//! The service lock: exactly one process changes the documents of a data directory.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{error::LibraryError, layout::DataDirectory};

/// Who holds a service lock. Written into the lock file as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    /// Process id.
    pub pid: u32,
    /// Address of its service, `127.0.0.1:8024`; `None` for a command that changes documents by itself.
    pub address: Option<String>,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            Some(address) => write!(f, "the service at http://{address} (process {})", self.pid),
            None => write!(f, "process {}", self.pid),
        }
    }
}

/// The held lock. Released when dropped, and by the operating system when the process ends in any way.
#[derive(Debug)]
pub struct ServiceLock {}

impl ServiceLock {
    /// Creates the data directory if need be and takes its lock.
    ///
    /// # Errors
    /// [`LibraryError::Locked`] with the holder if another process has it; [`LibraryError::DataDirectory`] if the folder
    /// cannot be created or written.
    pub fn acquire(directory: &DataDirectory, holder: &LockHolder) -> Result<Self, LibraryError> {
        let _ = (directory, holder);
        todo!("written by the library part")
    }

    /// Writes who holds the lock now: the address is known only after listening.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn announce(&self, holder: &LockHolder) -> Result<(), LibraryError> {
        let _ = holder;
        todo!("written by the library part")
    }

    /// Who holds the lock, without taking it; `None` if nobody does.
    #[must_use]
    pub fn holder(directory: &DataDirectory) -> Option<LockHolder> {
        let _ = directory;
        todo!("written by the library part")
    }
}
