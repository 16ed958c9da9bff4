//! The leave types, as data: how much, in which unit, at what pay, with what notice and evidence, and which article says so.

mod leave_type;

use std::collections::BTreeMap;

use bylaw_contract::Language;
use serde::Deserialize;

pub use self::leave_type::{Case, Counting, CountsInto, LawArticle, LeaveType, LeaveYear, Pay, Quota, Tier, Unit};
use super::ids::TypeId;

/// The catalogue that the program bundles.
pub const BUNDLED: &str = include_str!("../../../leave-types.toml");

/// Why a file is not a catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCatalogue {
    /// Not TOML, an unknown field, or a missing one; the text says where.
    #[error("the leave types cannot be read: {0}")]
    Syntax(String),
    /// Two types answer to one name.
    #[error("two leave types are called {0:?}")]
    SameName(String),
    /// A type refers to something that is not there.
    #[error("{of}: there is no {what}")]
    Missing {
        /// The type that refers.
        of: TypeId,
        /// To what.
        what: String,
    },
    /// A figure that cannot be.
    #[error("{of}: {what}")]
    Figure {
        /// The type.
        of: TypeId,
        /// What is wrong.
        what: &'static str,
    },
}

/// A law that types come from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Law {
    /// In Chinese.
    pub name_zh: String,
    /// In English.
    pub name_en: String,
    /// In the Laws and Regulations Database of Taiwan.
    pub code: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    law_as_of: String,
    law: BTreeMap<String, Law>,
    #[serde(rename = "type")]
    types: Vec<LeaveType>,
}

/// Every leave type, in the file's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogue {
    law_as_of: String,
    laws: BTreeMap<String, Law>,
    types: Vec<LeaveType>,
}

impl Catalogue {
    /// Reads a catalogue.
    ///
    /// # Errors
    /// If it is not one, or refers to what is not there.
    pub fn parse(text: &str) -> Result<Self, InvalidCatalogue> {
        let file: File = toml::from_str(text).map_err(|error| InvalidCatalogue::Syntax(error.to_string()))?;
        let catalogue = Self { law_as_of: file.law_as_of, laws: file.law, types: file.types };
        let mut names = BTreeMap::new();
        for kind in &catalogue.types {
            for name in names_of(kind) {
                if names.insert(name.clone(), &kind.id).is_some_and(|other| *other != kind.id) {
                    return Err(InvalidCatalogue::SameName(name));
                }
            }
            catalogue.check(kind)?;
        }
        Ok(catalogue)
    }

    fn check(&self, kind: &LeaveType) -> Result<(), InvalidCatalogue> {
        let missing = |what: String| Err(InvalidCatalogue::Missing { of: kind.id.clone(), what });
        let wrong = |what| Err(InvalidCatalogue::Figure { of: kind.id.clone(), what });
        if let Some(article) = kind.articles.iter().find(|article| !self.laws.contains_key(&article.law)) {
            return missing(format!("law {:?}", article.law));
        }
        if let Some(into) = &kind.counts_into
            && !self.types.iter().any(|other| other.id == into.kind && matches!(other.quota, Quota::PerYear { .. }))
        {
            return missing(format!("type {:?} with a yearly quota", into.kind.as_str()));
        }
        match &kind.quota {
            Quota::Seniority { tiers, carry_over_until, .. } => {
                if tiers.is_empty() || !tiers.is_sorted_by(|a, b| a.months < b.months) {
                    return wrong("tiers are listed by months of service, the fewest first");
                }
                if carry_over_until.as_deref().is_some_and(|text| month_and_day(text).is_none()) {
                    return wrong("carry_over_until is a month and a day such as 03-31");
                }
            }
            Quota::PerEvent { cases } if cases.is_empty() => return wrong("a quota per event lists its cases"),
            Quota::PerYear { .. }
            | Quota::PerMonth { .. }
            | Quota::PerEvent { .. }
            | Quota::AsNeeded {}
            | Quota::Earned {} => {}
        }
        Ok(())
    }

    /// The catalogue that the program bundles.
    ///
    /// # Errors
    /// Never; a test holds it.
    pub fn bundled() -> Result<Self, InvalidCatalogue> {
        Self::parse(BUNDLED)
    }

    /// The day the laws were read.
    #[must_use]
    pub fn law_as_of(&self) -> &str {
        &self.law_as_of
    }

    /// A law by its key.
    #[must_use]
    pub fn law(&self, key: &str) -> Option<&Law> {
        self.laws.get(key)
    }

    /// Every type.
    #[must_use]
    pub fn types(&self) -> &[LeaveType] {
        &self.types
    }

    /// A type by its id.
    #[must_use]
    pub fn get(&self, id: &TypeId) -> Option<&LeaveType> {
        self.types.iter().find(|kind| kind.id == *id)
    }

    /// A type by any name of it: its id, its names, or an alias, whatever their case.
    #[must_use]
    pub fn named(&self, text: &str) -> Option<&LeaveType> {
        let text = text.trim().to_lowercase();
        self.types.iter().find(|kind| names_of(kind).any(|name| name == text))
    }

    /// Articles as people cite them: 「勞動基準法第 38 條」, "Labor Standards Act, article 38".
    #[must_use]
    pub fn cite(&self, kind: &LeaveType, language: Language) -> Vec<String> {
        let cite = |article: &LawArticle| {
            let law = self.laws.get(&article.law)?;
            Some(if language.is_chinese() {
                let (main, branch) = article.article.split_once('-').unwrap_or((&article.article, ""));
                let branch = if branch.is_empty() { String::new() } else { format!("之 {branch}") };
                format!("{}第 {main} 條{branch}", law.name_zh)
            } else {
                format!("{}, article {}", law.name_en, article.article)
            })
        };
        kind.articles.iter().filter_map(cite).collect()
    }
}

fn names_of(kind: &LeaveType) -> impl Iterator<Item = String> {
    let names = [kind.id.as_str(), &kind.name_zh, &kind.name_en].into_iter();
    names.chain(kind.aliases.iter().map(String::as_str)).map(str::to_lowercase)
}

/// `03-31` as numbers.
pub(crate) fn month_and_day(text: &str) -> Option<(i8, i8)> {
    let (month, day) = text.split_once('-')?;
    let (month, day) = (month.parse().ok()?, day.parse().ok()?);
    // 29 February is not every year's.
    super::time::Day::new(2023, month, day).map(|_exists| (month, day))
}
