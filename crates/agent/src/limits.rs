//! What a run may use. Every limit is on by default, and each has its stop reason.

use std::{collections::HashMap, time::Duration};

use bylaw_contract::StopReason;

use crate::end::Ending;

/// The limits of a run. Money is the meter's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most steps: turns that use tools. Then the model is asked once more, without tools.
    pub steps: u32,
    /// Most calls that are made.
    pub tool_calls: u32,
    /// From this many equal calls on, the result of the last one is told again and no call is made.
    pub repeated_call_cached: u32,
    /// With this many equal calls, or as many wrong ones of one tool in a row, the run ends.
    pub repeated_call_ends: u32,
    /// Longest wall time; waiting for a person is not counted.
    pub wall_time: Duration,
    /// Tokens that the model can read and write in one call, if that is known.
    pub context_tokens: Option<u64>,
    /// Most tokens of all model calls together.
    pub total_tokens: Option<u64>,
    /// Most bytes of one result that a model is given; the rest is kept aside.
    pub result_bytes: usize,
    /// How many replies may be cut off in the middle of their calls.
    pub cut_replies: u32,
    /// Longest wait for a person's approval.
    pub approval_wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 20,
            tool_calls: 60,
            repeated_call_cached: 3,
            repeated_call_ends: 6,
            wall_time: Duration::from_secs(300),
            context_tokens: None,
            total_tokens: None,
            result_bytes: 16 * 1024,
            cut_replies: 3,
            approval_wait: Duration::from_secs(600),
        }
    }
}

/// What was used so far.
#[derive(Debug, Default)]
pub(crate) struct Used {
    pub(crate) steps: u32,
    pub(crate) tool_calls: u32,
    cut_replies: u32,
    equal: HashMap<String, Equal>,
    /// Wrong calls in a row, by tool.
    wrong: HashMap<String, u32>,
}

#[derive(Debug, Default)]
struct Equal {
    count: u32,
    last: Option<String>,
    made: bool,
}

/// What the repetition of a call means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Repetition {
    /// It may be made.
    No,
    /// The last result is told again.
    Told {
        /// How many times it was asked for.
        count: u32,
        /// What it brought, if that is known already.
        last: Option<String>,
    },
    /// The run ends.
    TooOften(u32),
}

impl Limits {
    pub(crate) fn steps_used_up(&self) -> Ending {
        Ending::stop(StopReason::Steps, format!("the limit of {} steps was reached", self.steps))
    }

    pub(crate) fn tool_calls_used_up(&self) -> Ending {
        Ending::stop(StopReason::ToolCalls, format!("the limit of {} tool calls was reached", self.tool_calls))
    }

    pub(crate) fn time_is_up(&self) -> Ending {
        Ending::stop(StopReason::Time, format!("the limit of {:?} was reached", self.wall_time))
    }
}

impl Used {
    /// A reply was cut off in the middle of its calls.
    pub(crate) fn cut_reply(&mut self, limits: &Limits) -> Option<Ending> {
        self.cut_replies += 1;
        (self.cut_replies > limits.cut_replies).then(|| {
            let message = format!(
                "the model's replies were cut off {} times in the middle of their calls; raise max_output_tokens",
                self.cut_replies
            );
            Ending::stop(StopReason::UpstreamIncomplete, message)
        })
    }

    /// Counts a call that is asked for; `key` is the tool and its canonical arguments.
    pub(crate) fn repetition(&mut self, key: &str, polls: bool, limits: &Limits) -> Repetition {
        let equal = self.equal.entry(key.to_owned()).or_default();
        equal.count += 1;
        if polls || equal.count < limits.repeated_call_cached {
            Repetition::No
        } else if equal.count >= limits.repeated_call_ends {
            Repetition::TooOften(equal.count)
        } else {
            Repetition::Told { count: equal.count, last: equal.last.clone() }
        }
    }

    /// What an equal call brought last.
    pub(crate) fn last(&self, key: &str) -> Option<String> {
        self.equal.get(key)?.last.clone()
    }

    /// A call was made and brought this. A change that is new makes it worth looking again: counts begin anew.
    pub(crate) fn made(&mut self, key: &str, told: &str, changes_something: bool) {
        let equal = self.equal.entry(key.to_owned()).or_default();
        let is_new = !equal.made;
        equal.made = true;
        equal.last = Some(told.to_owned());
        if changes_something && is_new {
            for (other, equal) in &mut self.equal {
                if other != key {
                    equal.count = 0;
                }
            }
        }
    }

    /// A call of this tool was wrong (or, with `is_wrong` false, right): how many were wrong in a row.
    pub(crate) fn wrong(&mut self, tool: &str, is_wrong: bool) -> u32 {
        if !is_wrong {
            self.wrong.remove(tool);
            return 0;
        }
        let count = self.wrong.entry(tool.to_owned()).or_default();
        *count += 1;
        *count
    }
}

pub(crate) fn repeated(tool: &str, count: u32) -> Ending {
    Ending::stop(StopReason::RepeatedCall, format!("the model called {tool} {count} times with the same arguments"))
}

pub(crate) fn always_wrong(tool: &str, count: u32) -> Ending {
    Ending::stop(StopReason::RepeatedCall, format!("{count} calls of {tool} in a row were wrong"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_calls_are_told_again_and_then_end_the_run_also_when_they_alternate() {
        let limits = Limits::default();
        let mut used = Used::default();
        let mut told = Vec::new();
        for _ in 0..6 {
            for key in ["a", "b"] {
                let repetition = used.repetition(key, false, &limits);
                if repetition == Repetition::No {
                    used.made(key, "r", true);
                }
                told.push(match repetition {
                    Repetition::No => "made",
                    Repetition::Told { .. } => "told",
                    Repetition::TooOften(_) => "end",
                });
            }
        }
        assert_eq!(
            told,
            ["made", "made", "made", "made", "made", "told", "told", "told", "told", "told", "told", "end"],
            "`b`, which was new, made it worth to look at `a` once more"
        );
    }

    #[test]
    fn a_tool_that_polls_is_never_told_again() {
        let (limits, mut used) = (Limits::default(), Used::default());
        assert!((0..50).all(|_| used.repetition("a", true, &limits) == Repetition::No));
    }
}
