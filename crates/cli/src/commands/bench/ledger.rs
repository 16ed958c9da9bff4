//! `bylaw bench ledger`: what durable bookkeeping costs, beside a plain durable write to the same disk.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use bylaw_contract::{ErrorCode, MicroUsd, RequestId, RunId, ask::Mode};
use bylaw_gate::{Gate, Labels, ServiceBudgets};
use serde::Serialize;
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::{
    metrics::percentile,
    process,
    spending::{call, ending, open, spender},
    watched::Watched,
};
use crate::{
    args::BenchLedger,
    failure::Failure,
    system::SystemRandom,
    terminal::{self, Format},
};

/// Plain writes and reservations take turns, so that both meet the same disk.
const ROUNDS: usize = 10;
/// Plain writes in a round.
const PLAIN_WRITES: usize = 40;
/// About as long as a row of the ledger.
const RECORD: [u8; 512] = [b'x'; 512];

#[derive(Serialize)]
struct Spread {
    p50_ms: f64,
    p99_ms: f64,
}

#[derive(Serialize)]
struct Report {
    concurrent: usize,
    calls: usize,
    /// Appending half a kilobyte to a file and `fdatasync`, one after the other.
    fdatasync: Spread,
    /// What a call waits for before it may leave.
    reserve: Spread,
    /// The same and booking its end, which waits for nothing.
    reserve_settle: Spread,
    /// The same until the settlement is durable.
    reserve_settle_durable: Spread,
    commit: Spread,
    commits: u64,
    calls_per_s: f64,
    /// Reservations by the number of commits they waited for: the one that was under way, and their own.
    waited_for: WaitedFor,
    hits: Hits,
}

#[derive(Default, Serialize)]
struct WaitedFor {
    one_commit: usize,
    two_commits: usize,
    more: usize,
    most: u64,
}

#[derive(Serialize)]
struct Hits {
    rows: usize,
    commits: u64,
    rows_per_s: f64,
    /// For each second of processor time, of all threads together.
    rows_per_cpu_s: f64,
}

/// Milliseconds of one kind of operation.
#[derive(Default)]
struct Times(Vec<f64>);

impl Times {
    fn add(&mut self, took: Duration) {
        self.0.push(took.as_secs_f64() * 1e3);
    }

    fn spread(mut self) -> Spread {
        self.0.sort_by(f64::total_cmp);
        Spread { p50_ms: percentile(&self.0, 0.5), p99_ms: percentile(&self.0, 0.99) }
    }
}

pub(super) async fn run(arguments: &BenchLedger, format: Format) -> Result<ExitCode, Failure> {
    let folder = TempDir::new().map_err(|error| broken(Path::new("temporary folder"), &error))?;
    let concurrent = arguments.concurrent.max(1);
    // Half of the reservations wait for their settlement to be durable.
    let share = (arguments.calls / (2 * ROUNDS)).max(1);
    let store = Arc::new(Watched::open(&folder.path().join("ledger.db"), None, 2 * ROUNDS * share).await?);
    let gate = open(Arc::<Watched>::clone(&store), ServiceBudgets::UNLIMITED);
    let plain_file = folder.path().join("plain");
    let (mut plain, mut calls, mut durable) = (Times::default(), Calls::default(), Calls::default());
    for round in 0..ROUNDS {
        plain_writes(plain_file.clone(), &mut plain).await?;
        let first = 2 * round * share;
        calls.make(&gate, &store, first..first + share, concurrent, Settling::Returns).await?;
        durable.make(&gate, &store, first + share..first + 2 * share, concurrent, Settling::Durable).await?;
    }
    let commit = Times(store.take_commit_ms());
    let commits = store.finished();
    let hits = hits(&gate, &store, arguments.hits.max(1), concurrent).await?;
    store.close().await;
    let report = Report {
        concurrent,
        calls: 2 * ROUNDS * share,
        fdatasync: plain.spread(),
        waited_for: WaitedFor::of(calls.waited.iter().chain(&durable.waited)),
        calls_per_s: (ROUNDS * share) as f64 / calls.elapsed.as_secs_f64(),
        reserve: calls.reserve.spread(),
        reserve_settle: calls.settled.spread(),
        reserve_settle_durable: durable.settled.spread(),
        commit: commit.spread(),
        commits,
        hits,
    };
    report.show(format);
    Ok(ExitCode::SUCCESS)
}

