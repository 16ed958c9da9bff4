//! `/sources` and `/articles`: what is kept, and how it is laid out.

use serde::{Deserialize, Serialize};

use crate::{
    article::{ArticleAddress, ArticleId},
    citation::Citation,
    ids::{GenerationNumber, RequestId, SourceName, VersionId},
    time::Timestamp,
};

/// The unit that a source was cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Structure {
    /// 條, Article, §.
    Articles,
    /// Headings, because there are no articles.
    Sections,
    /// Paragraphs, because there are neither articles nor headings.
    Paragraphs,
    /// Lines of a JSONL collection.
    Records,
}

/// One source in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SourceSummary {
    /// Its name.
    #[schema(value_type = String)]
    pub source: SourceName,
    /// Title, where the document has one.
    pub title: Option<String>,
    /// Number of articles.
    pub chunks: usize,
    /// Their addresses, in order.
    #[schema(value_type = Vec<String>)]
    pub articles: Vec<ArticleAddress>,
    /// What the source was cut into.
    pub structure: Structure,
    /// The version that answers.
    #[schema(value_type = String)]
    pub version: VersionId,
    /// When that version was read.
    pub ingested_at: Timestamp,
}

/// One version of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct VersionSummary {
    /// Its id.
    #[schema(value_type = String)]
    pub version: VersionId,
    /// When it was read.
    pub ingested_at: Timestamp,
    /// Number of articles.
    pub articles: usize,
    /// The extractor that read the bytes: `markdown/1`.
    pub extractor: String,
    /// What the extractor had to say.
    pub warnings: Vec<String>,
    /// Whether this version answers now.
    pub current: bool,
}

/// One line of a source's outline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct OutlineEntry {
    /// Headings above, outermost first.
    pub heading_path: Vec<String>,
    /// The article.
    #[schema(value_type = String)]
    pub article: ArticleAddress,
    /// Its heading.
    pub title: String,
}

/// What changed from one version to the next, by article.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Difference {
    /// Articles that are new.
    #[schema(value_type = Vec<String>)]
    pub added: Vec<ArticleAddress>,
    /// Articles whose text changed.
    #[schema(value_type = Vec<String>)]
    pub changed: Vec<ArticleAddress>,
    /// Articles that are gone.
    #[schema(value_type = Vec<String>)]
    pub removed: Vec<ArticleAddress>,
}

/// One source in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SourceDetail {
    /// Summary of the current version.
    #[serde(flatten)]
    pub summary: SourceSummary,
    /// Every article with its headings.
    pub outline: Vec<OutlineEntry>,
    /// Newest first.
    pub versions: Vec<VersionSummary>,
    /// From the version before the current one to the current one.
    pub difference: Option<Difference>,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}

/// A source was deleted, and can be brought back for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeleteResult {
    /// The source.
    #[schema(value_type = String)]
    pub source: SourceName,
    /// Articles that no longer answer.
    pub removed: usize,
    /// Articles that still do, over all sources.
    pub chunks_left: usize,
    /// Until when `POST /sources/{source}/undo` brings it back.
    pub undo_until: Timestamp,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}

/// A deleted source answers again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct UndoResult {
    /// The source.
    #[schema(value_type = String)]
    pub source: SourceName,
    /// Its articles.
    pub chunks: usize,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}

/// One article with its neighbours and what it and others refer to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ArticleResponse {
    /// The article.
    #[serde(flatten)]
    pub article: Citation,
    /// The article before it.
    #[schema(value_type = Option<String>)]
    pub previous: Option<ArticleId>,
    /// The article after it.
    #[schema(value_type = Option<String>)]
    pub next: Option<ArticleId>,
    /// Articles that this one names.
    #[schema(value_type = Vec<String>)]
    pub refers_to: Vec<ArticleId>,
    /// Articles that name this one.
    #[schema(value_type = Vec<String>)]
    pub referred_by: Vec<ArticleId>,
    /// The index generation that was read.
    pub generation: GenerationNumber,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}
