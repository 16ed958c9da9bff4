//! The settings as they are written. Unknown keys are refused by name.

use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    pub(super) server: Server,
    pub(super) data: Data,
    pub(super) retrieval: Retrieval,
    pub(super) model: Model,
    pub(super) log: Log,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) allowed_hosts: Vec<String>,
    pub(super) documents_root: String,
    pub(super) max_upload_mib: u32,
    pub(super) max_concurrent_asks: u32,
    pub(super) shutdown_grace_seconds: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Data {
    pub(super) directory: String,
    pub(super) undo_days: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Retrieval {
    pub(super) glossary: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Model {
    pub(super) base_url: String,
    pub(super) name: String,
    pub(super) api_key: String,
    pub(super) connect_timeout_seconds: u32,
    pub(super) first_byte_timeout_seconds: u32,
    pub(super) idle_timeout_seconds: u32,
    pub(super) total_timeout_seconds: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Log {
    pub(super) level: String,
    pub(super) format: LogFormat,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}
