//! `bylaw cost` on the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `bylaw cost`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Cost {
    #[command(subcommand)]
    pub(crate) command: Option<CostCommand>,
    #[command(flatten)]
    pub(crate) wanted: CostWanted,
}

/// What else there is.
#[derive(Debug, Subcommand)]
pub(crate) enum CostCommand {
    /// Write a commented example to edit.
    Init(CostExample),
}

/// `bylaw cost init`.
#[derive(Debug, Args)]
pub(crate) struct CostExample {
    /// File to write; it must not be there yet.
    #[arg(default_value = "cost.toml")]
    pub(crate) file: PathBuf,
    /// Against hardware that one buys, instead of a rented GPU.
    #[arg(long)]
    pub(crate) owned: bool,
}

/// What is compared, and how it is shown. Flags overrule the file.
#[derive(Debug, Args)]
pub(crate) struct CostWanted {
    /// Both options in TOML; `bylaw cost init` writes an example.
    pub(crate) file: Option<PathBuf>,
    /// Any field of the file, such as api.input_price=2.5; repeat for several.
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    pub(crate) set: Vec<String>,
    /// Your tasks a day.
    #[arg(long, value_name = "TASKS", allow_hyphen_values = true)]
    pub(crate) volume: Option<String>,
    /// API: price of a million tokens of prompts.
    #[arg(long, value_name = "PRICE", allow_hyphen_values = true)]
    pub(crate) input_price: Option<String>,
    /// API: price of a million cached tokens of prompts.
    #[arg(long, value_name = "PRICE", allow_hyphen_values = true)]
    pub(crate) cached_price: Option<String>,
    /// API: price of a million written tokens.
    #[arg(long, value_name = "PRICE", allow_hyphen_values = true)]
    pub(crate) output_price: Option<String>,
    /// Tokens of a prompt, for both options unless the file says otherwise.
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true)]
    pub(crate) prompt_tokens: Option<String>,
    /// The cached part of them.
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true)]
    pub(crate) cached_tokens: Option<String>,
    /// Tokens that the model writes.
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true)]
    pub(crate) completion_tokens: Option<String>,
    /// Calls of a task.
    #[arg(long, value_name = "CALLS", allow_hyphen_values = true)]
    pub(crate) calls_per_task: Option<String>,
    /// What a GPU costs for an hour.
    #[arg(long, value_name = "PRICE", allow_hyphen_values = true)]
    pub(crate) gpu_hour: Option<String>,
    /// Tokens of prompts that a replica reads in a second, under load.
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true)]
    pub(crate) prefill_rate: Option<String>,
    /// Tokens that a replica writes in a second, under load.
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true)]
    pub(crate) decode_rate: Option<String>,
    /// People who keep it running, a month.
    #[arg(long, value_name = "AMOUNT", allow_hyphen_values = true)]
    pub(crate) labour: Option<String>,
    /// Measure the profile from the ledger: the last so many days, such as 30d.
    #[arg(long, value_name = "DAYS", requires = "model")]
    pub(crate) from_ledger: Option<String>,
    /// The model whose calls are measured.
    #[arg(long, value_name = "NAME", requires = "from_ledger")]
    pub(crate) model: Option<String>,
    /// Which of the measured figures is used.
    #[arg(long, value_enum, requires = "from_ledger")]
    pub(crate) statistic: Option<CostStatistic>,
    #[command(flatten)]
    pub(crate) simple: SimpleFigures,
    /// Write every figure as a table of two columns.
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Also write a page that needs nothing else.
    #[arg(long, value_name = "FILE", conflicts_with = "simple")]
    pub(crate) html: Option<PathBuf>,
    /// Language of the explanation and the page.
    #[arg(long, value_enum)]
    pub(crate) lang: Option<CostLanguage>,
}

/// The formula that everyone starts with.
#[derive(Debug, Args)]
pub(crate) struct SimpleFigures {
    /// Only the formula: GPU hour × 24 ÷ (tokens × price); needs --gpu-hour, --tokens and --price.
    #[arg(long, requires_all = ["gpu_hour", "tokens", "price"], conflicts_with_all = ["file", "set", "from_ledger"])]
    pub(crate) simple: bool,
    /// With --simple: tokens of a request, read and written.
    #[arg(long, value_name = "TOKENS", requires = "simple", allow_hyphen_values = true)]
    pub(crate) tokens: Option<String>,
    /// With --simple: price of a million tokens.
    #[arg(long, value_name = "PRICE", requires = "simple", allow_hyphen_values = true)]
    pub(crate) price: Option<String>,
}

/// Languages of a report.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CostLanguage {
    /// English.
    En,
    /// Traditional Chinese.
    #[value(name = "zh-TW", alias = "zh-Hant", alias = "zh")]
    ZhTw,
}

/// Which of the measured figures is used.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CostStatistic {
    /// The mean: a bill is made of means.
    Mean,
    /// The median.
    P50,
    /// What all but a twentieth stay within.
    P95,
}
