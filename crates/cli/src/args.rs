//! The command line.

mod agents;
mod chat;
mod cost;
mod door;
mod leave;
mod mcp;
mod money;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use self::{
    agents::{Actions, BenchFaults, BenchLoop, BenchSmallModel},
    chat::{Approve, Chat},
    cost::{Cost, CostCommand, CostExample, CostLanguage, CostStatistic, CostWanted},
    door::{BenchDoor, DoorCrash, DoorFlight, DoorLeave, DoorOverspend, DoorReset, DoorShutdown, DoorSoak},
    leave::{Leave, LeaveKey, LeaveLanguage, LeavePolicy, LeaveReopen, LeaveServe, LeaveStdio},
    mcp::{Mcp, McpClientName, McpCommand, McpInstall, McpService},
    money::{
        Credentials, Explain, Key, KeyCreate, KeyRole, Ledger, LedgerExport, LedgerReport, LedgerVerify, ReportBy,
    },
};

/// Answers from an organisation's rules, with the article that says so.
///
/// Without a command, `bylaw serve` starts.
#[derive(Debug, Parser)]
#[command(name = "bylaw", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What every command understands.
#[derive(Clone, Debug, Args)]
pub(crate) struct Global {
    /// Where state lives; the platform's place for application data unless given.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Configuration file; ./bylaw.toml unless given.
    #[arg(long, global = true, value_name = "FILE", env = "BYLAW_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Write results as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the web door: HTTP on 127.0.0.1:8024.
    Serve(Serve),
    /// Bring documents in.
    Ingest(Ingest),
    /// Find articles.
    Search(Search),
    /// Ask a question.
    Ask(Ask),
    /// Talk with a model that uses tools.
    Chat(Chat),
    /// List, show, delete and bring back sources.
    Sources(Sources),
    /// Make, list and revoke keys.
    #[command(subcommand)]
    Key(Key),
    /// What was spent, and whether the books are as they were written.
    #[command(subcommand)]
    Ledger(Ledger),
    /// What happened under a request id, and what it cost.
    Explain(Explain),
    /// When does hosting your own model pay? An API against GPUs of your own.
    Cost(Box<Cost>),
    /// The leave system: a business system whose rules travel with its tools.
    #[command(subcommand)]
    Leave(Leave),
    /// Hand the rules to other people's agents: an MCP server over standard input and output.
    Mcp(Mcp),
    /// Show the configuration and where each value came from.
    #[command(subcommand)]
    Config(Config),
    /// Check that everything is in order.
    Doctor(Doctor),
    /// Measure.
    #[command(subcommand)]
    Bench(Bench),
}

/// `bylaw serve`.
#[derive(Debug, Default, Args)]
pub(crate) struct Serve {
    /// Documents to answer from, files or folders. None: what was ingested before, or the sample.
    pub(crate) paths: Vec<PathBuf>,
    /// Port to listen on; 0 takes a free one.
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// Address to listen on.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) host: Option<String>,
    /// Follow changes of the given files and folders.
    #[arg(long, requires = "paths")]
    pub(crate) watch: bool,
    /// Serve the bundled sample, in a data set of its own.
    #[arg(long, conflicts_with = "paths")]
    pub(crate) sample: bool,
    /// Folder below which POST /documents may name a file by path.
    #[arg(long, value_name = "DIR")]
    pub(crate) documents_root: Option<PathBuf>,
}

/// `bylaw ingest`.
#[derive(Debug, Args)]
pub(crate) struct Ingest {
    /// Files or folders.
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) credentials: Credentials,
}

/// What narrows a search.
#[derive(Clone, Debug, Args)]
pub(crate) struct Narrow {
    /// Only this source.
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Only this chapter.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) chapter: Option<u32>,
    /// Ask a running service instead of reading the data directory.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) credentials: Credentials,
}

/// `bylaw search`.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// The question.
    #[arg(required = true, num_args = 1..)]
    pub(crate) question: Vec<String>,
    /// Articles, 1 to 50.
    #[arg(short, default_value_t = 5)]
    pub(crate) k: u32,
    #[command(flatten)]
    pub(crate) narrow: Narrow,
}

