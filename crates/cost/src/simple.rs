//! The formula that everyone starts with, and what it leaves out.
//!
//! `requests a day = GPU price per hour × 24 ÷ (tokens of a request × price of a token)`. It is the special case of one call a
//! task, no cache, one price for every token, no fixed costs, one GPU without a limit.

use serde::{Deserialize, Serialize};

use crate::{
    break_even::Never,
    check::{Assumption, InvalidCost, Problem},
    figure::Figure,
    scenario::DAYS_PER_MONTH,
};

const MILLION: Figure = Figure::new(1_000_000, 0);
const SECONDS_PER_DAY: Figure = Figure::new(86_400, 0);

/// What the formula takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SimpleInput {
    /// What the GPU costs for an hour.
    pub gpu_price_per_hour: Figure,
    /// Tokens of a request, read and written.
    pub tokens_per_request: Figure,
    /// Price of a million tokens.
    pub price_per_million_tokens: Figure,
}

/// What the formula says, and what it does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SimpleReport {
    /// What was put in.
    pub inputs: SimpleInput,
    /// From so many requests a day on the GPU is cheaper; null if it never is.
    pub break_even_requests_per_day: Option<Figure>,
    /// Why it never is.
    pub never: Option<Never>,
    /// The formula with its figures.
    pub formula: String,
    /// The same with half the tokens, for both options: the point moves to the right.
    pub at_half_the_tokens: Option<Figure>,
    /// Tokens a second that the GPU must sustain at that point, on average.
    pub tokens_per_second: Option<Figure>,
    /// Tokens a second that it must be able to do, at the peak and not fully busy.
    pub tokens_per_second_at_peak: Option<Figure>,
    /// How many requests a day further right each 1,000 a month lies that people, retraining or storage cost.
    pub further_for_each_thousand_a_month: Option<Figure>,
    /// What it leaves out, and what that changes here.
    pub leaves_out: String,
    /// What was assumed to say so.
    pub assumptions: Vec<Assumption>,
}

/// Applies the formula.
///
/// # Errors
/// Every figure that is out of range.
pub fn simple(inputs: SimpleInput) -> Result<SimpleReport, InvalidCost> {
    check(&inputs)?;
    let SimpleInput { gpu_price_per_hour: hour, tokens_per_request: tokens, price_per_million_tokens: price } = inputs;
    let (peak, busy) = (Figure::new(4, 0), Figure::new(6, 1));
    let day = hour * Figure::from(24);
    // A million requests, since a single one may cost less than any decimal shows.
    let million_requests = tokens * price;
    let exact = (million_requests > Figure::ZERO).then(|| day * MILLION / million_requests);
    if exact.is_some_and(Figure::is_beyond_reach) {
        let message =
            format!("{price} is so low that the break-even is beyond 10^18 requests a day; write 0 if it is free");
        return Err(InvalidCost::one("price_per_million_tokens", message));
    }
    let shown = |figure: Figure| figure.rounded(2);
    let per_second = exact.map(|requests| requests * tokens / SECONDS_PER_DAY);
    let at_peak = per_second.map(|tokens| tokens * peak / busy);
    let further = exact.map(|_| Figure::from(1_000) * MILLION / (million_requests * DAYS_PER_MONTH));
    let result = exact.map_or_else(|| "never".to_owned(), |requests| shown(requests).grouped(2));
    let leaves_out = match (exact, at_peak, further) {
        (Some(_), Some(at_peak), Some(further)) => format!(
            "It leaves out idle time, people, retraining, different prices for what is read, cached and written, and whether the \
             GPU can do it. Here it would have to do {} tokens a second at a peak of {peak} times the mean while no more than \
             60 % busy; and each 1,000 a month that people or retraining cost moves the point {} requests a day to the right. \
             Fewer tokens for both options move it right as well: shorter prompts only help if they are shorter for hosting alone.",
            at_peak.grouped(2),
            further.grouped(2),
        ),
        _ => "It leaves out idle time, people and retraining. None of that matters here: tokens that cost nothing cannot be \
              undercut."
            .to_owned(),
    };
    Ok(SimpleReport {
        break_even_requests_per_day: exact.map(shown),
        never: exact.is_none().then_some(Never::ApiIsFree),
        formula: format!("{hour} × 24 ÷ ({tokens} × {price} ÷ 1,000,000) = {result}"),
        at_half_the_tokens: exact.map(|requests| shown(requests * Figure::from(2))),
        tokens_per_second: per_second.map(shown),
        tokens_per_second_at_peak: at_peak.map(shown),
        further_for_each_thousand_a_month: further.map(shown),
        leaves_out,
        assumptions: vec![
            assumption("peak_factor", peak, "the busiest hour brings four times the mean"),
            assumption("target_utilisation", busy, "at the peak the GPU is 60 % busy, so that answers stay quick"),
        ],
        inputs,
    })
}

fn assumption(field: &str, value: Figure, why: &str) -> Assumption {
    Assumption { field: field.to_owned(), value: value.to_string(), why: why.to_owned() }
}

fn check(inputs: &SimpleInput) -> Result<(), InvalidCost> {
    let SimpleInput { gpu_price_per_hour, tokens_per_request, price_per_million_tokens } = inputs;
    let fields = [
        ("gpu_price_per_hour", *gpu_price_per_hour, true, "write what the GPU costs for an hour, such as 2"),
        ("tokens_per_request", *tokens_per_request, false, "write the tokens of a mean request, such as 3000"),
        ("price_per_million_tokens", *price_per_million_tokens, true, "write what a million tokens cost, such as 2"),
    ];
    let most = Figure::from(100_000_000);
    let problems: Vec<Problem> = fields
        .into_iter()
        .filter_map(|(field, value, may_be_zero, write)| {
            let wrong = if value < Figure::ZERO {
                "is negative".to_owned()
            } else if value == Figure::ZERO && !may_be_zero {
                "must be above 0".to_owned()
            } else if value > most {
                format!("is more than {}", most.grouped(0))
            } else if value.decimals() > 9 {
                "has more than 9 decimal places".to_owned()
            } else {
                return None;
            };
            Some(Problem { field: field.to_owned(), message: format!("{value} {wrong}; {write}") })
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(InvalidCost { problems }) }
}
