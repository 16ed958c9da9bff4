//! Numbers beside their targets.

use std::process::ExitCode;

use serde::Serialize;

use super::{super::process::memory_kib, speed::Speed};
use crate::terminal::{self, Format};

/// The process before anything was done.
#[derive(Clone, Copy)]
pub(super) struct System {
    rss_mb: f64,
}

impl System {
    pub(super) fn at_start() -> Self {
        Self { rss_mb: memory_kib().0 as f64 / 1024.0 }
    }
}

/// What was measured.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    name: &'static str,
    /// Whether the numbers hold what the model and the server take.
    with_servers: bool,
    rss_import_mb: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shared: Option<Speed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fresh: Option<Speed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) durable: Option<Speed>,
    /// The load of the machine at the end, over a minute.
    load1: f64,
}

/// One number that has a target.
struct Aim {
    what: &'static str,
    found: f64,
    unit: &'static str,
    target: Target,
}

enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Report {
    pub(super) fn new(system: System, with_servers: bool) -> Self {
        Self {
            name: "bylaw",
            with_servers,
            rss_import_mb: system.rss_mb,
            shared: None,
            fresh: None,
            durable: None,
            load1: 0.0,
        }
    }

    /// Whether every run was right. What is missed on a busy machine is told, and is no failure.
    pub(super) fn exit_code(&self) -> ExitCode {
        let errors: u32 = [&self.shared, &self.fresh, &self.durable].into_iter().flatten().map(|s| s.errors).sum();
        if errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    pub(super) fn show(&mut self, format: Format) {
        self.load1 = load();
        if format == Format::Json {
            return terminal::json(self);
        }
        for (name, speed) in [("shared", &self.shared), ("fresh", &self.fresh), ("durable", &self.durable)] {
            if let Some(s) = speed {
                terminal::line(format!(
                    "{name:<8} one: {:.2} ms wall, {:.2} ms CPU   {} at a time: {:.0}/s, p99 {:.1} ms, {:.2} ms CPU   \
                     peak {:.1} MB   errors {}",
                    s.p50_ms,
                    s.cpu_ms_per_run,
                    s.conc,
                    s.runs_per_s,
                    s.conc_p99_ms,
                    s.conc_cpu_ms_per_run,
                    s.rss_peak_mb,
                    s.errors
                ));
            }
        }
        for aim in self.aims() {
            let (holds, sign, target) = match aim.target {
                Target::AtMost(most) => (aim.found <= most, "≤", most),
                Target::AtLeast(least) => (aim.found >= least, "≥", least),
            };
            terminal::line(format!(
                "{:<6} {:<32} {:>9.2} {:<4} {sign} {target}",
                mark(holds),
                aim.what,
                aim.found,
                aim.unit
            ));
        }
        if self.with_servers {
            terminal::line("the model and the server ran in this process: processor time and memory hold theirs");
        }
        terminal::line(format!("load {:.2}", self.load1));
    }

    fn aims(&self) -> Vec<Aim> {
        let aim = |what, found, unit, target| Aim { what, found, unit, target };
        let mut aims = Vec::new();
        if let Some(speed) = &self.shared {
            aims.push(aim("shared: CPU per run", speed.cpu_ms_per_run, "ms", Target::AtMost(1.0)));
            aims.push(aim("shared: runs/s per core", speed.runs_per_core(), "", Target::AtLeast(900.0)));
            aims.push(aim("shared: peak memory", speed.rss_peak_mb, "MB", Target::AtMost(25.0)));
        }
        if let Some(speed) = &self.fresh {
            aims.push(aim("fresh: wall time", speed.p50_ms, "ms", Target::AtMost(4.0)));
            aims.push(aim("fresh: CPU per run", speed.cpu_ms_per_run, "ms", Target::AtMost(4.0)));
        }
        if let Some(speed) = &self.durable {
            aims.push(aim("durable: CPU per run", speed.conc_cpu_ms_per_run, "ms", Target::AtMost(2.0)));
            aims.push(aim("durable: runs/s", speed.runs_per_s, "", Target::AtLeast(400.0)));
        }
        aims
    }
}

/// How it is said whether a target was reached.
pub(super) const fn mark(holds: bool) -> &'static str {
    if holds { "ok" } else { "MISSED" }
}

fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or(0.0)
}
