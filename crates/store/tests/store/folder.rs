//! A folder for a database.

use std::path::{Path, PathBuf};

use bylaw_store::SqliteStore;

/// In memory where the system has such a place: what is tested forces hundreds of writes to disk, and a busy disk would be
/// what is measured.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        Self(if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.path().join("bylaw.sqlite")
    }

    pub(crate) async fn open(&self) -> SqliteStore {
        SqliteStore::open(&self.file()).await.unwrap()
    }
}
