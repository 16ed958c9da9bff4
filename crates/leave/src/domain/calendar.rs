//! The working calendar: which minutes of which days are worked.
//!
//! It is the operator's file. What the program bundles is a sample and says so.

use std::collections::BTreeMap;

use jiff::civil::Weekday;
use serde::{Deserialize, Serialize};

use super::time::{ClockTime, Day, Moment, Span};

/// The bundled sample. Provisional: the official calendar is the government's to publish.
pub const SAMPLE: &str = include_str!("../../sample-calendar.toml");

/// Why a file is not a working calendar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCalendar {
    /// Not TOML, an unknown field, or a missing one; the text says where.
    #[error("the working calendar cannot be read: {0}")]
    Syntax(String),
    /// Working hours that are no hours, overlap or are out of order.
    #[error("{0}: working hours are blocks such as \"08:30-12:30\", in order and apart")]
    Hours(String),
    /// The offset is not one.
    #[error("utc_offset is written like +08:00")]
    Offset,
    /// Two entries for one day.
    #[error("{0} is listed twice among holidays and make-up days")]
    Twice(Day),
    /// It knows no day.
    #[error("the calendar ends before it begins")]
    Covers,
    /// No working day in the week.
    #[error("the week has no working hours")]
    Idle,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    provisional: bool,
    #[serde(default)]
    official: String,
    utc_offset: String,
    covers: Covers,
    standard: Vec<String>,
    #[serde(default)]
    week: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    holiday: Vec<Named>,
    #[serde(default)]
    make_up: Vec<MakeUp>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Covers {
    from: Day,
    to: Day,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    date: Day,
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MakeUp {
    date: Day,
    name: String,
    #[serde(default)]
    hours: Option<Vec<String>>,
}

/// Blocks of working minutes of one day, in order and apart: `[from, to)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hours(Vec<(u16, u16)>);

impl Hours {
    fn parse(blocks: &[String]) -> Result<Self, InvalidCalendar> {
        let mut hours: Vec<(u16, u16)> = Vec::with_capacity(blocks.len());
        for block in blocks {
            let wrong = || InvalidCalendar::Hours(block.clone());
            let (from, to) = block.split_once('-').ok_or_else(wrong)?;
            let minute = |text: &str| text.parse::<ClockTime>().map(|time| time.0).map_err(|_no_time| wrong());
            let (from, to) = (minute(from)?, minute(to)?);
            if from >= to || hours.last().is_some_and(|(_, end)| from < *end) {
                return Err(wrong());
            }
            hours.push((from, to));
        }
        Ok(Self(hours))
    }

    /// All minutes of the day.
    #[must_use]
    pub fn minutes(&self) -> u32 {
        self.within(0, u16::MAX)
    }

    /// Minutes in `[from, to)`.
    #[must_use]
    pub fn within(&self, from: u16, to: u16) -> u32 {
        self.0.iter().map(|(a, b)| u32::from(to.min(*b).saturating_sub(from.max(*a)))).sum()
    }

    /// The blocks, `[from, to)` in minutes of the day.
    pub fn spans(&self) -> impl Iterator<Item = (u16, u16)> {
        self.0.iter().copied()
    }

    /// Whether `[from, to)` takes some blocks as a whole and no part of another: a morning, an afternoon, the day.
    #[must_use]
    pub fn is_whole_blocks(&self, from: u16, to: u16) -> bool {
        let taken = |(a, b): &(u16, u16)| u32::from(to.min(*b).saturating_sub(from.max(*a)));
        self.0.iter().all(|block| taken(block) == 0 || taken(block) == u32::from(block.1 - block.0))
    }
}

impl std::fmt::Display for Hours {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, (from, to)) in self.spans().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{}–{}", ClockTime(from), ClockTime(to))?;
        }
        Ok(())
    }
}

/// What one day of a leave takes of the working time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayPart {
    /// The day.
    pub day: Day,
    /// Working minutes.
    pub minutes: u32,
}

/// A special day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Special {
    /// Not worked though its weekday is.
    Holiday(String),
    /// Worked though its weekday is not.
    MakeUp(String),
}

/// The working calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkCalendar {
    name: String,
    official: String,
    is_provisional: bool,
    offset_minutes: i32,
    from: Day,
    to: Day,
    standard_minutes: u32,
    week: [Hours; 7],
    special: BTreeMap<Day, (Special, Hours)>,
}

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

