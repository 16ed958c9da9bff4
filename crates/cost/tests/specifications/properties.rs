//! What holds for every input.

use std::time::{Duration, Instant};

use bylaw_cost::{
    CostInput, Figure,
    break_even::{Volumes, break_even},
    check,
    scenario::Scenario,
    sensitivity::{DRAWS, uncertainty},
};
use proptest::prelude::*;

use crate::{at, figure, with_labour};

/// A scenario of plausible and less plausible figures; cached parts up to the whole prompt.
fn scenarios() -> impl Strategy<Value = Scenario> {
    let api = (0_i64..150, 0_i64..100, 0_i64..600, 0_i64..=100, 1_i64..8_000, 1_i64..4_000);
    let hosting = (0_i64..900, 100_i64..90_000, 20_i64..9_000, 5_i64..=100, 10_i64..90, 1_i64..5);
    let costs = (
        0_i64..900_000,
        0_i64..90_000,
        0_i64..300,
        prop_oneof![Just(0_i64), 0_i64..2_000],
        1_i64..900_000,
        1_i64..=240,
    );
    (api, hosting, costs).prop_map(|(api, hosting, costs)| {
        let mut input = with_labour();
        let (input_price, cached_price, output_price, cached, prompt, completion) = api;
        let hundredth = |mantissa| Some(Figure::new(mantissa, 2));
        let whole = |mantissa| Some(Figure::new(mantissa, 0));
        input.api.input_price = hundredth(input_price);
        input.api.cached_input_price = hundredth(cached_price);
        input.api.output_price = hundredth(output_price);
        input.api.profile.prompt_tokens = whole(prompt);
        input.api.profile.cached_tokens = Some(Figure::new(prompt * cached, 2));
        input.api.profile.completion_tokens = whole(completion);
        let (hour, prefill, decode, busy, peak, least) = hosting;
        input.self_hosted.gpu_price_per_hour = hundredth(hour);
        input.self_hosted.prefill_tokens_per_second = whole(prefill);
        input.self_hosted.decode_tokens_per_second = whole(decode);
        input.self_hosted.target_utilisation = hundredth(busy);
        input.self_hosted.peak_factor = Some(Figure::new(peak, 1));
        input.self_hosted.minimum_replicas = whole(least);
        let (labour, retraining, subscription, variable, volume, hours) = costs;
        input.self_hosted.labour_per_month = hundredth(labour);
        input.self_hosted.retraining_cost = hundredth(retraining);
        input.self_hosted.hours_per_day = Some(Figure::new(hours, 1));
        input.self_hosted.variable_cost_per_task = Some(Figure::new(variable, 6));
        input.api.fixed_per_month = whole(subscription);
        input.tasks_per_day = whole(volume);
        *check(&input).unwrap().scenario()
    })
}

fn naive(scenario: &Scenario) -> Option<Figure> {
    break_even(scenario).naive_tasks_per_day
}

/// Whether a volume lies in the set, with the tolerance of rounding in the 12th place at the borders.
fn is_in(ranges: &[Volumes], volume: Figure) -> bool {
    ranges.iter().any(|range| range.from <= volume && range.to.is_none_or(|to| volume <= to))
}

fn is_near_a_border(scenario: &Scenario, ranges: &[Volumes], volume: Figure) -> bool {
    let near = |border: Figure| {
        let off = border - volume;
        off.max(-off) * Figure::from(1_000_000) <= volume
    };
    let step = scenario.self_hosted.capacity(1);
    let nearest = step * (volume / step).rounded(0);
    near(nearest) || ranges.iter().any(|range| near(range.from) || range.to.is_some_and(near))
}

/// `later` is not reached earlier than `earlier`.
fn no_earlier(earlier: Option<Figure>, later: Option<Figure>) -> bool {
    match (earlier, later) {
        (_, None) => true,
        (Some(earlier), Some(later)) => earlier.rounded(6) <= later.rounded(6),
        (None, Some(_)) => false,
    }
}

