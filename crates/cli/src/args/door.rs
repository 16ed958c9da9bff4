//! Scenarios of `bylaw bench door`.

use clap::{Args, Subcommand};

/// `bylaw bench door`: each prints what it found, and ends with 1 where its claim does not hold.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum BenchDoor {
    /// Everything that can go wrong with calls, and the service killed in the middle: whether the books are right.
    Crash(DoorCrash),
    /// Connections reset right after the last event: whether each call is settled once, as what it used.
    Reset(DoorReset),
    /// The service stopped with many calls under way: whether every call has its row.
    Shutdown(DoorShutdown),
    /// The same question from many at once: whether the model is asked once, also when the first caller leaves.
    Flight(DoorFlight),
    /// Callers who leave: how long until the model's connection is closed.
    Leave(DoorLeave),
    /// Very many questions: whether memory stays flat.
    Soak(DoorSoak),
    /// Many callers and a budget for a few: whether it holds at every moment.
    Overspend(DoorOverspend),
}

/// `bylaw bench door crash`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DoorCrash {
    /// Questions in all.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) calls: u32,
    /// Questions at a time.
    #[arg(long, default_value_t = 64)]
    pub(crate) concurrent: u32,
    /// Decides which calls go wrong in which way.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// `bylaw bench door reset`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DoorReset {
    /// Questions in all.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) calls: u32,
    /// Questions at a time.
    #[arg(long, default_value_t = 16)]
    pub(crate) concurrent: u32,
}

/// `bylaw bench door shutdown`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DoorShutdown {
    /// Calls under way.
    #[arg(long, default_value_t = 500)]
    pub(crate) calls: u32,
}

/// `bylaw bench door flight`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DoorFlight {
    /// Callers with the same question.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..=64))]
    pub(crate) callers: u32,
}

/// `bylaw bench door leave`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DoorLeave {
    /// Callers who leave, for each way to leave.
    #[arg(long, default_value_t = 50)]
    pub(crate) times: u32,
    /// The longest that closing may take.
    #[arg(long, value_name = "MS", default_value_t = 250)]
    pub(crate) limit_ms: u64,
}

/// `bylaw bench door soak`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DoorSoak {
    /// Questions in all.
    #[arg(long, default_value_t = 200_000)]
    pub(crate) questions: u32,
    /// Connections.
    #[arg(long, default_value_t = 64)]
    pub(crate) connections: u32,
}

/// `bylaw bench door overspend`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DoorOverspend {
    /// Callers, all at once.
    #[arg(long, default_value_t = 200)]
    pub(crate) callers: u32,
    /// Calls that the budget is worth.
    #[arg(long, default_value_t = 10)]
    pub(crate) worth: u32,
}
