//! Everything there is to say about two options, rounded to what is shown: tables, pages and programs see the same figures.

use bylaw_contract::Language;
use serde::{Deserialize, Serialize};

use crate::{
    break_even::{BreakEven, Step, Volumes, break_even},
    chart::Chart,
    check::{Assumption, Checked, InvalidCost, check},
    explain,
    figure::Figure,
    input::CostInput,
    measured::Measured,
    outlook::{
        Horizon, cost_per_success, expected_cost, horizons, months_to_reach, next_break_even, payback_months, per_task,
        upfront,
    },
    scenario::Scenario,
    sensitivity::{Sensitivity, Uncertainty, sensitivity, uncertainty},
    words::say,
};

/// Decimals of amounts of money and of volumes.
const AMOUNT: u32 = 2;
/// Decimals of what one task costs or takes.
const TASK: u32 = 6;
/// Decimals of shares.
const SHARE: u32 = 4;

/// What the API costs at your volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ApiCost {
    /// What it is called.
    pub name: String,
    /// A task.
    pub cost_per_task: Figure,
    /// A month.
    pub cost_per_month: Figure,
}

/// What hosting costs at your volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SelfHostedCost {
    /// What it is called.
    pub name: String,
    /// Seconds of a replica that a task takes.
    pub gpu_seconds_per_task: Figure,
    /// Tasks a day that one replica bears.
    pub capacity_per_replica: Figure,
    /// What a replica costs a month.
    pub cost_per_replica: Figure,
    /// What hosting costs a month whatever the volume.
    pub fixed_per_month: Figure,
    /// Replicas that your volume needs.
    pub replicas: Figure,
    /// The part of the time that they are busy, on average.
    pub utilisation: Figure,
    /// What they cost a month.
    pub gpus_per_month: Figure,
    /// The part of that in which they wait.
    pub idle_per_month: Figure,
    /// A task.
    pub cost_per_task: Figure,
    /// A month.
    pub cost_per_month: Figure,
}

/// What being right is worth, for one option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct OptionQuality {
    /// The share of tasks that it gets right.
    pub success_rate: Figure,
    /// What a task is expected to cost, failures included.
    pub expected_cost_per_task: Figure,
    /// What a task that succeeds costs.
    pub cost_per_success: Figure,
}

/// What being right is worth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Quality {
    /// What a task that fails costs otherwise.
    pub failure_cost: Figure,
    /// The API.
    pub api: OptionQuality,
    /// The other option.
    pub self_hosted: OptionQuality,
}

/// What comes later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Outlook {
    /// How much the volume grows in a month.
    pub growth_per_month: Figure,
    /// Months until it reaches a volume at which hosting pays; 0 if it does now, null if it never will.
    pub months_to_break_even: Option<f64>,
    /// What is paid before the first task.
    pub upfront: Figure,
    /// Months until the savings at your present volume have paid that; null if nothing is saved.
    pub payback_months: Option<f64>,
    /// What it is worth after a year, two and three.
    pub horizons: Vec<Horizon>,
}

/// Two options compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CostReport {
    /// The currency of every amount.
    pub currency: String,
    /// The day of the prices.
    pub price_date: Option<String>,
    /// Your volume.
    pub tasks_per_day: Figure,
    /// The API at it.
    pub api: ApiCost,
    /// The other option at it.
    pub self_hosted: SelfHostedCost,
    /// What hosting saves a month; negative if it costs more.
    pub saving_per_month: Figure,
    /// Where hosting pays.
    pub break_even: BreakEven,
    /// What being right is worth, if it is known how often each option is.
    pub quality: Option<Quality>,
    /// What comes later.
    pub outlook: Outlook,
    /// What is saved if one figure is a quarter off; what matters most first.
    pub sensitivity: Vec<Sensitivity>,
    /// How sure it is.
    pub uncertainty: Uncertainty,
    /// What was measured, if it was.
    pub measured: Option<Measured>,
    /// The same in three sentences.
    pub explanation: Vec<String>,
    /// Everything that was assumed because nobody said it.
    pub assumptions: Vec<Assumption>,
    /// The figures that all this was computed from.
    pub inputs: Scenario,
    /// What is drawn.
    pub chart: Chart,
}

