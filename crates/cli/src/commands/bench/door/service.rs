//! A service as a child process, with a folder of its own.

use std::{
    fs::{self, File},
    net::SocketAddr,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use bylaw_contract::ErrorCode;
use bylaw_library::DataDirectory;
use serde::Deserialize;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

use super::{broken, report::Report};
use crate::failure::Failure;

/// How long a service may take to start. It reads two pages of rules.
const START: Duration = Duration::from_secs(60);

const RULES: &str = "\
# 出差辦法

## 第一章 總則

### 第 1 條（目的）

為規範員工出差及差旅費之報支，訂定本辦法。

### 第 2 條（住宿費）

員工出差之住宿費，每晚以新臺幣三千元為限，憑據報支。

### 第 3 條（膳雜費）

員工出差之膳雜費，每日定額報支新臺幣六百元。

### 第 4 條（報支期限）

差旅費應於出差結束後十五日內報支，逾期不予受理。
";

/// What differs from one scenario to the next.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    /// Of the scripted model.
    pub(super) base_url: String,
    pub(super) concurrent_asks: u32,
    pub(super) grace_seconds: u32,
    pub(super) lease_seconds: u32,
    pub(super) first_byte_seconds: u32,
    /// US dollars for a million tokens that the model writes; those that it reads cost one.
    pub(super) output_price: &'static str,
    /// What everyone together may spend, in micro-dollars, once and for all.
    pub(super) budget: Option<i64>,
}

/// Micro-dollars for a token of a prompt.
pub(super) const INPUT_PRICE: i64 = 1;
/// Micro-dollars for a token that is written, unless a scenario says otherwise.
pub(super) const OUTPUT_PRICE: i64 = 4;

impl Setup {
    pub(super) fn new(base_url: String) -> Self {
        Self {
            base_url,
            concurrent_asks: 1_024,
            grace_seconds: 20,
            lease_seconds: 60,
            first_byte_seconds: 60,
            output_price: "4",
            budget: None,
        }
    }

    fn toml(&self) -> String {
        let budget = self.budget.map(|limit| format!("\"{}.{:06}/once\"", limit / 1_000_000, limit % 1_000_000));
        format!(
            "[server]\nmax_concurrent_asks = {}\nshutdown_grace_seconds = {}\n\
             [model]\nbase_url = \"{}\"\nname = \"scripted\"\nretries = 0\nfirst_byte_timeout_seconds = {}\n\
             [money]\ncurrency = \"USD\"\nrate = \"1\"\n\
             [budgets]\nservice = [{}]\n\
             [ledger]\nlease_seconds = {}\nseal_seconds = 1\n\
             [prices]\n\"scripted\" = {{ input = \"{INPUT_PRICE}\", output = \"{}\" }}\n\
             [log]\nlevel = \"warn\"\n",
            self.concurrent_asks,
            self.grace_seconds,
            self.base_url,
            self.first_byte_seconds,
            budget.unwrap_or_default(),
            self.lease_seconds,
            self.output_price,
        )
    }
}

/// Rules, settings and data of a service. Gone when it is dropped.
pub(super) struct Place {
    folder: TempDir,
}

impl Place {
    pub(super) fn new(setup: &Setup) -> Result<Self, Failure> {
        let folder = TempDir::new().map_err(|error| broken("temporary folder", &error))?;
        let place = Self { folder };
        place.set(setup)?;
        fs::write(place.rules(), RULES).map_err(|error| broken("rules", &error))?;
        Ok(place)
    }

    /// Changes the settings, for the next start.
    pub(super) fn set(&self, setup: &Setup) -> Result<(), Failure> {
        fs::write(self.settings(), setup.toml()).map_err(|error| broken("settings", &error))
    }

    pub(super) fn data(&self) -> DataDirectory {
        DataDirectory::new(self.folder.path().join("data"))
    }

    fn rules(&self) -> PathBuf {
        self.folder.path().join("travel.md")
    }

