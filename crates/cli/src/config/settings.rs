//! The settings as the program uses them.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use bylaw_agent::Room;
use bylaw_contract::Language;
use bylaw_service::FrameAncestor;

use super::{
    caps::CapSettings,
    client::{self, ClientKey},
    ledger::LedgerSettings,
    mcp::McpSettings,
    model::ModelSettings,
    money::MoneySettings,
    raw::{LogFormat, Raw},
    runs::RunSettings,
};

/// Everything that can be configured, checked.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) host: IpAddr,
    pub(crate) port: u16,
    pub(crate) allowed_hosts: Vec<String>,
    /// Whose pages may show ours in a frame.
    pub(crate) frame_ancestors: Vec<FrameAncestor>,
    pub(crate) documents_root: Option<PathBuf>,
    pub(crate) max_upload_bytes: u64,
    pub(crate) max_concurrent_asks: usize,
    pub(crate) shutdown_grace: Duration,
    /// The data directory, if one was named.
    pub(crate) data: Option<PathBuf>,
    pub(crate) undo_window: Duration,
    pub(crate) glossary: Option<PathBuf>,
    pub(crate) model: Option<ModelSettings>,
    /// The folder of agents, if there is one.
    pub(crate) agents: Option<PathBuf>,
    /// How many runs there may be.
    pub(crate) room: Room,
    pub(crate) money: MoneySettings,
    pub(crate) caps: CapSettings,
    pub(crate) ledger: LedgerSettings,
    pub(crate) runs: RunSettings,
    /// The key that is sent to services.
    pub(crate) client_key: Option<ClientKey>,
    /// What conversations are held in, if that is known.
    pub(crate) language: Option<Language>,
    pub(crate) mcp: McpSettings,
    pub(crate) log_level: String,
    pub(crate) log_format: LogFormat,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Settings {
    /// Checks the written settings.
    ///
    /// # Errors
    /// One sentence that names the setting.
    pub(super) fn resolve(raw: &Raw) -> Result<Self, String> {
        let host = match raw.server.host.as_str() {
            "localhost" => IpAddr::from([127, 0, 0, 1]),
            text => {
                text.parse().map_err(|_| format!("server.host: {text:?} is not an IP address such as 127.0.0.1"))?
            }
        };
        let positive = |key: &str, value: u32| {
            if value == 0 { Err(format!("{key}: must be more than 0")) } else { Ok(value) }
        };
        Ok(Self {
            host,
            port: raw.server.port,
            allowed_hosts: raw.server.allowed_hosts.clone(),
            frame_ancestors: frame_ancestors(&raw.server.frame_ancestors)?,
            documents_root: path(&raw.server.documents_root),
            max_upload_bytes: u64::from(positive("server.max_upload_mib", raw.server.max_upload_mib)?) << 20,
            max_concurrent_asks: positive("server.max_concurrent_asks", raw.server.max_concurrent_asks)? as usize,
            shutdown_grace: seconds(raw.server.shutdown_grace_seconds),
            data: path(&raw.data.directory),
            undo_window: DAY * raw.data.undo_days,
            glossary: path(&raw.retrieval.glossary),
            model: ModelSettings::resolve(&raw.model)?,
            agents: path(&raw.agents.directory),
            room: Room {
                working: positive("agents.max_concurrent_runs", raw.agents.max_concurrent_runs)? as usize,
                waiting: positive("agents.max_open_questions", raw.agents.max_open_questions)? as usize,
            },
            money: MoneySettings::resolve(raw)?,
            caps: CapSettings::resolve(&raw.caps)?,
            ledger: LedgerSettings::resolve(&raw.ledger)?,
            runs: RunSettings::resolve(&raw.runs)?,
            client_key: ClientKey::new(&raw.client.key),
            language: client::language(&raw.client.language)?,
            mcp: McpSettings::resolve(&raw.mcp)?,
            log_level: raw.log.level.clone(),
            log_format: raw.log.format,
        })
    }
}

fn frame_ancestors(origins: &[String]) -> Result<Vec<FrameAncestor>, String> {
    let read = |origin: &String| origin.parse().map_err(|error| format!("server.frame_ancestors: {error}"));
    origins.iter().map(read).collect()
}

fn path(text: &str) -> Option<PathBuf> {
    if text.is_empty() { None } else { Some(PathBuf::from(text)) }
}

fn seconds(count: u32) -> Duration {
    Duration::from_secs(u64::from(count))
}
