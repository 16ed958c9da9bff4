//! An index generation: an immutable folder, and the value that reads it.

use std::{path::Path, sync::Arc};

use bylaw_contract::{ArticleId, GenerationNumber, SourceName, Span, Timestamp, VersionId, sources::Structure};
use bylaw_corpus::{Article, Document, Heading};
use serde::{Deserialize, Serialize};

use crate::query::{Found, Query};

/// The place of an article in its generation: 0-based, sources in name order, articles in document order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Ordinal(pub u32);

/// One source to be indexed.
#[derive(Clone, Debug)]
pub struct SourceInput {
    /// Its name.
    pub name: SourceName,
    /// The version that is to answer.
    pub version: VersionId,
    /// When that version was read.
    pub ingested_at: Timestamp,
    /// The document as read.
    pub document: Document,
}

/// One source of a generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerationSource {
    /// Its name.
    pub name: SourceName,
    /// The document's title.
    pub title: Option<String>,
    /// The version that answers.
    pub version: VersionId,
    /// When that version was read.
    pub ingested_at: Timestamp,
    /// What it was cut into.
    pub structure: Structure,
    /// Ordinal of its first article.
    pub first: Ordinal,
    /// Number of its articles.
    pub articles: u32,
}

/// An article as a generation keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedArticle {
    /// `work_rules.md#26-1`.
    pub id: ArticleId,
    /// `第 26 條之 1（遞延）`.
    pub title: String,
    /// `遞延`.
    pub caption: Option<String>,
    /// Headings above it, outermost first.
    pub heading_path: Vec<Heading>,
    /// Its words; `version.text[span] == text`.
    pub text: String,
    /// Where it stands in its version's text.
    pub span: Span,
    /// The version it comes from.
    pub version: VersionId,
    /// The document's title.
    pub source_title: Option<String>,
}

/// How far a build has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildProgress {
    /// Articles indexed.
    pub done: usize,
    /// Articles in all.
    pub total: usize,
}

/// Why a generation cannot be built or read.
#[derive(Debug, thiserror::Error)]
pub enum GenerationError {
    /// The folder is not a generation, or a part of it is missing or damaged.
    #[error("index generation in {folder} is damaged: {problem}")]
    Damaged {
        /// The folder.
        folder: String,
        /// What is wrong.
        problem: String,
    },
    /// The generation was built by another revision of the analysis and must be rebuilt.
    #[error("index generation in {folder} was built by another version of the program")]
    Outdated {
        /// The folder.
        folder: String,
    },
    /// The disk failed.
    #[error("index generation")]
    Io(#[from] std::io::Error),
    /// The search library failed.
    #[error("index generation")]
    Index(#[from] tantivy::TantivyError),
    /// The build was told to stop.
    #[error("building the index was cancelled")]
    Cancelled,
}

/// A generation, opened for reading. Cheap to share; nothing in it changes.
#[derive(Debug)]
pub struct Generation {}

/// Builds a generation in `folder` (created; must be empty). Sources are indexed in the order of their names, one
/// segment, so that an article's ordinal is its document number.
///
/// `progress` is called now and then and returns whether to go on.
///
/// # Errors
/// [`GenerationError`]; what was written is incomplete and `open` refuses it.
pub fn build(
    folder: &Path,
    number: GenerationNumber,
    sources: &mut dyn Iterator<Item = SourceInput>,
    total_articles: usize,
    progress: &mut dyn FnMut(BuildProgress) -> bool,
) -> Result<(), GenerationError> {
    let _ = (folder, number, sources, total_articles, progress);
    todo!("written by the retrieval part")
}

impl Generation {
    /// The generation of an empty collection, number 0.
    #[must_use]
    pub fn empty(vocabulary: Arc<crate::Vocabulary>) -> Self {
        let _ = vocabulary;
        todo!("written by the retrieval part")
    }

    /// Opens a finished generation.
    ///
    /// # Errors
    /// [`GenerationError`] if it is damaged, incomplete, or of another analysis revision.
    pub fn open(folder: &Path, vocabulary: Arc<crate::Vocabulary>) -> Result<Self, GenerationError> {
        let _ = (folder, vocabulary);
        todo!("written by the retrieval part")
    }

    /// Its number.
    #[must_use]
    pub fn number(&self) -> GenerationNumber {
        todo!("written by the retrieval part")
    }

    /// Articles in it.
    #[must_use]
    pub fn article_count(&self) -> usize {
        todo!("written by the retrieval part")
    }

    /// Its sources, by name.
    #[must_use]
    pub fn sources(&self) -> &[GenerationSource] {
        todo!("written by the retrieval part")
    }

    /// The source of this name.
    #[must_use]
    pub fn source(&self, name: &SourceName) -> Option<&GenerationSource> {
        let _ = name;
        todo!("written by the retrieval part")
    }

    /// Where an article is.
    #[must_use]
    pub fn find(&self, id: &ArticleId) -> Option<Ordinal> {
        let _ = id;
        todo!("written by the retrieval part")
    }

    /// Reads an article.
    ///
    /// # Errors
    /// If the disk fails or `ordinal` is not of this generation.
    pub fn article(&self, ordinal: Ordinal) -> Result<Arc<IndexedArticle>, GenerationError> {
        let _ = ordinal;
        todo!("written by the retrieval part")
    }

    /// Articles that this one names, over all sources.
    #[must_use]
    pub fn refers_to(&self, ordinal: Ordinal) -> Vec<Ordinal> {
        let _ = ordinal;
        todo!("written by the retrieval part")
    }

    /// Articles that name this one.
    #[must_use]
    pub fn referred_by(&self, ordinal: Ordinal) -> Vec<Ordinal> {
        let _ = ordinal;
        todo!("written by the retrieval part")
    }

    /// Answers a query.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn search(&self, query: &Query<'_>) -> Result<Found, GenerationError> {
        let _ = query;
        todo!("written by the retrieval part")
    }

    /// How much information a folded term carries in this generation (BM25's idf); for a term that no article has, what
    /// one that a single article has would carry, and a little more.
    #[must_use]
    pub fn idf(&self, term: &str) -> f32 {
        let _ = term;
        todo!("written by the retrieval part")
    }

    /// Whether any article has this folded word: an English stem, or CJK text all of whose bigrams stand side by side in
    /// one article.
    #[must_use]
    pub fn knows(&self, folded: &str) -> bool {
        let _ = folded;
        todo!("written by the retrieval part")
    }
}
