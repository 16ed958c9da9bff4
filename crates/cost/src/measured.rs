//! A profile measured from what was really asked. The rows come as values: whoever reads a ledger hands them over.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

use bylaw_contract::TokenUsage;
use serde::{Deserialize, Serialize};

use crate::{
    check::InvalidCost,
    figure::Figure,
    input::{CostInput, FromLedger, ProfileInput, Statistic},
};

/// Calls that are measured at most: their tallies are kept in memory.
const MAX_CALLS: u64 = 1_000_000;
/// Days that are looked back at most.
const MAX_DAYS: u32 = 366;

/// How an attempt ended, as far as its tokens are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The provider said what it used.
    Reported(TokenUsage),
    /// The caller left; what was received is known.
    Abandoned(TokenUsage),
    /// The provider did not say; what was received is known.
    Estimated(TokenUsage),
    /// Nobody knows.
    Unknown,
    /// It turned out never to have been sent: there was no such attempt.
    NotSent,
}

/// One attempt on the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<'a> {
    /// The place of its row.
    pub number: u64,
    /// The place of the row that it replaces, which no longer counts.
    pub corrects: Option<u64>,
    /// The task: rows that share a request id.
    pub task: &'a str,
    /// The run.
    pub run: Option<&'a str>,
    /// What the call was for.
    pub purpose: &'a str,
    /// How many days ago, counted from the end of the time that is measured: 0 is its last day.
    pub days_ago: u32,
    /// How it ended.
    pub attempt: Attempt,
}

/// Collects calls, in the order of their rows.
#[derive(Debug, Default)]
pub struct Measurement {
    tallied: Tallies,
    /// Attempts that a later row may correct.
    open: BTreeMap<u64, Kept>,
    free: HashSet<u64>,
    cached: HashSet<u64>,
    seen: u64,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    task: u64,
    call: u64,
    days_ago: u32,
    attempt: Attempt,
}

#[derive(Debug, Default)]
struct Tallies {
    prompt: BTreeMap<u64, u64>,
    cached: BTreeMap<u64, u64>,
    completion: BTreeMap<u64, u64>,
    /// By call: its task, attempts, and those of them that the provider did not report.
    calls: HashMap<u64, (u64, u64, u64)>,
    days: u32,
}

impl Tallies {
    fn add(&mut self, kept: &Kept) {
        let Kept { task, call, days_ago, attempt } = *kept;
        let (usage, failed) = match attempt {
            Attempt::Reported(usage) | Attempt::Abandoned(usage) => (Some(usage), 0),
            Attempt::Estimated(usage) => (Some(usage), 1),
            Attempt::Unknown => (None, 1),
            Attempt::NotSent => return,
        };
        if let Some(usage) = usage {
            *self.prompt.entry(usage.input_tokens).or_default() += 1;
            *self.cached.entry(usage.cached_input_tokens.min(usage.input_tokens)).or_default() += 1;
            *self.completion.entry(usage.output_tokens).or_default() += 1;
        }
        let (_, attempts, unreported) = self.calls.entry(call).or_insert((task, 0, 0));
        *attempts += 1;
        *unreported += failed;
        self.days = self.days.max(days_ago.saturating_add(1));
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Measurement {
    /// Takes an attempt in.
    ///
    /// # Errors
    /// If there are more than a million.
    pub fn call(&mut self, call: Call<'_>) -> Result<(), InvalidCost> {
        self.seen += 1;
        if self.seen > MAX_CALLS {
            let message = format!("there are more than {} calls; write fewer days", Figure::from(MAX_CALLS).grouped(0));
            return Err(InvalidCost::one("from_ledger.days", message));
        }
        if let Some(corrected) = call.corrects {
            self.open.remove(&corrected);
        }
        let kept = Kept {
            task: hash(call.task),
            call: hash((call.task, call.run, call.purpose)),
            days_ago: call.days_ago,
            attempt: call.attempt,
        };
        match call.attempt {
            Attempt::NotSent => {}
            Attempt::Reported(_) => self.tallied.add(&kept),
            Attempt::Abandoned(_) | Attempt::Estimated(_) | Attempt::Unknown => {
                self.open.insert(call.number, kept);
            }
        }
        Ok(())
    }

    /// A task that the extract answered free.
    pub fn answered_free(&mut self, task: &str) {
        self.free.insert(hash(task));
    }

    /// A task, or a call of it, that a cache answered.
    pub fn cached(&mut self, task: &str) {
        self.cached.insert(hash(task));
    }

    /// What it comes to; `None` if no call was taken in whose tokens are known.
    #[must_use]
    pub fn finish(mut self, wanted: &FromLedger) -> Option<Measured> {
        for kept in self.open.values() {
            self.tallied.add(kept);
        }
        let Tallies { prompt, cached, completion, calls, days } = self.tallied;
        let mut tasks = HashMap::<u64, u64>::new();
        let (mut made, mut retries) = (0, 0);
        for (task, attempts, unreported) in calls.values() {
            // A call is made again after an attempt that failed, so the last of them is no reason for another.
            let again = (*unreported).min(attempts - 1);
            retries += again;
            made += attempts - again;
            *tasks.entry(*task).or_default() += attempts - again;
        }
        let mut calls_per_task = BTreeMap::<u64, u64>::new();
        for calls in tasks.values() {
            *calls_per_task.entry(*calls).or_default() += 1;
        }
        let asked: HashSet<u64> = tasks.keys().chain(&self.free).chain(&self.cached).copied().collect();
        let paid_tasks = u64::try_from(tasks.len()).unwrap_or(u64::MAX);
        let share = |part: usize| {
            let all = asked.len();
            (Figure::from(part as u64) / Figure::from(all as u64)).rounded(4)
        };
        Some(Measured {
            model: wanted.model.clone(),
            days,
            tasks: paid_tasks,
            calls: made,
            retries,
            tasks_per_day: (Figure::from(paid_tasks) / Figure::from(u64::from(days.max(1)))).rounded(4),
            prompt_tokens: Spread::of(&prompt)?,
            cached_tokens: Spread::of(&cached)?,
            completion_tokens: Spread::of(&completion)?,
            calls_per_task: Spread::of(&calls_per_task)?,
            retry_rate: (Figure::from(retries) / Figure::from(made.max(1))).rounded(6),
            answered_free_share: share(self.free.difference(&tasks.keys().copied().collect()).count()),
            statistic: wanted.statistic,
        })
    }
}

/// The middle, the mean and the far end of what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Spread {
    /// The median.
    pub p50: Figure,
    /// The mean.
    pub mean: Figure,
    /// What all but a twentieth stay within.
    pub p95: Figure,
}

impl Spread {
    fn of(tally: &BTreeMap<u64, u64>) -> Option<Self> {
        let count: u64 = tally.values().sum();
        let sum: Figure = tally.iter().map(|(value, times)| Figure::from(*value) * Figure::from(*times)).sum();
        let within = |per_cent: u64| {
            let rank = (count * per_cent).div_ceil(100).max(1);
            let mut passed = 0;
            let at = tally.iter().find(|(_, times)| {
                passed += **times;
                passed >= rank
            });
            at.map(|(value, _)| Figure::from(*value))
        };
        Some(Self { p50: within(50)?, mean: (sum / Figure::from(count)).rounded(4), p95: within(95)? })
    }

