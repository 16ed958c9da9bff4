//! Periods of budgets: days and months as people at the place of the budget count them.

use std::{fmt, str::FromStr};

use bylaw_contract::Timestamp;
use jiff::{civil, tz::TimeZone};
use serde::{Deserialize, Serialize};

/// How long a limit lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// For good.
    Once,
    /// A calendar day in the configured time zone: 23 or 25 hours when the clocks change.
    Day,
    /// A calendar month in the configured time zone.
    Month,
}

/// One day or month, or all of time.
///
/// It is computed once, from the moment of the reservation, and belongs to that reservation from then on: a settlement
/// after midnight, or after the clock was set back, books into the period that was reserved in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PeriodKey {
    /// All of time.
    Once,
    /// A day.
    Day(Day),
    /// The month of the day, which is its first.
    Month(Day),
}

/// A calendar day, as `2026-03-08`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Day(civil::Date);

impl Day {
    /// The day as a civil date.
    #[must_use]
    pub const fn date(self) -> civil::Date {
        self.0
    }

    /// The day so many days earlier; the first of the calendar if there is none.
    #[must_use]
    pub fn days_before(self, days: u32) -> Self {
        Self(self.0.saturating_sub(jiff::Span::new().days(i64::from(days.min(4_000_000)))))
    }

    /// How many days later this day is than `earlier`; 0 if it is none.
    #[must_use]
    pub fn days_since(self, earlier: Self) -> u32 {
        self.0.duration_since(earlier.0).as_hours().max(0).try_into().map_or(u32::MAX, |hours: u32| hours / 24)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text that is no day or period.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a day or period")]
pub struct InvalidPeriod {
    /// The text.
    pub text: String,
}

impl FromStr for Day {
    type Err = InvalidPeriod;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Only the one canonical spelling: two spellings would be two budgets.
        match text.parse::<civil::Date>() {
            Ok(date) if date.to_string() == text => Ok(Self(date)),
            Ok(_) | Err(_) => Err(InvalidPeriod { text: text.to_owned() }),
        }
    }
}

impl Serialize for Day {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl PeriodKey {
    /// What kind of period it is one of.
    #[must_use]
    pub const fn period(self) -> Period {
        match self {
            Self::Once => Period::Once,
            Self::Day(_) => Period::Day,
            Self::Month(_) => Period::Month,
        }
    }
}

impl fmt::Display for PeriodKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once => f.write_str("once"),
            Self::Day(day) => write!(f, "day:{day}"),
            Self::Month(first) => {
                let text = first.to_string();
                write!(f, "month:{}", text.strip_suffix("-01").unwrap_or(&text))
            }
        }
    }
}

impl FromStr for PeriodKey {
    type Err = InvalidPeriod;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "once" {
            return Ok(Self::Once);
        }
        match text.split_once(':') {
            Some(("day", day)) => day.parse().map(Self::Day),
            Some(("month", month)) => format!("{month}-01").parse().map(Self::Month),
            Some(_) | None => Err(InvalidPeriod { text: text.to_owned() }),
        }
    }
}

/// A time zone that is not in the database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not a time zone; write a name such as Asia/Taipei, Europe/Berlin or UTC")]
pub struct UnknownZone {
    /// What was asked for.
    pub name: String,
}

/// The time zone in which days and months are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// Finds a zone by its IANA name, in the database that is compiled in.
    ///
    /// # Errors
    /// If there is no such zone.
    pub fn named(name: &str) -> Result<Self, UnknownZone> {
        jiff::tz::TimeZoneDatabase::bundled()
            .get(name)
            .map(Self)
            .map_err(|_not_found| UnknownZone { name: name.to_owned() })
    }

    /// The zone, for whoever shows moments in it.
    #[must_use]
    pub const fn time_zone(&self) -> &TimeZone {
        &self.0
    }

    /// The calendar day of a moment. A moment beyond the calendar (before the year -9999 or after 9999) counts as its edge.
    #[must_use]
    pub fn day(&self, at: Timestamp) -> Day {
        let edge = if at.0 < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
        let moment = jiff::Timestamp::from_millisecond(at.0).unwrap_or(edge);
        Day(self.0.to_datetime(moment).date())
    }

    /// The instance of `period` that holds a moment.
    #[must_use]
    pub fn period(&self, period: Period, at: Timestamp) -> PeriodKey {
        match period {
            Period::Once => PeriodKey::Once,
            Period::Day => PeriodKey::Day(self.day(at)),
            Period::Month => PeriodKey::Month(Day(self.day(at).date().first_of_month())),
        }
    }
}

