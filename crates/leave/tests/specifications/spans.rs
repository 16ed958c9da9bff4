//! Beginnings and ends as people write them, and the working minutes between.

use bylaw_leave::domain::time::{Edge, InvalidTime, Moment, Span};

use crate::company::{book, calendar, day, draft};

#[test]
fn a_date_or_a_time_is_one_or_is_refused() {
    for (text, expected) in [
        ("2026-03-01", Ok("2026-03-01")),
        (" 2026-03-01 ", Ok("2026-03-01")),
        ("2026/03/01", Ok("2026-03-01")),
        ("2026-03-01T08:30", Ok("2026-03-01T08:30")),
        ("2026-03-01 08:30", Ok("2026-03-01T08:30")),
        ("2026-03-01T08:30:00", Ok("2026-03-01T08:30")),
        ("2026-03-01T24:00", Ok("2026-03-01T24:00")),
        ("2028-02-29", Ok("2028-02-29")),
        ("2026-02-29", Err(InvalidTime::NoSuchDay)),
        ("2026-02-30", Err(InvalidTime::NoSuchDay)),
        ("2100-02-29", Err(InvalidTime::NoSuchDay)),
        ("2026-13-01", Err(InvalidTime::NoSuchDay)),
        ("2026-00-10", Err(InvalidTime::NoSuchDay)),
        ("0001-01-01", Err(InvalidTime::NoSuchDay)),
        ("9999-12-31", Err(InvalidTime::NoSuchDay)),
        ("2026-03-01T25:00", Err(InvalidTime::NoSuchTime)),
        ("2026-03-01T24:01", Err(InvalidTime::NoSuchTime)),
        ("2026-03-01T08:60", Err(InvalidTime::NoSuchTime)),
        ("2026-03-01T08:30:30", Err(InvalidTime::NoSuchTime)),
        ("2026-03-01T8:30", Err(InvalidTime::Form)),
        ("2026-3-1", Err(InvalidTime::Form)),
        ("2026-03-01T08:30+08:00", Err(InvalidTime::Form)),
        ("明天", Err(InvalidTime::Form)),
        ("２０２６-０３-０１", Err(InvalidTime::Form)),
        ("", Err(InvalidTime::Form)),
        ("-2026-03-01", Err(InvalidTime::Form)),
    ] {
        let read = text.parse::<Edge>().map(|edge| match edge {
            Edge::Day(day) => day.to_string(),
            Edge::At(moment) => moment.to_string(),
        });
        assert_eq!(read.as_deref(), expected.as_deref(), "{text:?}");
    }
}

#[test]
fn only_working_time_counts() {
    for (start, end, minutes) in [
        // A Monday, whole and in parts. The lunch hour is nobody's.
        ("2026-03-02", "2026-03-02", 480),
        ("2026-03-02T09:00", "2026-03-02T18:00", 480),
        ("2026-03-02T00:00", "2026-03-02T24:00", 480),
        ("2026-03-02T09:00", "2026-03-02T12:00", 180),
        ("2026-03-02T09:00", "2026-03-02T13:00", 180),
        ("2026-03-02T13:00", "2026-03-02T18:00", 300),
        ("2026-03-02T12:00", "2026-03-02T18:00", 300),
        ("2026-03-02T11:00", "2026-03-02T14:00", 120),
        ("2026-03-02T09:30", "2026-03-02T10:45", 75),
        ("2026-03-02T07:00", "2026-03-02T09:01", 1),
        ("2026-03-02T12:00", "2026-03-02T13:00", 0),
        ("2026-03-02T18:00", "2026-03-02T23:00", 0),
        // Weekends.
        ("2026-03-06", "2026-03-09", 960),
        ("2026-03-07", "2026-03-08", 0),
        ("2026-03-02", "2026-03-13", 4_800),
        ("2026-03-06T13:00", "2026-03-09T12:00", 480),
        // A worked Saturday, another that is worked in the morning, and the holidays after.
        ("2026-02-07", "2026-02-07", 480),
        ("2026-02-08", "2026-02-08", 0),
        ("2026-02-14", "2026-02-14", 180),
        ("2026-02-13", "2026-02-14", 660),
        ("2026-02-14", "2026-02-22", 180),
        ("2026-02-14", "2026-02-23", 660),
        ("2026-02-16", "2026-02-20", 0),
        ("2026-02-06", "2026-02-09", 1_440),
        // Over New Year: Wednesday, a holiday, Friday.
        ("2025-12-31", "2026-01-02", 960),
        // A leap day is a day: Monday to Wednesday.
        ("2028-02-28", "2028-03-01", 1_440),
        // Friday 9 October is a holiday.
        ("2026-10-05", "2026-10-09", 1_920),
    ] {
        let span = Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap();
        let parts = calendar().working(span);
        assert_eq!(parts.iter().map(|part| part.minutes).sum::<u32>(), minutes, "{start} to {end}");
        assert!(parts.iter().all(|part| part.minutes > 0));
    }
}