/// `bylaw ask`.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// The question.
    #[arg(required = true, num_args = 1..)]
    pub(crate) question: Vec<String>,
    /// Articles to consider, 1 to 15.
    #[arg(short, default_value_t = 3)]
    pub(crate) k: u32,
    /// How the answer is made.
    #[arg(long, value_enum, default_value_t = AskMode::Auto)]
    pub(crate) mode: AskMode,
    /// At most this much money, in the configured currency, such as 0.5.
    #[arg(long, value_name = "AMOUNT", allow_hyphen_values = true)]
    pub(crate) max_cost: Option<String>,
    /// At most this many milliseconds, up to 600000.
    #[arg(long, value_name = "N")]
    pub(crate) max_wall_ms: Option<u64>,
    /// At most this many steps of an agent, 1 to 12.
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u32>,
    /// Have an agent's answer checked before it is given.
    #[arg(long)]
    pub(crate) self_check: bool,
    /// Neither read nor write a cache.
    #[arg(long)]
    pub(crate) no_cache: bool,
    #[command(flatten)]
    pub(crate) narrow: Narrow,
}

/// Modes of an answer.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum AskMode {
    /// The extract when the rules' own words answer, else the model.
    Auto,
    /// The rules' own words; free.
    Extract,
    /// Search once, let the model answer once.
    Pipeline,
    /// Let the model decide what to search for and what to read, step by step.
    Agent,
}

/// `bylaw sources`.
#[derive(Debug, Args)]
pub(crate) struct Sources {
    /// Ask a running service instead of reading the data directory.
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) credentials: Credentials,
    #[command(subcommand)]
    pub(crate) command: Option<SourcesCommand>,
}

/// What to do with sources.
#[derive(Debug, Subcommand)]
pub(crate) enum SourcesCommand {
    /// List them (also without a command).
    List,
    /// Outline, versions and differences of one.
    Show {
        /// Its name.
        name: String,
    },
    /// Stop answering from one; `undo` brings it back for a while.
    Delete {
        /// Its name.
        name: String,
    },
    /// Bring a deleted one back.
    Undo {
        /// Its name.
        name: String,
    },
}

/// `bylaw config`.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum Config {
    /// Every setting, its value, and where that came from.
    Show,
    /// The defaults, ready to be saved as bylaw.toml.
    Defaults,
    /// Every error code with its HTTP status and exit code.
    Codes,
}

/// `bylaw doctor`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Doctor {
    /// Also ask the configured model one short question.
    #[arg(long)]
    pub(crate) model: bool,
}

/// Benchmarks.
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Quality and speed of retrieval on a collection with judged questions.
    Retrieval(BenchRetrieval),
    /// Whether extracts hold the facts that right answers hold.
    Extract(BenchExtract),
    /// Serve a bare JSON route: what HTTP itself costs on this machine.
    Bare(BenchBare),
    /// Serve a scripted OpenAI-compatible model that keeps its own count of everything.
    Upstream(BenchUpstream),
    /// Many callers and one budget: whether exactly as many are admitted as it is worth.
    Race(BenchRace),
    /// What a durable reservation and a row of a cache hit cost, beside a plain write to the same disk.
    Ledger(BenchLedger),
    /// An agent against servers that do everything wrong: how many of 24 faults it survives as it should.
    Faults(BenchFaults),
    /// What a run of an agent costs: processor time, memory, and the connection to its tools.
    Loop(BenchLoop),
    /// A real model, however small, and one deed that takes two tools: whether it is done, once and rightly.
    SmallModel(BenchSmallModel),
    /// Put a service of its own between many callers and a scripted model, and look whether its books are right.
    #[command(subcommand)]
    Door(BenchDoor),
}

/// `bylaw bench retrieval`.
#[derive(Debug, Args)]
pub(crate) struct BenchRetrieval {
    /// Documents: files or folders.
    #[arg(long, required = true, num_args = 1..)]
    pub(crate) corpus: Vec<PathBuf>,
    /// JSONL of questions: {"id", "text"}.
    #[arg(long)]
    pub(crate) queries: PathBuf,
    /// Tab-separated: query id, article (id or source#article), relevance.
    #[arg(long)]
    pub(crate) qrels: PathBuf,
    /// Only questions whose field has this value, for example kind=full.
    #[arg(long, value_name = "FIELD=VALUE")]
    pub(crate) only: Option<String>,
    /// Print each question whose first relevant article is not among the first five.
    #[arg(long)]
    pub(crate) misses: bool,
}