    const fn at(&self, statistic: Statistic) -> Figure {
        match statistic {
            Statistic::Mean => self.mean,
            Statistic::P50 => self.p50,
            Statistic::P95 => self.p95,
        }
    }
}

/// What a ledger says about the calls of one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Measured {
    /// The model.
    pub model: String,
    /// Days from its first call in that time to the end.
    pub days: u32,
    /// Tasks that reached it: requests with an id of their own.
    pub tasks: u64,
    /// Calls.
    pub calls: u64,
    /// Attempts beyond the first of a call.
    pub retries: u64,
    /// Tasks that reached it, a day.
    pub tasks_per_day: Figure,
    /// Tokens of the prompt of an attempt.
    pub prompt_tokens: Spread,
    /// The cached part of them.
    pub cached_tokens: Spread,
    /// Tokens that were written.
    pub completion_tokens: Spread,
    /// Calls of a task.
    pub calls_per_task: Spread,
    /// Retries for each call.
    pub retry_rate: Figure,
    /// The share of all questions that the extract answered free: neither option is paid for them.
    pub answered_free_share: Figure,
    /// Which of the figures is used.
    pub statistic: Statistic,
}

impl Measured {
    /// The profile that is used.
    #[must_use]
    pub fn profile(&self) -> ProfileInput {
        let at = |spread: &Spread| Some(spread.at(self.statistic));
        ProfileInput {
            prompt_tokens: at(&self.prompt_tokens),
            // Medians of two columns need not belong to the same call.
            cached_tokens: at(&self.cached_tokens).min(at(&self.prompt_tokens)),
            completion_tokens: at(&self.completion_tokens),
            calls_per_task: at(&self.calls_per_task),
            retry_rate: Some(self.retry_rate),
        }
    }
}

impl FromLedger {
    /// Refuses what no ledger could be asked.
    ///
    /// # Errors
    /// If there are no days, or too many, or no model.
    pub fn check(&self) -> Result<(), InvalidCost> {
        if self.days == 0 || self.days > MAX_DAYS {
            let message = format!("{} is not between 1 and {MAX_DAYS}", self.days);
            return Err(InvalidCost::one("from_ledger.days", message));
        }
        if self.model.trim().is_empty() {
            return Err(InvalidCost::one("from_ledger.model", "is empty; write the model as the ledger names it"));
        }
        Ok(())
    }
}

impl CostInput {
    /// Fills the API's profile with what was measured, and the volume if it was not given.
    #[must_use]
    pub fn with_measured(mut self, measured: &Measured) -> Self {
        self.from_ledger = None;
        self.api.profile = measured.profile();
        self.tasks_per_day = self.tasks_per_day.or(Some(measured.tasks_per_day));
        self
    }
}
