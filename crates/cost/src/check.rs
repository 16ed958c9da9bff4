//! From what was said to figures that are all known: what is missing is assumed and listed, what is wrong is named.

use std::fmt;

use bylaw_contract::Language;
use serde::{Deserialize, Serialize};

use crate::{
    figure::Figure,
    input::{ApiInput, CostInput, ProfileInput, SelfHostedInput},
    scenario::{Api, DAYS_PER_MONTH, Profile, Scenario, SelfHosted},
    words::{Words, say},
};

/// Something that was not said and is assumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Assumption {
    /// The field that would say otherwise: `self_hosted.peak_factor`.
    pub field: String,
    /// What is assumed, as it would be written.
    pub value: String,
    /// What that means.
    pub why: String,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field: `api.input_price`.
    pub field: String,
    /// What is wrong with it, and what to write.
    pub message: String,
}

/// Everything that is wrong, field by field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCost {
    /// At least one problem.
    pub problems: Vec<Problem>,
}

impl InvalidCost {
    /// One problem.
    #[must_use]
    pub fn one(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { problems: vec![Problem { field: field.into(), message: message.into() }] }
    }
}

impl fmt::Display for InvalidCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Problem { field, message }) in self.problems.iter().enumerate() {
            write!(f, "{}{field}: {message}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl std::error::Error for InvalidCost {}

/// An input whose every figure is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    pub(crate) currency: String,
    pub(crate) price_date: Option<String>,
    pub(crate) api_name: String,
    pub(crate) self_hosted_name: String,
    pub(crate) scenario: Scenario,
    pub(crate) growth_per_month: Option<Figure>,
    pub(crate) discount_rate_per_year: Figure,
    pub(crate) success: Option<Success>,
    pub(crate) seed: u32,
    pub(crate) assumptions: Vec<Assumption>,
}

/// How often each option is right, and what it costs if not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Success {
    pub(crate) api: Figure,
    pub(crate) self_hosted: Figure,
    pub(crate) failure_cost: Figure,
}

impl Checked {
    /// The figures.
    #[must_use]
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// What was assumed.
    #[must_use]
    pub fn assumptions(&self) -> &[Assumption] {
        &self.assumptions
    }

    /// Says that something was taken from elsewhere, a ledger for example.
    pub fn assume(&mut self, field: impl Into<String>, value: impl Into<String>, why: impl Into<String>) {
        self.assumptions.push(Assumption { field: field.into(), value: value.into(), why: why.into() });
    }
}

/// What values a field may have.
#[derive(Clone, Copy)]
struct Range {
    least: Figure,
    /// Whether `least` itself is refused.
    above: bool,
    most: Figure,
    whole: bool,
    /// What to write instead.
    write: &'static str,
}

const fn from(least: Figure, most: i64, write: &'static str) -> Range {
    Range { least, above: false, most: Figure::new(most, 0), whole: false, write }
}

const fn above_zero(most: i64, write: &'static str) -> Range {
    Range { least: Figure::ZERO, above: true, most: Figure::new(most, 0), whole: false, write }
}

const fn whole(most: i64, write: &'static str) -> Range {
    Range { least: Figure::ONE, above: false, most: Figure::new(most, 0), whole: true, write }
}

const UNIT_PRICE: Range = from(Figure::ZERO, 100_000_000, "write what a million tokens cost, such as 2.5");
const HOURLY: Range = from(Figure::ZERO, 100_000_000, "write what one GPU costs for an hour, such as 2");
const MONEY: Range = from(Figure::ZERO, 1_000_000_000_000, "write an amount such as 3000");
const TOKENS: Range = from(Figure::ZERO, 100_000_000, "write the tokens of a mean call, such as 2500");
const CALLS: Range = above_zero(10_000, "write the calls of a mean task, such as 1");
const RETRIES: Range = from(Figure::ZERO, 10, "write a share such as 0.02");
const RATE: Range = above_zero(1_000_000_000, "write the tokens a second that were measured under load, such as 1500");
const VOLUME: Range = above_zero(10_000_000_000, "write your tasks a day, such as 20000");
const SHARE: Range = above_zero(1, "write a share above 0 and up to 1: 0.6 is 60 %");
const DISCOUNT: Range = from(Figure::ZERO, 1, "write the part that is taken off: 0.5 is half price");
const PEAK: Range = from(Figure::ONE, 10_000, "write peak divided by mean, at least 1, such as 4");
const COUNT: Range = whole(1_000_000, "write a whole number, at least 1");
const GROWTH: Range = from(Figure::new(-99, 2), 10, "write a share such as 0.1 for a tenth more each month");
const INTEREST: Range = from(Figure::ZERO, 10, "write a share such as 0.05");

