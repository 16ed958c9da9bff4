//! How much is left, reckoned by hand: each row is a person, what they have asked for already, and what they ask for now.

use bylaw_leave::domain::{refusal::Refusal, status::Status, time::Day};

use crate::company::{book_with, day, draft, policy};

/// Hired, leaves before, type, from, to, minutes that are missing.
type Row<'a> = (&'a str, &'a [(&'a str, &'a str, &'a str)], &'a str, &'a str, &'a str, u32);

fn check(rows: &[Row<'_>]) {
    for (hired, before, kind, start, end, missing) in rows {
        let drafted = draft(&book_with(hired, before), kind, start, end);
        let expected = bylaw_leave::domain::words::amount(*missing, 480, bylaw_contract::Language::English);
        match drafted {
            Ok(leave) => assert_eq!(*missing, 0, "{hired} {before:?} {kind} {start} to {end}: {} fit", leave.minutes()),
            Err(Refusal::NotEnough { missing, .. }) => {
                assert_eq!(missing, expected, "{hired} {before:?} {kind} {start} to {end}");
            }
            Err(other) => panic!("{hired} {before:?} {kind} {start} to {end}: {other:?}"),
        }
    }
}

const DAY: u32 = 480;

#[test]
fn annual_leave_begins_after_six_months() {
    check(&[
        ("2025-09-02", &[], "annual", "2026-02-27", "2026-02-27", DAY),
        ("2025-09-02", &[], "annual", "2026-03-02", "2026-03-02", 0),
        ("2025-09-02", &[], "annual", "2026-03-02", "2026-03-04", 0),
        ("2025-09-02", &[], "annual", "2026-03-02", "2026-03-05", DAY),
        ("2025-09-02", &[], "annual", "2026-02-27", "2026-03-02", DAY),
        // The half-day and what it leaves over.
        ("2025-09-02", &[("annual", "2026-03-02", "2026-03-03")], "annual", "2026-03-04T09:00", "2026-03-04T12:00", 0),
        (
            "2025-09-02",
            &[("annual", "2026-03-02", "2026-03-03")],
            "annual",
            "2026-03-04T09:00",
            "2026-03-05T12:00",
            180,
        ),
        // Hired on the last day of August: six months end with February.
        ("2025-08-31", &[], "annual", "2026-02-27", "2026-02-27", DAY),
        ("2025-08-31", &[], "annual", "2026-03-02", "2026-03-02", 0),
        // Hired on 29 February: the second year begins on 1 March, a Saturday.
        ("2024-02-29", &[], "annual", "2025-02-26", "2025-02-28", 0),
        ("2024-02-29", &[], "annual", "2025-02-25", "2025-02-28", DAY),
        ("2024-02-29", &[], "annual", "2025-03-03", "2025-03-14", 0),
        ("2024-02-29", &[], "annual", "2025-03-03", "2025-03-17", DAY),
    ]);
}

/// Hired on New Year 2025: three days for July to December 2025, seven for 2026, ten for 2027.
#[test]
fn what_is_carried_over_is_used_first_and_until_31_march() {
    check(&[
        // Ten days across 31 March: three carried over, seven of the new year.
        ("2025-01-01", &[], "annual", "2026-03-23", "2026-04-03", 0),
        ("2025-01-01", &[], "annual", "2026-03-23", "2026-04-06", DAY),
        // After 31 March the three are gone.
        ("2025-01-01", &[], "annual", "2026-04-06", "2026-04-14", 0),
        ("2025-01-01", &[], "annual", "2026-04-06", "2026-04-15", DAY),
        ("2025-01-01", &[], "annual", "2026-03-31", "2026-04-09", 0),
        ("2025-01-01", &[], "annual", "2026-03-31", "2026-04-10", DAY),
        ("2025-01-01", &[], "annual", "2026-03-31", "2026-04-13", 2 * DAY),
        // Leave in January takes what is carried over, and leaves the seven days whole.
        ("2025-01-01", &[("annual", "2026-01-05", "2026-01-07")], "annual", "2026-04-06", "2026-04-14", 0),
        ("2025-01-01", &[("annual", "2026-01-05", "2026-01-08")], "annual", "2026-04-06", "2026-04-14", DAY),
        // In whatever order they were asked for.
        ("2025-01-01", &[("annual", "2026-04-01", "2026-04-09")], "annual", "2026-03-30", "2026-03-31", 0),
        ("2025-01-01", &[("annual", "2026-04-01", "2026-04-09")], "annual", "2026-04-10", "2026-04-10", DAY),
        // Nothing is carried over twice: seventeen days across 31 March 2027, ten after it.
        ("2025-01-01", &[], "annual", "2027-03-15", "2027-04-06", 0),
        ("2025-01-01", &[], "annual", "2027-03-15", "2027-04-07", DAY),
        ("2025-01-01", &[], "annual", "2027-04-01", "2027-04-14", 0),
        ("2025-01-01", &[], "annual", "2027-04-01", "2027-04-15", DAY),
        // Across New Year.
        ("2025-01-01", &[("annual", "2025-12-29", "2025-12-31")], "annual", "2026-01-02", "2026-01-12", 0),
        ("2025-01-01", &[("annual", "2025-12-29", "2025-12-31")], "annual", "2026-01-02", "2026-01-13", DAY),
    ]);
}

#[test]
fn sick_leave_is_thirty_days_a_year() {
    let full: &[_] = &[("sick", "2026-03-02", "2026-04-10")];
    check(&[
        ("2020-03-02", &[], "sick", "2026-03-02", "2026-04-10", 0),
        ("2020-03-02", &[], "sick", "2026-03-02", "2026-04-13", DAY),
        ("2020-03-02", full, "sick", "2026-04-13T09:00", "2026-04-13T10:00", 60),
        ("2020-03-02", full, "sick", "2027-01-04", "2027-01-04", 0),
        ("2020-03-02", full, "sick", "2026-12-31", "2027-01-04", DAY),
    ]);
}

#[test]
fn menstrual_leave_is_one_day_a_month_and_counts_as_sick_leave_from_the_fourth_on() {
    let (march, april) = (("menstrual", "2026-03-10", "2026-03-10"), ("menstrual", "2026-04-13", "2026-04-13"));
    let (may, june) = (("menstrual", "2026-05-11", "2026-05-11"), ("menstrual", "2026-06-10", "2026-06-10"));
    let sick = ("sick", "2026-07-01", "2026-08-11");
    check(&[
        ("2020-03-02", &[], "menstrual", "2026-03-10", "2026-03-10", 0),
        ("2020-03-02", &[march], "menstrual", "2026-03-11", "2026-03-11", DAY),
        ("2020-03-02", &[march], "menstrual", "2026-04-01", "2026-04-01", 0),
        ("2020-03-02", &[], "menstrual", "2026-03-31", "2026-04-01", 0),
        ("2020-03-02", &[march, april, may], "sick", "2026-07-01", "2026-08-11", 0),
        ("2020-03-02", &[march, april, may, june], "sick", "2026-07-01", "2026-08-11", DAY),
        ("2020-03-02", &[march, april, sick], "menstrual", "2026-09-01", "2026-09-01", 0),
        ("2020-03-02", &[march, april, may, sick], "menstrual", "2026-09-01", "2026-09-01", DAY),
    ]);
}

#[test]
fn family_care_leave_is_seven_of_the_fourteen_days_of_personal_leave() {
    let care: &[_] = &[("family_care", "2026-03-02", "2026-03-10")];
    let most: &[_] = &[("personal", "2026-03-02", "2026-03-18")];
    let full: &[_] = &[("personal", "2026-03-02", "2026-03-19")];
    check(&[
        ("2020-03-02", &[], "personal", "2026-03-02", "2026-03-19", 0),
        ("2020-03-02", &[], "personal", "2026-03-02", "2026-03-20", DAY),
        ("2020-03-02", care, "family_care", "2026-03-11", "2026-03-11", DAY),
        ("2020-03-02", care, "personal", "2026-03-11", "2026-03-19", 0),
        ("2020-03-02", care, "personal", "2026-03-11", "2026-03-20", DAY),
        ("2020-03-02", most, "family_care", "2026-03-19T14:00", "2026-03-19T18:00", 0),
        ("2020-03-02", most, "family_care", "2026-03-19", "2026-03-20T10:00", 60),
        ("2020-03-02", full, "family_care", "2026-03-20", "2026-03-20", DAY),
        ("2020-03-02", full, "family_care", "2027-01-04", "2027-01-04", 0),
    ]);
}

#[test]
fn bereavement_leave_goes_by_relation() {
    let mother = "bereavement/parent/2026-02-27";
    let father = "bereavement/parent/2026-02-28";
    check(&[
        ("2020-03-02", &[], mother, "2026-03-02", "2026-03-11", 0),
        ("2020-03-02", &[], mother, "2026-03-02", "2026-03-12", DAY),
        ("2020-03-02", &[], "bereavement/spouse/2026-02-27", "2026-03-02", "2026-03-11", 0),
        ("2020-03-02", &[], "bereavement/spouse/2026-02-27", "2026-03-02", "2026-03-12", DAY),
        ("2020-03-02", &[], "bereavement/grandparent/2026-02-27", "2026-03-02", "2026-03-09", 0),
        ("2020-03-02", &[], "bereavement/grandparent/2026-02-27", "2026-03-02", "2026-03-10", DAY),
        ("2020-03-02", &[], "bereavement/child/2026-02-27", "2026-03-02", "2026-03-09", 0),
        ("2020-03-02", &[], "bereavement/child/2026-02-27", "2026-03-02", "2026-03-10", DAY),
        ("2020-03-02", &[], "bereavement/spouse_parent/2026-02-27", "2026-03-02", "2026-03-09", 0),
        ("2020-03-02", &[], "bereavement/spouse_parent/2026-02-27", "2026-03-02", "2026-03-11", 2 * DAY),
        ("2020-03-02", &[], "bereavement/great_grandparent/2026-02-27", "2026-03-02", "2026-03-04", 0),
        ("2020-03-02", &[], "bereavement/great_grandparent/2026-02-27", "2026-03-02", "2026-03-05", DAY),
        ("2020-03-02", &[], "bereavement/sibling/2026-02-27", "2026-03-02", "2026-03-04", 0),
        ("2020-03-02", &[], "bereavement/sibling/2026-02-27", "2026-03-02", "2026-03-05", DAY),
        ("2020-03-02", &[], "bereavement/spouse_grandparent/2026-02-27", "2026-03-02", "2026-03-04", 0),
        ("2020-03-02", &[], "bereavement/spouse_grandparent/2026-02-27", "2026-03-02", "2026-03-05", DAY),
        // In parts, and for each death anew.
        ("2020-03-02", &[(mother, "2026-03-02", "2026-03-06")], mother, "2026-03-09", "2026-03-11", 0),
        ("2020-03-02", &[(mother, "2026-03-02", "2026-03-06")], mother, "2026-03-09", "2026-03-12", DAY),
        ("2020-03-02", &[(mother, "2026-03-02", "2026-03-11")], father, "2026-03-12", "2026-03-23", 0),
    ]);
}

#[test]
fn weddings_births_and_duties_have_their_days() {
    let wedding = "marriage/marriage/2026-03-07";
    check(&[
        ("2026-01-05", &[], wedding, "2026-03-02", "2026-03-11", 0),
        ("2026-01-05", &[], wedding, "2026-03-02", "2026-03-12", DAY),
        // The only case need not be named.
        ("2026-01-05", &[(wedding, "2026-03-02", "2026-03-06")], wedding, "2026-03-09T09:00", "2026-03-12T12:00", 180),
        // Eight weeks, four weeks, a week, five days, on the calendar.
        ("2026-01-05", &[], "maternity/birth/2026-03-02", "2026-03-02", "2026-04-26", 0),
        ("2026-01-05", &[], "maternity/birth/2026-03-02", "2026-03-02", "2026-04-27", DAY),
        ("2026-01-05", &[], "maternity/miscarriage_from_three_months/2026-03-02", "2026-03-02", "2026-03-29", 0),
        ("2026-01-05", &[], "maternity/miscarriage_from_three_months/2026-03-02", "2026-03-02", "2026-03-30", DAY),
        ("2026-01-05", &[], "maternity/miscarriage_from_two_months/2026-03-02", "2026-03-02", "2026-03-08", 0),
        ("2026-01-05", &[], "maternity/miscarriage_from_two_months/2026-03-02", "2026-03-02", "2026-03-09", DAY),
        ("2026-01-05", &[], "maternity/miscarriage_below_two_months/2026-03-02", "2026-03-02", "2026-03-06", 0),
        ("2026-01-05", &[], "maternity/miscarriage_below_two_months/2026-03-02", "2026-03-02", "2026-03-07", DAY),
        ("2026-01-05", &[], "paternity/birth/2026-03-02", "2026-03-02", "2026-03-10", 0),
        ("2026-01-05", &[], "paternity/birth/2026-03-02", "2026-03-02", "2026-03-11", DAY),
        ("2026-01-05", &[], "prenatal/pregnancy/2026-03-02", "2026-03-02", "2026-03-10", 0),
        ("2026-01-05", &[], "prenatal/pregnancy/2026-03-02", "2026-03-02", "2026-03-11T10:00", 60),
        ("2026-01-05", &[], "official", "2026-03-02", "2026-06-30", 0),
    ]);
}

/// Ten hours of overtime, from 10 January to 9 July 2026.
#[test]
fn compensatory_leave_is_what_was_earned_until_it_expires() {
    let day_off: &[_] = &[("compensatory", "2026-03-02", "2026-03-02")];
    check(&[
        ("2020-03-02", &[], "compensatory", "2026-03-02", "2026-03-03T11:00", 0),
        ("2020-03-02", day_off, "compensatory", "2026-03-03T09:00", "2026-03-03T11:00", 0),
        ("2020-03-02", day_off, "compensatory", "2026-03-03T09:00", "2026-03-03T12:00", 60),
        ("2020-03-02", &[], "compensatory", "2026-07-09", "2026-07-09", 0),
        ("2020-03-02", &[], "compensatory", "2026-07-10", "2026-07-10", DAY),
        ("2020-03-02", &[], "compensatory", "2026-01-09", "2026-01-09", DAY),
    ]);
}

#[test]
fn nobody_is_away_twice_at_once_or_before_they_came() {
    for (before, kind, start, end, code) in [
        (("annual", "2026-03-10", "2026-03-10"), "sick", "2026-03-10", "2026-03-10", Some("overlaps")),
        (("annual", "2026-03-09", "2026-03-13"), "sick", "2026-03-11", "2026-03-11", Some("overlaps")),
        (("annual", "2026-03-11", "2026-03-11"), "sick", "2026-03-09", "2026-03-13", Some("overlaps")),
        (("annual", "2026-03-10T09:00", "2026-03-10T12:00"), "annual", "2026-03-10T13:00", "2026-03-10T18:00", None),
        (("annual", "2026-03-10T09:00", "2026-03-10T12:00"), "annual", "2026-03-10T12:00", "2026-03-10T18:00", None),
        (
            ("annual", "2026-03-10T09:00", "2026-03-10T12:00"),
            "sick",
            "2026-03-10T11:00",
            "2026-03-10T14:00",
            Some("overlaps"),
        ),
        (("annual", "2026-03-10", "2026-03-10"), "annual", "2026-03-11", "2026-03-11", None),
        (("annual", "2026-03-06", "2026-03-08"), "annual", "2026-03-08", "2026-03-09", Some("overlaps")),
        (("annual", "2026-03-10", "2026-03-10"), "sick", "2020-02-28", "2020-02-28", Some("beyond_calendar")),
        (("sick", "2026-03-10", "2026-03-10"), "sick", "2026-03-10T09:00", "2026-03-10T10:00", Some("overlaps")),
    ] {
        let drafted = draft(&book_with("2020-03-02", &[before]), kind, start, end);
        assert_eq!(drafted.as_ref().err().map(Refusal::code), code, "{before:?} and {kind} {start} to {end}");
    }
    let refusal = draft(&book_with("2026-03-02", &[]), "sick", "2026-02-27", "2026-02-27").unwrap_err();
    assert_eq!(refusal, Refusal::BeforeHired { hired: day("2026-03-02") });
}

#[test]
fn only_what_is_asked_for_holds_its_days() {
    let policy = policy();
    for (status, holds) in [
        (Status::Draft, false),
        (Status::Submitted, true),
        (Status::Approved, true),
        (Status::Taken, true),
        (Status::Rejected, false),
        (Status::Withdrawn, false),
        (Status::Cancelled, false),
    ] {
        let mut book = book_with("2025-09-02", &[("annual", "2026-03-02", "2026-03-04")]);
        book.leaves[0].status = status;
        let left: u32 = statement(&book, &policy, "annual", day("2026-03-10")).iter().map(|line| line.3).sum();
        assert_eq!(left, if holds { 0 } else { 3 * DAY }, "{status}");
    }
}

/// From, until, granted, left, whether carried over.
fn statement(
    book: &bylaw_leave::domain::book::Book,
    policy: &bylaw_leave::domain::decide::Policy,
    kind: &str,
    on: Day,
) -> Vec<(Day, Day, u32, u32, bool)> {
    let account = book.account(policy);
    let kind = policy.catalogue.named(kind).unwrap();
    let line =
        |line: bylaw_leave::domain::quota::Line| (line.from, line.until, line.granted, line.left(), line.is_carried);
    account.statement(kind, on).into_iter().map(line).collect()
}

#[test]
fn a_balance_shows_each_lot_and_what_is_left_in_it() {
    let policy = policy();
    let book = book_with("2025-01-01", &[("annual", "2026-01-05", "2026-01-06"), ("sick", "2026-01-08", "2026-01-08")]);
    for (kind, on, expected) in [
        (
            "特休",
            "2026-02-02",
            vec![
                (day("2025-07-01"), day("2026-03-31"), 3 * DAY, DAY, true),
                (day("2026-01-01"), day("2027-03-31"), 7 * DAY, 7 * DAY, false),
            ],
        ),
        ("年假", "2026-04-01", vec![(day("2026-01-01"), day("2027-03-31"), 7 * DAY, 7 * DAY, false)]),
        ("annual", "2025-06-30", vec![]),
        ("sick", "2026-04-01", vec![(day("2026-01-01"), day("2026-12-31"), 30 * DAY, 29 * DAY, false)]),
        ("sick", "2027-01-01", vec![(day("2027-01-01"), day("2027-12-31"), 30 * DAY, 30 * DAY, false)]),
        ("生理假", "2026-02-14", vec![(day("2026-02-01"), day("2026-02-28"), DAY, DAY, false)]),
        ("official", "2026-02-14", vec![]),
        ("補休", "2026-02-14", vec![(day("2026-01-10"), day("2026-07-09"), 600, 600, false)]),
        ("喪假", "2026-02-14", vec![]),
    ] {
        assert_eq!(statement(&book, &policy, kind, day(on)), expected, "{kind} on {on}");
    }
}
