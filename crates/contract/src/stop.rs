//! Why a run ended.

use serde::{Deserialize, Serialize};

/// Why a whole run ended. (Why one model response ended is a *finish reason*.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It finished by itself.
    Completed,
    /// The cap on steps.
    Steps,
    /// The cap on tool calls.
    ToolCalls,
    /// The same call was made again and again.
    RepeatedCall,
    /// The model's context is full.
    Context,
    /// The cap on money, or an exhausted budget.
    Cost,
    /// The cap on wall time.
    Time,
    /// The caller left or asked to stop.
    Cancelled,
    /// The model's reply ended without its end marker.
    UpstreamIncomplete,
    /// The model did not answer in time.
    UpstreamTimeout,
    /// The model refused.
    Refused,
    /// Something broke; the accompanying code says what.
    Failed,
}

/// A run's end before its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Stop {
    /// Why.
    pub reason: StopReason,
    /// The number of steps that had been completed. Under `max_steps: 2` this never says 3.
    pub at_step: u32,
    /// One sentence for a person, in the question's language.
    pub message: String,
}
