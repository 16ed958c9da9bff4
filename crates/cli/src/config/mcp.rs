//! `[mcp]`: what other people's agents are handed.

use std::time::Duration;

use bylaw_contract::SourceName;
use bylaw_handover::{HandoverSettings, MOST_STEPS, MOST_WALL};

use super::{client, raw};

/// What the operator decides about other people's agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct McpSettings {
    /// The service that is handed on; none: the one on this machine's usual port.
    pub(crate) url: Option<String>,
    pub(crate) handover: HandoverSettings,
}

impl McpSettings {
    pub(super) fn resolve(raw: &raw::Mcp) -> Result<Self, String> {
        let within = |key: &str, value: u32, least: u32, most: u32| {
            if (least..=most).contains(&value) {
                Ok(value)
            } else {
                Err(format!("{key}: {value} is outside {least} to {most}"))
            }
        };
        let most_ms = u32::try_from(MOST_WALL.as_millis()).unwrap_or(u32::MAX);
        let filled = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let source = filled(&raw.source).map(|name| {
            SourceName::new(name.as_str()).map_err(|_| format!("mcp.source: {name:?} is not the name of a source"))
        });
        Ok(Self {
            url: filled(&raw.url),
            handover: HandoverSettings {
                source: source.transpose()?,
                max_steps: within("mcp.max_steps", raw.max_steps, 1, MOST_STEPS)?,
                max_wall: Duration::from_millis(within("mcp.max_wall_ms", raw.max_wall_ms, 1000, most_ms)?.into()),
                language: client::named("mcp.language", &raw.language)?,
                aliases: raw.aliases,
            },
        })
    }
}
