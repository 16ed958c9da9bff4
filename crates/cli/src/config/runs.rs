//! `[runs]`: how runs are kept.

use std::time::Duration;

use super::raw;

/// How runs are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunSettings {
    /// How long after its end a run is forgotten, and after its last change a conversation with its runs.
    pub(crate) keep: Duration,
}

impl RunSettings {
    pub(super) fn resolve(raw: &raw::Runs) -> Result<Self, String> {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        match raw.keep_days {
            days @ 1..=3_650 => Ok(Self { keep: DAY * days }),
            days => Err(format!("runs.keep_days: {days} is outside 1 to 3650")),
        }
    }
}
