//! `bylaw bench door`: a service of its own, between callers and a scripted model, and whether its books are right.
//!
//! ```text
//!   service    the service: a child process with a folder of its own
//!   caller     one question over one connection, which can be left in every way
//!   books      what the ledger says afterwards
//!   report     what was found, and whether what is claimed holds
//!   crash, reset, shutdown, flight, leave, soak, overspend: the scenarios
//! ```

mod books;
mod caller;
mod crash;
mod flight;
mod leave;
mod overspend;
mod report;
mod reset;
mod service;
mod shutdown;
mod soak;

use std::{io, process::ExitCode, time::Duration};

use bylaw_contract::ErrorCode;
use tokio::time::Instant;

use crate::{args::BenchDoor, failure::Failure, terminal::Format};

pub(super) async fn run(scenario: &BenchDoor, format: Format) -> Result<ExitCode, Failure> {
    let report = match scenario {
        BenchDoor::Crash(arguments) => crash::run(arguments).await,
        BenchDoor::Reset(arguments) => reset::run(arguments).await,
        BenchDoor::Shutdown(arguments) => shutdown::run(arguments).await,
        BenchDoor::Flight(arguments) => flight::run(arguments).await,
        BenchDoor::Leave(arguments) => leave::run(arguments).await,
        BenchDoor::Soak(arguments) => soak::run(arguments).await,
        BenchDoor::Overspend(arguments) => overspend::run(arguments).await,
    }?;
    report.show(format);
    Ok(if report.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The measurement itself failed.
fn broken(what: &str, error: &io::Error) -> Failure {
    Failure::new(ErrorCode::InternalError, format!("{what}: {error}"))
}

fn panicked(error: &tokio::task::JoinError) -> Failure {
    Failure::from_error(ErrorCode::InternalError, error)
}

/// Looks every few milliseconds until it is so. Whether it was in time.
async fn until(patience: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + patience;
    while !is_so() {
        if Instant::now() >= deadline {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    true
}