/// Digits behind the point that a figure may be written with.
const MAX_DECIMALS: u32 = 9;

struct Checker {
    language: Language,
    problems: Vec<Problem>,
    assumptions: Vec<Assumption>,
}

impl Checker {
    fn problem(&mut self, field: &str, message: String) {
        self.problems.push(Problem { field: field.to_owned(), message });
    }

    fn assume(&mut self, field: &str, value: impl fmt::Display, why: Words) {
        self.assumptions.push(Assumption {
            field: field.to_owned(),
            value: value.to_string(),
            why: say(self.language, why).to_owned(),
        });
    }

    fn in_range(&mut self, field: &str, value: Figure, range: &Range) -> Figure {
        let Range { least, above, most, whole, write } = *range;
        let wrong = if value < Figure::ZERO && least >= Figure::ZERO {
            Some("is negative".to_owned())
        } else if above && value == least {
            Some(format!("must be above {least}"))
        } else if value < least {
            Some(format!("is less than {least}"))
        } else if value > most {
            Some(format!("is more than {}", most.grouped(0)))
        } else if whole && value.to_u64().is_none() {
            Some("is not a whole number".to_owned())
        } else if value.decimals() > MAX_DECIMALS {
            Some(format!("has more than {MAX_DECIMALS} decimal places"))
        } else {
            None
        };
        if let Some(wrong) = wrong {
            self.problem(field, format!("{value} {wrong}; {write}"));
        }
        value
    }

    fn required(&mut self, field: &str, value: Option<Figure>, range: &Range) -> Figure {
        match value {
            Some(value) => self.in_range(field, value, range),
            None => {
                self.problem(field, format!("is required; {}", range.write));
                Figure::ZERO
            }
        }
    }

    fn optional(&mut self, field: &str, value: Option<Figure>, range: &Range) -> Option<Figure> {
        value.map(|value| self.in_range(field, value, range))
    }

    fn or(&mut self, field: &str, value: Option<Figure>, range: &Range, assumed: Figure, why: Words) -> Figure {
        self.optional(field, value, range).unwrap_or_else(|| {
            self.assume(field, assumed, why);
            assumed
        })
    }

    fn or_nothing(&mut self, field: &str, value: Option<Figure>, why: Words) -> Figure {
        self.or(field, value, &MONEY, Figure::ZERO, why)
    }

    fn api_profile(&mut self, said: &ProfileInput) -> Profile {
        let prompt_tokens = self.required("api.profile.prompt_tokens", said.prompt_tokens, &TOKENS);
        let completion_tokens = self.required("api.profile.completion_tokens", said.completion_tokens, &TOKENS);
        let profile = Profile {
            prompt_tokens,
            cached_tokens: self.or(
                "api.profile.cached_tokens",
                said.cached_tokens,
                &TOKENS,
                Figure::ZERO,
                ("no part of a prompt comes from a cache", "提示沒有任何部分來自快取"),
            ),
            completion_tokens,
            calls_per_task: self.or(
                "api.profile.calls_per_task",
                said.calls_per_task,
                &CALLS,
                Figure::ONE,
                ("a task is one call", "一件工作呼叫一次"),
            ),
            retry_rate: self.or(
                "api.profile.retry_rate",
                said.retry_rate,
                &RETRIES,
                Figure::ZERO,
                ("no call is repeated", "沒有重試"),
            ),
        };
        self.cached_fits("api.profile.cached_tokens", &profile);
        profile
    }

