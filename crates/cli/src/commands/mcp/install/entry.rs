//! What a client is told: which program to start, and how.

use bylaw_contract::ErrorCode;

use crate::{args::McpInstall, config::Settings, failure::Failure};

/// A server, as every client describes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) command: String,
    pub(super) arguments: Vec<String>,
    /// What goes into `BYLAW_KEY`.
    pub(super) key: Option<String>,
}

impl Entry {
    /// Paths are whole: a client starts programs wherever it likes.
    pub(super) fn of(arguments: &McpInstall, settings: &Settings) -> Result<Self, Failure> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if arguments.name.is_empty() || arguments.name.len() > 32 || !arguments.name.chars().all(fits) {
            let problem = format!("{:?} is no name: letters, digits, '-' and '_', at most 32", arguments.name);
            return Err(Failure::new(ErrorCode::InvalidRequest, problem));
        }
        let program = std::env::current_exe()
            .map_err(|error| Failure::new(ErrorCode::InternalError, format!("where this program is: {error}")))?;
        let mut words = vec!["mcp".to_owned()];
        if let Some(folder) = &arguments.service.docs {
            let folder = folder
                .canonicalize()
                .map_err(|error| Failure::new(ErrorCode::DocumentNotFound, format!("{}: {error}", folder.display())))?;
            words.extend(["--docs".to_owned(), folder.display().to_string()]);
        } else if let Some(url) = arguments.service.url.as_ref().or(settings.mcp.url.as_ref()) {
            words.extend(["--url".to_owned(), url.clone()]);
        }
        if let Some(data) = &settings.data {
            let data = std::path::absolute(data).unwrap_or_else(|_| data.clone());
            words.extend(["--data".to_owned(), data.display().to_string()]);
        }
        Ok(Self {
            name: arguments.name.clone(),
            command: program.display().to_string(),
            arguments: words,
            key: settings.client_key.as_ref().map(|key| key.reveal().to_owned()),
        })
    }

    /// To be shown.
    pub(super) fn without_key(&self) -> Self {
        Self { key: self.key.as_ref().map(|_| "***".to_owned()), ..self.clone() }
    }
}

#[cfg(test)]
pub(super) fn sample() -> Entry {
    Entry {
        name: "bylaw".to_owned(),
        command: "/opt/bylaw".to_owned(),
        arguments: vec!["mcp".to_owned(), "--docs".to_owned(), "/home/me/rules \"of\" ours".to_owned()],
        key: Some("bylaw_key".to_owned()),
    }
}
