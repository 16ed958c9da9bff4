//! The bytes of jobs that have not ended, on disk.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use bylaw_contract::{JobId, SourceName};
use bylaw_corpus::CorpusError;

use crate::{error::LibraryError, keep::Upload, layout::DataDirectory, reading::max_bytes};

/// Stores the bytes of a job, on disk when this returns. Blocks.
pub(crate) fn store(
    directory: &DataDirectory,
    job: &JobId,
    source: &SourceName,
    upload: Upload,
) -> Result<(), LibraryError> {
    let folder = directory.uploads();
    fs::create_dir_all(&folder).map_err(LibraryError::io(&folder))?;
    let to = directory.upload(job);
    let stored = match upload {
        Upload::Bytes(bytes) => within_limit(source, bytes.len()).and_then(|()| copy(&mut &*bytes, &to, source)),
        Upload::File(from) => take_over(&from, &to, source),
        Upload::Copy(from) => copy_file(&from, &to, source),
    };
    let durable = stored
        .and_then(|()| File::open(&folder).and_then(|folder| folder.sync_all()).map_err(LibraryError::io(&folder)));
    if durable.is_err() {
        let _ = fs::remove_file(&to);
    }
    durable
}

/// Removes the bytes of a job.
pub(crate) fn remove(directory: &DataDirectory, job: &JobId) {
    let path = directory.upload(job);
    if let Err(error) = fs::remove_file(&path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%job, %error, "the bytes of a job that has ended cannot be removed");
    }
}

/// Removes bytes that belong to none of `jobs`, and says which of them have theirs.
pub(crate) fn sweep(directory: &DataDirectory, jobs: &[JobId]) -> Vec<JobId> {
    let expected: HashSet<PathBuf> = jobs.iter().map(|job| directory.upload(job)).collect();
    for entry in fs::read_dir(directory.uploads()).into_iter().flatten().flatten() {
        let path = entry.path();
        if !expected.contains(&path)
            && let Err(error) = fs::remove_file(&path)
        {
            tracing::warn!(path = %path.display(), %error, "an upload without a job cannot be removed");
        }
    }
    jobs.iter().filter(|job| directory.upload(job).is_file()).cloned().collect()
}

fn within_limit(source: &SourceName, bytes: usize) -> Result<(), LibraryError> {
    let limit = max_bytes(source.as_str());
    if bytes <= limit {
        return Ok(());
    }
    Err(CorpusError::TooLarge { name: source.to_string(), bytes, limit }.into())
}

fn take_over(from: &Path, to: &Path, source: &SourceName) -> Result<(), LibraryError> {
    let size = fs::metadata(from).map_err(LibraryError::io(from))?.len();
    within_limit(source, usize::try_from(size).unwrap_or(usize::MAX))?;
    match fs::rename(from, to) {
        Ok(()) => File::open(to).and_then(|file| file.sync_all()).map_err(LibraryError::io(to)),
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy_file(from, to, source)?;
            fs::remove_file(from).map_err(LibraryError::io(from))
        }
        Err(error) => Err(LibraryError::io(to)(error)),
    }
}

fn copy_file(from: &Path, to: &Path, source: &SourceName) -> Result<(), LibraryError> {
    let mut file = File::open(from).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => LibraryError::FileNotFound { path: from.to_owned() },
        _ => LibraryError::io(from)(error),
    })?;
    let size = file.metadata().map_err(LibraryError::io(from))?.len();
    within_limit(source, usize::try_from(size).unwrap_or(usize::MAX))?;
    copy(&mut file, to, source)
}

/// Copies to disk. A file may grow while it is copied, so the limit holds here too.
fn copy(from: &mut dyn Read, to: &Path, source: &SourceName) -> Result<(), LibraryError> {
    let limit = u64::try_from(max_bytes(source.as_str())).unwrap_or(u64::MAX);
    let written = File::create(to)
        .and_then(|mut file| {
            let bytes = io::copy(&mut from.take(limit.saturating_add(1)), &mut file)?;
            file.flush()?;
            file.sync_all()?;
            Ok(bytes)
        })
        .map_err(LibraryError::io(to))?;
    within_limit(source, usize::try_from(written).unwrap_or(usize::MAX))
}
