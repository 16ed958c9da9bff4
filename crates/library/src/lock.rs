//! The service lock: exactly one process changes the documents of a data directory.

use std::{
    collections::HashSet,
    fmt,
    fs::{File, OpenOptions, TryLockError},
    io::{self, Seek, Write},
    path::{Path, PathBuf},
    sync::{LazyLock, Mutex, PoisonError},
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{error::LibraryError, layout::DataDirectory};

/// Who holds a service lock. Written into the lock file as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    /// Process id; 0 where it could not be found out.
    pub pid: u32,
    /// Address of its service, `127.0.0.1:8024`; `None` for a command that changes documents by itself.
    pub address: Option<String>,
}

impl LockHolder {
    /// This process, which serves nothing.
    pub(crate) fn this_process() -> Self {
        Self { pid: std::process::id(), address: None }
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.address, self.pid) {
            (Some(address), pid) => write!(f, "the service at http://{address} (process {pid})"),
            (None, 0) => f.write_str("another process"),
            (None, pid) => write!(f, "process {pid}"),
        }
    }
}

/// Lock files that this process holds. The operating system knows as much but does not say, and process ids do not
/// help where containers share a data directory.
static HELD_HERE: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);

/// The file is padded to this length, so that it is always overwritten as a whole and never seen half-written.
const FILE_BYTES: usize = 512;
/// Others lock the file for a moment to see whether it is held.
const ATTEMPTS: u32 = 6;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(10);

/// The held lock. Released when dropped, and by the operating system when the process ends in any way.
#[derive(Debug)]
pub struct ServiceLock {
    file: File,
    path: PathBuf,
}

impl ServiceLock {
    /// Creates the data directory if need be and takes its lock.
    ///
    /// # Errors
    /// [`LibraryError::Locked`] with the holder if another process has it; [`LibraryError::DataDirectory`] if the folder
    /// cannot be created or written.
    pub fn acquire(directory: &DataDirectory, holder: &LockHolder) -> Result<Self, LibraryError> {
        let unusable = |error: io::Error| LibraryError::DataDirectory {
            folder: directory.root().to_owned(),
            problem: explain(&error),
        };
        std::fs::create_dir_all(directory.root()).map_err(unusable)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(directory.lock()).map_err(unusable)?;
        if !try_lock(&file).map_err(unusable)? {
            let holder = read(&directory.lock());
            return Err(LibraryError::Locked { folder: directory.root().to_owned(), holder });
        }
        let lock = Self { file, path: identity(directory).map_err(unusable)? };
        held_here(|held| held.insert(lock.path.clone()));
        lock.write(holder).map_err(unusable)?;
        Ok(lock)
    }

    /// Writes who holds the lock now: the address is known only after listening.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn announce(&self, holder: &LockHolder) -> Result<(), LibraryError> {
        self.write(holder).map_err(LibraryError::io(&self.path))
    }

    /// Who holds the lock, without taking it; `None` if nobody does.
    #[must_use]
    pub fn holder(directory: &DataDirectory) -> Option<LockHolder> {
        let path = directory.lock();
        let file = File::open(&path).ok()?;
        match file.try_lock_shared() {
            Ok(()) => None,
            Err(TryLockError::WouldBlock) => Some(read(&path)),
            // Where files cannot be locked, nobody holds a lock.
            Err(TryLockError::Error(_)) => None,
        }
    }

    /// Whether this process holds the lock.
    pub(crate) fn is_held_here(directory: &DataDirectory) -> bool {
        identity(directory).is_ok_and(|path| held_here(|held| held.contains(&path)))
    }

    fn write(&self, holder: &LockHolder) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(holder).map_err(io::Error::other)?;
        bytes.resize(bytes.len().max(FILE_BYTES - 1), b' ');
        bytes.push(b'\n');
        let mut file = &self.file;
        file.rewind()?;
        file.write_all(&bytes)
    }
}

impl Drop for ServiceLock {
    fn drop(&mut self) {
        held_here(|held| held.remove(&self.path));
        // Closing the file would do as well, unless a child process has inherited it.
        let _ = self.file.unlock();
    }
}

fn held_here<T>(act: impl FnOnce(&mut HashSet<PathBuf>) -> T) -> T {
    act(&mut HELD_HERE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The lock file's path in one spelling.
fn identity(directory: &DataDirectory) -> io::Result<PathBuf> {
    directory.lock().canonicalize()
}

fn try_lock(file: &File) -> io::Result<bool> {
    for attempt in 1..=ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => thread::sleep(BETWEEN_ATTEMPTS),
            Err(TryLockError::WouldBlock) => break,
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}

fn read(path: &Path) -> LockHolder {
    std::fs::read(path)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or(LockHolder { pid: 0, address: None })
}

/// Why a data directory cannot be used, in words that help.
pub(crate) fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "this user may not write there".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "it lies on a read-only file system".to_owned(),
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => "it, or a folder above it, is a file".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        _ => error.to_string(),
    }
}
