//! Progress bars on long work, on a terminal only.

use std::sync::Mutex;

use bylaw_library::Stage;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// One bar that shows whatever stage the work is in.
pub(crate) struct Progress {
    bar: ProgressBar,
    stage: Mutex<&'static str>,
}

impl Progress {
    /// A bar on standard error; drawn only where that is a terminal.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{msg:10} {bar:32} {pos}/{len} {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, stage: Mutex::new("") }
    }

    /// Shows how far the work has come.
    pub(crate) fn show(&self, stage: &Stage) {
        let (name, done, total) = match stage {
            Stage::Reading { done, total, .. } => ("reading", *done, *total),
            Stage::Indexing { done, total } => ("indexing", *done, *total),
        };
        self.at(name, done as u64, total as u64);
    }

    /// Shows how far a stage has come.
    pub(crate) fn at(&self, name: &'static str, done: u64, total: u64) {
        if let Ok(mut current) = self.stage.lock()
            && *current != name
        {
            *current = name;
            self.bar.set_message(name);
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
