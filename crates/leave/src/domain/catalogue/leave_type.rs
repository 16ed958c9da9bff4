//! One leave type, as its entry in the file says it.

use bylaw_contract::Language;
use serde::{Deserialize, Serialize};

use crate::domain::ids::TypeId;

/// An article of a law.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LawArticle {
    /// Key of the law in the catalogue.
    pub law: String,
    /// Its number, `38` or `32-1`.
    pub article: String,
}

/// The least that can be taken at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Whole working days.
    Day,
    /// Whole working days, mornings and afternoons.
    HalfDay,
    /// Whole hours of working time, day by day.
    Hour,
}

/// What is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pay {
    /// All of it.
    Full,
    /// Half of it.
    Half,
    /// Nothing.
    None,
    /// All of it from six months of service on, half before.
    FullAfterSixMonths,
}

/// Which days of a span count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// Working time only.
    #[default]
    Working,
    /// Every day of the calendar.
    CalendarDays,
}

/// Where a leave year of the seniority quota begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaveYear {
    /// With each year of service.
    Anniversary,
    /// On 1 January; each year of service gives its part of the days it covers, rounded up to the minute in total.
    Calendar,
}

/// Days of leave for a year of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// From this many months of service.
    pub months: u32,
    /// So many days.
    pub days: u32,
}

/// One kind of event, with its days: a relation, a birth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// As a caller names it.
    pub id: String,
    /// In Chinese.
    pub name_zh: String,
    /// In English.
    pub name_en: String,
    /// Days for each event.
    pub days: u32,
}

/// How much of a type there is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Quota {
    /// By years of service.
    Seniority {
        /// Where a leave year begins.
        leave_year: LeaveYear,
        /// Until when what is left may be used, `MM-DD` of the year after the one in which the leave year ends.
        #[serde(default)]
        carry_over_until: Option<String>,
        /// Days by months of service.
        tiers: Vec<Tier>,
        /// From this many years on, one day more each year.
        grows_from_years: u32,
        /// And no more than this.
        most_days: u32,
    },
    /// In each calendar year.
    PerYear {
        /// Days.
        days: u32,
    },
    /// In each calendar month.
    PerMonth {
        /// Days.
        days: u32,
    },
    /// For each event.
    PerEvent {
        /// The kinds of event.
        cases: Vec<Case>,
    },
    /// As much as the occasion needs.
    AsNeeded {},
    /// As much as was earned by overtime.
    Earned {},
}

/// Another type into whose yearly quota this one counts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountsInto {
    /// That type.
    #[serde(rename = "type")]
    pub kind: TypeId,
    /// Only what goes beyond this many days of a calendar year.
    #[serde(default)]
    pub beyond_days: u32,
}

/// One leave type.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaveType {
    /// Its id.
    pub id: TypeId,
    /// In Chinese.
    pub name_zh: String,
    /// In English.
    pub name_en: String,
    /// What else people call it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The least that can be taken.
    pub unit: Unit,
    /// What is paid.
    pub pay: Pay,
    /// Which days count.
    #[serde(default)]
    pub counting: Counting,
    /// Working days between asking and leaving that the company wishes for.
    #[serde(default)]
    pub notice_working_days: u32,
    /// Whether it may be asked for after it began, as an illness must be.
    #[serde(default)]
    pub afterwards: bool,
    /// Whether a deputy must agree when it takes a day or more.
    #[serde(default)]
    pub deputy: bool,
    /// Where else it counts.
    #[serde(default)]
    pub counts_into: Option<CountsInto>,
    /// What has to be shown, in Chinese.
    pub evidence_zh: String,
    /// In English.
    pub evidence_en: String,
    /// The rule in a sentence or two, in Chinese.
    pub summary_zh: String,
    /// In English.
    pub summary_en: String,
    /// The articles it comes from.
    pub articles: Vec<LawArticle>,
    /// How much of it there is.
    pub quota: Quota,
}

impl LeaveType {
    /// Its name for this reader.
    #[must_use]
    pub fn name(&self, language: Language) -> &str {
        if language.is_chinese() { &self.name_zh } else { &self.name_en }
    }

    /// The cases of its events; none where it has no events.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        match &self.quota {
            Quota::PerEvent { cases } => cases,
            Quota::Seniority { .. }
            | Quota::PerYear { .. }
            | Quota::PerMonth { .. }
            | Quota::AsNeeded {}
            | Quota::Earned {} => &[],
        }
    }
}