impl Zone {
    /// The first moment after a period; `None` if it never ends.
    #[must_use]
    pub fn end_of(&self, period: PeriodKey) -> Option<Timestamp> {
        let next = match period {
            PeriodKey::Once => return None,
            PeriodKey::Day(Day(day)) => day.tomorrow(),
            PeriodKey::Month(Day(first)) => first.last_of_month().tomorrow(),
        };
        // There is nothing after the last day of the calendar.
        let start = self.0.to_ambiguous_timestamp(next.ok()?.at(0, 0, 0, 0)).compatible().ok()?;
        Some(Timestamp(start.as_millisecond()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    #[test]
    fn days_and_months_follow_the_zone_also_when_the_clocks_change() {
        for (zone, moment, day, month) in [
            // Plain days.
            ("UTC", "2026-01-31T23:59:59.999Z", "2026-01-31", "2026-01"),
            ("UTC", "2026-02-01T00:00:00Z", "2026-02-01", "2026-02"),
            ("UTC", "2024-02-29T12:00:00Z", "2024-02-29", "2024-02"),
            ("UTC", "2026-12-31T23:59:59Z", "2026-12-31", "2026-12"),
            ("UTC", "2027-01-01T00:00:00Z", "2027-01-01", "2027-01"),
            // Taipei is eight hours ahead, all year.
            ("Asia/Taipei", "2026-02-28T15:59:59.999Z", "2026-02-28", "2026-02"),
            ("Asia/Taipei", "2026-02-28T16:00:00Z", "2026-03-01", "2026-03"),
            ("Asia/Taipei", "2026-07-31T16:00:00Z", "2026-08-01", "2026-08"),
            // New York, spring: 8 March 2026 has 23 hours, 05:00Z to 04:00Z.
            ("America/New_York", "2026-03-08T04:59:59Z", "2026-03-07", "2026-03"),
            ("America/New_York", "2026-03-08T05:00:00Z", "2026-03-08", "2026-03"),
            ("America/New_York", "2026-03-08T07:00:00Z", "2026-03-08", "2026-03"),
            ("America/New_York", "2026-03-09T03:59:59Z", "2026-03-08", "2026-03"),
            ("America/New_York", "2026-03-09T04:00:00Z", "2026-03-09", "2026-03"),
            // New York, autumn: 1 November 2026 has 25 hours, 04:00Z to 05:00Z; 01:30 happens twice on one day.
            ("America/New_York", "2026-11-01T03:59:59Z", "2026-10-31", "2026-10"),
            ("America/New_York", "2026-11-01T04:00:00Z", "2026-11-01", "2026-11"),
            ("America/New_York", "2026-11-01T05:30:00Z", "2026-11-01", "2026-11"),
            ("America/New_York", "2026-11-01T06:30:00Z", "2026-11-01", "2026-11"),
            ("America/New_York", "2026-11-02T04:59:59Z", "2026-11-01", "2026-11"),
            ("America/New_York", "2026-11-02T05:00:00Z", "2026-11-02", "2026-11"),
            // Santiago: midnight itself does not exist on 6 September 2026.
            ("America/Santiago", "2026-09-06T03:59:59Z", "2026-09-05", "2026-09"),
            ("America/Santiago", "2026-09-06T04:00:00Z", "2026-09-06", "2026-09"),
            // Samoa had no 30 December 2011.
            ("Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29", "2011-12"),
            ("Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31", "2011-12"),
        ] {
            let zone_of = Zone::named(zone).unwrap();
            let period = |period| zone_of.period(period, at(moment)).to_string();
            assert_eq!(period(Period::Day), format!("day:{day}"), "{zone} {moment}");
            assert_eq!(period(Period::Month), format!("month:{month}"), "{zone} {moment}");
            assert_eq!(period(Period::Once), "once");
        }
    }

    #[test]
    fn a_period_ends_where_the_next_begins() {
        for (zone, period, end) in [
            ("UTC", "day:2026-12-31", Some("2027-01-01T00:00:00Z")),
            ("UTC", "month:2026-12", Some("2027-01-01T00:00:00Z")),
            ("Asia/Taipei", "day:2026-02-28", Some("2026-02-28T16:00:00Z")),
            ("Asia/Taipei", "month:2026-02", Some("2026-02-28T16:00:00Z")),
            ("America/New_York", "day:2026-03-08", Some("2026-03-09T04:00:00Z")),
            ("America/New_York", "day:2026-11-01", Some("2026-11-02T05:00:00Z")),
            // Midnight itself does not exist on the next day.
            ("America/Santiago", "day:2026-09-05", Some("2026-09-06T04:00:00Z")),
            ("UTC", "once", None),
            ("UTC", "day:9999-12-31", None),
        ] {
            let found = Zone::named(zone).unwrap().end_of(period.parse().unwrap());
            assert_eq!(found, end.map(at), "{zone} {period}");
        }
    }

    #[test]
    fn a_clock_that_goes_backwards_leads_to_the_earlier_period_again() {
        let zone = Zone::named("Asia/Taipei").unwrap();
        let before = zone.period(Period::Day, at("2026-03-01T15:59:00Z"));
        let after = zone.period(Period::Day, at("2026-03-01T16:01:00Z"));
        let set_back = zone.period(Period::Day, at("2026-03-01T15:58:00Z"));
        assert_ne!(before, after);
        assert_eq!(before, set_back);
    }

    #[test]
    fn the_ends_of_time_have_a_day() {
        let zone = Zone::named("Pacific/Kiritimati").unwrap();
        for moment in [i64::MIN, -1, 0, i64::MAX] {
            let day = zone.day(Timestamp(moment));
            assert_eq!(day.to_string().parse(), Ok(day), "{moment}");
        }
    }

    #[test]
    fn a_period_reads_back_and_has_one_spelling() {
        for good in ["once", "day:2026-03-08", "month:2026-11"] {
            assert_eq!(good.parse::<PeriodKey>().unwrap().to_string(), good);
        }
        for bad in ["", "day", "day:", "day:2026-3-8", "day:20260308", "month:2026-11-01", "year:2026", "Once"] {
            assert!(bad.parse::<PeriodKey>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_unknown_zone_is_refused_by_name() {
        for bad in ["", "Mars/Olympus", "Asia/Taipeh", "../etc/passwd"] {
            assert_eq!(Zone::named(bad), Err(UnknownZone { name: bad.to_owned() }));
        }
    }
}
