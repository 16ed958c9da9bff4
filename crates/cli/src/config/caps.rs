//! `[caps]`: ceilings of one question or run. What it may cost is a budget, see [`super::money`].

use std::time::Duration;

use super::raw;

/// Ceilings that no caller can raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CapSettings {
    pub(crate) max_steps: u32,
    pub(crate) max_wall: Duration,
}

impl CapSettings {
    pub(super) fn resolve(raw: &raw::Caps) -> Result<Self, String> {
        let within = |key: &str, value: u32, most: u32| {
            if (1..=most).contains(&value) { Ok(value) } else { Err(format!("{key}: {value} is outside 1 to {most}")) }
        };
        Ok(Self {
            max_steps: within("caps.max_steps", raw.max_steps, 12)?,
            max_wall: Duration::from_secs(within("caps.max_wall_seconds", raw.max_wall_seconds, 600)?.into()),
        })
    }
}
