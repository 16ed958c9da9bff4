//! Cases that were computed by other means, to the printed digits.

use bylaw_cost::{
    CostInput, SimpleInput,
    break_even::Never,
    outlook::{cost_per_success, expected_cost, months_to_reach},
    simple,
};

use crate::{at, base, figure, shown, with_labour};

fn of_formula(hour: &str, tokens: &str, price: &str) -> Option<bylaw_cost::Figure> {
    let inputs = SimpleInput {
        gpu_price_per_hour: figure(hour),
        tokens_per_request: figure(tokens),
        price_per_million_tokens: figure(price),
    };
    simple(inputs).unwrap().break_even_requests_per_day
}

#[test]
fn the_simple_formula_and_half_the_tokens_which_move_it_to_the_right() {
    assert_eq!(shown(of_formula("2", "3000", "2")), "8,000.00");
    assert_eq!(shown(of_formula("2", "1500", "2")), "16,000.00");
}

#[test]
fn the_simple_formula_is_the_model_with_one_price_and_nothing_else() {
    let mut input = base();
    input.api.output_price = Some(figure("2"));
    input.api.input_price = Some(figure("2"));
    assert_eq!(shown(at(&input, "1").break_even.naive_tasks_per_day), "8,000.00");
}

#[test]
fn prices_and_profiles_give_the_cost_of_a_task_and_the_naive_point() {
    let mut cached = base();
    cached.api.profile.cached_tokens = Some(figure("2000"));
    let mut agent = base();
    agent.api.profile.calls_per_task = Some(figure("4.4"));
    let mut free_labour = with_labour();
    free_labour.self_hosted.labour_per_month = Some(figure("0"));
    free_labour.self_hosted.retraining_cost = Some(figure("0"));
    for (name, input, per_task, naive) in [
        ("split prices", base(), "0.0045", "10,666.67"),
        ("2,000 of the prompt cached", cached, "0.0027", "17,777.78"),
        ("labour and retraining", with_labour(), "0.0045", "34,759.75"),
        ("without them again", free_labour, "0.0045", "10,666.67"),
        ("an agent of 4.4 calls", agent, "0.0198", "2,424.24"),
    ] {
        let report = at(&input, "1000");
        assert_eq!(report.api.cost_per_task, figure(per_task), "{name}");
        assert_eq!(shown(report.break_even.naive_tasks_per_day), naive, "{name}");
    }
}

#[test]
fn labour_and_retraining_move_the_point_by_a_factor_of_three() {
    let report = at(&with_labour(), "1000");
    assert_eq!(report.self_hosted.cost_per_replica, figure("1461"));
    assert_eq!(report.self_hosted.fixed_per_month + report.self_hosted.cost_per_replica, figure("4761"));
    let [with, without] = [with_labour(), base()].map(|input| at(&input, "1").break_even.naive_tasks_per_day.unwrap());
    assert_eq!((with / without).rounded(4), figure("3.2587"));
}

#[test]
fn the_naive_answer_does_not_fit_on_its_gpu() {
    let report = at(&with_labour(), "1000");
    assert_eq!(report.self_hosted.gpu_seconds_per_task, figure("0.458333"));
    assert_eq!(report.self_hosted.capacity_per_replica.grouped(2), "28,276.36");
    assert!(!report.break_even.naive_fits);
    assert!(at(&base(), "1000").break_even.naive_fits, "without labour it does");
}

fn steps(input: &CostInput) -> Vec<(String, String, String)> {
    let report = at(input, "1000");
    let step =
        |step: &bylaw_cost::break_even::Step| (step.replicas.to_string(), step.from.grouped(2), step.to.grouped(2));
    report.break_even.steps.iter().map(step).collect()
}

#[test]
fn the_set_of_volumes_at_which_hosting_pays() {
    let row = |replicas: &str, from: &str, to: &str| (replicas.to_owned(), from.to_owned(), to.to_owned());
    let expected =
        [row("2", "45,426.42", "56,552.73"), row("3", "56,552.73", "84,829.09"), row("4", "84,829.09", "113,105.45")];
    assert_eq!(steps(&with_labour())[..3], expected);
    let even = at(&with_labour(), "1000").break_even;
    assert_eq!(shown(even.first_tasks_per_day), "45,426.42");
    assert!(even.gaps.is_empty(), "these steps touch");
    assert_eq!((even.ranges.len(), even.ranges[0].to), (1, None), "from there on it pays for good");
}

#[test]
fn a_set_with_gaps_names_each_of_them() {
    // A replica that is hardly worth its price: full, it pays; one more does not, until that is nearly full too.
    let mut input = base();
    input.self_hosted.gpu_price_per_hour = Some(figure("4.5"));
    let even = at(&input, "1000").break_even;
    let [one, two, three] = even.ranges[..3] else { panic!("{:?}", even.ranges) };
    assert_eq!((shown(Some(one.from)), shown(one.to)), ("24,000.00".to_owned(), "28,276.36".to_owned()));
    assert_eq!((shown(Some(two.from)), shown(two.to)), ("48,000.00".to_owned(), "56,552.73".to_owned()));
    assert_eq!(even.gaps[0].from, one.to.unwrap());
    assert_eq!(even.gaps[0].to, Some(two.from));
    assert!(two.to.unwrap() < three.from);
    assert_eq!(even.ranges.last().unwrap().to, None, "in the end every step is whole");
}

