//! Which data directory a command works on.

use std::path::{Path, PathBuf};

use bylaw_contract::ErrorCode;
use bylaw_library::DataDirectory;
use bylaw_store::SqliteStore;
use sha2::{Digest, Sha256};

use crate::{config::Settings, failure::Failure};

/// A data directory and how it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DataSet {
    pub(crate) directory: DataDirectory,
    /// Whether it is the bundled sample's.
    pub(crate) is_sample: bool,
}

impl DataSet {
    /// The data set to add documents to: the named one, else the platform's default.
    pub(crate) fn to_write(settings: &Settings) -> Result<Self, Failure> {
        let root = match &settings.data {
            Some(folder) => folder.clone(),
            None => platform_folder()?.join("default"),
        };
        Ok(Self { directory: DataDirectory::new(root), is_sample: false })
    }

    /// The data set of the bundled sample: a folder of its own, so that it never mixes with anyone's documents.
    pub(crate) fn sample(settings: &Settings) -> Result<Self, Failure> {
        let root = match &settings.data {
            Some(folder) => folder.clone(),
            None => platform_folder()?.join("sample"),
        };
        Ok(Self { directory: DataDirectory::new(root), is_sample: true })
    }

    /// The data set to read: the named one, else the default if it has been used, else the sample's if that has.
    pub(crate) fn to_read(settings: &Settings) -> Result<Self, Failure> {
        let default = Self::to_write(settings)?;
        if settings.data.is_some() || default.is_used() {
            return Ok(default);
        }
        let sample = Self::sample(settings)?;
        Ok(if sample.is_used() { sample } else { default })
    }

    /// Whether anything was ever kept here.
    pub(crate) fn is_used(&self) -> bool {
        self.directory.database().is_file()
    }

    /// Opens the tables alone, beside whoever uses them, creating them if need be.
    pub(crate) async fn store(&self) -> Result<SqliteStore, Failure> {
        let root = self.directory.root();
        std::fs::create_dir_all(root).map_err(|error| {
            Failure::new(ErrorCode::DataDirectoryUnusable, format!("{}: {error}", root.display()))
                .hint("choose another data directory with --data")
        })?;
        Ok(SqliteStore::open(&self.directory.database()).await?)
    }

    /// Refuses a data set that nothing was ever kept in.
    pub(crate) fn require_used(self) -> Result<Self, Failure> {
        if self.is_used() {
            return Ok(self);
        }
        let folder = self.directory.root().display();
        Err(Failure::new(ErrorCode::NotReady, format!("no documents have been ingested into {folder}"))
            .hint("bylaw ingest FILE_OR_FOLDER, or bylaw serve to try the sample"))
    }
}

/// Where the data of a folder that is served for itself is kept: a place of its own for each.
pub(crate) fn of_folder(folder: &Path) -> Result<PathBuf, Failure> {
    let name: String = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let digest = Sha256::digest(folder.as_os_str().as_encoded_bytes());
    let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Ok(platform_folder()?.join("folders").join(format!("{name}-{digest}")))
}

fn platform_folder() -> Result<PathBuf, Failure> {
    let base = etcetera::choose_base_strategy().map_err(|error| {
        Failure::new(ErrorCode::DataDirectoryUnusable, format!("no place for application data: {error}"))
            .hint("name a data directory with --data")
    })?;
    Ok(etcetera::BaseStrategy::data_dir(&base).join("bylaw"))
}