    fn self_hosted_profile(&mut self, said: &ProfileInput, api: &Profile) -> Profile {
        const SAME: Words = ("as for the API", "與 API 相同");
        let mut or = |name: &str, value, range, other| {
            self.or(&format!("self_hosted.profile.{name}"), value, range, other, SAME)
        };
        let profile = Profile {
            prompt_tokens: or("prompt_tokens", said.prompt_tokens, &TOKENS, api.prompt_tokens),
            cached_tokens: or("cached_tokens", said.cached_tokens, &TOKENS, api.cached_tokens),
            completion_tokens: or("completion_tokens", said.completion_tokens, &TOKENS, api.completion_tokens),
            calls_per_task: or("calls_per_task", said.calls_per_task, &CALLS, api.calls_per_task),
            retry_rate: or("retry_rate", said.retry_rate, &RETRIES, api.retry_rate),
        };
        // Where nothing was said of it, it is the API's, which was looked at already.
        if said.cached_tokens.is_some() || said.prompt_tokens.is_some() {
            self.cached_fits("self_hosted.profile.cached_tokens", &profile);
        }
        let said_enough = said.completion_tokens.is_some() || self.problems.is_empty();
        if said_enough && profile.prompt_tokens <= profile.cached_tokens && profile.completion_tokens == Figure::ZERO {
            self.problem(
                "self_hosted.profile.completion_tokens",
                "0 leaves the GPU nothing to compute, since the whole prompt is cached; write tokens that are"
                    .to_owned(),
            );
        }
        profile
    }

    fn cached_fits(&mut self, field: &str, profile: &Profile) {
        let Profile { prompt_tokens, cached_tokens, .. } = profile;
        if cached_tokens > prompt_tokens {
            self.problem(
                field,
                format!("{cached_tokens} is more than the {prompt_tokens} tokens of the prompt that it is a part of"),
            );
        }
    }

    fn api(&mut self, said: &ApiInput) -> Api {
        let input_price = self.required("api.input_price", said.input_price, &UNIT_PRICE);
        let output_price = self.required("api.output_price", said.output_price, &UNIT_PRICE);
        let profile = self.api_profile(&said.profile);
        let batch_discount = self.or(
            "api.batch_discount",
            said.batch_discount,
            &DISCOUNT,
            Figure::ZERO,
            ("answers are wanted at once, at full price", "答案要即時，不打折"),
        );
        Api {
            input_price,
            cached_input_price: self.or(
                "api.cached_input_price",
                said.cached_input_price,
                &UNIT_PRICE,
                input_price,
                ("cached tokens cost what others do", "快取詞元與其他詞元同價"),
            ),
            output_price,
            batch_discount,
            extras_per_task: self.or_nothing(
                "api.extras_per_task",
                said.extras_per_task,
                ("only tokens are billed", "只按詞元計費"),
            ),
            fixed_per_month: self.or_nothing(
                "api.fixed_per_month",
                said.fixed_per_month,
                ("no subscription", "沒有月費"),
            ),
            profile,
        }
    }

