//! What comes later: quality, growth, payback, and the value of it all today.

use serde::{Deserialize, Serialize};

use crate::{
    break_even::BreakEven,
    figure::Figure,
    scenario::{DAYS_PER_MONTH, Scenario},
};

/// Horizons, in months.
const HORIZONS: [u32; 3] = [12, 24, 36];

/// What a task is expected to cost when failing costs too: `cost + (1 − success_rate) × failure_cost`.
#[must_use]
pub fn expected_cost(cost_per_task: Figure, success_rate: Figure, failure_cost: Figure) -> Figure {
    cost_per_task + (Figure::ONE - success_rate) * failure_cost
}

/// What a task that succeeds costs: the expected cost, shared by those that do.
#[must_use]
pub fn cost_per_success(cost_per_task: Figure, success_rate: Figure, failure_cost: Figure) -> Figure {
    expected_cost(cost_per_task, success_rate, failure_cost) / success_rate
}

/// Months until a volume that grows by `growth` a month has grown from `now` to `to`; `None` if it never does.
#[must_use]
pub fn months_to_reach(now: Figure, to: Figure, growth: Figure) -> Option<f64> {
    if now >= to {
        return Some(0.0);
    }
    let months = (to.to_f64() / now.to_f64()).ln() / growth.to_f64().ln_1p();
    (growth > Figure::ZERO && months.is_finite()).then_some(months)
}

/// Months until what is saved has paid what was paid at first; `None` if nothing is saved.
#[must_use]
pub fn payback_months(upfront: Figure, saving_per_month: Figure) -> Option<f64> {
    (saving_per_month > Figure::ZERO).then(|| upfront.to_f64() / saving_per_month.to_f64())
}

/// The first volume from `now` on at which hosting pays.
pub(crate) fn next_break_even(break_even: &BreakEven, now: Figure) -> Option<Figure> {
    let reaches = |to: Option<Figure>| to.is_none_or(|to| now <= to);
    break_even.ranges.iter().find(|range| reaches(range.to)).map(|range| range.from.max(now))
}

/// What hosting is worth over some months.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Horizon {
    /// Months.
    pub months: u32,
    /// What is saved until then, less what was paid at first, in money of today. Bought hardware counts when it is bought.
    pub net_present_value: Figure,
}

/// What is saved in a month if hardware is paid for when it is bought.
pub(crate) fn cash_saving(scenario: &Scenario, tasks_per_day: Figure) -> Figure {
    let hosting = &scenario.self_hosted;
    let written_off = hosting.replicas(tasks_per_day) * hosting.amortisation_per_replica();
    scenario.api_per_month(tasks_per_day) - scenario.self_hosted_per_month(tasks_per_day) + written_off
}

/// What must be paid before the first task, with hardware for the present volume.
pub(crate) fn upfront(scenario: &Scenario) -> Figure {
    let hosting = &scenario.self_hosted;
    hosting.upfront_cost + hosting.replicas(scenario.tasks_per_day) * hosting.purchase_price_per_replica
}

/// The value of hosting at each horizon. The volume grows by `growth` from one month to the next; replicas that are needed
/// later are bought later.
pub(crate) fn horizons(scenario: &Scenario, growth: Figure, discount_rate_per_year: Figure) -> Vec<Horizon> {
    let hosting = &scenario.self_hosted;
    let kept = Figure::ONE / (Figure::ONE + discount_rate_per_year / Figure::from(12));
    let mut volume = scenario.tasks_per_day;
    let mut replicas = hosting.replicas(volume);
    let mut worth = Figure::ONE;
    let mut value = -upfront(scenario);
    let mut horizons = Vec::new();
    for month in 1..=HORIZONS[HORIZONS.len() - 1] {
        worth = (worth * kept).rounded(18);
        let needed = hosting.replicas(volume);
        if needed > replicas {
            value = value - (needed - replicas) * hosting.purchase_price_per_replica * worth;
            replicas = needed;
        }
        value = value + cash_saving(scenario, volume) * worth;
        volume = (volume * (Figure::ONE + growth)).rounded(6);
        if HORIZONS.contains(&month) {
            horizons.push(Horizon { months: month, net_present_value: value });
        }
    }
    horizons
}

/// What a task costs if this is paid for a month of them.
pub(crate) fn per_task(per_month: Figure, tasks_per_day: Figure) -> Figure {
    per_month / (tasks_per_day * DAYS_PER_MONTH)
}
