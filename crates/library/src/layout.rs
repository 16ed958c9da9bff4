//! Where things lie in a data directory.

use std::path::{Path, PathBuf};

use bylaw_contract::{GenerationNumber, JobId};

/// One data directory.
///
/// ```text
///   bylaw.sqlite          tables (and its -wal, -shm)
///   service.lock          who runs here: pid and address
///   generations/000007/   immutable index folders; the highest complete number answers
///   uploads/job_….bin     bytes of jobs that have not ended
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDirectory {
    root: PathBuf,
}

impl DataDirectory {
    /// The data directory at `root`; nothing is created.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The SQLite file.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.root.join("bylaw.sqlite")
    }

    /// The service lock.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.root.join("service.lock")
    }

    /// All generations.
    #[must_use]
    pub fn generations(&self) -> PathBuf {
        self.root.join("generations")
    }

    /// One generation.
    #[must_use]
    pub fn generation(&self, number: GenerationNumber) -> PathBuf {
        self.generations().join(format!("{:06}", number.0))
    }

    /// All uploads.
    #[must_use]
    pub fn uploads(&self) -> PathBuf {
        self.root.join("uploads")
    }

    /// The bytes of one job.
    #[must_use]
    pub fn upload(&self, job: &JobId) -> PathBuf {
        self.uploads().join(format!("{job}.bin"))
    }
}
