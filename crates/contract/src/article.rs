//! How an article is addressed, and where it stands in its version's text.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ids::SourceName;

/// A half-open range of **bytes** in a UTF-8 text: `text[span.start..span.end]`.
///
/// Both ends always lie on character boundaries of the text the span belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// A span over `start..end`.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Length in bytes.
    #[must_use]
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether the span covers nothing.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// The covered part of `text`, or `None` where the span does not fit it.
    #[must_use]
    pub fn of(self, text: &str) -> Option<&str> {
        text.get(self.start..self.end)
    }

    /// Whether `other` lies entirely inside this span.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The same range counted from `origin` instead of from 0.
    #[must_use]
    pub const fn relative_to(self, origin: usize) -> Self {
        Self { start: self.start - origin, end: self.end - origin }
    }
}

/// The key of an article inside its source, in one spelling however the text writes it: `26`, `26-1` (第二十六條之一),
/// `4.2` (Section 4.2), `annex-1` (附表一), `s3` (third section of a document without articles), `p12` (paragraph).
///
/// Never empty, at most 64 bytes, no white space and no `#`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArticleAddress(String);

/// Why a text is not an article address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an article address has 1 to 64 characters, without spaces or '#': 26, 26-1, 4.2, annex-1")]
pub struct InvalidArticleAddress;

impl ArticleAddress {
    /// Longest address, in bytes.
    pub const MAX_BYTES: usize = 64;

    /// Parses an address that is already in its one spelling.
    ///
    /// # Errors
    /// If it is empty, too long, or holds white space, a control character or `#`.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidArticleAddress> {
        let text = text.into();
        let fits = !text.is_empty() && text.len() <= Self::MAX_BYTES;
        if fits && !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '#') {
            Ok(Self(text))
        } else {
            Err(InvalidArticleAddress)
        }
    }

    /// The address of a numbered article: main integer and the numbers after 之.
    #[must_use]
    pub fn numbered(main: u32, branches: &[u32]) -> Self {
        let mut text = main.to_string();
        for branch in branches.iter().take(4) {
            text.push('-');
            text.push_str(&branch.to_string());
        }
        Self(text)
    }

    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The main integer: 26 for `26` and `26-1`; `None` for addresses such as `4.2` or `annex-1`.
    #[must_use]
    pub fn main_number(&self) -> Option<u32> {
        self.0.split('-').next()?.parse().ok()
    }
}

impl fmt::Display for ArticleAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ArticleAddress {
    type Err = InvalidArticleAddress;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl Serialize for ArticleAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ArticleAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// One article of one source, written `work_rules.md#26-1`. Stable from retrieval to answer, page and MCP text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArticleId {
    /// The document.
    pub source: SourceName,
    /// The article inside it.
    pub article: ArticleAddress,
}

/// Why a text is not an article id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an article id is written source#article, for example work_rules.md#26-1")]
pub struct InvalidArticleId;

impl ArticleId {
    /// Joins a source and an address.
    #[must_use]
    pub const fn new(source: SourceName, article: ArticleAddress) -> Self {
        Self { source, article }
    }
}

impl fmt::Display for ArticleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.source, self.article)
    }
}

impl FromStr for ArticleId {
    type Err = InvalidArticleId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (source, article) = text.rsplit_once('#').ok_or(InvalidArticleId)?;
        Ok(Self {
            source: SourceName::new(source).map_err(|_| InvalidArticleId)?,
            article: ArticleAddress::new(article).map_err(|_| InvalidArticleId)?,
        })
    }
}

impl Serialize for ArticleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ArticleId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_article_id_survives_its_text_form() {
        for text in ["work_rules.md#26-1", "員工工作規則.md#annex-1", "a/b #c.txt#4.2"] {
            assert_eq!(text.parse::<ArticleId>().map(|id| id.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn addresses_refuse_what_would_break_an_id() {
        for text in ["", "2 6", "2#6", "\u{0}", &"9".repeat(65)] {
            assert_eq!(ArticleAddress::new(text), Err(InvalidArticleAddress), "{text:?}");
        }
    }

    #[test]
    fn the_main_number_ignores_branches_and_is_absent_for_other_addresses() {
        let main = |text: &str| ArticleAddress::new(text).ok().and_then(|a| a.main_number());
        assert_eq!(main("26"), Some(26));
        assert_eq!(main("26-1"), Some(26));
        assert_eq!(main("4.2"), None);
        assert_eq!(main("annex-1"), None);
    }
}
