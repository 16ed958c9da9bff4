//! Specifications of the break-even model.

#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

mod bad_input;
mod cases;
mod measuring;
mod page;
mod properties;

use bylaw_cost::{ApiInput, CostInput, CostReport, Figure, ProfileInput, SelfHostedInput, compare};

pub(crate) fn figure(text: &str) -> Figure {
    text.parse().unwrap()
}

/// What the computed cases begin with: no fixed costs, one GPU.
pub(crate) fn base() -> CostInput {
    let of = |text| Some(figure(text));
    CostInput {
        tasks_per_day: of("20000"),
        api: ApiInput {
            input_price: of("1"),
            cached_input_price: of("0.1"),
            output_price: of("4"),
            profile: ProfileInput {
                prompt_tokens: of("2500"),
                completion_tokens: of("500"),
                ..ProfileInput::default()
            },
            ..ApiInput::default()
        },
        self_hosted: SelfHostedInput {
            gpu_price_per_hour: of("2"),
            prefill_tokens_per_second: of("20000"),
            decode_tokens_per_second: of("1500"),
            target_utilisation: of("0.6"),
            peak_factor: of("4"),
            ..SelfHostedInput::default()
        },
        ..CostInput::default()
    }
}

/// With people and retraining.
pub(crate) fn with_labour() -> CostInput {
    let mut input = base();
    input.self_hosted.labour_per_month = Some(figure("3000"));
    input.self_hosted.retraining_cost = Some(figure("600"));
    input.self_hosted.retrainings_per_month = Some(figure("0.5"));
    input
}

pub(crate) fn at(input: &CostInput, volume: &str) -> CostReport {
    compare(CostInput { tasks_per_day: Some(figure(volume)), ..input.clone() }, None).unwrap()
}

/// A figure as the table of cases prints it.
pub(crate) fn shown(figure: Option<Figure>) -> String {
    figure.map_or_else(|| "never".to_owned(), |figure| figure.grouped(2))
}
