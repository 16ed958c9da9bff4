//! Years of service: how many months, how many days of annual leave, and from when to when.

use bylaw_leave::domain::{
    catalogue::{Catalogue, LeaveYear, Quota},
    ids::TypeId,
    quota::{Lot, days_of_tier, months_of_service, seniority_lots},
};

use crate::company::day;

fn annual() -> Quota {
    let catalogue = Catalogue::bundled().unwrap();
    catalogue.get(&TypeId::new("annual").unwrap()).unwrap().quota.clone()
}

#[test]
fn a_term_of_months_ends_with_the_month_where_that_lacks_the_day() {
    for (from, months, next) in [
        ("2025-01-15", 6, "2025-07-15"),
        ("2025-07-01", 6, "2026-01-01"),
        ("2025-08-28", 6, "2026-02-28"),
        // February 2026 has no 29th, 30th or 31st: the term ends with its last day.
        ("2025-08-29", 6, "2026-03-01"),
        ("2025-08-30", 6, "2026-03-01"),
        ("2025-08-31", 6, "2026-03-01"),
        // February 2028 has a 29th.
        ("2027-08-29", 6, "2028-02-29"),
        ("2027-08-30", 6, "2028-03-01"),
        // Hired on 29 February.
        ("2024-02-29", 6, "2024-08-29"),
        ("2024-02-29", 12, "2025-03-01"),
        ("2024-02-29", 24, "2026-03-01"),
        ("2024-02-29", 48, "2028-02-29"),
        ("2025-10-31", 1, "2025-12-01"),
        ("2025-12-31", 2, "2026-03-01"),
        ("2025-12-31", 12, "2026-12-31"),
    ] {
        assert_eq!(day(from).after_months(months), day(next), "{months} months from {from}");
    }
}

#[test]
fn months_of_service_are_whole_ones() {
    for (hired, on, months) in [
        ("2025-09-01", "2026-02-28", 5),
        ("2025-09-01", "2026-03-01", 6),
        ("2025-03-02", "2026-03-01", 11),
        ("2025-03-02", "2026-03-02", 12),
        ("2024-02-29", "2025-02-28", 11),
        ("2024-02-29", "2025-03-01", 12),
        ("2024-02-29", "2028-02-28", 47),
        ("2024-02-29", "2028-02-29", 48),
        ("2026-03-02", "2026-03-02", 0),
        ("2026-03-02", "2025-12-31", 0),
    ] {
        assert_eq!(months_of_service(day(hired), day(on)), months, "{hired} to {on}");
    }
}

#[test]
fn annual_leave_grows_with_the_years() {
    let Quota::Seniority { tiers, grows_from_years, most_days, .. } = annual() else { panic!("by seniority") };
    for (months, days) in [
        (0, 0),
        (5, 0),
        (6, 3),
        (11, 3),
        (12, 7),
        (23, 7),
        (24, 10),
        (35, 10),
        (36, 14),
        (48, 14),
        (59, 14),
        (60, 15),
        (96, 15),
        (108, 15),
        // From the tenth year on one more each year, up to thirty.
        (119, 15),
        (120, 16),
        (132, 17),
        (228, 25),
        (276, 29),
        (288, 30),
        (300, 30),
        (480, 30),
    ] {
        assert_eq!(days_of_tier(&tiers, grows_from_years, most_days, months), days, "{months} months");
    }
}

fn lot(from: &str, ends: &str, until: &str, minutes: u32) -> Lot {
    Lot { from: day(from), ends: day(ends), until: day(until), minutes }
}

#[test]
fn a_leave_year_begins_with_each_year_of_service_and_carries_over_to_the_next_31_march() {
    for (hired, horizon, expected) in [
        ("2026-01-01", "2026-06-30", vec![]),
        ("2026-01-01", "2026-07-01", vec![lot("2026-07-01", "2026-12-31", "2027-03-31", 3 * 480)]),
        (
            "2025-01-01",
            "2026-12-31",
            vec![
                lot("2025-07-01", "2025-12-31", "2026-03-31", 3 * 480),
                lot("2026-01-01", "2026-12-31", "2027-03-31", 7 * 480),
            ],
        ),
        (
            "2024-02-29",
            "2026-03-01",
            vec![
                lot("2024-08-29", "2025-02-28", "2026-03-31", 3 * 480),
                lot("2025-03-01", "2026-02-28", "2027-03-31", 7 * 480),
                lot("2026-03-01", "2027-02-28", "2028-03-31", 10 * 480),
            ],
        ),
    ] {
        assert_eq!(seniority_lots(&annual(), day(hired), 480, day(horizon)), expected, "{hired} to {horizon}");
    }
    let tenth = *seniority_lots(&annual(), day("2016-05-02"), 480, day("2026-05-02")).last().unwrap();
    assert_eq!(tenth, lot("2026-05-02", "2027-05-01", "2028-03-31", 16 * 480));
}

#[test]
fn by_calendar_years_each_year_of_service_gives_its_part() {
    let Quota::Seniority { carry_over_until, tiers, grows_from_years, most_days, .. } = annual() else {
        panic!("by seniority")
    };
    let leave_year = LeaveYear::Calendar;
    let quota = Quota::Seniority { leave_year, carry_over_until, tiers, grows_from_years, most_days };
    // Hired on 1 July: three days for January to June (181 days, all in one year), then seven days for the year from July,
    // 184 of its 365 days before New Year: 3360 × 184 ÷ 365 = 1693.8, rounded up; the rest after.
    assert_eq!(
        seniority_lots(&quota, day("2024-07-01"), 480, day("2026-12-31"))[..3],
        [
            lot("2025-01-01", "2025-12-31", "2026-03-31", 1_440),
            lot("2025-07-01", "2025-12-31", "2026-03-31", 1_694),
            lot("2026-01-01", "2026-12-31", "2027-03-31", 1_666),
        ]
    );
    // Whatever the rounding, no year of service gives more or less than its days.
    for hired in ["2020-02-29", "2021-12-31", "2022-01-01", "2023-08-17"] {
        let lots = seniority_lots(&quota, day(hired), 480, day("2029-12-31"));
        let first_year_ends = day(hired).after_months(24);
        let first = lots.iter().filter(|lot| lot.from >= day(hired).after_months(12) && lot.from < first_year_ends);
        assert_eq!(first.map(|lot| lot.minutes).sum::<u32>(), 7 * 480, "{hired}");
    }
}
