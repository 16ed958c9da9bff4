//! `bylaw bench race`: many callers at once, one budget, and whether exactly as many are admitted as it is worth.

use std::{
    path::{Path, PathBuf},
    process::{ExitCode, Stdio},
    sync::Arc,
    time::Instant,
};

use bylaw_contract::ErrorCode;
use bylaw_gate::{Account, LedgerStore, ReserveError};
use bylaw_store::SqliteStore;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, Command},
    sync::{Barrier, oneshot},
};

use super::{
    metrics::percentile,
    spending::{ACCOUNT, COST, call, ending, open, spender, worth},
    watched::{Watched, ledger_failure},
};
use crate::{
    args::BenchRace,
    failure::Failure,
    terminal::{self, Format},
};

/// What happened in one process.
#[derive(Default, Serialize, Deserialize)]
struct Part {
    admitted: u32,
    refused: u32,
    /// Neither: the ledger failed.
    failed: u32,
    commits: u64,
    most_held: i64,
    /// Of every reservation, granted or not.
    reserve_ms: Vec<f64>,
    /// Of those that were granted.
    granted_ms: Vec<f64>,
}

#[derive(Serialize)]
struct Report {
    callers: u32,
    worth: u32,
    processes: u32,
    admitted: u32,
    refused: u32,
    failed: u32,
    limit_micro_usd: i64,
    /// The most that was settled and reserved together, after any commit.
    most_held_micro_usd: i64,
    settled_micro_usd: i64,
    reserved_micro_usd: i64,
    commits: u64,
    reserve_p50_ms: f64,
    reserve_p99_ms: f64,
    granted_p50_ms: f64,
    granted_p99_ms: f64,
    /// Exactly as many were admitted as the budget is worth, and no commit held more than its limit.
    exact: bool,
}

