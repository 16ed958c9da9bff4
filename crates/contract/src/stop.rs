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

impl StopReason {
    /// Every reason, in the order of the enum.
    pub const ALL: [Self; 12] = [
        Self::Completed,
        Self::Steps,
        Self::ToolCalls,
        Self::RepeatedCall,
        Self::Context,
        Self::Cost,
        Self::Time,
        Self::Cancelled,
        Self::UpstreamIncomplete,
        Self::UpstreamTimeout,
        Self::Refused,
        Self::Failed,
    ];

    /// The reason as it crosses the network.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Steps => "steps",
            Self::ToolCalls => "tool_calls",
            Self::RepeatedCall => "repeated_call",
            Self::Context => "context",
            Self::Cost => "cost",
            Self::Time => "time",
            Self::Cancelled => "cancelled",
            Self::UpstreamIncomplete => "upstream_incomplete",
            Self::UpstreamTimeout => "upstream_timeout",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }

    /// Whether something broke. What a limit, a person or the model's own no ends is no breakdown.
    #[must_use]
    pub const fn is_breakdown(self) -> bool {
        match self {
            Self::UpstreamIncomplete | Self::UpstreamTimeout | Self::Failed => true,
            Self::Completed
            | Self::Steps
            | Self::ToolCalls
            | Self::RepeatedCall
            | Self::Context
            | Self::Cost
            | Self::Time
            | Self::Cancelled
            | Self::Refused => false,
        }
    }
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_one_name_and_one_place() {
        for (place, reason) in StopReason::ALL.into_iter().enumerate() {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
            assert_eq!(reason as usize, place);
        }
    }
}