/// Compares two options. What was measured is used for whoever asked for it.
///
/// # Errors
/// Everything that is missing or out of range, field by field.
pub fn compare(input: CostInput, measured: Option<Measured>) -> Result<CostReport, InvalidCost> {
    let asked = input.from_ledger.is_some();
    let language = input.language.unwrap_or(Language::English);
    let volume_was_given = input.tasks_per_day.is_some();
    let checked = match &measured {
        Some(measured) => {
            let mut checked = check(&input.with_measured(measured))?;
            let how = measured.statistic.as_str();
            let Measured { calls, tasks, days, .. } = measured;
            let (of, why) = match language.is_chinese() {
                true => (format!("帳冊的 {how}"), format!("實測：{days} 天內 {tasks} 件、{calls} 次呼叫")),
                false => {
                    (format!("{how} of the ledger"), format!("measured: {calls} calls of {tasks} tasks in {days} days"))
                }
            };
            checked.assume("api.profile", of, why);
            if !volume_was_given {
                let volume = measured.tasks_per_day.to_string();
                let why = ("measured: tasks that reached the model, a day", "實測：每日實際呼叫模型的件數");
                checked.assume("tasks_per_day", volume, say(language, why));
            }
            checked
        }
        None if asked => return Err(InvalidCost::one("from_ledger", "there is no ledger here to measure")),
        None => check(&input)?,
    };
    let report = build(checked, measured, language);
    refuse_what_is_beyond_reach(&report)?;
    Ok(report)
}

fn build(checked: Checked, measured: Option<Measured>, language: Language) -> CostReport {
    let scenario = checked.scenario;
    let Scenario { tasks_per_day, api, self_hosted: hosting } = scenario;
    let replicas = hosting.replicas(tasks_per_day);
    let utilisation = hosting.utilisation(tasks_per_day);
    let gpus_per_month = replicas * hosting.replica_cost_per_month();
    let hosting_per_month = scenario.self_hosted_per_month(tasks_per_day);
    let exact = break_even(&scenario);
    let growth_per_month = checked.growth_per_month.unwrap_or(Figure::ZERO);
    let next = next_break_even(&exact, tasks_per_day);
    let upfront = upfront(&scenario);
    let saving_in_cash = crate::outlook::cash_saving(&scenario, tasks_per_day);
    let quality = checked.success.map(|success| {
        let one = |cost: Figure, success_rate| OptionQuality {
            success_rate,
            expected_cost_per_task: expected_cost(cost, success_rate, success.failure_cost).rounded(TASK),
            cost_per_success: cost_per_success(cost, success_rate, success.failure_cost).rounded(TASK),
        };
        Quality {
            failure_cost: success.failure_cost,
            api: one(per_task(scenario.api_per_month(tasks_per_day), tasks_per_day), success.api),
            self_hosted: one(per_task(hosting_per_month, tasks_per_day), success.self_hosted),
        }
    });
    let mut report = CostReport {
        currency: checked.currency,
        price_date: checked.price_date,
        tasks_per_day,
        api: ApiCost {
            name: checked.api_name,
            cost_per_task: api.cost_per_task().rounded(TASK),
            cost_per_month: scenario.api_per_month(tasks_per_day).rounded(AMOUNT),
        },
        self_hosted: SelfHostedCost {
            name: checked.self_hosted_name,
            gpu_seconds_per_task: hosting.gpu_seconds_per_task().rounded(TASK),
            capacity_per_replica: hosting.capacity(1).rounded(AMOUNT),
            cost_per_replica: hosting.replica_cost_per_month().rounded(AMOUNT),
            fixed_per_month: hosting.fixed_per_month().rounded(AMOUNT),
            replicas,
            utilisation: utilisation.rounded(SHARE),
            gpus_per_month: gpus_per_month.rounded(AMOUNT),
            idle_per_month: ((Figure::ONE - utilisation) * gpus_per_month).rounded(AMOUNT),
            cost_per_task: per_task(hosting_per_month, tasks_per_day).rounded(TASK),
            cost_per_month: hosting_per_month.rounded(AMOUNT),
        },
        saving_per_month: scenario.saving_per_month().rounded(AMOUNT),
        chart: Chart::of(&scenario, exact.first_tasks_per_day),
        break_even: shown(exact),
        quality,
        outlook: Outlook {
            growth_per_month,
            months_to_break_even: next
                .and_then(|next| months_to_reach(tasks_per_day, next, growth_per_month))
                .map(two_places),
            upfront: upfront.rounded(AMOUNT),
            payback_months: payback_months(upfront, saving_in_cash).map(two_places),
            horizons: horizons(&scenario, growth_per_month, checked.discount_rate_per_year)
                .into_iter()
                .map(|Horizon { months, net_present_value }| Horizon {
                    months,
                    net_present_value: net_present_value.rounded(AMOUNT),
                })
                .collect(),
        },
        sensitivity: sensitivity(&scenario)
            .into_iter()
            .map(|one| Sensitivity {
                saving_at_low: one.saving_at_low.rounded(AMOUNT),
                saving_at_high: one.saving_at_high.rounded(AMOUNT),
                ..one
            })
            .collect(),
        uncertainty: {
            let exact = uncertainty(&scenario, checked.seed);
            Uncertainty {
                saving_p5: exact.saving_p5.rounded(AMOUNT),
                saving_p50: exact.saving_p50.rounded(AMOUNT),
                saving_p95: exact.saving_p95.rounded(AMOUNT),
                ..exact
            }
        },
        measured,
        explanation: Vec::new(),
        assumptions: checked.assumptions,
        inputs: scenario,
    };
    report.explanation = explain::sentences(&report, language);
    report
}

