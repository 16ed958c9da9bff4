//! `GET /usage` and `GET /budgets`: what was spent, and what may be.

use serde::{Deserialize, Serialize};

use crate::{
    ask::Mode,
    ids::{KeyId, RequestId},
    money::MicroUsd,
    time::Timestamp,
};

/// A sum of money, exactly and as people write it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Amount {
    /// In millionths of a US dollar.
    pub micro_usd: MicroUsd,
    /// In the currency that the reply names, as decimal text.
    pub shown: String,
}

/// What rows of the ledger add up to. A row that was corrected later does not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct UsageSums {
    /// Charged by what the provider reported.
    pub spent: Amount,
    /// Charged by what was received, because the provider did not report.
    pub estimated: Amount,
    /// Charged by what was received until the caller left.
    pub abandoned: Amount,
    /// Charged in full, because nobody knows.
    pub unknown: Amount,
    /// Not charged, because something was there already: what it would have cost.
    pub avoided: Amount,
    /// The part of the charges that providers billed beyond what was reserved.
    pub debt: Amount,
    /// Model calls that were charged.
    pub paid_calls: u64,
    /// Answers and model calls that a cache gave.
    pub cache_hits: u64,
    /// Answers that the extract gave for nothing while a model was configured.
    pub extract_answers: u64,
    /// Tokens of the prompts.
    pub input_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// Tokens of embeddings.
    pub embedding_tokens: u64,
}

/// One line of usage: what it is about, as far as that was asked for, and its sums.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct UsageEntry {
    /// The day, `2026-03-08`, if lines are by day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// The key, if lines are by key; null for whoever asked while there were no keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub key: Option<Option<KeyId>>,
    /// The model, if lines are by model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The mode, if lines are by mode; null for what was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Mode>)]
    pub mode: Option<Option<Mode>>,
    /// What they add up to.
    #[serde(flatten)]
    pub sums: UsageSums,
}

/// What was spent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct UsageResponse {
    /// The currency of `shown`.
    pub currency: String,
    /// The first day that was asked for.
    pub from: Option<String>,
    /// The last day that was asked for.
    pub to: Option<String>,
    /// The key whose usage this is; null for everyone's.
    #[schema(value_type = Option<String>)]
    pub key: Option<KeyId>,
    /// All lines together.
    pub total: UsageSums,
    /// `cache_hits` as a share of `cache_hits` and `paid_calls`, 0 to 1; null if there were neither.
    pub hit_rate: Option<f64>,
    /// `extract_answers` as a share of `extract_answers`, `cache_hits` and `paid_calls`; null if there were none.
    pub extract_share: Option<f64>,
    /// Reserved at this moment for calls under way, whatever days were asked for.
    pub reserved_now: Amount,
    /// One line for each value of what `by` names.
    pub lines: Vec<UsageEntry>,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}

/// How long a limit lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BudgetPeriod {
    /// For good.
    Once,
    /// A calendar day.
    Day,
    /// A calendar month.
    Month,
}

/// One budget in its present period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BudgetState {
    /// How long it lasts.
    pub period: BudgetPeriod,
    /// The present period: `once`, `day:2026-03-08`, `month:2026-03`.
    pub current: String,
    /// When it ends and the next begins; null if it never does.
    pub ends_at: Option<Timestamp>,
    /// Whether there is a limit. Without one spending is only counted.
    pub limited: bool,
    /// The limit; null if there is none.
    pub limit: Option<Amount>,
    /// Booked within reservations.
    pub settled: Amount,
    /// Reserved and not yet settled.
    pub reserved: Amount,
    /// Billed beyond reservations.
    pub debt: Amount,
    /// What may still be reserved; null if there is no limit.
    pub left: Option<Amount>,
}

/// The budgets of one key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct KeyBudgets {
    /// The key.
    #[schema(value_type = String)]
    pub key: KeyId,
    /// What people call it.
    pub name: String,
    /// Whether it opens the door now; not if it was revoked or has expired.
    pub valid: bool,
    /// Whether the budgets are its own, and not those of every key without any.
    pub own: bool,
    /// Its budgets. Its spending is counted by day also where nothing limits it.
    pub budgets: Vec<BudgetState>,
}

/// Every budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BudgetsResponse {
    /// The currency of `shown`.
    pub currency: String,
    /// The most that one request may spend; null if nothing limits it.
    pub request_limit: Option<Amount>,
    /// What everyone together may spend, counted by day also where nothing limits it.
    pub service: Vec<BudgetState>,
    /// Every key's, the oldest key first.
    pub keys: Vec<KeyBudgets>,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}
