//! A key that is revoked takes its runs with it.

use std::{sync::Weak, time::Duration};

use super::{Inner, going::Cause};

/// How often keys are looked at: as often as the ring looks for what has changed.
const EVERY: Duration = Duration::from_millis(100);

/// Looks at the keys of all runs that go on, until the runner is gone. One task for all of them: the ring remembers, so
/// that looking costs next to nothing.
pub(crate) async fn watch(runner: Weak<Inner>) {
    loop {
        tokio::time::sleep(EVERY).await;
        let Some(inner) = runner.upgrade() else { return };
        for going in inner.runs.all() {
            match inner.parts.keys.holds(&going.principal).await {
                Ok(true) => {}
                Ok(false) => going.end(Cause::KeyLost),
                // Nobody has been able to say for too long.
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, run_id = %going.run_id, "a run ends: its key cannot be looked up");
                    going.end(Cause::KeyLost);
                }
            }
        }
    }
}
