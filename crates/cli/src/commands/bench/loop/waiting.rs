//! Very many runs that wait for a slow model: what they hold meanwhile.

use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Serialize;
use tokio::task::JoinSet;

use super::{
    super::process::{memory_kib, threads},
    course::Courses,
    report::mark,
};
use crate::{
    failure::Failure,
    terminal::{self, Format},
};

/// The most that all of them may hold, in megabytes.
const MAX_MB: f64 = 150.0;

/// Threads beyond those that a single run has.
const MAX_MORE_THREADS: usize = 4;

/// How often the threads are counted.
const LOOK: Duration = Duration::from_millis(20);

/// What was measured.
#[derive(Debug, Serialize)]
pub(super) struct Waited {
    name: &'static str,
    waiting: u32,
    right: usize,
    wall_s: f64,
    rss_before_mb: f64,
    rss_peak_mb: f64,
    threads_before: usize,
    threads_peak: usize,
}

/// All at once. The first run, alone, is not counted: it opens what all of them share.
pub(super) async fn run(courses: &Arc<Courses>, runs: u32) -> Result<Waited, Failure> {
    courses.shared().await?;
    let (rss_before_mb, threads_before) = (memory_kib().0 as f64 / 1024.0, threads());
    let start = Instant::now();
    let mut running = JoinSet::new();
    for _ in 0..runs {
        let courses = Arc::clone(courses);
        running.spawn(async move { courses.shared().await });
    }
    let (mut right, mut threads_peak) = (0, threads_before);
    let mut look = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            ended = running.join_next() => match ended {
                None => break,
                Some(Ok(Ok(_))) => right += 1,
                Some(Ok(Err(failure))) => tracing::warn!(%failure, "a run went wrong"),
                Some(Err(error)) => tracing::error!(%error, "a run panicked"),
            },
            _ = look.tick() => threads_peak = threads_peak.max(threads()),
        }
    }
    let wall_s = start.elapsed().as_secs_f64();
    let rss_peak_mb = memory_kib().1 as f64 / 1024.0;
    Ok(Waited { name: "bylaw", waiting: runs, right, wall_s, rss_before_mb, rss_peak_mb, threads_before, threads_peak })
}

impl Waited {
    fn memory_holds(&self) -> bool {
        self.rss_peak_mb <= MAX_MB
    }

    fn threads_hold(&self) -> bool {
        self.threads_peak <= self.threads_before + MAX_MORE_THREADS
    }

    pub(super) fn exit_code(&self) -> ExitCode {
        let all = self.right == self.waiting as usize;
        if all && self.memory_holds() && self.threads_hold() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    pub(super) fn show(&self, format: Format) {
        if format == Format::Json {
            return terminal::json(self);
        }
        terminal::line(format!("{} runs at once, {} right, {:.1} s", self.waiting, self.right, self.wall_s));
        terminal::line(format!(
            "{:<6} memory    {:.1} MB before, {:.1} MB at most (target {MAX_MB} MB)",
            mark(self.memory_holds()),
            self.rss_before_mb,
            self.rss_peak_mb
        ));
        terminal::line(format!(
            "{:<6} threads   {} before, {} at most",
            mark(self.threads_hold()),
            self.threads_before,
            self.threads_peak
        ));
    }
}