#[test]
fn replicas_and_both_costs_at_five_volumes() {
    for (volume, replicas, hosting, api) in [
        ("1000", "1", "4,761.00", "136.97"),
        ("20000", "1", "4,761.00", "2,739.38"),
        ("50000", "2", "6,222.00", "6,848.44"),
        ("100000", "4", "9,144.00", "13,696.88"),
        ("200000", "8", "14,988.00", "27,393.75"),
    ] {
        let report = at(&with_labour(), volume);
        assert_eq!(report.self_hosted.replicas, figure(replicas), "{volume}");
        assert_eq!(report.self_hosted.cost_per_month.grouped(2), hosting, "{volume}");
        // The table of cases was printed with halves to even, 13,696.87; exactly it is 13,696.875.
        assert_eq!(report.api.cost_per_month.grouped(2), api, "{volume}");
    }
}

#[test]
fn above_the_naive_point_hosting_may_still_be_dearer() {
    let report = at(&with_labour(), "40000");
    assert_eq!(report.self_hosted.cost_per_month.grouped(2), "6,222.00");
    assert_eq!(report.api.cost_per_month.grouped(2), "5,478.75");
    assert!(report.break_even.naive_tasks_per_day < Some(report.tasks_per_day));
    assert!(report.saving_per_month < figure("0"));
}

#[test]
fn a_cheap_api_against_a_slow_gpu_is_never_beaten() {
    let mut input = base();
    input.api.input_price = Some(figure("0.1"));
    input.api.output_price = Some(figure("0.4"));
    input.self_hosted.prefill_tokens_per_second = Some(figure("2000"));
    input.self_hosted.decode_tokens_per_second = Some(figure("100"));
    let report = at(&input, "1000");
    assert_eq!(report.self_hosted.capacity_per_replica, figure("2073.6"));
    assert_eq!(report.break_even.replica_worth_per_day.rounded(3), figure("0.933"));
    assert_eq!(report.break_even.replica_price_per_day, figure("48"));
    assert_eq!(report.break_even.first_tasks_per_day, None);
    assert_eq!(report.break_even.never, Some(Never::ReplicaWorthLessThanItsPrice));
}

#[test]
fn a_gpu_that_runs_in_office_hours_bears_only_what_comes_in_them() {
    let mut input = with_labour();
    input.self_hosted.hours_per_day = Some(figure("10"));
    input.self_hosted.days_per_month = Some(figure("22"));
    let report = at(&input, "1000");
    assert_eq!(report.self_hosted.cost_per_replica, figure("440"));
    assert_eq!(shown(report.break_even.naive_tasks_per_day), "27,305.50");
    let around_the_clock = at(&with_labour(), "1000").self_hosted.capacity_per_replica;
    assert!(report.break_even.naive_tasks_per_day.unwrap() < around_the_clock);
    assert!(!report.break_even.naive_fits, "but it does not run around the clock");
    // 28,276.36 × 220 ÷ 730.5 hours
    assert_eq!(report.self_hosted.capacity_per_replica.grouped(2), "8,515.81");
}

#[test]
fn a_shorter_prompt_for_hosting_alone_makes_room_but_no_earlier_point() {
    let mut input = with_labour();
    input.self_hosted.profile.prompt_tokens = Some(figure("900"));
    let report = at(&input, "1000");
    assert_eq!(report.self_hosted.gpu_seconds_per_task, figure("0.378333"));
    assert_eq!(report.self_hosted.capacity_per_replica.grouped(2), "34,255.51");
    assert_eq!(shown(report.break_even.naive_tasks_per_day), "34,759.75");
    assert!(!report.break_even.naive_fits);
    assert_eq!(
        steps(&input)[0],
        ("2".to_owned(), "45,426.42".to_owned(), "68,511.01".to_owned()),
        "two replicas last longer"
    );
}

#[test]
fn the_cheaper_model_is_dearer_when_it_is_wrong_more_often() {
    let two = figure("2");
    assert_eq!(expected_cost(figure("0.01"), figure("0.9"), two), figure("0.21"));
    assert_eq!(expected_cost(figure("0.004"), figure("0.86"), two), figure("0.284"));
    assert!(
        cost_per_success(figure("0.004"), figure("0.86"), two) > cost_per_success(figure("0.01"), figure("0.9"), two)
    );
}

#[test]
fn growth_reaches_the_point_and_savings_pay_back() {
    let months = months_to_reach(figure("5000"), figure("34759.75"), figure("0.1")).unwrap();
    assert_eq!(format!("{months:.2}"), "20.34");
    let mut input = with_labour();
    input.self_hosted.upfront_cost = Some(figure("20000"));
    let report = at(&input, "100000");
    assert!(["4,552.87", "4,552.88"].contains(&report.saving_per_month.grouped(2).as_str()));
    assert_eq!(report.outlook.payback_months, Some(4.39));
}

#[test]
fn what_is_saved_when_one_figure_is_a_quarter_off() {
    let report = at(&with_labour(), "100000");
    for (field, low, high) in [
        ("tasks_per_day", "2589.66", "6516.09"),
        ("api.profile.prompt_tokens", "2650.53", "6455.22"),
        ("api.input_price", "2650.53", "6455.22"),
        ("api.output_price", "3031.00", "6074.75"),
        ("self_hosted.gpu_price_per_hour", "6013.87", "3091.87"),
        ("self_hosted.labour_per_month", "5302.87", "3802.87"),
    ] {
        let one = report.sensitivity.iter().find(|one| one.field == field).unwrap();
        for (saving, expected) in [(one.saving_at_low, low), (one.saving_at_high, high)] {
            // The cases were printed with halves to even; half a cent is the difference.
            let off = saving - figure(expected);
            assert!(off.max(-off) <= figure("0.01"), "{field}: {saving} is not {expected}");
        }
    }
    // Calls and volume weigh the same at the API, but more volume needs more replicas.
    assert_eq!(report.sensitivity[0].field, "api.profile.calls_per_task", "what matters most comes first");
}
