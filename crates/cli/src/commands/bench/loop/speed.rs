//! Many runs, one after another and side by side.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use bylaw_contract::ErrorCode;
use serde::Serialize;
use tokio::task::JoinSet;

use super::{
    super::{
        metrics::percentile,
        process::{cpu_time, memory_kib},
    },
    course::Courses,
};
use crate::{args::BenchLoop, failure::Failure};

/// Runs before anything is measured.
const WARM_UP: u32 = 4;

/// What was measured of one way to run. Milliseconds, megabytes.
#[derive(Debug, Serialize)]
pub(super) struct Speed {
    pub(super) first_ms: f64,
    pub(super) p50_ms: f64,
    pub(super) p95_ms: f64,
    pub(super) min_ms: f64,
    pub(super) cpu_ms_per_run: f64,
    pub(super) conc: u32,
    pub(super) runs_per_s: f64,
    pub(super) conc_p50_ms: f64,
    pub(super) conc_p99_ms: f64,
    pub(super) conc_cpu_ms_per_run: f64,
    pub(super) errors: u32,
    pub(super) rss_peak_mb: f64,
}

impl Speed {
    /// What one core of this machine would do.
    pub(super) fn runs_per_core(&self) -> f64 {
        1_000.0 / self.conc_cpu_ms_per_run
    }
}

/// How one run is made.
#[derive(Clone, Copy)]
enum Way {
    Shared,
    Fresh,
}

impl Way {
    async fn run(self, courses: &Courses) -> Result<Duration, Failure> {
        match self {
            Self::Shared => courses.shared().await,
            Self::Fresh => courses.fresh().await,
        }
    }
}

/// Runs that share one connection to their tools.
pub(super) async fn shared(courses: &Arc<Courses>, arguments: &BenchLoop) -> Result<Speed, Failure> {
    measure(courses, Way::Shared, arguments).await
}

/// Runs that each have a connection of their own.
pub(super) async fn fresh(courses: &Arc<Courses>, arguments: &BenchLoop) -> Result<Speed, Failure> {
    measure(courses, Way::Fresh, arguments).await
}

async fn measure(courses: &Arc<Courses>, way: Way, arguments: &BenchLoop) -> Result<Speed, Failure> {
    let one = Arc::clone(courses);
    // In a task, where the runs of a service are, too: what `main` awaits is woken across threads each time.
    let after_another = tokio::spawn(one_after_another(one, way, arguments.runs));
    let Alone { first, mut took, cpu } = after_another.await.map_err(|error| broken(&error))??;
    took.sort_by(f64::total_cmp);

    let (before, start) = (cpu_time(), Instant::now());
    let (mut together, errors) = side_by_side(courses, way, arguments).await;
    let (wall, cpu_together) = (start.elapsed(), cpu_time() - before);
    together.sort_by(f64::total_cmp);
    Ok(Speed {
        first_ms: milliseconds(first),
        p50_ms: percentile(&took, 0.5),
        p95_ms: percentile(&took, 0.95),
        min_ms: percentile(&took, 0.0),
        cpu_ms_per_run: milliseconds(cpu) / f64::from(arguments.runs.max(1)),
        conc: arguments.concurrent,
        runs_per_s: together.len() as f64 / wall.as_secs_f64(),
        conc_p50_ms: percentile(&together, 0.5),
        conc_p99_ms: percentile(&together, 0.99),
        conc_cpu_ms_per_run: milliseconds(cpu_together) / f64::from(arguments.concurrent_runs.max(1)),
        errors,
        rss_peak_mb: memory_kib().1 as f64 / 1024.0,
    })
}

/// Runs that have everything to themselves.
struct Alone {
    first: Duration,
    /// Milliseconds of each.
    took: Vec<f64>,
    /// Of all of `took`.
    cpu: Duration,
}

async fn one_after_another(courses: Arc<Courses>, way: Way, runs: u32) -> Result<Alone, Failure> {
    let first = way.run(&courses).await?;
    for _ in 0..WARM_UP {
        way.run(&courses).await?;
    }
    let before = cpu_time();
    let mut took = Vec::new();
    for _ in 0..runs {
        took.push(milliseconds(way.run(&courses).await?));
    }
    Ok(Alone { first, took, cpu: cpu_time() - before })
}

fn broken(error: &tokio::task::JoinError) -> Failure {
    Failure::new(ErrorCode::InternalError, format!("the benchmark broke: {error}"))
}

/// Milliseconds of each run that was right, and how many were not.
async fn side_by_side(courses: &Arc<Courses>, way: Way, arguments: &BenchLoop) -> (Vec<f64>, u32) {
    let left = Arc::new(AtomicU32::new(arguments.concurrent_runs));
    let mut workers = JoinSet::new();
    for _ in 0..arguments.concurrent {
        let (courses, left) = (Arc::clone(courses), Arc::clone(&left));
        workers.spawn(async move {
            let (mut took, mut errors) = (Vec::new(), 0);
            let one_less = |left: u32| left.checked_sub(1);
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok() {
                match way.run(&courses).await {
                    Ok(duration) => took.push(milliseconds(duration)),
                    Err(failure) => {
                        tracing::warn!(%failure, "a run went wrong");
                        errors += 1;
                    }
                }
            }
            (took, errors)
        });
    }
    let ended = workers.join_all().await;
    let errors = ended.iter().map(|(_, errors)| errors).sum();
    (ended.into_iter().flat_map(|(took, _)| took).collect(), errors)
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
