//! Benchmarks of the loop.

use clap::{Args, ValueEnum};

/// `bylaw bench faults`.
#[derive(Clone, Debug, Args)]
pub(crate) struct BenchFaults {
    /// A fault server to be asked; one of this program's own, which streams, unless given.
    #[arg(value_name = "URL", conflicts_with = "own")]
    pub(crate) url: Option<String>,
    /// Ask this program's own server (also without a URL).
    #[arg(long)]
    pub(crate) own: bool,
    /// How long a tool that hangs is waited for.
    #[arg(long, value_name = "MS", default_value_t = 1_000)]
    pub(crate) patience_ms: u64,
    /// How long the own server asks to wait where it refuses for the moment.
    #[arg(long, value_name = "MS", default_value_t = 3_000)]
    pub(crate) retry_after_ms: u64,
}

/// `bylaw bench loop`.
#[derive(Clone, Debug, Args)]
pub(crate) struct BenchLoop {
    /// Base URL of a model that searches, updates, and says so. One in this process unless given; then the numbers hold
    /// what the servers take.
    #[arg(long, value_name = "URL", requires = "mcp")]
    pub(crate) chat: Option<String>,
    /// The MCP server with its tools.
    #[arg(long, value_name = "URL", requires = "chat")]
    pub(crate) mcp: Option<String>,
    /// Runs one after another.
    #[arg(long, default_value_t = 300)]
    pub(crate) runs: u32,
    /// Runs side by side, in all.
    #[arg(long, default_value_t = 3_000)]
    pub(crate) concurrent_runs: u32,
    /// Runs at a time.
    #[arg(long, default_value_t = 50)]
    pub(crate) concurrent: u32,
    /// Write events and ledger rows to a database, and show both figures.
    #[arg(long)]
    pub(crate) durable: bool,
    /// Instead, only this many runs at once, which wait for a slow model: memory and threads.
    #[arg(long, value_name = "RUNS")]
    pub(crate) waiting: Option<u32>,
}

/// `bylaw bench small-model`.
#[derive(Clone, Debug, Args)]
pub(crate) struct BenchSmallModel {
    /// Base URL of the model, which is asked without a key.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// The model's name there.
    #[arg(long, value_name = "NAME", default_value = "model")]
    pub(crate) model: String,
    /// How it is given tools.
    #[arg(long, value_enum, default_value_t = Actions::JsonSchema)]
    pub(crate) actions: Actions,
}

/// How a model is given tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Actions {
    /// By the fields of the protocol.
    Native,
    /// In words, with replies that the endpoint forces into a form.
    JsonSchema,
    /// In words, with calls in fenced blocks.
    Fenced,
}