proptest! {
    // Gaps are rare and narrow, and a case is cheap.
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_set_is_where_the_two_costs_say_so(scenario in scenarios(), part in prop_oneof![900_i64..1_100, 0_i64..3_000], of_first in any::<bool>()) {
        let even = break_even(&scenario);
        // On the first steps, and around where it first pays: elsewhere one volume is like another.
        let unit = even.first_tasks_per_day.filter(|_| of_first).unwrap_or(scenario.self_hosted.capacity(2));
        let volume = (unit * Figure::new(part, 3)).rounded(6).max(Figure::ONE);
        let pays = scenario.self_hosted_per_month(volume) <= scenario.api_per_month(volume);
        if !even.abridged && !is_near_a_border(&scenario, &even.ranges, volume) {
            prop_assert_eq!(is_in(&even.ranges, volume), pays, "{} {:?}", volume, even);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn ranges_ascend_and_gaps_lie_between_them(scenario in scenarios()) {
        let even = break_even(&scenario);
        for pair in even.ranges.windows(2) {
            prop_assert!(pair[0].from <= pair[0].to.unwrap());
            prop_assert!(pair[0].to.unwrap() < pair[1].from);
        }
        prop_assert_eq!(even.gaps.len(), even.ranges.len().saturating_sub(1));
        prop_assert_eq!(even.never.is_some(), even.ranges.is_empty());
    }

    #[test]
    fn the_point_falls_as_the_api_gets_dearer_and_rises_with_what_hosting_costs(
        scenario in scenarios(), more in 101_i64..400,
    ) {
        let more = Figure::new(more, 2);
        let moved = |change: &dyn Fn(&mut Scenario)| {
            let mut moved = scenario;
            change(&mut moved);
            (naive(&moved), break_even(&moved).first_tasks_per_day)
        };
        let (point, first) = moved(&|_| {});
        let (dearer, dearer_first) = moved(&|s| s.api.output_price = s.api.output_price * more + Figure::ONE);
        prop_assert!(no_earlier(dearer, point) && no_earlier(dearer_first, first));
        for (name, (later, later_first)) in [
            ("GPU", moved(&|s| s.self_hosted.gpu_price_per_hour = s.self_hosted.gpu_price_per_hour * more)),
            ("labour", moved(&|s| s.self_hosted.labour_per_month = s.self_hosted.labour_per_month * more)),
            ("retraining", moved(&|s| s.self_hosted.retraining_cost = s.self_hosted.retraining_cost * more)),
        ] {
            prop_assert!(no_earlier(point, later) && no_earlier(first, later_first), "{}", name);
        }
        // What the API has in its cache costs less there, as long as cached tokens do.
        if scenario.api.cached_input_price <= scenario.api.input_price {
            let (cached, cached_first) = moved(&|s| s.api.profile.cached_tokens = s.api.profile.prompt_tokens);
            prop_assert!(no_earlier(point, cached) && no_earlier(first, cached_first));
        }
    }

    #[test]
    fn hosting_never_gets_cheaper_with_volume_and_the_api_is_a_line(
        scenario in scenarios(), volume in 1_u64..2_000_000, more in 0_u64..2_000_000,
    ) {
        let (low, high) = (Figure::from(volume), Figure::from(volume + more));
        prop_assert!(scenario.self_hosted_per_month(low) <= scenario.self_hosted_per_month(high));
        let api = |volume| scenario.api_per_month(volume);
        let straight = api(low) + api(high) - api(low + high) - scenario.api.fixed_per_month;
        prop_assert_eq!(straight.rounded(9), Figure::ZERO);
    }

    #[test]
    fn replicas_are_the_fewest_that_bear_the_peak(scenario in scenarios(), volume in 1_u64..2_000_000) {
        let (volume, hosting) = (Figure::from(volume), scenario.self_hosted);
        let replicas = hosting.replicas(volume);
        prop_assert!(replicas >= hosting.minimum_replicas);
        let count = replicas.to_u64().unwrap();
        prop_assert!(hosting.capacity(count).rounded(6) >= volume.rounded(6));
        prop_assert!(replicas == hosting.minimum_replicas || hosting.capacity(count - 1) < volume);
        // Full to its capacity, it is that many replicas and not one more.
        prop_assert_eq!(hosting.replicas(hosting.capacity(count)), replicas);
    }

    #[test]
    fn an_api_that_is_free_is_never_beaten(mut scenario in scenarios()) {
        scenario.api.input_price = Figure::ZERO;
        scenario.api.cached_input_price = Figure::ZERO;
        scenario.api.output_price = Figure::ZERO;
        scenario.api.fixed_per_month = Figure::ZERO;
        scenario.self_hosted.gpu_price_per_hour = scenario.self_hosted.gpu_price_per_hour + Figure::ONE;
        let even = break_even(&scenario);
        prop_assert_eq!(even.first_tasks_per_day, None);
        prop_assert!(even.never.is_some());
    }

    #[test]
    fn another_unit_of_money_changes_no_volume(scenario in scenarios(), unit in 2_i64..100) {
        let unit = Figure::new(unit, 0);
        let mut other = scenario;
        let (api, hosting) = (&mut other.api, &mut other.self_hosted);
        for amount in [
            &mut api.input_price,
            &mut api.cached_input_price,
            &mut api.output_price,
            &mut api.fixed_per_month,
            &mut hosting.gpu_price_per_hour,
            &mut hosting.labour_per_month,
            &mut hosting.retraining_cost,
            &mut hosting.variable_cost_per_task,
        ] {
            *amount = *amount * unit;
        }
        let (one, other) = (break_even(&scenario), break_even(&other));
        let same = |figure: Option<Figure>| figure.map(|figure| figure.rounded(6));
        prop_assert_eq!(same(one.first_tasks_per_day), same(other.first_tasks_per_day));
        prop_assert_eq!(same(one.naive_tasks_per_day), same(other.naive_tasks_per_day));
        prop_assert_eq!(one.ranges.len(), other.ranges.len());
    }

    #[test]
    fn nothing_that_is_counted_is_ever_negative(mut scenario in scenarios()) {
        scenario.api.profile.cached_tokens = scenario.api.profile.prompt_tokens;
        scenario.self_hosted.profile.cached_tokens = scenario.self_hosted.profile.prompt_tokens;
        prop_assert!(scenario.api.cost_per_task() >= Figure::ZERO);
        prop_assert!(scenario.self_hosted.gpu_seconds_per_task() >= Figure::ZERO);
        prop_assert!(scenario.self_hosted.capacity(1) > Figure::ZERO);
    }
}

#[test]
fn draws_are_the_same_for_the_same_seed_and_take_less_than_a_second() {
    let scenario = *check(&CostInput { tasks_per_day: Some(figure("60000")), ..with_labour() }).unwrap().scenario();
    let begun = Instant::now();
    let one = uncertainty(&scenario, 1);
    let taken = begun.elapsed();
    assert_eq!(uncertainty(&scenario, 1), one);
    assert_ne!(uncertainty(&scenario, 2).saving_p50, one.saving_p50);
    assert_eq!(one.draws, DRAWS);
    assert!(taken < Duration::from_secs(1), "{taken:?}");
    assert!(one.saving_p5 < one.saving_p50 && one.saving_p50 < one.saving_p95);
}

#[test]
fn the_surer_the_volume_the_surer_the_result() {
    let sure = |volume: &str| at(&with_labour(), volume).uncertainty.probability_self_hosting_is_cheaper;
    assert!(sure("1000") < 0.001);
    assert!(sure("45426") > 0.2 && sure("45426") < 0.8, "{}", sure("45426"));
    assert!(sure("1000000") > 0.99);
}