#[test]
fn a_year_of_work_is_counted_by_hand_and_by_machine_alike() {
    // 2026 has 261 weekdays; seven holidays fall on them; one Saturday is worked whole, one for three hours.
    let span = Span::new(Edge::Day(day("2026-01-01")), Edge::Day(day("2026-12-31"))).unwrap();
    let minutes: u32 = calendar().working(span).iter().map(|part| part.minutes).sum();
    assert_eq!(minutes, (261 - 7 + 1) * 480 + 180);
}

#[test]
fn whoever_writes_nonsense_is_told_what_is_wrong() {
    let book = book("2020-03-02", Vec::new());
    for (kind, start, end, code) in [
        ("annual", "2026-03-10", "2026-03-09", "reversed"),
        ("annual", "2026-03-10T09:00", "2026-03-10T09:00", "reversed"),
        ("annual", "2026-03-10T25:00", "2026-03-11", "bad_time"),
        ("annual", "2026-02-29", "2026-03-02", "bad_time"),
        ("annual", "tomorrow", "2026-03-02", "bad_time"),
        ("sick", "2026-01-05", "2027-08-27", "too_long"),
        ("sick", "2025-01-01", "2026-01-02", "too_long"),
        ("annual", "2026-03-07", "2026-03-08", "nothing_to_take"),
        ("annual", "2026-02-16", "2026-02-20", "nothing_to_take"),
        ("annual", "2026-03-10T12:00", "2026-03-10T13:00", "nothing_to_take"),
        ("annual", "2028-12-29", "2029-01-02", "beyond_calendar"),
        ("annual", "2023-12-29", "2024-01-02", "beyond_calendar"),
        ("sabbatical", "2026-03-10", "2026-03-10", "unknown_type"),
        ("", "2026-03-10", "2026-03-10", "unknown_type"),
        ("annual/parent/2026-03-01", "2026-03-10", "2026-03-10", "event_unwanted"),
        ("bereavement", "2026-03-10", "2026-03-10", "event_needed"),
        ("bereavement/parent", "2026-03-10", "2026-03-10", "event_needed"),
        ("bereavement/cousin/2026-03-01", "2026-03-10", "2026-03-10", "event_needed"),
        ("bereavement/parent/2026-02-29", "2026-03-10", "2026-03-10", "bad_time"),
    ] {
        let refusal = draft(&book, kind, start, end).map(|leave| leave.minutes()).unwrap_err();
        assert_eq!(refusal.code(), code, "{kind} {start} to {end}: {refusal:?}");
    }
}

