//! At which volumes hosting costs no more than the API: a set, because capacity comes in whole replicas.
//!
//! On each step of the staircase, between the capacities of N − 1 and N replicas, hosting is a straight line and so is the
//! API, and they cross at most once. The set is the union over all N, which may have gaps: a step may begin cheaper and a new
//! replica make it dearer again. The crossing of one step alone, wherever it lies, is the naive answer; often it lies beyond
//! what that step can bear.

use serde::{Deserialize, Serialize};

use crate::{
    figure::Figure,
    scenario::{DAYS_PER_MONTH, Scenario},
};

/// Steps that are walked one by one before formulas say where gaps end.
const MAX_STEPS: usize = 500;
/// Steps that are listed once hosting is cheaper for good.
const SHOWN_AFTER: usize = 3;

/// The part of one step on which hosting costs no more than the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Step {
    /// Replicas that run.
    pub replicas: Figure,
    /// The first such volume, in tasks a day.
    pub from: Figure,
    /// The last.
    pub to: Figure,
}

/// Volumes, in tasks a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Volumes {
    /// The first.
    pub from: Figure,
    /// The last; null if it goes on for ever.
    pub to: Option<Figure>,
}

/// Why hosting never pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Never {
    /// A task costs nothing at the API.
    ApiIsFree,
    /// A task costs no more at the API than hosting costs beside its GPUs.
    NothingSavedPerTask,
    /// Even full, a replica does less than it costs.
    ReplicaWorthLessThanItsPrice,
}

/// The volumes at which hosting costs no more than the API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BreakEven {
    /// The first volume at which it pays; null if it never does.
    pub first_tasks_per_day: Option<Figure>,
    /// Why it never does.
    pub never: Option<Never>,
    /// What a formula says that takes the least number of replicas to bear everything; null without a crossing.
    pub naive_tasks_per_day: Option<Figure>,
    /// Whether these replicas bear that.
    pub naive_fits: bool,
    /// Step by step, as far as they are worth telling apart.
    pub steps: Vec<Step>,
    /// The same without the borders between steps.
    pub ranges: Vec<Volumes>,
    /// Between them: volumes at which a new replica makes hosting dearer again.
    pub gaps: Vec<Volumes>,
    /// Whether there were so many steps that some gaps are not listed.
    pub abridged: bool,
    /// What a replica that is used up to its capacity saves at the API in a day.
    pub replica_worth_per_day: Figure,
    /// What it costs in a day.
    pub replica_price_per_day: Figure,
}

/// Looks for every volume at which hosting costs no more than the API.
#[must_use]
pub fn break_even(scenario: &Scenario) -> BreakEven {
    let stairs = Stairs::of(scenario);
    let (steps, open_end, abridged) = stairs.walk();
    let ranges = joined(&steps, open_end);
    let gaps = ranges.windows(2).filter_map(|pair| {
        let [before, after] = pair else { return None };
        Some(Volumes { from: before.to?, to: Some(after.from) })
    });
    let first = ranges.first().map(|range| range.from);
    let never = first.is_none().then(|| stairs.why_never(scenario));
    let naive = (stairs.saved_per_month > Figure::ZERO)
        .then(|| (stairs.cost(stairs.least) / stairs.saved_per_month).max(Figure::ZERO));
    BreakEven {
        first_tasks_per_day: first,
        never,
        naive_tasks_per_day: naive,
        naive_fits: naive.is_some_and(|volume| volume <= stairs.capacity(stairs.least)),
        gaps: gaps.collect(),
        steps,
        ranges,
        abridged,
        replica_worth_per_day: scenario.api.cost_per_task() * stairs.capacity_of_one,
        replica_price_per_day: stairs.replica / DAYS_PER_MONTH,
    }
}

/// The staircase in as few numbers as it has.
struct Stairs {
    /// Fewest replicas.
    least: u64,
    capacity_of_one: Figure,
    /// A replica, a month.
    replica: Figure,
    /// What does not depend on the volume, a month; negative where the API's own fixed price is larger.
    fixed: Figure,
    /// What one task a day saves in a month beside the GPUs.
    saved_per_month: Figure,
}

