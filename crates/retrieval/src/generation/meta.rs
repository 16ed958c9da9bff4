//! The file that makes a folder a generation: written last, so that a folder without it is not one.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
};

use bylaw_contract::GenerationNumber;
use serde::{Deserialize, Serialize};

use super::{GenerationError, GenerationSource};
use crate::analysis;

/// The articles, one JSON object a line.
pub(super) const ARTICLES: &str = "articles.jsonl";
/// The tables.
pub(super) const TABLES: &str = "tables.bin";
/// The folder of the lexical index.
pub(super) const INDEX: &str = "index";
const META: &str = "meta.json";

/// What a generation holds.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Meta {
    pub(super) number: GenerationNumber,
    pub(super) analysis: u32,
    pub(super) articles: u32,
    pub(super) articles_bytes: u64,
    pub(super) tables_bytes: u64,
    pub(super) tables_sum: u64,
    pub(super) sources: Vec<GenerationSource>,
}

pub(super) fn damaged(folder: &Path, problem: impl Into<String>) -> GenerationError {
    GenerationError::Damaged { folder: folder.display().to_string(), problem: problem.into() }
}

impl Meta {
    /// Writes it so that it is there whole or not at all.
    pub(super) fn write(&self, folder: &Path) -> Result<(), GenerationError> {
        let draft = folder.join("meta.json.part");
        let mut file = File::create(&draft)?;
        serde_json::to_writer(&mut file, self).map_err(std::io::Error::from)?;
        file.flush()?;
        file.sync_all()?;
        fs::rename(&draft, folder.join(META))?;
        File::open(folder)?.sync_all()?;
        Ok(())
    }

    /// Reads it.
    pub(super) fn read(folder: &Path) -> Result<Self, GenerationError> {
        let bytes = match fs::read(folder.join(META)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(damaged(folder, "meta.json is missing: it was never finished"));
            }
            Err(error) => return Err(error.into()),
        };
        // The revision decides first: the rest of the file may have another shape.
        let value: serde_json::Value = serde_json::from_slice(&bytes)
            .map_err(|error| damaged(folder, format!("meta.json cannot be read: {error}")))?;
        if value.get("analysis").and_then(serde_json::Value::as_u64) != Some(u64::from(analysis::REVISION)) {
            return Err(GenerationError::Outdated { folder: folder.display().to_string() });
        }
        let meta: Self = serde_json::from_value(value)
            .map_err(|error| damaged(folder, format!("meta.json cannot be read: {error}")))?;
        let mut next = 0;
        for source in &meta.sources {
            if source.first.0 != next {
                return Err(damaged(folder, "meta.json contradicts itself"));
            }
            next += source.articles;
        }
        if next == meta.articles { Ok(meta) } else { Err(damaged(folder, "meta.json contradicts itself")) }
    }
}