/// `bylaw bench extract`.
#[derive(Debug, Args)]
pub(crate) struct BenchExtract {
    /// Documents: files or folders.
    #[arg(long, required = true, num_args = 1..)]
    pub(crate) corpus: Vec<PathBuf>,
    /// JSON array or JSONL of questions: {"id", "question", "facts", "forbid"?, "outcome"?}.
    #[arg(long, required = true, num_args = 1..)]
    pub(crate) questions: Vec<PathBuf>,
    /// Print every question that is not right.
    #[arg(long)]
    pub(crate) misses: bool,
}

/// `bylaw bench bare`.
#[derive(Debug, Args)]
pub(crate) struct BenchBare {
    /// Port to listen on.
    #[arg(long)]
    pub(crate) port: u16,
}

/// `bylaw bench upstream`.
#[derive(Debug, Args)]
pub(crate) struct BenchUpstream {
    /// Port to listen on; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// What it does; `upstream:NAME` in a question says otherwise for that question.
    #[arg(long, value_enum, default_value_t = UpstreamBehaviour::Whole)]
    pub(crate) behaviour: UpstreamBehaviour,
    /// Pieces that an answer comes in.
    #[arg(long, default_value_t = 16)]
    pub(crate) pieces: u64,
    /// Milliseconds before each piece.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(crate) gap_ms: u64,
    /// The same for slow answers.
    #[arg(long, value_name = "MS", default_value_t = 200)]
    pub(crate) slow_gap_ms: u64,
    /// Decides the order of a mix.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Bill each answer at the most that its request allows.
    #[arg(long)]
    pub(crate) bill_bound: bool,
}

/// `bylaw bench race`.
#[derive(Debug, Args)]
pub(crate) struct BenchRace {
    /// Callers, all at once.
    #[arg(long, default_value_t = 200)]
    pub(crate) callers: u32,
    /// Calls that the budget is worth.
    #[arg(long, default_value_t = 10)]
    pub(crate) worth: u32,
    /// Threads of each process.
    #[arg(long, default_value_t = 8)]
    pub(crate) threads: usize,
    /// Processes that share the callers and the ledger.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) processes: u32,
    /// File of the ledger, not there yet; one in a temporary folder unless given.
    #[arg(long, value_name = "FILE")]
    pub(crate) ledger: Option<PathBuf>,
    /// Take part in the race of another process.
    #[arg(long, hide = true)]
    pub(crate) take_part: bool,
}

/// `bylaw bench ledger`.
#[derive(Debug, Args)]
pub(crate) struct BenchLedger {
    /// Callers at a time.
    #[arg(long, default_value_t = 64)]
    pub(crate) concurrent: usize,
    /// Reservations in all.
    #[arg(long, default_value_t = 2_000)]
    pub(crate) calls: usize,
    /// Rows of cache hits.
    #[arg(long, default_value_t = 50_000)]
    pub(crate) hits: usize,
}

/// What the scripted model does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UpstreamBehaviour {
    /// Answers, says what it used, and ends.
    Whole,
    /// HTTP 500 before anything is done.
    Refuse,
    /// The connection breaks in the middle of the text.
    Cut,
    /// The connection breaks after the text, before the usage.
    LateCut,
    /// Accepts the request and never answers.
    Silent,
    /// Answers slowly.
    Slow,
    /// Half of the requests are answered whole, the rest is everything else, in an order of its own.
    Mix,
}

impl UpstreamBehaviour {
    /// Every behaviour.
    pub(crate) const ALL: [Self; 7] =
        [Self::Whole, Self::Refuse, Self::Cut, Self::LateCut, Self::Silent, Self::Slow, Self::Mix];

    /// Its name.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Refuse => "refuse",
            Self::Cut => "cut",
            Self::LateCut => "late-cut",
            Self::Silent => "silent",
            Self::Slow => "slow",
            Self::Mix => "mix",
        }
    }
}
