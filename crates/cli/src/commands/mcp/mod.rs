//! `bylaw mcp`: the rules for other people's agents.

mod folder;
mod install;
mod private;
mod stdio;

use std::process::ExitCode;

use crate::{
    args::{Mcp, McpCommand},
    config::Settings,
    failure::Failure,
    terminal::Format,
};

pub(crate) async fn run(arguments: Mcp, settings: &Settings, format: Format) -> Result<ExitCode, Failure> {
    match (arguments.command, &arguments.service.docs) {
        (Some(McpCommand::Install(arguments)), _) => install::run(&arguments, settings, format)?,
        (None, Some(folder)) => folder::run(folder, settings).await?,
        (None, None) => stdio::run(&arguments.service, settings).await?,
    }
    Ok(ExitCode::SUCCESS)
}
