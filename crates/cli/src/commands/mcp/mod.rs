//! `bylaw mcp`: the rules for other people's agents.

mod stdio;

use std::process::ExitCode;

use crate::{args::Mcp, config::Settings, failure::Failure, terminal::Format};

pub(crate) async fn run(arguments: Mcp, settings: &Settings, _format: Format) -> Result<ExitCode, Failure> {
    stdio::run(&arguments.service, settings).await?;
    Ok(ExitCode::SUCCESS)
}