    fn self_hosted(&mut self, said: &SelfHostedInput, api: &Profile) -> SelfHosted {
        let gpu_price_per_hour = self.required("self_hosted.gpu_price_per_hour", said.gpu_price_per_hour, &HOURLY);
        let prefill = self.required("self_hosted.prefill_tokens_per_second", said.prefill_tokens_per_second, &RATE);
        let decode = self.required("self_hosted.decode_tokens_per_second", said.decode_tokens_per_second, &RATE);
        let profile = self.self_hosted_profile(&said.profile, api);
        let mut or = |name: &str, value, range: &Range, assumed, why: Words| {
            self.or(&format!("self_hosted.{name}"), value, range, assumed, why)
        };
        let hours = Range { most: Figure::new(24, 0), write: "write up to 24 hours", ..SHARE };
        let days = Range { most: Figure::new(31, 0), write: "write up to 30.4375 days", ..SHARE };
        let months = Range { most: Figure::new(1_200, 0), write: "write months such as 36", ..SHARE };
        let gpus_per_replica = or(
            "gpus_per_replica",
            said.gpus_per_replica,
            &COUNT,
            Figure::ONE,
            ("the model fits on one GPU", "模型放得進一張 GPU"),
        );
        let hours_per_day = or(
            "hours_per_day",
            said.hours_per_day,
            &hours,
            Figure::new(24, 0),
            ("it runs around the clock", "全天運轉"),
        );
        let days_per_month = or(
            "days_per_month",
            said.days_per_month,
            &days,
            DAYS_PER_MONTH,
            ("it runs every day of a mean month", "平均每月的每一天都運轉"),
        );
        let target_utilisation = or(
            "target_utilisation",
            said.target_utilisation,
            &SHARE,
            Figure::new(6, 1),
            ("at the peak a replica is 60 % busy, so that answers stay quick", "尖峰時副本只用到 60 %，回答才不會變慢"),
        );
        let peak_factor = or(
            "peak_factor",
            said.peak_factor,
            &PEAK,
            Figure::new(4, 0),
            (
                "the busiest hour brings four times the mean, as office hours do",
                "最忙的一小時是平均的四倍，如一般上班時間",
            ),
        );
        let minimum_replicas = or(
            "minimum_replicas",
            said.minimum_replicas,
            &COUNT,
            Figure::ONE,
            ("nothing stands in when the only replica fails", "唯一的副本故障時沒有備援"),
        );
        let mut money = |name: &str, value, why: Words| or(name, value, &MONEY, Figure::ZERO, why);
        let labour_per_month =
            money("labour_per_month", said.labour_per_month, ("nobody's time is counted", "不計任何人的時間"));
        let retraining_cost = money("retraining_cost", said.retraining_cost, ("it is never trained again", "不再訓練"));
        let storage_and_network_per_month = money(
            "storage_and_network_per_month",
            said.storage_and_network_per_month,
            ("storage, network and monitoring cost nothing", "儲存、網路與監控不計費"),
        );
        let variable_cost_per_task = money(
            "variable_cost_per_task",
            said.variable_cost_per_task,
            ("a task costs nothing beside the GPUs", "每件除 GPU 外沒有其他花費"),
        );
        let purchase_price_per_replica = money(
            "purchase_price_per_replica",
            said.purchase_price_per_replica,
            ("the hardware is rented", "設備是租的"),
        );
        let upfront_cost = money("upfront_cost", said.upfront_cost, ("setting it up costs nothing", "建置不花錢"));
        let bought = purchase_price_per_replica > Figure::ZERO || said.amortisation_months.is_some();
        let amortisation_months = if bought {
            let why = ("bought hardware is worth nothing after three years", "購置的設備三年後沒有殘值");
            or("amortisation_months", said.amortisation_months, &months, Figure::new(36, 0), why)
        } else {
            // There is nothing to write off; any number of months gives nothing a month.
            Figure::ONE
        };
        let monthly = Range { most: Figure::new(1_000, 0), ..MONEY };
        let retrainings_per_month = if retraining_cost > Figure::ZERO {
            self.required(
                "self_hosted.retrainings_per_month",
                said.retrainings_per_month,
                &Range { write: "write how often a month it is trained again: 0.5 is every two months", ..monthly },
            )
        } else {
            let said = self.optional("self_hosted.retrainings_per_month", said.retrainings_per_month, &monthly);
            said.unwrap_or(Figure::ZERO)
        };
        SelfHosted {
            gpus_per_replica,
            gpu_price_per_hour,
            hours_per_day,
            days_per_month,
            prefill_tokens_per_second: prefill,
            decode_tokens_per_second: decode,
            target_utilisation,
            peak_factor,
            minimum_replicas,
            labour_per_month,
            retraining_cost,
            retrainings_per_month,
            storage_and_network_per_month,
            variable_cost_per_task,
            purchase_price_per_replica,
            amortisation_months,
            upfront_cost,
            profile,
        }
    }

    fn success(&mut self, input: &CostInput) -> Option<Success> {
        let api = self.optional("api.success_rate", input.api.success_rate, &SHARE);
        let self_hosted = self.optional("self_hosted.success_rate", input.self_hosted.success_rate, &SHARE);
        let failure_cost = self.optional("failure_cost", input.failure_cost, &MONEY);
        match (api, self_hosted) {
            (Some(api), Some(self_hosted)) => {
                let failure_cost = failure_cost.unwrap_or_else(|| {
                    self.assume(
                        "failure_cost",
                        0,
                        ("a task that fails costs nothing but itself", "失敗的工作除本身外沒有其他損失"),
                    );
                    Figure::ZERO
                });
                Some(Success { api, self_hosted, failure_cost })
            }
            (None, None) => {
                let why = ("both options are taken to be right equally often", "視兩者答對的比例相同");
                if failure_cost.is_some() {
                    let message = "is required where failure_cost is given; write a share up to 1 from an evaluation";
                    self.problem("api.success_rate", message.to_owned());
                    self.problem("self_hosted.success_rate", message.to_owned());
                } else {
                    self.assume("api.success_rate", "none", why);
                    self.assume("self_hosted.success_rate", "none", why);
                }
                None
            }
            (Some(_), None) | (None, Some(_)) => {
                let missing = if api.is_none() { "api.success_rate" } else { "self_hosted.success_rate" };
                self.problem(missing, "is required where the other option has one".to_owned());
                None
            }
        }
    }

