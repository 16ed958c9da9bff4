//! From a question to ranked articles of one index generation.
//!
//! ```text
//!   question ─ citation parser ──────────────► looked up: 「勞基法第 38 條」 is found, not searched
//!       └──── analysis ─ glossary ─ terms ──► ranked by BM25 ─► references of the best ─► highlights
//!
//!   documents ─ build ─► generation (a folder, immutable) ─ open ─► Generation (shared, read without a lock)
//! ```
//!
//! A query runs on one [`Generation`] from start to end; whoever serves swaps the whole value. A filter restricts before
//! ranking, and what its asker may not read does not exist. It knows nothing of who asks, who embeds, or where documents are kept.

#![cfg_attr(
    test,
    allow(clippy::allow_attributes, clippy::unwrap_used, reason = "a failing test should panic and say where")
)]

pub mod analysis;
mod citations;
#[cfg(test)]
mod fixture;
mod generation;
mod highlights;
mod index;
mod language;
mod query;
mod question;
mod search;
mod terms;
mod visible;
mod vocabulary;

pub use generation::{
    BuildProgress, Generation, GenerationError, GenerationSource, IndexedArticle, Ordinal, SourceInput, build,
};
pub use language::language_of;
pub use query::{Filter, Found, Hit, HitKind, Known, Query, QuestionAnalysis, QuestionWord};
pub use visible::Visible;
pub use vocabulary::{Vocabulary, VocabularyError};

/// The name of the one retriever there is without vectors.
pub const LEXICAL: &str = "lexical";
