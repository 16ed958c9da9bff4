//! Days and moments on the company's clock, counted in whole minutes. No time zone reaches beyond this module's
//! [`Day::of`].

use std::{fmt, str::FromStr};

use bylaw_contract::Timestamp;
use jiff::civil::{Date, Weekday};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Minutes in a day.
pub const DAY_MINUTES: u16 = 24 * 60;

/// A date of the calendar, `2026-03-01`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Day(Date);

/// A text that is no date or no time. The sentences about it are in `Refusal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTime {
    /// It is not written like one.
    #[error("write a date as 2026-03-01 and a time as 2026-03-01T08:30, on the company's clock")]
    Form,
    /// No calendar has that day, such as 30 February.
    #[error("there is no such day in the calendar")]
    NoSuchDay,
    /// No clock shows that time, such as 25:00.
    #[error("there is no such time of day; a day has 00:00 to 24:00")]
    NoSuchTime,
}

impl Day {
    /// The day of these numbers, where there is one.
    #[must_use]
    pub fn new(year: i16, month: i8, day: i8) -> Option<Self> {
        (1900..=2200).contains(&year).then(|| Date::new(year, month, day).ok().map(Self)).flatten()
    }

    /// The day and minute that a clock `offset_minutes` east of UTC shows at this moment.
    #[must_use]
    pub fn of(at: Timestamp, offset_minutes: i32) -> Moment {
        let minutes = at.0.div_euclid(60_000).saturating_add(i64::from(offset_minutes));
        let (days, minute) = (minutes.div_euclid(1_440), minutes.rem_euclid(1_440));
        let epoch = Self(Date::constant(1970, 1, 1));
        // Both are in range: `rem_euclid` bounds the minute, and days beyond the calendar end at its last.
        Moment { day: epoch.plus(days), minute: u16::try_from(minute).unwrap_or(0) }
    }

    /// This many days later, or earlier if negative; ends where the calendar ends.
    #[must_use]
    pub fn plus(self, days: i64) -> Self {
        Self(self.0.saturating_add(jiff::Span::new().days(days.clamp(-3_000_000, 3_000_000))))
    }

    /// The first day after a term of whole months that begins on this day. A month that lacks the day ends the term with
    /// its last day, so the next term begins on the first of the month after (Civil Code, article 121).
    #[must_use]
    pub fn after_months(self, months: u32) -> Self {
        let index = i64::from(self.0.year()) * 12 + i64::from(self.0.month()) - 1 + i64::from(months.min(12_000));
        let at = |index: i64, day: i8| {
            let (year, month) = (index.div_euclid(12), index.rem_euclid(12) + 1);
            Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, day).ok()
        };
        Self(at(index, self.0.day()).or_else(|| at(index + 1, 1)).unwrap_or(Date::MAX))
    }

    /// Days from `self` to `other`; negative if that is earlier.
    #[must_use]
    pub fn days_until(self, other: Self) -> i64 {
        self.0.duration_until(other.0).as_hours() / 24
    }

    /// The year.
    #[must_use]
    pub fn year(self) -> i16 {
        self.0.year()
    }

    /// The month, 1–12.
    #[must_use]
    pub fn month(self) -> i8 {
        self.0.month()
    }

    /// The day of the month, 1–31.
    #[must_use]
    pub fn day_of_month(self) -> i8 {
        self.0.day()
    }

    /// The day of the week.
    #[must_use]
    pub fn weekday(self) -> Weekday {
        self.0.weekday()
    }

    /// Its first minute.
    #[must_use]
    pub const fn begin(self) -> Moment {
        Moment { day: self, minute: 0 }
    }

    /// Its end, 24:00.
    #[must_use]
    pub const fn end(self) -> Moment {
        Moment { day: self, minute: DAY_MINUTES }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0.year(), self.0.month(), self.0.day())
    }
}

/// A number of exactly this many ASCII digits.
fn digits(text: &str, count: usize) -> Option<i16> {
    (text.len() == count && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

impl FromStr for Day {
    type Err = InvalidTime;

    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let parts = || {
            let mut parts = text.trim().splitn(3, ['-', '/']);
            let year = digits(parts.next()?, 4)?;
            let month = digits(parts.next()?, 2)?;
            Some((year, month, digits(parts.next()?, 2)?))
        };
        let (year, month, day) = parts().ok_or(InvalidTime::Form)?;
        let narrow = |number: i16| i8::try_from(number).map_err(|_more_than_two_digits| InvalidTime::Form);
        Self::new(year, narrow(month)?, narrow(day)?).ok_or(InvalidTime::NoSuchDay)
    }
}

/// A minute of a day on the company's clock, `2026-03-01T08:30`. 24:00 of one day is not 00:00 of the next: a span that
/// ends on a day ends there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Moment {
    /// The day.
    pub day: Day,
    /// The minute of the day, 0–1440.
    pub minute: u16,
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}T{}", self.day, ClockTime(self.minute))
    }
}