impl WorkCalendar {
    /// Reads a calendar file.
    ///
    /// # Errors
    /// If it is not one; the error names the line or the value.
    pub fn parse(text: &str) -> Result<Self, InvalidCalendar> {
        let file: File = toml::from_str(text).map_err(|error| InvalidCalendar::Syntax(error.to_string()))?;
        let standard = Hours::parse(&file.standard)?;
        let mut week: [Hours; 7] = Default::default();
        for (name, hours) in &file.week {
            let index = WEEKDAYS.iter().position(|(weekday, _)| weekday == name);
            let index = index.ok_or_else(|| InvalidCalendar::Syntax(format!("week: {name:?} is no weekday")))?;
            week[index] = Hours::parse(hours)?;
        }
        if file.week.is_empty() {
            week[..5].fill(standard.clone());
        }
        if week.iter().all(|hours| hours.minutes() == 0) || standard.minutes() == 0 {
            return Err(InvalidCalendar::Idle);
        }
        if file.covers.to < file.covers.from {
            return Err(InvalidCalendar::Covers);
        }
        let mut special = BTreeMap::new();
        for Named { date, name } in file.holiday {
            if special.insert(date, (Special::Holiday(name), Hours::default())).is_some() {
                return Err(InvalidCalendar::Twice(date));
            }
        }
        for MakeUp { date, name, hours } in file.make_up {
            let hours = hours.map_or_else(|| Ok(standard.clone()), |hours| Hours::parse(&hours))?;
            if special.insert(date, (Special::MakeUp(name), hours)).is_some() {
                return Err(InvalidCalendar::Twice(date));
            }
        }
        Ok(Self {
            name: file.name,
            official: file.official,
            is_provisional: file.provisional,
            offset_minutes: offset(&file.utc_offset).ok_or(InvalidCalendar::Offset)?,
            from: file.covers.from,
            to: file.covers.to,
            standard_minutes: standard.minutes(),
            week,
            special,
        })
    }

    /// What people call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a sample that nobody vouches for.
    #[must_use]
    pub const fn is_provisional(&self) -> bool {
        self.is_provisional
    }

    /// Where the official calendar is published.
    #[must_use]
    pub fn official(&self) -> &str {
        &self.official
    }

    /// The first and last day it knows.
    #[must_use]
    pub const fn covers(&self) -> (Day, Day) {
        (self.from, self.to)
    }

    /// Whether it can count this day. A provisional calendar counts any day by its week: a sample that stops would only
    /// teach people to ignore it.
    #[must_use]
    pub fn knows(&self, day: Day) -> bool {
        self.is_provisional || (self.from..=self.to).contains(&day)
    }

    /// The company's clock: minutes east of UTC.
    #[must_use]
    pub const fn offset_minutes(&self) -> i32 {
        self.offset_minutes
    }

    /// The working minutes that "one day" of a quota stands for.
    #[must_use]
    pub const fn day_minutes(&self) -> u32 {
        self.standard_minutes
    }

    /// The working hours of a day.
    #[must_use]
    pub fn hours(&self, day: Day) -> &Hours {
        match self.special.get(&day) {
            Some((_, hours)) => hours,
            None => &self.week[usize::try_from(day.weekday().to_monday_zero_offset()).unwrap_or(0) % 7],
        }
    }

    /// The holidays and make-up days of a span of days, in order.
    pub fn specials(&self, from: Day, to: Day) -> impl Iterator<Item = (Day, &Special)> {
        self.special.iter().filter(move |(day, _)| (from..=to).contains(day)).map(|(day, (special, _))| (*day, special))
    }

    /// The working minutes of a span, day by day; days without any are left out.
    #[must_use]
    pub fn working(&self, span: Span) -> Vec<DayPart> {
        let part = |day| {
            let from = if day == span.start().day { span.start().minute } else { 0 };
            let to = if day == span.end().day { span.end().minute } else { u16::MAX };
            DayPart { day, minutes: self.hours(day).within(from, to) }
        };
        span.days().map(part).filter(|part| part.minutes > 0).collect()
    }

    /// The first working minute of a span and the end of its last; the span's own edges where nobody works.
    #[must_use]
    pub fn worked(&self, span: Span) -> (Moment, Moment) {
        let edges = |day: Day| {
            let from = if day == span.start().day { span.start().minute } else { 0 };
            let to = if day == span.end().day { span.end().minute } else { u16::MAX };
            self.hours(day).spans().map(move |(a, b)| (a.max(from), b.min(to))).filter(|(a, b)| a < b)
        };
        let first = span.days().find_map(|day| Some(Moment { day, minute: edges(day).next()?.0 }));
        let days: Vec<Day> = span.days().collect();
        let last = days.into_iter().rev().find_map(|day| Some(Moment { day, minute: edges(day).last()?.1 }));
        (first.unwrap_or(span.start()), last.unwrap_or(span.end()))
    }

    /// Every day of a span as one standard day, worked or not: how the law counts maternity leave.
    #[must_use]
    pub fn calendar_days(&self, span: Span) -> Vec<DayPart> {
        span.days().map(|day| DayPart { day, minutes: self.standard_minutes }).collect()
    }

    /// Working days from the day after `from` up to and including `to`.
    #[must_use]
    pub fn working_days_between(&self, from: Day, to: Day) -> u32 {
        let days = from.days_until(to).clamp(0, 1_000);
        let worked = (1..=days).filter(|days| self.hours(from.plus(*days)).minutes() > 0).count();
        u32::try_from(worked).unwrap_or(u32::MAX)
    }
}

fn offset(text: &str) -> Option<i32> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let minutes = rest.parse::<ClockTime>().ok()?.0;
    (minutes <= 14 * 60).then(|| sign * i32::from(minutes))
}