fn two_places(months: f64) -> f64 {
    (months * 100.0).round() / 100.0
}

fn shown(exact: BreakEven) -> BreakEven {
    let amount = |figure: Figure| figure.rounded(AMOUNT);
    let volumes = |Volumes { from, to }: Volumes| Volumes { from: amount(from), to: to.map(amount) };
    BreakEven {
        first_tasks_per_day: exact.first_tasks_per_day.map(amount),
        naive_tasks_per_day: exact.naive_tasks_per_day.map(amount),
        steps: exact
            .steps
            .into_iter()
            .map(|Step { replicas, from, to }| Step { replicas, from: amount(from), to: amount(to) })
            .collect(),
        ranges: exact.ranges.into_iter().map(volumes).collect(),
        gaps: exact.gaps.into_iter().map(volumes).collect(),
        replica_worth_per_day: exact.replica_worth_per_day.rounded(TASK),
        replica_price_per_day: exact.replica_price_per_day.rounded(TASK),
        ..exact
    }
}

/// Arithmetic stops at a bound; a figure that did is not shown as if it were one.
fn refuse_what_is_beyond_reach(report: &CostReport) -> Result<(), InvalidCost> {
    let CostReport { api, self_hosted, break_even, outlook, sensitivity, uncertainty, .. } = report;
    let months = outlook.horizons.iter().map(|horizon| horizon.net_present_value);
    let moved = sensitivity.iter().flat_map(|one| [one.saving_at_low, one.saving_at_high]);
    let drawn = [uncertainty.saving_p5, uncertainty.saving_p95];
    let mut costs =
        [api.cost_per_month, self_hosted.cost_per_month].into_iter().chain(months).chain(moved).chain(drawn);
    if costs.any(Figure::is_beyond_reach) {
        let message = "is so large that costs with these prices are beyond 10^18; write less, or lower prices";
        return Err(InvalidCost::one("tasks_per_day", message));
    }
    if self_hosted.capacity_per_replica.is_beyond_reach() {
        let message = "and completion_tokens are so few that a replica has no limit; write those of a mean call";
        return Err(InvalidCost::one("self_hosted.profile.prompt_tokens", message));
    }
    let volumes = [break_even.naive_tasks_per_day, break_even.first_tasks_per_day];
    if volumes.into_iter().flatten().any(Figure::is_beyond_reach) {
        let message = "is so low that the break-even is beyond 10^18 tasks a day; write 0 if it is free";
        return Err(InvalidCost::one("api.input_price", message));
    }
    Ok(())
}
