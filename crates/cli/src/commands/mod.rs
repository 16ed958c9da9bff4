//! One file per command.

mod ask;
mod bench;
mod chat;
mod config;
mod cost;
mod doctor;
mod explain;
mod ingest;
mod key;
mod leave;
mod ledger;
mod mcp;
mod search;
mod serve;
mod sources;

use std::process::ExitCode;

use crate::{
    args::{Cli, Command, Serve},
    config::{Flags, load},
    failure::Failure,
    logging,
    terminal::Format,
};

/// Loads the configuration and runs the command.
pub(crate) async fn run(cli: Cli, format: Format) -> Result<ExitCode, Failure> {
    let command = cli.command.unwrap_or_else(|| Command::Serve(Serve::default()));
    let mut flags = Flags { data: cli.global.data, ..Flags::default() };
    if let Command::Serve(serve) = &command {
        flags.host.clone_from(&serve.host);
        flags.port = serve.port;
        flags.documents_root.clone_from(&serve.documents_root);
    }
    flags.key = command.credentials().and_then(|credentials| credentials.key.clone());
    let (settings, layers) = load(cli.global.config.as_deref(), &flags, &|name| std::env::var(name).ok())?;
    // Log lines would stand between those of a conversation, which shows its warnings itself.
    let is_quiet = matches!(command, Command::Chat(_)) && layers.is_default("log.level");
    logging::start(&settings, is_quiet.then_some("error,rmcp=off"))?;
    match command {
        Command::Serve(arguments) => serve::run(arguments, &settings, format).await,
        Command::Ingest(arguments) => ingest::run(arguments, &settings, format).await,
        Command::Search(arguments) => search::run(arguments, &settings, format).await,
        Command::Ask(arguments) => ask::run(arguments, &settings, format).await,
        Command::Chat(arguments) => chat::run(arguments, &settings, format).await,
        Command::Sources(arguments) => sources::run(arguments, &settings, format).await,
        Command::Key(arguments) => key::run(arguments, &settings, format).await,
        Command::Ledger(arguments) => ledger::run(arguments, &settings, format).await,
        Command::Explain(arguments) => explain::run(&arguments, &settings, format).await,
        Command::Cost(arguments) => cost::run(*arguments, &settings, format).await,
        Command::Leave(arguments) => leave::run(arguments, &settings, format).await,
        Command::Mcp(arguments) => mcp::run(arguments, &settings, format).await,
        Command::Config(arguments) => Ok(config::run(arguments, &layers, format)),
        Command::Doctor(arguments) => doctor::run(arguments, &settings, &layers, format).await,
        Command::Bench(arguments) => bench::run(arguments, format).await,
    }
}