pub(super) async fn run(arguments: &BenchRace, format: Format) -> Result<ExitCode, Failure> {
    if arguments.take_part {
        return take_part(arguments).await;
    }
    let folder = TempDir::new().map_err(|error| broken("temporary folder", &error))?;
    let file = arguments.ledger.clone().unwrap_or_else(|| folder.path().join("race.db"));
    if stands(&file).await? != Account::default() {
        let problem = format!("{}: its budget has been spent on before", file.display());
        return Err(Failure::new(ErrorCode::InvalidRequest, problem).hint("name a file that is not there yet"));
    }
    let others = arguments.processes.saturating_sub(1);
    let share = arguments.callers / (others + 1);
    let mut children = Vec::new();
    for _other in 0..others {
        children.push(Other::start(arguments, &file, share).await?);
    }
    let (go, told) = oneshot::channel();
    let own = Own::start(arguments, file.clone(), arguments.callers - others * share, told).await?;
    for child in &mut children {
        child.go().await?;
    }
    let _ended = go.send(());
    let mut parts = vec![own.end().await?];
    for child in children {
        parts.push(child.end().await?);
    }
    let report = Report::of(arguments, parts, stands(&file).await?);
    report.show(format);
    Ok(if report.exact { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The account, by someone who was not there.
async fn stands(file: &Path) -> Result<Account, Failure> {
    let store = SqliteStore::open(file).await?;
    let accounts = store.accounts(&[ACCOUNT]).await.map_err(|error| ledger_failure(&error))?;
    store.close().await;
    Ok(accounts.first().copied().unwrap_or_default())
}

/// One of several processes: says when it is ready, begins when it is told to, and says what happened.
async fn take_part(arguments: &BenchRace) -> Result<ExitCode, Failure> {
    let missing = || Failure::new(ErrorCode::InvalidRequest, "--take-part needs --ledger");
    let file = arguments.ledger.clone().ok_or_else(missing)?;
    let (go, told) = oneshot::channel();
    let own = Own::start(arguments, file, arguments.callers, told).await?;
    terminal::line("ready");
    let mut word = String::new();
    // The race waits in threads of its own; this one has nothing else to do.
    std::io::stdin().read_line(&mut word).map_err(|error| broken("standard input", &error))?;
    let _ended = go.send(());
    terminal::line(serde_json::to_string(&own.end().await?).unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}

/// The part of this process, in a runtime of its own with as many threads as were asked for.
struct Own(tokio::task::JoinHandle<Result<Part, Failure>>);

impl Own {
    /// Returns when all callers are waiting to be told.
    async fn start(
        arguments: &BenchRace,
        file: PathBuf,
        callers: u32,
        told: oneshot::Receiver<()>,
    ) -> Result<Self, Failure> {
        let (threads, worth) = (arguments.threads.max(1), arguments.worth);
        let (ready, is_ready) = oneshot::channel();
        let racing = tokio::task::spawn_blocking(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(threads)
                .enable_all()
                .build()
                .map_err(|error| broken("threads", &error))?;
            runtime.block_on(race(&file, callers, worth, ready, told))
        });
        // Without an answer it has failed, and says so at its end.
        let _ready = is_ready.await;
        Ok(Self(racing))
    }

    async fn end(self) -> Result<Part, Failure> {
        self.0.await.map_err(|error| Failure::from_error(ErrorCode::InternalError, &error))?
    }
}

async fn race(
    file: &Path,
    callers: u32,
    worth: u32,
    ready: oneshot::Sender<()>,
    told: oneshot::Receiver<()>,
) -> Result<Part, Failure> {
    let store = Arc::new(Watched::open(file, Some(ACCOUNT), 0).await?);
    let gate = open(Arc::<Watched>::clone(&store), self::worth(worth));
    let line = Arc::new(Barrier::new(callers as usize + 1));
    let mut racing = tokio::task::JoinSet::new();
    for number in 0..callers {
        let (gate, line) = (gate.clone(), Arc::clone(&line));
        let (spender, call) = (spender(number as usize)?, call()?);
        racing.spawn(async move {
            line.wait().await;
            let start = Instant::now();
            let reserved = gate.reserve(&spender, &call).await;
            let took = start.elapsed().as_secs_f64() * 1e3;
            let reserved = reserved.map(|ticket| {
                ticket.settle(ending());
            });
            (reserved, took)
        });
    }
    let _no_one_waits = ready.send(());
    let _no_one_tells = told.await;
    line.wait().await;
    let mut part = Part::default();
    while let Some(ended) = racing.join_next().await {
        let (reserved, took) = ended.map_err(|error| Failure::from_error(ErrorCode::InternalError, &error))?;
        part.reserve_ms.push(took);
        match reserved {
            Ok(()) => {
                part.admitted += 1;
                part.granted_ms.push(took);
            }
            Err(ReserveError::Budget(_)) => part.refused += 1,
            Err(ReserveError::NoPrice(_) | ReserveError::Ledger(_) | ReserveError::ShuttingDown) => part.failed += 1,
        }
    }
    gate.flush().await;
    part.commits = store.finished();
    part.most_held = store.most_held();
    store.close().await;
    Ok(part)
}

/// Another process of this program.
struct Other {
    child: Child,
    words: tokio::io::Lines<BufReader<tokio::process::ChildStdout>>,
}

impl Other {
    /// Returns when it is ready.
    async fn start(arguments: &BenchRace, file: &Path, callers: u32) -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(|error| broken("this program", &error))?;
        let mut command = Command::new(program);
        command.args(["bench", "race", "--take-part", "--ledger"]).arg(file);
        for (flag, value) in [
            ("--callers", callers.to_string()),
            ("--worth", arguments.worth.to_string()),
            ("--threads", arguments.threads.to_string()),
        ] {
            command.args([flag, &value]);
        }
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn();
        let mut child = spawned.map_err(|error| broken("another process", &error))?;
        let stdout = child.stdout.take().ok_or_else(|| silent("its output cannot be read"))?;
        let mut other = Self { child, words: BufReader::new(stdout).lines() };
        match other.word().await?.as_str() {
            "ready" => Ok(other),
            word => Err(silent(word)),
        }
    }

    async fn go(&mut self) -> Result<(), Failure> {
        let mut stdin = self.child.stdin.take().ok_or_else(|| silent("it cannot be told"))?;
        stdin.write_all(b"go\n").await.map_err(|error| broken("another process", &error))
    }

    async fn end(mut self) -> Result<Part, Failure> {
        let part = self.word().await?;
        let _ended = self.child.wait().await;
        serde_json::from_str(&part).map_err(|_| silent(&part))
    }

    async fn word(&mut self) -> Result<String, Failure> {
        let line = self.words.next_line().await.map_err(|error| broken("another process", &error))?;
        line.ok_or_else(|| silent("it has ended"))
    }
}

fn silent(what: &str) -> Failure {
    Failure::new(ErrorCode::InternalError, format!("another process did not take part: {what}"))
}

fn broken(what: &str, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::InternalError, format!("{what}: {error}"))
}

impl Report {
    fn of(arguments: &BenchRace, parts: Vec<Part>, account: Account) -> Self {
        let mut all = Part::default();
        for part in parts {
            all.admitted += part.admitted;
            all.refused += part.refused;
            all.failed += part.failed;
            all.commits += part.commits;
            all.most_held = all.most_held.max(part.most_held);
            all.reserve_ms.extend(part.reserve_ms);
            all.granted_ms.extend(part.granted_ms);
        }
        all.reserve_ms.sort_by(f64::total_cmp);
        all.granted_ms.sort_by(f64::total_cmp);
        let expected = arguments.worth.min(arguments.callers);
        let limit = COST.0 * i64::from(arguments.worth);
        let booked =
            account.debt.0 == 0 && account.reserved.0 == 0 && account.settled.0 == COST.0 * i64::from(expected);
        Self {
            callers: arguments.callers,
            worth: arguments.worth,
            processes: arguments.processes.max(1),
            admitted: all.admitted,
            refused: all.refused,
            failed: all.failed,
            limit_micro_usd: limit,
            most_held_micro_usd: all.most_held,
            settled_micro_usd: account.settled.0,
            reserved_micro_usd: account.reserved.0,
            commits: all.commits,
            reserve_p50_ms: percentile(&all.reserve_ms, 0.5),
            reserve_p99_ms: percentile(&all.reserve_ms, 0.99),
            granted_p50_ms: percentile(&all.granted_ms, 0.5),
            granted_p99_ms: percentile(&all.granted_ms, 0.99),
            exact: all.admitted == expected && booked && all.most_held <= limit,
        }
    }

    fn show(&self, format: Format) {
        if format == Format::Json {
            return terminal::json(self);
        }
        terminal::line(format!(
            "{} callers in {} processes, a budget worth {}: admitted {}, refused {}, failed {}",
            self.callers, self.processes, self.worth, self.admitted, self.refused, self.failed
        ));
        terminal::line(format!(
            "most held after any of {} commits: {} of {} micro-USD; settled at the end: {}",
            self.commits, self.most_held_micro_usd, self.limit_micro_usd, self.settled_micro_usd
        ));
        terminal::line(format!(
            "reserve p50 {:.2} ms p99 {:.2} ms   granted p50 {:.2} ms p99 {:.2} ms",
            self.reserve_p50_ms, self.reserve_p99_ms, self.granted_p50_ms, self.granted_p99_ms
        ));
    }
}
