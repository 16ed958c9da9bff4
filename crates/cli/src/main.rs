//! The `bylaw` program: reads the command line and the configuration, runs one command, and turns its end into an exit
//! code.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failing test should panic"))]

mod amounts;
mod args;
mod assemble;
mod client;
mod commands;
mod config;
mod dataset;
mod failure;
mod front_door;
mod logging;
mod moments;
mod progress;
mod sample;
mod sealing;
mod system;
mod terminal;
mod upkeep;

use std::process::ExitCode;

use clap::Parser;

use crate::{args::Cli, terminal::Format};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let format = if cli.global.json { Format::Json } else { Format::Text };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            terminal::note(format!("error[internal_error]: cannot start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(commands::run(cli, format)) {
        Ok(code) => code,
        Err(failure) => {
            terminal::failure(&failure, format);
            ExitCode::from(failure.exit_code())
        }
    }
}
