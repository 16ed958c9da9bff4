//! Two options whose every figure is known and in range, and the formulas over them.

use serde::{Deserialize, Serialize};

use crate::figure::Figure;

/// Days of a month: a twelfth of 365.25.
pub const DAYS_PER_MONTH: Figure = Figure::new(304_375, 4);

const MILLION: Figure = Figure::new(1_000_000, 0);
const SECONDS_PER_HOUR: Figure = Figure::new(3_600, 0);

/// What one task asks of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Profile {
    /// Tokens of the prompt of a call, cached ones included.
    pub prompt_tokens: Figure,
    /// The part of the prompt that comes from a prefix cache.
    pub cached_tokens: Figure,
    /// Tokens that the model writes in a call.
    pub completion_tokens: Figure,
    /// Calls of a task.
    pub calls_per_task: Figure,
    /// Attempts beyond the first, for each call.
    pub retry_rate: Figure,
}

impl Profile {
    fn attempts(&self) -> Figure {
        self.calls_per_task * (Figure::ONE + self.retry_rate)
    }

    fn computed_tokens(&self) -> Figure {
        self.prompt_tokens - self.cached_tokens
    }
}

/// The API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Api {
    /// Price of a million tokens of the prompt.
    pub input_price: Figure,
    /// Price of a million cached tokens of the prompt.
    pub cached_input_price: Figure,
    /// Price of a million written tokens.
    pub output_price: Figure,
    /// The part of the token prices that is taken off.
    pub batch_discount: Figure,
    /// What a task costs beside its tokens.
    pub extras_per_task: Figure,
    /// What it costs a month beside tasks.
    pub fixed_per_month: Figure,
    /// What a task asks of it.
    pub profile: Profile,
}

impl Api {
    /// What a task costs.
    #[must_use]
    pub fn cost_per_task(&self) -> Figure {
        let Self { profile, .. } = self;
        let call = profile.computed_tokens() * self.input_price
            + profile.cached_tokens * self.cached_input_price
            + profile.completion_tokens * self.output_price;
        profile.attempts() * call / MILLION * (Figure::ONE - self.batch_discount) + self.extras_per_task
    }
}

/// A model that is hosted by oneself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SelfHosted {
    /// GPUs of a replica.
    pub gpus_per_replica: Figure,
    /// Price of a GPU for an hour.
    pub gpu_price_per_hour: Figure,
    /// Hours of a day in which it runs.
    pub hours_per_day: Figure,
    /// Days of a month in which it runs.
    pub days_per_month: Figure,
    /// Tokens of prompts that a replica reads in a second.
    pub prefill_tokens_per_second: Figure,
    /// Tokens that a replica writes in a second.
    pub decode_tokens_per_second: Figure,
    /// How busy a replica may be at the peak.
    pub target_utilisation: Figure,
    /// Peak over mean.
    pub peak_factor: Figure,
    /// Replicas that always run.
    pub minimum_replicas: Figure,
    /// People, a month.
    pub labour_per_month: Figure,
    /// One retraining.
    pub retraining_cost: Figure,
    /// Retrainings a month.
    pub retrainings_per_month: Figure,
    /// Storage, network and monitoring, a month.
    pub storage_and_network_per_month: Figure,
    /// What a task costs beside the GPUs.
    pub variable_cost_per_task: Figure,
    /// Bought hardware of one replica.
    pub purchase_price_per_replica: Figure,
    /// Months after which it is worth nothing.
    pub amortisation_months: Figure,
    /// What must be paid once, beside hardware.
    pub upfront_cost: Figure,
    /// What a task asks of it.
    pub profile: Profile,
}

impl SelfHosted {
    /// Seconds of a replica that a task takes.
    #[must_use]
    pub fn gpu_seconds_per_task(&self) -> Figure {
        let Self { profile, .. } = self;
        profile.attempts()
            * (profile.computed_tokens() / self.prefill_tokens_per_second
                + profile.completion_tokens / self.decode_tokens_per_second)
    }

    fn hours_per_month(&self) -> Figure {
        self.hours_per_day * self.days_per_month
    }

    /// Seconds in which a replica runs, for each day of the month.
    fn seconds_per_day(&self) -> Figure {
        SECONDS_PER_HOUR * self.hours_per_month() / DAYS_PER_MONTH
    }

    /// Tasks a day that `replicas` of them bear: the peak must fit, and only the hours in which they run count.
    #[must_use]
    pub fn capacity(&self, replicas: u64) -> Figure {
        Figure::from(replicas) * self.target_utilisation * self.seconds_per_day()
            / (self.peak_factor * self.gpu_seconds_per_task())
    }

    /// Replicas that a volume needs.
    #[must_use]
    pub fn replicas(&self, tasks_per_day: Figure) -> Figure {
        let needed = tasks_per_day * self.peak_factor * self.gpu_seconds_per_task()
            / (self.seconds_per_day() * self.target_utilisation);
        needed.whole_above().max(self.minimum_replicas)
    }

    /// What is paid for the GPUs of one replica in a month, as rent or electricity.
    #[must_use]
    pub fn replica_bill_per_month(&self) -> Figure {
        self.gpus_per_replica * self.gpu_price_per_hour * self.hours_per_month()
    }

    /// What bought hardware of one replica loses in a month.
    #[must_use]
    pub fn amortisation_per_replica(&self) -> Figure {
        self.purchase_price_per_replica / self.amortisation_months
    }

    /// What one replica costs a month, bought hardware included.
    #[must_use]
    pub fn replica_cost_per_month(&self) -> Figure {
        self.replica_bill_per_month() + self.amortisation_per_replica()
    }

    /// What hosting costs a month whatever the volume: labour, retraining, storage and network.
    #[must_use]
    pub fn fixed_per_month(&self) -> Figure {
        self.labour_per_month + self.retraining_cost * self.retrainings_per_month + self.storage_and_network_per_month
    }

    /// The part of the time that the replicas for this volume are busy, on average.
    #[must_use]
    pub fn utilisation(&self, tasks_per_day: Figure) -> Figure {
        tasks_per_day * self.gpu_seconds_per_task() / (self.seconds_per_day() * self.replicas(tasks_per_day))
    }
}

/// Two options at a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Scenario {
    /// Tasks a day.
    pub tasks_per_day: Figure,
    /// The API.
    pub api: Api,
    /// The other option.
    pub self_hosted: SelfHosted,
}

impl Scenario {
    /// What the API costs a month at a volume.
    #[must_use]
    pub fn api_per_month(&self, tasks_per_day: Figure) -> Figure {
        self.api.cost_per_task() * tasks_per_day * DAYS_PER_MONTH + self.api.fixed_per_month
    }

    /// What hosting costs a month at a volume.
    #[must_use]
    pub fn self_hosted_per_month(&self, tasks_per_day: Figure) -> Figure {
        let hosting = &self.self_hosted;
        hosting.replicas(tasks_per_day) * hosting.replica_cost_per_month()
            + hosting.fixed_per_month()
            + hosting.variable_cost_per_task * tasks_per_day * DAYS_PER_MONTH
    }

    /// What hosting saves a month at the scenario's own volume; negative if it costs more.
    #[must_use]
    pub fn saving_per_month(&self) -> Figure {
        self.api_per_month(self.tasks_per_day) - self.self_hosted_per_month(self.tasks_per_day)
    }
}
