//! Keys and money on the command line.

use bylaw_contract::{KeyId, RequestId};
use bylaw_gate::{Checkpoint, Day};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use super::Command;

/// What a service is told about who asks.
#[derive(Clone, Default, Args)]
pub(crate) struct Credentials {
    /// Key for the service. Others on this machine can see flags: rather set the variable BYLAW_KEY.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials(***)")
    }
}

impl Command {
    /// What this command would tell a service.
    pub(crate) const fn credentials(&self) -> Option<&Credentials> {
        match self {
            Self::Ingest(arguments) => Some(&arguments.credentials),
            Self::Search(arguments) => Some(&arguments.narrow.credentials),
            Self::Ask(arguments) => Some(&arguments.narrow.credentials),
            Self::Sources(arguments) => Some(&arguments.credentials),
            Self::Mcp(arguments) => Some(&arguments.credentials),
            Self::Serve(_)
            | Self::Key(_)
            | Self::Ledger(_)
            | Self::Explain(_)
            | Self::Chat(_)
            | Self::Cost(_)
            | Self::Leave(_)
            | Self::Config(_)
            | Self::Doctor(_)
            | Self::Bench(_) => None,
        }
    }
}

/// `bylaw key`.
#[derive(Debug, Subcommand)]
pub(crate) enum Key {
    /// Make a key. Its secret is shown once. From the first key on, every request needs one.
    Create(KeyCreate),
    /// Every key, also those that are expired or revoked.
    List,
    /// Refuse a key from now on.
    Revoke {
        /// Its id, or its name if no other key has it.
        #[arg(value_name = "ID_OR_NAME")]
        key: String,
    },
}

/// `bylaw key create`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("readable").args(["sources", "no_sources"])))]
pub(crate) struct KeyCreate {
    /// What people call it.
    pub(crate) name: String,
    /// What it may do.
    #[arg(long, value_enum, default_value_t = KeyRole::Reader)]
    pub(crate) role: KeyRole,
    /// A source that it may read; repeat for several. None given: every source, also those to come.
    #[arg(long = "source", value_name = "NAME")]
    pub(crate) sources: Vec<String>,
    /// It may read no source.
    #[arg(long)]
    pub(crate) no_sources: bool,
    /// What it may spend, in the configured currency: 5/day, 100/month or 20/once; repeat for several. None given: what
    /// budgets.key says.
    #[arg(long = "budget", value_name = "AMOUNT/PERIOD", allow_hyphen_values = true)]
    pub(crate) budgets: Vec<String>,
    /// From when on it is refused: 90d, 12h, the beginning of a day such as 2027-01-31, or a moment (RFC 3339). Not given:
    /// never.
    #[arg(long, value_name = "WHEN")]
    pub(crate) expires: Option<String>,
}

/// What a key may do.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum KeyRole {
    /// Ask, search and read; see its own runs and usage.
    Reader,
    /// Also change documents.
    Editor,
    /// Also see everyone's runs, usage and budgets.
    Admin,
}

/// `bylaw ledger`.
#[derive(Debug, Subcommand)]
pub(crate) enum Ledger {
    /// What was spent, by day, key, model or mode.
    Report(LedgerReport),
    /// Check that every row is as it was sealed, that none is missing, and that the accounts add up.
    Verify(LedgerVerify),
    /// Write the rows as they are stored, one JSON object a line.
    Export(LedgerExport),
}

/// `bylaw ledger report`.
#[derive(Debug, Args)]
pub(crate) struct LedgerReport {
    /// First day, such as 2026-03-01.
    #[arg(long, value_name = "DAY")]
    pub(crate) from: Option<Day>,
    /// Last day.
    #[arg(long, value_name = "DAY")]
    pub(crate) to: Option<Day>,
    /// Only what this key has caused.
    #[arg(long, value_name = "ID")]
    pub(crate) key: Option<KeyId>,
    /// What makes a line.
    #[arg(long, value_enum, default_value_t = ReportBy::Day)]
    pub(crate) by: ReportBy,
}

/// What makes a line of a report.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ReportBy {
    /// A day.
    Day,
    /// A key.
    Key,
    /// A model.
    Model,
    /// A mode of answering.
    Mode,
}

/// `bylaw ledger verify`.
#[derive(Debug, Args)]
pub(crate) struct LedgerVerify {
    /// Checkpoint that an earlier verification has printed; without one nobody notices if the end was cut off.
    #[arg(long, value_name = "ROW:HASH")]
    pub(crate) checkpoint: Option<Checkpoint>,
}

/// `bylaw ledger export`.
#[derive(Debug, Args)]
pub(crate) struct LedgerExport {
    /// First day, such as 2026-03-01.
    #[arg(long, value_name = "DAY")]
    pub(crate) from: Option<Day>,
    /// Last day.
    #[arg(long, value_name = "DAY")]
    pub(crate) to: Option<Day>,
}

/// `bylaw explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The id in the answer. Callers may choose ids: whatever shares one is shown.
    #[arg(value_name = "REQUEST_ID")]
    pub(crate) request: RequestId,
}