    fn currency(&mut self, input: &CostInput) -> String {
        let sections = [
            ("currency", &input.currency),
            ("api.currency", &input.api.currency),
            ("self_hosted.currency", &input.self_hosted.currency),
        ];
        let mut common: Option<(&str, &str)> = None;
        for (field, said) in sections {
            let Some(said) = said.as_deref() else { continue };
            if said.len() != 3 || !said.bytes().all(|b| b.is_ascii_uppercase()) {
                let said: String = said.chars().take(20).collect();
                self.problem(field, format!("{said:?} is not a currency; write three capital letters such as USD"));
                continue;
            }
            match common {
                None => common = Some((field, said)),
                Some((other, currency)) if currency != said => self.problem(
                    field,
                    format!("{said} is not the {currency} of {other}; convert every price to one currency"),
                ),
                Some(_) => {}
            }
        }
        common.map_or_else(
            || {
                self.assume("currency", "USD", ("every price is in US dollars", "所有價格皆為美元"));
                "USD".to_owned()
            },
            |(_, currency)| currency.to_owned(),
        )
    }

    fn name(&mut self, field: &str, said: Option<&String>, unnamed: &str) -> String {
        match said {
            None => unnamed.to_owned(),
            Some(name) if name.trim().is_empty() || name.chars().count() > 60 || name.chars().any(char::is_control) => {
                self.problem(field, "is not a name; write up to 60 characters".to_owned());
                unnamed.to_owned()
            }
            Some(name) => name.trim().to_owned(),
        }
    }
}

/// Whether `text` is a day such as `2026-11-01`.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, digits: usize| {
        (part.len() == digits && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<u32>().ok()).flatten()
    };
    let [year, month, day] = parts[..] else { return false };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Reads what was said. What was left out is assumed, and listed.
///
/// # Errors
/// Everything that is missing or out of range, field by field.
pub fn check(input: &CostInput) -> Result<Checked, InvalidCost> {
    let language = input.language.unwrap_or(Language::English);
    let mut checker = Checker { language, problems: Vec::new(), assumptions: Vec::new() };
    let currency = checker.currency(input);
    match &input.price_date {
        Some(day) if !is_day(day) => {
            let day: String = day.chars().take(20).collect();
            checker.problem("price_date", format!("{day:?} is not a day; write it as 2026-11-01"));
        }
        Some(_) => {}
        None => checker.assume("price_date", "none", ("nobody knows how old these prices are", "不知道這些價格有多舊")),
    }
    let tasks_per_day = checker.required("tasks_per_day", input.tasks_per_day, &VOLUME);
    let growth_per_month = checker.optional("growth_per_month", input.growth_per_month, &GROWTH);
    if growth_per_month.is_none() {
        checker.assume("growth_per_month", "0", ("the volume stays as it is", "用量維持不變"));
    }
    let discount_rate_per_year = checker.or(
        "discount_rate_per_year",
        input.discount_rate_per_year,
        &INTEREST,
        Figure::ZERO,
        ("money next year is worth what it is now", "明年的錢與今天等值"),
    );
    let api = checker.api(&input.api);
    let self_hosted = checker.self_hosted(&input.self_hosted, &api.profile);
    let success = checker.success(input);
    let seed = input.seed.unwrap_or_else(|| {
        checker.assume("seed", 1, ("the draws of the uncertainty are always the same", "每次抽樣結果相同"));
        1
    });
    let api_name = checker.name("api.name", input.api.name.as_ref(), "API");
    let self_hosted_name = checker.name("self_hosted.name", input.self_hosted.name.as_ref(), "self-hosted");
    let Checker { problems, assumptions, .. } = checker;
    if !problems.is_empty() {
        return Err(InvalidCost { problems });
    }
    Ok(Checked {
        currency,
        price_date: input.price_date.clone(),
        api_name,
        self_hosted_name,
        scenario: Scenario { tasks_per_day, api, self_hosted },
        growth_per_month,
        discount_rate_per_year,
        success,
        seed,
        assumptions,
    })
}
