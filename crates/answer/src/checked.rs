//! The checking of citations, for whoever writes an answer in other ways than the pipeline.

use bylaw_contract::{ArticleId, Language, ask::Sentence};

use crate::{
    attribution::{self, INVALID_CITATION},
    id_filter::IdFilter,
};

/// A text with its citations checked: what may be shown of it, and which sentence stands on what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The text as it may be shown: markers that name no given article are out.
    pub text: String,
    /// The same, sentence by sentence.
    pub sentences: Vec<Sentence>,
    /// It says that the rules do not answer.
    pub says_not_in_rules: bool,
}

impl Checked {
    /// Checks the citations of a text by a model that was given these articles. It is the one check there is: the
    /// pipeline's.
    #[must_use]
    pub fn of(text: &str, given: &[ArticleId], language: Language) -> Self {
        let mut filter = IdFilter::new(given.iter().cloned());
        filter.push(text);
        let (_, filtered) = filter.finish();
        Self {
            sentences: attribution::attribute(&filtered, given, language),
            says_not_in_rules: filtered.says_not_in_rules,
            text: filtered.text,
        }
    }

    /// Whether any sentence cites an article.
    #[must_use]
    pub fn cites(&self) -> bool {
        self.sentences.iter().any(|sentence| !sentence.citations.is_empty())
    }

    /// Whether any sentence cites what was not given.
    #[must_use]
    pub fn has_invalid(&self) -> bool {
        let is_invalid = |problem: &String| problem == INVALID_CITATION;
        self.sentences.iter().any(|sentence| sentence.problems.iter().any(is_invalid))
    }
}
