//! `bylaw chat`.

use clap::{Args, ValueEnum};

/// `bylaw chat`.
#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// A server whose tools may be used: its URL, or the command that starts it. May be given several times.
    #[arg(long, value_name = "URL|COMMAND")]
    pub(crate) mcp: Vec<String>,
    /// Talk with this agent: the file NAME.toml in the folder of agents.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Say this, write the answer, and end; - reads it from standard input. Nobody is asked anything.
    #[arg(long, value_name = "MESSAGE", allow_hyphen_values = true)]
    pub(crate) print: Option<String>,
    /// Which calls you are asked about; the agent's file unless given, destructive ones without a file.
    #[arg(long, value_enum)]
    pub(crate) approve: Option<Approve>,
    /// Go on with the last conversation of this data directory.
    #[arg(long = "continue", conflicts_with = "conversation")]
    pub(crate) go_on: bool,
    /// Go on with this conversation.
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,
    /// At most this many steps for each message.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_steps: Option<u32>,
    /// At most this much money for each message, in the configured currency, such as 0.5.
    #[arg(long, value_name = "AMOUNT", allow_hyphen_values = true)]
    pub(crate) max_cost: Option<String>,
    /// At most this many seconds for each message; waiting for you is not counted.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_wall: Option<u64>,
}

/// Which calls a person is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approve {
    /// Those that may destroy or overwrite something, or do not say.
    Destructive,
    /// All.
    All,
    /// None: the tools ask for themselves.
    Never,
}