async fn plain_writes(file: PathBuf, times: &mut Times) -> Result<(), Failure> {
    let write = move || {
        let mut took = Vec::with_capacity(PLAIN_WRITES);
        let mut plain = std::fs::OpenOptions::new().create(true).append(true).open(&file)?;
        for _write in 0..PLAIN_WRITES {
            let start = Instant::now();
            plain.write_all(&RECORD)?;
            plain.sync_data()?;
            took.push(start.elapsed());
        }
        Ok(took)
    };
    let took = tokio::task::spawn_blocking(write).await.map_err(|error| panicked(&error))?;
    took.map_err(|error| broken(Path::new("plain"), &error))?.into_iter().for_each(|took| times.add(took));
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Settling {
    /// Until the settlement is in the queue.
    Returns,
    /// Until it is on the disk.
    Durable,
}

/// What many calls took.
#[derive(Default)]
struct Calls {
    reserve: Times,
    settled: Times,
    waited: Vec<u64>,
    elapsed: Duration,
}

impl Calls {
    /// Makes these calls, so many at a time, each as soon as there is room for it.
    async fn make(
        &mut self,
        gate: &Gate,
        store: &Arc<Watched>,
        numbers: std::ops::Range<usize>,
        concurrent: usize,
        settling: Settling,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let mut callers = JoinSet::new();
        for caller in 0..concurrent {
            let (gate, store, numbers) = (gate.clone(), Arc::clone(store), numbers.clone());
            callers.spawn(async move {
                let mut own = Self::default();
                for number in numbers.skip(caller).step_by(concurrent) {
                    own.one(&gate, &store, number, settling).await?;
                }
                Ok::<_, Failure>(own)
            });
        }
        while let Some(own) = callers.join_next().await {
            let own = own.map_err(|error| panicked(&error))??;
            self.reserve.0.extend(own.reserve.0);
            self.settled.0.extend(own.settled.0);
            self.waited.extend(own.waited);
        }
        self.elapsed += start.elapsed();
        gate.flush().await;
        Ok(())
    }

    async fn one(&mut self, gate: &Gate, store: &Watched, number: usize, settling: Settling) -> Result<(), Failure> {
        let (spender, call) = (spender(number)?, call()?);
        let before = store.finished();
        let start = Instant::now();
        let ticket = gate
            .reserve(&spender, &call)
            .await
            .map_err(|error| Failure::from_error(ErrorCode::LedgerUnavailable, &error))?;
        self.reserve.add(start.elapsed());
        ticket.settle(ending());
        if settling == Settling::Durable {
            gate.flush().await;
        }
        self.settled.add(start.elapsed());
        self.waited.push(store.carrier(number).saturating_sub(before));
        Ok(())
    }
}

impl WaitedFor {
    fn of<'a>(waited: impl Iterator<Item = &'a u64>) -> Self {
        let mut counted = Self::default();
        for commits in waited {
            counted.most = counted.most.max(*commits);
            *match commits {
                0 | 1 => &mut counted.one_commit,
                2 => &mut counted.two_commits,
                3.. => &mut counted.more,
            } += 1;
        }
        counted
    }
}

/// Records hits of a cache as fast as they are taken.
async fn hits(gate: &Gate, store: &Arc<Watched>, rows: usize, concurrent: usize) -> Result<Hits, Failure> {
    let (commits, cpu, start) = (store.finished(), process::cpu_time(), Instant::now());
    let repeats = RunId::mint(&SystemRandom);
    let mut callers = JoinSet::new();
    for caller in 0..concurrent {
        let (gate, repeats) = (gate.clone(), repeats.clone());
        callers.spawn(async move {
            for _row in (caller..rows).step_by(concurrent) {
                let labels = Labels {
                    request_id: RequestId::mint(&SystemRandom),
                    run_id: None,
                    key: None,
                    model: "scripted".to_owned(),
                    mode: Some(Mode::Pipeline),
                    purpose: "answer".to_owned(),
                };
                gate.avoided(labels, MicroUsd(321), Some(repeats.clone()))
                    .await
                    .map_err(|error| Failure::from_error(ErrorCode::LedgerUnavailable, &error))?;
            }
            Ok::<_, Failure>(())
        });
    }
    while let Some(ended) = callers.join_next().await {
        ended.map_err(|error| panicked(&error))??;
    }
    gate.flush().await;
    let (took, cpu) = (start.elapsed(), process::cpu_time().saturating_sub(cpu));
    Ok(Hits {
        rows,
        commits: store.finished() - commits,
        rows_per_s: rows as f64 / took.as_secs_f64(),
        rows_per_cpu_s: rows as f64 / cpu.as_secs_f64().max(0.01),
    })
}

fn panicked(error: &tokio::task::JoinError) -> Failure {
    Failure::from_error(ErrorCode::InternalError, error)
}

fn broken(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::StorageFailed, format!("{}: {error}", path.display()))
}

impl Report {
    fn show(&self, format: Format) {
        if format == Format::Json {
            return terminal::json(self);
        }
        terminal::line(format!("{} calls, {} at a time, {} commits", self.calls, self.concurrent, self.commits));
        for (what, Spread { p50_ms, p99_ms }) in [
            ("plain fdatasync", &self.fdatasync),
            ("commit", &self.commit),
            ("reserve", &self.reserve),
            ("reserve, settle", &self.reserve_settle),
            ("reserve, settle, durable", &self.reserve_settle_durable),
        ] {
            terminal::line(format!("  {what:<25} p50 {p50_ms:>8.3} ms   p99 {p99_ms:>8.3} ms"));
        }
        let WaitedFor { one_commit, two_commits, more, most } = self.waited_for;
        terminal::line(format!(
            "  {:.0} calls/s; waited for one commit {one_commit}, for two {two_commits}, for more {more} (at most {most})",
            self.calls_per_s
        ));
        terminal::line(format!(
            "  {} cache hits in {} commits: {:.0} rows/s, {:.0} for each second of processor time",
            self.hits.rows, self.hits.commits, self.hits.rows_per_s, self.hits.rows_per_cpu_s
        ));
    }
}
