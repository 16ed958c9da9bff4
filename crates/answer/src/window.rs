//! What one asker can see of the rules for one question.

use std::sync::Arc;

use bylaw_contract::{ArticleId, SourceName};
use bylaw_gate::Principal;
use bylaw_retrieval::{Filter, Found, Generation, GenerationError, Hit, HitKind, Ordinal, Query};

use crate::{
    ask::{AnswerError, Ask},
    reading::without_stalling,
};

/// The rules as one question may see them: one generation, the sources that its asker may read, the source and the
/// chapter that were asked for. What is outside is not there: it is not found, not read, not counted and not named.
#[derive(Clone, Debug)]
pub struct Window {
    generation: Arc<Generation>,
    principal: Principal,
    source: Option<SourceName>,
    chapter_no: Option<u32>,
}

impl Window {
    /// The window of a question; an error if the source that was asked for is not there, or not for this asker.
    pub(crate) fn of(ask: &Ask<'_>) -> Result<Self, AnswerError> {
        let source = match ask.request.source.as_deref() {
            None => None,
            Some(name) => {
                let unknown = || AnswerError::SourceNotFound(name.to_owned());
                let source = SourceName::new(name).map_err(|_| unknown())?;
                let is_readable = ask.principal.sources().contains(&source);
                ask.generation.source(&source).filter(|_| is_readable).ok_or_else(unknown)?;
                Some(source)
            }
        };
        Ok(Self {
            generation: Arc::clone(&ask.generation),
            principal: ask.principal.clone(),
            source,
            chapter_no: ask.request.chapter_no,
        })
    }

    pub(crate) fn filter(&self) -> Filter<'_> {
        Filter { source: self.source.as_ref(), chapter_no: self.chapter_no, readable: self.principal.sources().only() }
    }

    /// Searches for `k` articles and those that the best of them name.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn search(&self, question: &str, k: usize) -> Result<Found, GenerationError> {
        let query = Query { question, k, filter: self.filter(), follow_references: true };
        without_stalling(&self.generation, || self.generation.search(&query))
    }

    /// Looks an article up; `None` if it is not there.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn article(&self, id: &ArticleId) -> Result<Option<Hit>, GenerationError> {
        let Some(ordinal) = self.generation.find_within(id, &self.filter()) else { return Ok(None) };
        let article = self.generation.article(ordinal)?;
        let (kind, highlights) = (HitKind::LookedUp, Vec::new());
        Ok(Some(Hit { ordinal, article, score: 0.0, coverage: 0.0, kind, highlights }))
    }

    /// The articles that an article names.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn refers_to(&self, ordinal: Ordinal) -> Result<Vec<ArticleId>, GenerationError> {
        let filter = self.filter();
        let mut named = Vec::new();
        for ordinal in self.generation.refers_to(ordinal) {
            let article = self.generation.article(ordinal)?;
            if self.generation.find_within(&article.id, &filter).is_some() {
                named.push(article.id.clone());
            }
        }
        Ok(named)
    }

    /// The sources, in the order of their names.
    pub fn sources(&self) -> impl Iterator<Item = &SourceName> {
        let filter = self.filter();
        self.generation.sources().iter().filter(|source| source.articles > 0).map(|source| &source.name).filter(
            move |name| {
                filter.source.is_none_or(|source| source == *name)
                    && filter.readable.is_none_or(|readable| readable.contains(*name))
            },
        )
    }
}
