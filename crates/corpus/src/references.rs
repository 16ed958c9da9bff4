//! What articles name: other articles, chapters, other laws.

use crate::document::Article;

/// Fills in the references of every article.
pub(crate) fn resolve(_text: &str, _articles: &mut [Article]) {}

/// Where a record of a collection stands: its law, counted from 1, and its number in it.
pub(crate) struct Place {
    pub(crate) group: Option<usize>,
    pub(crate) number: Option<bylaw_contract::ArticleAddress>,
}

/// Fills in the references of the records of a collection, each within its law.
pub(crate) fn resolve_records(_text: &str, _articles: &mut [Article], _places: &[Place]) {}
