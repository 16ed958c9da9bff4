//! The leave system on the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `bylaw leave`.
#[derive(Debug, Subcommand)]
pub(crate) enum Leave {
    /// Serve the leave system to MCP clients: http://127.0.0.1:8090/mcp.
    Serve(LeaveServe),
    /// Serve it to the program that started this one, over standard input and output.
    Stdio(LeaveStdio),
    /// Make, list and revoke keys of the leave system. They open nothing else.
    #[command(subcommand)]
    Key(LeaveKey),
    /// Take back what a person said no to, so that it may be asked again. Only for that person, at this machine.
    Reopen(LeaveReopen),
    /// Fill an empty file with a demonstration company.
    Seed(LeavePolicy),
}

/// What leaves are counted by.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LeavePolicy {
    /// The company's working calendar; a provisional sample unless given.
    #[arg(long, value_name = "FILE")]
    pub(crate) calendar: Option<PathBuf>,
    /// The company's leave types; those of the law unless given.
    #[arg(long, value_name = "FILE")]
    pub(crate) types: Option<PathBuf>,
}

/// Languages of the leave system.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LeaveLanguage {
    /// Traditional Chinese.
    #[value(name = "zh-TW", alias = "zh-Hant", alias = "zh")]
    ZhTw,
    /// English.
    En,
}

/// `bylaw leave serve`.
#[derive(Debug, Args)]
pub(crate) struct LeaveServe {
    /// Port; 0 takes any that is free.
    #[arg(long, default_value_t = 8090)]
    pub(crate) port: u16,
    /// Fill an empty file with a demonstration company, and print keys for it.
    #[arg(long)]
    pub(crate) seed: bool,
    /// Language of words for models and people, where a caller does not say theirs (accept-language).
    #[arg(long, value_enum, default_value_t = LeaveLanguage::ZhTw)]
    pub(crate) lang: LeaveLanguage,
    #[command(flatten)]
    pub(crate) policy: LeavePolicy,
}

/// `bylaw leave stdio`.
#[derive(Debug, Args)]
pub(crate) struct LeaveStdio {
    /// Whose leaves: an employee's id. With --seed it is the first demonstration employee unless given.
    #[arg(long = "as", value_name = "EMPLOYEE", required_unless_present = "seed")]
    pub(crate) employee: Option<String>,
    /// Fill an empty file with a demonstration company.
    #[arg(long)]
    pub(crate) seed: bool,
    /// Language of words for models and people.
    #[arg(long, value_enum, default_value_t = LeaveLanguage::ZhTw)]
    pub(crate) lang: LeaveLanguage,
    #[command(flatten)]
    pub(crate) policy: LeavePolicy,
}

/// `bylaw leave key`.
#[derive(Debug, Subcommand)]
pub(crate) enum LeaveKey {
    /// Make a key for an employee. Its secret is shown once.
    Create {
        /// Whom it stands for.
        #[arg(long, value_name = "ID")]
        employee: String,
    },
    /// Every key, also those that are revoked.
    List,
    /// Refuse keys from now on: one, or all of an employee.
    #[command(group(clap::ArgGroup::new("which").required(true).args(["key", "employee"])))]
    Revoke {
        /// Its id.
        #[arg(value_name = "KEY")]
        key: Option<String>,
        /// All of this employee.
        #[arg(long, value_name = "ID")]
        employee: Option<String>,
    },
}

/// `bylaw leave reopen`.
#[derive(Debug, Args)]
pub(crate) struct LeaveReopen {
    /// The leave, such as LV-7f3a91.
    pub(crate) leave: String,
    /// Why; for the history.
    #[arg(long, default_value = "")]
    pub(crate) reason: String,
}
