//! What is drawn: two costs over the volume, and where the axes have their marks.

use serde::{Deserialize, Serialize};

use crate::{figure::Figure, scenario::Scenario};

/// Steps that can be told apart in a drawing.
const MAX_STEPS: u64 = 48;
/// Marks of an axis.
const MAX_TICKS: u64 = 6;

/// Hosting between two volumes, as a straight line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Stair {
    /// Replicas that run at its end.
    pub replicas: Figure,
    /// The first volume.
    pub from: Figure,
    /// The last.
    pub to: Figure,
    /// What hosting costs a month at the first volume.
    pub cost_from: Figure,
    /// What it costs at the last.
    pub cost_to: Figure,
}

/// Two costs over the volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Chart {
    /// The last volume that is drawn.
    pub volume_end: Figure,
    /// The highest cost that is drawn.
    pub cost_end: Figure,
    /// What the API costs a month at no volume.
    pub api_from: Figure,
    /// What it costs at the last.
    pub api_to: Figure,
    /// Hosting.
    pub stairs: Vec<Stair>,
    /// Marks of the volume.
    pub volume_ticks: Vec<Figure>,
    /// Marks of the cost.
    pub cost_ticks: Vec<Figure>,
}

impl Chart {
    pub(crate) fn of(scenario: &Scenario, first: Option<Figure>) -> Self {
        let hosting = &scenario.self_hosted;
        let margin = Figure::new(14, 1);
        let least = hosting.capacity(hosting.minimum_replicas.to_u64().unwrap_or(1));
        let own = scenario.tasks_per_day;
        // A break-even far away would press everything else against the axis.
        let far = own * Figure::from(400);
        let seen = first.filter(|first| *first <= far).unwrap_or(least.min(far)).max(own);
        let volume_end = (seen * margin).rounded(0).max(Figure::ONE);
        let (api_from, api_to) = (scenario.api_per_month(Figure::ZERO), scenario.api_per_month(volume_end));
        let stairs = stairs(scenario, volume_end);
        let highest = stairs.iter().flat_map(|stair| [stair.cost_from, stair.cost_to]).fold(api_to, Figure::max);
        let cost_end = (highest * Figure::new(108, 2)).rounded(2).max(Figure::new(1, 2));
        Self {
            volume_ticks: ticks(volume_end),
            cost_ticks: ticks(cost_end),
            volume_end,
            cost_end,
            api_from: api_from.rounded(2),
            api_to: api_to.rounded(2),
            stairs,
        }
    }
}

/// The staircase up to a volume; where there are too many steps, several are drawn as one.
fn stairs(scenario: &Scenario, volume_end: Figure) -> Vec<Stair> {
    let hosting = &scenario.self_hosted;
    let last = hosting.replicas(volume_end).to_u64().unwrap_or(u64::MAX);
    let least = hosting.minimum_replicas.to_u64().unwrap_or(1);
    let stride = (last.saturating_sub(least) / MAX_STEPS).max(1);
    let cost = |replicas: u64, volume: Figure| {
        let variable =
            scenario.self_hosted_per_month(volume) - hosting.replicas(volume) * hosting.replica_cost_per_month();
        (Figure::from(replicas) * hosting.replica_cost_per_month() + variable).rounded(2)
    };
    let mut stairs = Vec::new();
    let (mut replicas, mut from) = (least, Figure::ZERO);
    while from < volume_end && stairs.len() <= 2 * MAX_STEPS as usize {
        let to = hosting.capacity(replicas).min(volume_end);
        stairs.push(Stair {
            replicas: Figure::from(replicas),
            from: from.rounded(2),
            to: to.rounded(2),
            cost_from: cost(replicas, from),
            cost_to: cost(replicas, to),
        });
        from = to;
        replicas = replicas.saturating_add(stride);
    }
    stairs
}

/// Round numbers from 0 up to `end`.
fn ticks(end: Figure) -> Vec<Figure> {
    let most = Figure::from(MAX_TICKS);
    let mut tens = Figure::new(1, 3);
    let step = loop {
        let fits = [1, 2, 5].map(|digit| tens * Figure::from(digit)).into_iter().find(|step| end / *step <= most);
        match fits {
            Some(step) => break step,
            None if tens.is_beyond_reach() => break tens,
            None => tens = tens * Figure::from(10),
        }
    };
    (0..=MAX_TICKS).map(|mark| step * Figure::from(mark)).filter(|mark| *mark <= end).collect()
}
