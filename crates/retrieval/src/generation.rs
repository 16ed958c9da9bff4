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
