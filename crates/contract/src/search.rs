//! `POST /search`: articles without an answer.

use serde::{Deserialize, Serialize};

use crate::{
    ask::{FieldError, check_question, check_range, check_source, default_true},
    citation::Citation,
    ids::{GenerationNumber, RequestId},
};

/// A search. Unknown fields are refused by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// 1–500 characters.
    #[schema(min_length = 1, max_length = 500)]
    pub question: String,
    /// Articles, 1–50. Articles that the best of them refer to come on top of that.
    #[serde(default = "default_k")]
    #[schema(minimum = 1, maximum = 50, default = 5)]
    pub k: u32,
    /// Restrict to one source, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Restrict to one chapter, 1–99.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 99)]
    pub chapter_no: Option<u32>,
    /// Least cosine similarity, −1 to 1. Without vectors it filters nothing and the reply says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_similarity: Option<f64>,
    /// `false` neither reads nor writes a cache.
    #[serde(default = "default_true")]
    pub use_cache: bool,
}

const fn default_k() -> u32 {
    5
}

impl SearchRequest {
    /// A request with every default.
    #[must_use]
    pub fn new(question: impl Into<String>) -> Self {
        Self {
            question: question.into(),
            k: default_k(),
            source: None,
            chapter_no: None,
            min_similarity: None,
            use_cache: true,
        }
    }

    /// Checks every field's range.
    ///
    /// # Errors
    /// The first field that is out of range.
    pub fn check(&self) -> Result<(), FieldError> {
        check_question(&self.question)?;
        check_range("k", self.k, 1, 50)?;
        check_source(self.source.as_deref())?;
        self.chapter_no.map_or(Ok(()), |n| check_range("chapter_no", n, 1, 99))?;
        match self.min_similarity {
            Some(value) if !(-1.0..=1.0).contains(&value) => {
                Err(FieldError::new("min_similarity", "must be between -1 and 1"))
            }
            _ => Ok(()),
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SearchResponse {
    /// Articles, best first, then those that the best refer to.
    pub hits: Vec<Citation>,
    /// The retriever that searched.
    pub retriever: String,
    /// The `k` that was asked for.
    pub k: u32,
    /// Whether any condition narrowed the search.
    pub filtered: bool,
    /// Tokens spent on embedding the question.
    pub embedding_tokens: u64,
    /// Milliseconds, two decimals.
    pub elapsed_ms: f64,
    /// The index generation that was searched.
    pub generation: GenerationNumber,
    /// Things worth knowing that change nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}
