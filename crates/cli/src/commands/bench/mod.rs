//! `bylaw bench`: measurements, printed as numbers.

mod agents;
mod bare;
mod collection;
mod door;
mod extract;
mod faults;
mod ledger;
mod r#loop;
mod metrics;
mod process;
mod race;
mod retrieval;
mod small_model;
mod spending;
mod tool_server;
mod upstream;
mod watched;

use std::process::ExitCode;

use crate::{args::Bench, failure::Failure, terminal::Format};

pub(super) async fn run(arguments: Bench, format: Format) -> Result<ExitCode, Failure> {
    match arguments {
        Bench::Retrieval(arguments) => retrieval::run(&arguments, format),
        Bench::Bare(arguments) => bare::run(&arguments).await,
        Bench::Extract(arguments) => extract::run(&arguments, format).await,
        Bench::Upstream(arguments) => upstream::run(&arguments, format).await,
        Bench::Ledger(arguments) => ledger::run(&arguments, format).await,
        Bench::Race(arguments) => race::run(&arguments, format).await,
        Bench::Faults(arguments) => faults::run(&arguments, format).await,
        Bench::Loop(arguments) => r#loop::run(&arguments, format).await,
        Bench::SmallModel(arguments) => small_model::run(&arguments, format).await,
        Bench::Door(scenario) => door::run(&scenario, format).await,
    }
}
