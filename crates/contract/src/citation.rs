//! An article in an answer, and the quotes taken from it.

use serde::{Deserialize, Serialize};

use crate::{
    article::{ArticleAddress, ArticleId, Span},
    ids::{SourceName, VersionId},
};

/// A span inside an article, with its text. `article.text[span] == text`, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Quote {
    /// Bytes in the citation's `text`.
    pub span: Span,
    /// The quoted words, verbatim.
    pub text: String,
}

/// One article, as a search hit or in an answer.
///
/// `retrieved`, `referenced` and `used` are different things: `retrieved` was ranked for the question, `referenced` is
/// named by a ranked article, `used` is what the answer rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Citation {
    /// `work_rules.md#26-1`, stable everywhere.
    #[schema(value_type = String)]
    pub id: ArticleId,
    /// The document.
    #[schema(value_type = String)]
    pub source: SourceName,
    /// Full address inside it: `26-1`.
    #[schema(value_type = String)]
    pub article: ArticleAddress,
    /// The main integer (26 for 26-1), 0 where the address has none.
    pub article_no: u32,
    /// As the document heads it: `第 26 條之 1（遞延）`.
    pub title: String,
    /// Headings above the article, outermost first.
    pub heading_path: Vec<String>,
    /// The article's whole text, as the document writes it.
    pub text: String,
    /// Cosine similarity rounded to four decimals; 0 when no vectors are in use.
    pub similarity: f32,
    /// Lexical score, comparable only within one reply; 0 for articles that were looked up or referenced.
    pub score: f32,
    /// Ranked for the question, or looked up because the question names it.
    pub retrieved: bool,
    /// Added because a ranked article names it.
    pub referenced: bool,
    /// The answer rests on it. Always false in a search.
    pub used: bool,
    /// Parts of `text` that match the question's words, for display. Bytes in `text`, ascending, not overlapping.
    pub highlights: Vec<Span>,
    /// Parts of `text` that the answer quotes.
    pub quotes: Vec<Quote>,
    /// The version of the source that this text comes from.
    #[schema(value_type = String)]
    pub source_version: VersionId,
}