#[test]
fn each_type_is_taken_in_its_unit() {
    let book = book("2020-03-02", Vec::new());
    for (kind, start, end, expected) in [
        // Half days: mornings and afternoons, however long they are.
        ("annual", "2026-03-10", "2026-03-10", Some(480)),
        ("annual", "2026-03-10T09:00", "2026-03-10T12:00", Some(180)),
        ("annual", "2026-03-10T13:00", "2026-03-10T18:00", Some(300)),
        ("annual", "2026-03-10T13:00", "2026-03-11T12:00", Some(480)),
        ("annual", "2026-03-10T09:00", "2026-03-10T11:00", None),
        ("annual", "2026-03-10T13:00", "2026-03-10T17:00", None),
        // As long as a morning, and not one.
        ("annual", "2026-03-10T10:00", "2026-03-10T14:00", None),
        ("annual", "2026-02-14", "2026-02-14", Some(180)),
        // Hours.
        ("sick", "2026-03-10T09:00", "2026-03-10T10:00", Some(60)),
        ("sick", "2026-03-10T11:00", "2026-03-10T14:00", Some(120)),
        ("sick", "2026-03-10T09:00", "2026-03-10T09:30", None),
        ("personal", "2026-03-10T09:00", "2026-03-10T10:15", None),
        ("compensatory", "2026-03-10T16:00", "2026-03-10T18:00", Some(120)),
        // Days.
        ("menstrual", "2026-03-10", "2026-03-10", Some(480)),
        ("menstrual", "2026-03-10T09:00", "2026-03-10T12:00", None),
        // Every day of the calendar: eight weeks over a weekend or not.
        ("maternity/birth/2026-03-10", "2026-03-10", "2026-05-04", Some(56 * 480)),
        ("maternity/birth/2026-03-10", "2026-03-10T09:00", "2026-05-04", None),
    ] {
        let drafted = draft(&book, kind, start, end);
        match expected {
            Some(minutes) => assert_eq!(drafted.unwrap().minutes(), minutes, "{kind} {start} to {end}"),
            None => assert_eq!(drafted.unwrap_err().code(), "wrong_unit", "{kind} {start} to {end}"),
        }
    }
}

#[test]
fn a_leave_begins_and_ends_with_the_work_in_it() {
    for (start, end, first, last) in [
        ("2026-03-02", "2026-03-02", "2026-03-02T09:00", "2026-03-02T18:00"),
        ("2026-03-06T15:00", "2026-03-08", "2026-03-06T15:00", "2026-03-06T18:00"),
        ("2026-03-07", "2026-03-09T10:00", "2026-03-09T09:00", "2026-03-09T10:00"),
        ("2026-03-02T12:00", "2026-03-02T14:00", "2026-03-02T13:00", "2026-03-02T14:00"),
        ("2026-03-07", "2026-03-07", "2026-03-07T00:00", "2026-03-07T24:00"),
    ] {
        let span = Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap();
        let expected: (Moment, Moment) = (first.parse().unwrap(), last.parse().unwrap());
        assert_eq!(calendar().worked(span), expected, "{start} to {end}");
    }
}

#[test]
fn a_calendar_file_says_what_is_wrong_with_it() {
    use bylaw_leave::domain::calendar::{SAMPLE, WorkCalendar};
    let sample = WorkCalendar::parse(SAMPLE).unwrap();
    assert!(sample.is_provisional() && sample.official().starts_with("https://www.dgpa.gov.tw/"));
    assert_eq!(sample.day_minutes(), 480);
    let head = "name = \"x\"\nutc_offset = \"+08:00\"\ncovers = { from = \"2026-01-01\", to = \"2026-12-31\" }\n";
    for (text, part) in [
        ("", "missing field"),
        (&format!("{head}standard = [\"08:00-12:00\"]\ncolour = 1"), "colour"),
        (&format!("{head}standard = [\"12:00-08:00\"]"), "12:00-08:00"),
        (&format!("{head}standard = [\"08:00-12:00\", \"11:00-13:00\"]"), "11:00-13:00"),
        (&format!("{head}standard = [\"08:00-25:00\"]"), "08:00-25:00"),
        (&format!("{head}standard = []"), "no working hours"),
        (&format!("{head}standard = [\"08:00-12:00\"]\n[week]\nfunday = []"), "funday"),
        (
            &format!("{head}standard = [\"08:00-12:00\"]\n[[holiday]]\ndate = \"2026-02-29\"\nname = \"x\""),
            "no such day",
        ),
        (
            &format!(
                "{head}standard = [\"08:00-12:00\"]\n[[holiday]]\ndate = \"2026-05-01\"\nname = \"x\"\n[[make_up]]\ndate = \
                 \"2026-05-01\"\nname = \"y\""
            ),
            "2026-05-01 is listed twice",
        ),
        (&format!("{}standard = [\"08:00-12:00\"]", head.replace("+08:00", "8")), "utc_offset"),
        (&format!("{}standard = [\"08:00-12:00\"]", head.replace("2026-12-31", "2025-12-31")), "ends before"),
    ] {
        let error = WorkCalendar::parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}\n{error}");
    }
}
