//! What a person, a file or a request says about the two options. Everything may be left out here; [`check`](crate::check)
//! says what is missing.

use bylaw_contract::Language;
use serde::{Deserialize, Serialize};

use crate::figure::Figure;

/// Two options: an API, and hosting a model oneself. Prices are in one currency, whichever it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CostInput {
    /// The currency of every price, as three letters; USD without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The day on which the prices were right: `2026-11-01`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_date: Option<String>,
    /// Your own volume, in tasks a day: questions, or runs of an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks_per_day: Option<Figure>,
    /// How much the volume grows from month to month: 0.1 is a tenth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth_per_month: Option<Figure>,
    /// What money costs a year: 0.05 is five per cent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discount_rate_per_year: Option<Figure>,
    /// What a task that fails costs you otherwise: somebody's time, for example.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_cost: Option<Figure>,
    /// Decides the draws of the uncertainty; 1 without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u32>,
    /// The language of the explanation; English without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// Measure the profiles, and the volume if it is not given, from what was really asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_ledger: Option<FromLedger>,
    /// The API.
    pub api: ApiInput,
    /// Hosting it yourself.
    pub self_hosted: SelfHostedInput,
}

/// What of the ledger is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FromLedger {
    /// The last so many days, today included: 1 to 366.
    pub days: u32,
    /// The model whose calls are measured.
    pub model: String,
    /// Which figure of the measured ones is used; `mean` without it, since a bill is made of means.
    #[serde(default)]
    pub statistic: Statistic,
}

/// One figure for many that were measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The mean.
    #[default]
    Mean,
    /// The median.
    P50,
    /// What all but a twentieth stay within.
    P95,
}

impl Statistic {
    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P95 => "p95",
        }
    }
}

/// What one task asks of the model: means, of all calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileInput {
    /// Tokens of the prompt of a call, cached ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<Figure>,
    /// The part of the prompt that comes from the prefix cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<Figure>,
    /// Tokens that the model writes in a call, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<Figure>,
    /// Calls that a task takes: 1 for a question, 4 or so for an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_per_task: Option<Figure>,
    /// Attempts beyond the first, for each call: 0.02 is two in a hundred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_rate: Option<Figure>,
}

/// An API that bills by the token.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ApiInput {
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The currency of this section; it must be the common one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Price of a million tokens of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_price: Option<Figure>,
    /// Price of a million tokens of the prompt that its cache holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_input_price: Option<Figure>,
    /// Price of a million tokens that it writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_price: Option<Figure>,
    /// The part of the token prices that is taken off, for batches: 0.5 is half price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_discount: Option<Figure>,
    /// What a task costs beside its tokens: searches, writing to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extras_per_task: Option<Figure>,
    /// What it costs a month beside tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed_per_month: Option<Figure>,
    /// The share of tasks that it gets right, from an evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_rate: Option<Figure>,
    /// What a task asks of it.
    pub profile: ProfileInput,
}

/// A model on GPUs of one's own, rented or bought.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SelfHostedInput {
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The currency of this section; it must be the common one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// GPUs that one copy of the model takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus_per_replica: Option<Figure>,
    /// What one GPU costs for an hour: the rent, or the electricity of one that is bought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_price_per_hour: Option<Figure>,
    /// Hours of a day in which it runs, is paid for, and can answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hours_per_day: Option<Figure>,
    /// Days of a month in which it does; a month has 30.4375.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days_per_month: Option<Figure>,
    /// Tokens of prompts that a replica reads in a second, under load and within the response time that you promise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefill_tokens_per_second: Option<Figure>,
    /// Tokens that a replica writes in a second, of all callers together, under the same load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decode_tokens_per_second: Option<Figure>,
    /// How busy a replica may be at the peak: above 0, at most 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_utilisation: Option<Figure>,
    /// How much more comes at the peak than on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_factor: Option<Figure>,
    /// Replicas that always run: two, if one may fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_replicas: Option<Figure>,
    /// People who keep it running, a month: hours times what they cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labour_per_month: Option<Figure>,
    /// What one retraining costs, with its data, its evaluation and its GPU hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retraining_cost: Option<Figure>,
    /// How many of them there are in a month: 0.5 is one every two months.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retrainings_per_month: Option<Figure>,
    /// Storage, network and monitoring, a month.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_and_network_per_month: Option<Figure>,
    /// What a task costs beside the GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable_cost_per_task: Option<Figure>,
    /// What the hardware of one replica costs, if it is bought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purchase_price_per_replica: Option<Figure>,
    /// Months after which bought hardware is worth nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amortisation_months: Option<Figure>,
    /// What must be paid once, beside hardware: setting up, the first training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upfront_cost: Option<Figure>,
    /// The share of tasks that it gets right, from an evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_rate: Option<Figure>,
    /// What a task asks of it; what is not said here is as for the API.
    pub profile: ProfileInput,
}
