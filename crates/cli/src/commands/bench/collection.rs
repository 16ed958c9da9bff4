//! Files → one index generation in a temporary folder, and the files that benchmarks read.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use bylaw_contract::{ErrorCode, GenerationNumber, Timestamp, VersionId};
use bylaw_library::FilesBelow;
use bylaw_retrieval::{Generation, SourceInput, Vocabulary, build};
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use super::process;
use crate::failure::Failure;

/// An indexed collection. Its folder goes when it is dropped.
pub(super) struct Collection {
    pub(super) generation: Arc<Generation>,
    /// Processor time of reading and indexing.
    pub(super) index_cpu: Duration,
    /// Time to open the finished generation.
    pub(super) open_time: Duration,
    _folder: TempDir,
}

impl Collection {
    /// Reads and indexes `paths`.
    pub(super) fn index(paths: &[PathBuf]) -> Result<Self, Failure> {
        let folder = TempDir::new().map_err(|error| io(Path::new("temporary folder"), &error))?;
        let before = process::cpu_time();
        let mut inputs = Vec::new();
        for (name, path) in FilesBelow::list(paths)?.found {
            let bytes = std::fs::read(&path).map_err(|error| io(&path, &error))?;
            let document =
                bylaw_corpus::read(&name, &bytes).map_err(|error| Failure::from_error(error.code(), &error))?;
            let version = VersionId::new("0".repeat(64))
                .map_err(|error| Failure::from_error(ErrorCode::InternalError, &error))?;
            inputs.push(SourceInput { name, version, ingested_at: Timestamp(0), document });
        }
        inputs.sort_by(|a: &SourceInput, b| a.name.cmp(&b.name));
        let total = inputs.iter().map(|input| input.document.articles.len()).sum();
        let generation = folder.path().join("generation");
        build(&generation, GenerationNumber(1), &mut inputs.into_iter(), total, &mut |_progress| true)?;
        let index_cpu = process::cpu_time().saturating_sub(before);
        let start = Instant::now();
        let generation = Generation::open(&generation, Arc::new(Vocabulary::builtin()))?;
        Ok(Self { generation: Arc::new(generation), index_cpu, open_time: start.elapsed(), _folder: folder })
    }
}

/// Reads a JSON array, or one JSON value a line.
pub(super) fn json_rows<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Failure> {
    let text = text(path)?;
    let parsed = if text.trim_start().starts_with('[') {
        serde_json::from_str(&text)
    } else {
        text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect()
    };
    parsed.map_err(|error| Failure::new(ErrorCode::InvalidRecord, format!("{}: {error}", path.display())))
}

/// Reads a text file.
pub(super) fn text(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| io(path, &error))
}

fn io(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::DocumentNotFound, format!("{}: {error}", path.display()))
}