    fn settings(&self) -> PathBuf {
        self.folder.path().join("bylaw.toml")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("service.log")
    }

    /// This program, on the data of this place alone.
    pub(super) fn program(&self) -> Result<Command, Failure> {
        let program = std::env::current_exe().map_err(|error| broken("this program", &error))?;
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BYLAW_")) {
            command.env_remove(name);
        }
        command.arg("--json").arg("--config").arg(self.settings()).arg("--data").arg(self.data().root());
        command.current_dir(self.folder.path()).stdin(Stdio::null()).kill_on_drop(true);
        Ok(command)
    }

    /// What the service has said, for when it should have said something else.
    fn last_words(&self) -> String {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let from = log.char_indices().rev().nth(1_500).map_or(0, |(at, _)| at);
        log[from..].to_owned()
    }

    /// Claims that the service has logged no error. Whom it turned away because it was told to stop does not count.
    pub(super) fn claim_no_errors(&self, report: &mut Report) {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let errors: Vec<&str> =
            log.lines().filter(|line| line.contains("ERROR") && !line.contains("shutting_down")).collect();
        let first: String = errors.first().map(|line| line.chars().take(400).collect()).unwrap_or_default();
        report.claim("the service has logged no error", errors.is_empty(), format!("{} errors {first}", errors.len()));
    }

    pub(super) async fn start(&self) -> Result<Service, Failure> {
        let log = File::options().create(true).append(true).open(self.log());
        let log = log.map_err(|error| broken("log", &error))?;
        let mut command = self.program()?;
        command.arg("serve").arg(self.rules()).args(["--port", "0"]).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().map_err(|error| broken("service", &error))?;
        let silent = || Failure::new(ErrorCode::InternalError, format!("no service: {}", self.last_words()));
        let mut words = BufReader::new(child.stdout.take().ok_or_else(silent)?).lines();
        let line = tokio::time::timeout(START, words.next_line()).await.map_err(|_| silent())?;
        let line = line.map_err(|error| broken("service", &error))?.ok_or_else(silent)?;
        let announcement: Announcement = serde_json::from_str(&line).map_err(|_| silent())?;
        let address = announcement.url.strip_prefix("http://").and_then(|address| address.parse().ok());
        Ok(Service { address: address.ok_or_else(silent)?, pid: child.id().ok_or_else(silent)?, child, _words: words })
    }
}

#[derive(Deserialize)]
struct Announcement {
    url: String,
}

/// A running service. Killed when it is dropped.
pub(super) struct Service {
    pub(super) address: SocketAddr,
    pub(super) pid: u32,
    child: Child,
    /// Kept, so that it can go on speaking.
    _words: Lines<BufReader<ChildStdout>>,
}

impl Service {
    /// `kill -9`.
    pub(super) async fn kill(mut self) -> Result<(), Failure> {
        self.child.kill().await.map_err(|error| broken("service", &error))
    }

    /// Tells it to stop.
    pub(super) async fn terminate(&self) -> Result<(), Failure> {
        let status = Command::new("kill").args(["-TERM", &self.pid.to_string()]).status().await;
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Failure::new(ErrorCode::InternalError, format!("kill: {status}"))),
            Err(error) => Err(broken("kill", &error)),
        }
    }

    /// Waits until it has ended by itself.
    pub(super) async fn ended(mut self, patience: Duration) -> Result<ExitStatus, Failure> {
        let late = |_| Failure::new(ErrorCode::InternalError, format!("the service still runs after {patience:?}"));
        let status = tokio::time::timeout(patience, self.child.wait()).await.map_err(late)?;
        status.map_err(|error| broken("service", &error))
    }

    /// Stops it, and waits until it has ended.
    pub(super) async fn stop(self) -> Result<ExitStatus, Failure> {
        self.terminate().await?;
        self.ended(Duration::from_secs(60)).await
    }
}
