//! `bylaw mcp`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Credentials;

/// `bylaw mcp`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Mcp {
    #[command(flatten)]
    pub(crate) service: McpService,
    #[command(flatten)]
    pub(crate) credentials: Credentials,
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
}

/// Which rules are handed over.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct McpService {
    /// The service that is asked; the variable BYLAW_URL, else http://127.0.0.1:8024.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Answer from this folder instead, with a service of its own that ends with its last client.
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub(crate) docs: Option<PathBuf>,
}

/// What else `bylaw mcp` does.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Write it into the configuration of a client. What was there is kept beside it.
    Install(McpInstall),
}

/// `bylaw mcp install`.
#[derive(Debug, Args)]
pub(crate) struct McpInstall {
    /// The client.
    #[arg(value_enum)]
    pub(crate) client: McpClientName,
    /// Show what would be written, and where; change nothing.
    #[arg(long)]
    pub(crate) print: bool,
    /// What the client calls it.
    #[arg(long, default_value = "bylaw")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) service: McpService,
}

/// Clients whose configuration is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum McpClientName {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    #[value(name = "vscode")]
    VsCode,
    /// Codex.
    Codex,
}
