//! The settings as the program uses them.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use bylaw_model::Endpoint;

use super::{
    caps::CapSettings,
    client::ClientKey,
    ledger::LedgerSettings,
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
    pub(crate) documents_root: Option<PathBuf>,
    pub(crate) max_upload_bytes: u64,
    pub(crate) max_concurrent_asks: usize,
    pub(crate) shutdown_grace: Duration,
    /// The data directory, if one was named.
    pub(crate) data: Option<PathBuf>,
    pub(crate) undo_window: Duration,
    pub(crate) glossary: Option<PathBuf>,
    pub(crate) model: Option<Endpoint>,
    pub(crate) money: MoneySettings,
    pub(crate) caps: CapSettings,
    pub(crate) ledger: LedgerSettings,
    pub(crate) runs: RunSettings,
    /// The key that is sent to services.
    pub(crate) client_key: Option<ClientKey>,
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
            documents_root: path(&raw.server.documents_root),
            max_upload_bytes: u64::from(positive("server.max_upload_mib", raw.server.max_upload_mib)?) << 20,
            max_concurrent_asks: positive("server.max_concurrent_asks", raw.server.max_concurrent_asks)? as usize,
            shutdown_grace: seconds(raw.server.shutdown_grace_seconds),
            data: path(&raw.data.directory),
            undo_window: DAY * raw.data.undo_days,
            glossary: path(&raw.retrieval.glossary),
            model: model(raw)?,
            money: MoneySettings::resolve(raw)?,
            caps: CapSettings::resolve(&raw.caps)?,
            ledger: LedgerSettings::resolve(&raw.ledger)?,
            runs: RunSettings::resolve(&raw.runs)?,
            client_key: ClientKey::new(&raw.client.key),
            log_level: raw.log.level.clone(),
            log_format: raw.log.format,
        })
    }
}

fn path(text: &str) -> Option<PathBuf> {
    if text.is_empty() { None } else { Some(PathBuf::from(text)) }
}

fn seconds(count: u32) -> Duration {
    Duration::from_secs(u64::from(count))
}

fn model(raw: &Raw) -> Result<Option<Endpoint>, String> {
    let model = &raw.model;
    if model.base_url.is_empty() {
        return if model.name.is_empty() {
            Ok(None)
        } else {
            Err("model.base_url: missing, while model.name is set; name the endpoint or remove the name".to_owned())
        };
    }
    if model.name.is_empty() {
        return Err("model.name: missing, while model.base_url is set; name the model to ask for".to_owned());
    }
    Ok(Some(Endpoint {
        base_url: model.base_url.trim_end_matches('/').to_owned(),
        api_key: if model.api_key.is_empty() { None } else { Some(model.api_key.clone()) },
        model: model.name.clone(),
        connect_timeout: seconds(model.connect_timeout_seconds),
        first_byte_timeout: seconds(model.first_byte_timeout_seconds),
        idle_timeout: seconds(model.idle_timeout_seconds),
        total_timeout: seconds(model.total_timeout_seconds),
    }))
}
