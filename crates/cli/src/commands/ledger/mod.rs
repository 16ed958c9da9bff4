//! `bylaw ledger`: what was spent, and whether the books are as they were written.

mod export;
mod report;
mod verify;

pub(super) use report::mode_name;

use std::process::ExitCode;

use bylaw_contract::ErrorCode;
use bylaw_gate::Day;

use crate::{args::Ledger, config::Settings, dataset::DataSet, failure::Failure, terminal::Format};

pub(crate) async fn run(arguments: Ledger, settings: &Settings, format: Format) -> Result<ExitCode, Failure> {
    let data = DataSet::to_read(settings)?.require_used()?;
    match arguments {
        Ledger::Report(arguments) => report::run(arguments, &data, settings, format).await?,
        Ledger::Verify(arguments) => verify::run(&arguments, &data, format).await?,
        Ledger::Export(arguments) => export::run(&arguments, &data).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses days that are in the wrong order, which would silently show nothing.
fn check_days(from: Option<Day>, to: Option<Day>) -> Result<(), Failure> {
    match (from, to) {
        (Some(from), Some(to)) if to < from => {
            Err(Failure::new(ErrorCode::InvalidRequest, format!("--to: {to} is before {from}")))
        }
        _ => Ok(()),
    }
}
