//! Large and binary parts of results, kept aside.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use bylaw_contract::ArtifactId;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::tool::ToolInfo;

/// The tool that reads on in what was kept aside; offered once there is something.
pub(crate) const READER: &str = "read_artifact";

/// A part of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Its id.
    pub id: ArtifactId,
    /// Its media type.
    pub mime: String,
    /// Its bytes.
    pub bytes: Bytes,
}

/// An artifact store failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the artifact store failed: {0}")]
pub struct ArtifactError(pub String);

/// Keeps artifacts.
#[async_trait]
pub trait ArtifactStore: Send + Sync {
    /// Keeps one.
    async fn put(&self, artifact: Artifact) -> Result<(), ArtifactError>;

    /// One that was kept.
    async fn get(&self, id: &ArtifactId) -> Result<Option<Artifact>, ArtifactError>;
}

/// Keeps artifacts in memory, up to a size; beyond it, no more are taken.
#[derive(Debug)]
pub struct MemoryArtifacts {
    kept: Mutex<(HashMap<ArtifactId, Artifact>, usize)>,
    max_bytes: usize,
}

impl MemoryArtifacts {
    /// Room for so many bytes.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        Self { kept: Mutex::default(), max_bytes }
    }
}

impl Default for MemoryArtifacts {
    fn default() -> Self {
        Self::new(64 << 20)
    }
}

#[async_trait]
impl ArtifactStore for MemoryArtifacts {
    async fn put(&self, artifact: Artifact) -> Result<(), ArtifactError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let size = kept.1 + artifact.bytes.len();
        if size > self.max_bytes {
            return Err(ArtifactError(format!("it is full: more than {} bytes", self.max_bytes)));
        }
        kept.1 = size;
        kept.0.insert(artifact.id.clone(), artifact);
        Ok(())
    }

    async fn get(&self, id: &ArtifactId) -> Result<Option<Artifact>, ArtifactError> {
        Ok(self.kept.lock().unwrap_or_else(PoisonError::into_inner).0.get(id).cloned())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    id: String,
    #[serde(default)]
    offset: usize,
}

pub(crate) fn reader_info() -> ToolInfo {
    let schema = json!({
        "type": "object", "required": ["id"], "additionalProperties": false,
        "properties": {
            "id": { "type": "string", "description": "The artifact's id: art_…" },
            "offset": { "type": "integer", "minimum": 0, "description": "The byte to begin at; 0 if not given." },
        },
    });
    ToolInfo::reading(READER, "Reads on in a tool result that was too long to be shown whole.", schema)
}

/// A piece of a text that was kept aside, at most `limit` bytes of it.
pub(crate) async fn read(
    store: &dyn ArtifactStore,
    known: &[ArtifactId],
    arguments: Map<String, Value>,
    limit: usize,
) -> Result<String, String> {
    let asked: ReadArguments = serde_json::from_value(Value::Object(arguments)).map_err(|error| error.to_string())?;
    let unknown = || format!("There is no artifact `{}` in this conversation.", asked.id);
    let id = known.iter().find(|id| id.as_str() == asked.id).ok_or_else(unknown)?;
    let artifact = store.get(id).await.map_err(|error| error.to_string())?.ok_or_else(unknown)?;
    let Ok(text) = std::str::from_utf8(&artifact.bytes) else {
        return Err(format!("{} is {} of {} bytes: no text.", asked.id, artifact.mime, artifact.bytes.len()));
    };
    let from = text.floor_char_boundary(asked.offset);
    let to = text.floor_char_boundary(from.saturating_add(limit));
    let rest = if to == text.len() { "this is its end".to_owned() } else { format!("read on at offset {to}") };
    Ok(format!("[bytes {from} to {to} of {}; {rest}]\n{}", text.len(), &text[from..to]))
}
