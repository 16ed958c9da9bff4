//! The key that the ledger is sealed with: a file in the data directory that only its owner reads.

use std::{
    fs,
    io::{ErrorKind, Write},
    path::PathBuf,
};

use bylaw_contract::{ErrorCode, Randomness};
use bylaw_gate::{LedgerStore, SealingKey};
use bylaw_library::DataDirectory;

use crate::failure::{FAULTY_LEDGER, Failure};

fn file(directory: &DataDirectory) -> PathBuf {
    directory.root().join("sealing.key")
}

/// The sealing key, if one was ever made.
pub(crate) fn read(directory: &DataDirectory) -> Result<Option<SealingKey>, Failure> {
    let path = file(directory);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(&path, &error.to_string())),
    };
    SealingKey::parse(&text).map(Some).map_err(|error| unusable(&path, &error.to_string()))
}

/// The sealing key; a fresh one if nothing was sealed yet.
///
/// A fresh key for a ledger that has seals would let whoever takes the key away have the service vouch for changed rows.
pub(crate) async fn read_or_make(
    directory: &DataDirectory,
    ledger: &dyn LedgerStore,
    random: &dyn Randomness,
) -> Result<SealingKey, Failure> {
    if let Some(key) = read(directory)? {
        return Ok(key);
    }
    if ledger.last_seal().await?.is_some() {
        return Err(missing(directory));
    }
    let key = SealingKey::mint(random);
    if write(directory, &key).map_err(|error| unusable(&file(directory), &error.to_string()))? {
        return Ok(key);
    }
    read(directory)?.ok_or_else(|| missing(directory))
}

/// The ledger is sealed, and the key is not there.
pub(crate) fn missing(directory: &DataDirectory) -> Failure {
    let path = file(directory);
    Failure::new(ErrorCode::LedgerFaulty, format!("{}: missing, and rows are sealed with it", path.display()))
        .hint(FAULTY_LEDGER)
}

/// Whether this process made the file. It is there as a whole or not at all.
fn write(directory: &DataDirectory, key: &SealingKey) -> std::io::Result<bool> {
    // Temporary files are readable by their owner only.
    let mut draft = tempfile::NamedTempFile::new_in(directory.root())?;
    writeln!(draft, "{}", key.reveal())?;
    draft.as_file().sync_all()?;
    match draft.persist_noclobber(file(directory)) {
        Ok(_file) => {}
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(error.error),
    }
    fs::File::open(directory.root())?.sync_all()?;
    Ok(true)
}

fn unusable(path: &std::path::Path, problem: &str) -> Failure {
    Failure::new(ErrorCode::DataDirectoryUnusable, format!("{}: {problem}", path.display()))
}