/// A minute of a day as a clock shows it, `08:30`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClockTime(pub u16);

impl fmt::Display for ClockTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl FromStr for ClockTime {
    type Err = InvalidTime;

    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let mut parts = text.trim().splitn(3, ':');
        let mut next = || parts.next().map(|part| digits(part, 2).ok_or(InvalidTime::Form)).transpose();
        let (Some(hour), Some(minute), second) = (next()?, next()?, next()?) else { return Err(InvalidTime::Form) };
        let total = hour * 60 + minute;
        let exists =
            minute < 60 && second.unwrap_or(0) == 0 && (0..=i16::try_from(DAY_MINUTES).unwrap_or(0)).contains(&total);
        if exists {
            u16::try_from(total).map(Self).map_err(|_negative| InvalidTime::NoSuchTime)
        } else {
            Err(InvalidTime::NoSuchTime)
        }
    }
}

impl FromStr for Moment {
    type Err = InvalidTime;

    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let (day, time) = text.trim().split_once(['T', ' ']).ok_or(InvalidTime::Form)?;
        Ok(Self { day: day.parse()?, minute: time.parse::<ClockTime>()?.0 })
    }
}

macro_rules! as_text {
    ($($name:ty),+) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

as_text!(Day, Moment, Edge);

/// What a caller writes for the beginning or the end of a leave: a whole day, or a moment in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The day as a whole.
    Day(Day),
    /// That minute.
    At(Moment),
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day(day) => day.fmt(f),
            Self::At(moment) => moment.fmt(f),
        }
    }
}

impl FromStr for Edge {
    type Err = InvalidTime;

    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        if text.trim().contains(['T', ' ']) { text.parse().map(Self::At) } else { text.parse().map(Self::Day) }
    }
}

/// Longest span of one leave, in days: a year and what little overlaps.
pub const MAX_SPAN_DAYS: i64 = 366;

/// Why two edges make no span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidSpan {
    /// The end is not after the beginning.
    Reversed,
    /// Longer than [`MAX_SPAN_DAYS`].
    TooLong {
        /// Its days.
        days: i64,
    },
}

/// From one moment to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    start: Moment,
    end: Moment,
}

impl Span {
    /// The span between two edges: a day as its beginning means its first minute, as its end its last.
    ///
    /// # Errors
    /// If it ends before it begins, or is longer than [`MAX_SPAN_DAYS`].
    pub fn new(start: Edge, end: Edge) -> Result<Self, InvalidSpan> {
        let start = match start {
            Edge::Day(day) => day.begin(),
            Edge::At(moment) => moment,
        };
        let end = match end {
            Edge::Day(day) => day.end(),
            Edge::At(moment) => moment,
        };
        if end <= start {
            return Err(InvalidSpan::Reversed);
        }
        let days = start.day.days_until(end.day) + 1;
        if days > MAX_SPAN_DAYS { Err(InvalidSpan::TooLong { days }) } else { Ok(Self { start, end }) }
    }

    /// Its first minute.
    #[must_use]
    pub const fn start(self) -> Moment {
        self.start
    }

    /// The first minute after it.
    #[must_use]
    pub const fn end(self) -> Moment {
        self.end
    }

    /// Its edges as people write them: days alone where it is of whole days.
    #[must_use]
    pub fn edges(self) -> (Edge, Edge) {
        let (first, last) = (self.start.day, self.end.day);
        if self.start == first.begin() && self.end == last.end() {
            (Edge::Day(first), Edge::Day(last))
        } else {
            (Edge::At(self.start), Edge::At(self.end))
        }
    }

    /// Whether the two share a minute.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// Its days, the first to the last.
    pub fn days(self) -> impl Iterator<Item = Day> {
        let days = self.start.day.days_until(self.end.day);
        (0..=days).map(move |days| self.start.day.plus(days))
    }
}
