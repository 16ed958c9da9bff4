//! `[ledger]`: how the books are kept.

use std::time::Duration;

use super::raw;

/// How the books are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LedgerSettings {
    /// After how long without a sign of life others settle the reservations of a process.
    pub(crate) lease: Duration,
    /// How often new rows are sealed.
    pub(crate) seal_every: Duration,
}

impl LedgerSettings {
    pub(super) fn resolve(raw: &raw::Ledger) -> Result<Self, String> {
        let seconds = |key: &str, value: u32, most: u32| {
            if (1..=most).contains(&value) {
                Ok(Duration::from_secs(value.into()))
            } else {
                Err(format!("{key}: {value} is outside 1 to {most}"))
            }
        };
        Ok(Self {
            lease: seconds("ledger.lease_seconds", raw.lease_seconds, 3_600)?,
            seal_every: seconds("ledger.seal_seconds", raw.seal_seconds, 86_400)?,
        })
    }
}
