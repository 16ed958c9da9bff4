//! Where things lie in a data directory.

use std::path::{Path, PathBuf};

use bylaw_contract::{GenerationNumber, JobId};

/// How names of folders begin in which a generation is being built.
pub(crate) const BUILDING: &str = ".building-";

/// One data directory.
///
/// ```text
///   bylaw.sqlite          tables (and its -wal, -shm)
///   service.lock          who runs here: pid and address
///   generations/000007/   immutable index folders; the highest complete number answers, the one before is kept for
///                         those who still read it; .building-8 is one that is not complete
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

    /// Where a generation is built before it is published.
    #[must_use]
    pub fn building(&self, number: GenerationNumber) -> PathBuf {
        self.generations().join(format!("{BUILDING}{}", number.0))
    }

    /// Numbers of the published generations, newest first.
    ///
    /// # Errors
    /// If the folder of generations is there and cannot be read.
    pub fn published(&self) -> std::io::Result<Vec<GenerationNumber>> {
        let entries = match std::fs::read_dir(self.generations()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut numbers = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            // A name that is not a number is not ours to judge.
            numbers.extend(name.to_str().and_then(|name| name.parse().ok()).map(GenerationNumber));
        }
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        Ok(numbers)
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