impl Stairs {
    fn of(scenario: &Scenario) -> Self {
        let Scenario { api, self_hosted: hosting, .. } = scenario;
        Self {
            least: hosting.minimum_replicas.to_u64().unwrap_or(1),
            capacity_of_one: hosting.capacity(1),
            replica: hosting.replica_cost_per_month(),
            fixed: hosting.fixed_per_month() - api.fixed_per_month,
            saved_per_month: (api.cost_per_task() - hosting.variable_cost_per_task) * DAYS_PER_MONTH,
        }
    }

    fn capacity(&self, replicas: u64) -> Figure {
        self.capacity_of_one * Figure::from(replicas)
    }

    fn cost(&self, replicas: u64) -> Figure {
        self.replica * Figure::from(replicas) + self.fixed
    }

    /// Where the step of `replicas` begins.
    fn begin(&self, replicas: u64) -> Figure {
        if replicas <= self.least { Figure::ZERO } else { self.capacity(replicas - 1) }
    }

    /// What a replica at its capacity is worth in a month beyond what it costs.
    fn margin(&self) -> Figure {
        self.saved_per_month * self.capacity_of_one - self.replica
    }

    /// The part of a step on which hosting costs no more.
    fn step(&self, replicas: u64) -> Option<Step> {
        let (begin, end) = (self.begin(replicas), self.capacity(replicas));
        let (cost, saved) = (self.cost(replicas), self.saved_per_month);
        let (from, to) = if saved > Figure::ZERO {
            (begin.max(cost / saved), end)
        } else if saved == Figure::ZERO {
            (begin, if cost <= Figure::ZERO { end } else { -Figure::ONE })
        } else {
            (begin, end.min(cost / saved))
        };
        // A step begins after the capacity of the one before: where it would be that point alone, it is nothing.
        let is_there = from < to || (from == to && replicas == self.least);
        is_there.then_some(Step { replicas: Figure::from(replicas), from, to })
    }

    /// The steps, whether the last goes on for ever, and whether some were left out.
    fn walk(&self) -> (Vec<Step>, bool, bool) {
        let margin = self.margin();
        let mut steps = Vec::new();
        let mut whole_steps = 0;
        let mut replicas = self.least;
        for _ in 0..MAX_STEPS {
            match self.step(replicas) {
                Some(step) => {
                    let is_whole = step.from == self.begin(replicas) && step.to == self.capacity(replicas);
                    steps.push(step);
                    // From here every step is whole, since each replica more brings at least what it costs.
                    if is_whole && self.saved_per_month >= Figure::ZERO && margin >= Figure::ZERO {
                        whole_steps += 1;
                        if whole_steps >= SHOWN_AFTER {
                            return (steps, true, false);
                        }
                    }
                }
                // Each replica more makes it worse, or there is a first that pays.
                None if margin <= Figure::ZERO || self.saved_per_month <= Figure::ZERO => return (steps, false, false),
                None => {
                    let first = (self.fixed / margin).whole_above().to_u64().unwrap_or(u64::MAX / 2);
                    replicas = replicas.max(first.saturating_sub(2));
                }
            }
            replicas = replicas.saturating_add(1);
        }
        let last = self.whole_for_good(replicas).and_then(|replicas| self.step(replicas));
        let open_end = last.is_some();
        steps.extend(last);
        (steps, open_end, true)
    }

    /// From how many replicas on every step is whole, if from any.
    fn whole_for_good(&self, walked: u64) -> Option<u64> {
        let margin = self.margin();
        (margin > Figure::ZERO && self.saved_per_month > Figure::ZERO).then(|| {
            let whole = ((self.fixed + self.replica) / margin).whole_above();
            whole.to_u64().unwrap_or(u64::MAX / 2).saturating_add(1).max(walked)
        })
    }

    fn why_never(&self, scenario: &Scenario) -> Never {
        if scenario.api.cost_per_task() == Figure::ZERO {
            Never::ApiIsFree
        } else if self.saved_per_month <= Figure::ZERO {
            Never::NothingSavedPerTask
        } else {
            Never::ReplicaWorthLessThanItsPrice
        }
    }
}

fn joined(steps: &[Step], open_end: bool) -> Vec<Volumes> {
    let mut ranges = Vec::<Volumes>::new();
    for step in steps {
        match ranges.last_mut() {
            Some(last) if last.to == Some(step.from) => last.to = Some(step.to),
            Some(_) | None => ranges.push(Volumes { from: step.from, to: Some(step.to) }),
        }
    }
    if open_end && let Some(last) = ranges.last_mut() {
        last.to = None;
    }
    ranges
}
