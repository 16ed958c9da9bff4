//! `POST /search`.

use std::sync::Arc;

use axum::{Extension, extract::State, http::StatusCode, response::Response};
use bylaw_answer::without_stalling;
use bylaw_contract::{
    ArticleAddress, ArticleId, ErrorCode, GenerationNumber, RequestId, SourceName, Span, VersionId,
    search::{SearchRequest, SearchResponse},
};
use bylaw_corpus::Heading;
use bylaw_gate::Principal;
use bylaw_retrieval::{Filter, Found, Generation, Hit, HitKind, LEXICAL, Query};
use serde::{Serialize, Serializer};

use crate::{
    body::JsonBody,
    caller::Caller,
    error::Failure,
    front::milliseconds,
    parameters::{Parameters, Retrieval},
    reply,
    request_id::Arrival,
    service::Service,
};

const NO_VECTORS: &str = "min_similarity has no effect without vectors";

/// Finds articles, without an answer.
#[utoipa::path(
    post,
    path = "/search",
    tag = "questions",
    params(("retriever" = Option<String>, Query, description = "The retriever that searches: `lexical`")),
    request_body = SearchRequest,
    responses((status = 200, description = "Articles, best first", body = SearchResponse))
)]
pub(crate) async fn search(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    Parameters(retrieval): Parameters<Retrieval>,
    JsonBody(request): JsonBody<SearchRequest>,
) -> Result<Response, Failure> {
    request.check()?;
    retrieval.check()?;
    let generation = service.library.generation();
    let source = request.source.as_deref().map(|name| known_source(&generation, name, &caller)).transpose()?;
    let query = Query {
        question: &request.question,
        k: usize::try_from(request.k).unwrap_or(usize::MAX),
        filter: Filter { source: source.as_ref(), chapter_no: request.chapter_no, readable: caller.sources().only() },
        follow_references: true,
    };
    let found = without_stalling(&generation, || generation.search(&query))?;
    let elapsed_ms = milliseconds(service.clock.elapsed().saturating_sub(arrival.started));
    let body = SearchBody {
        hits: Hits(&found),
        retriever: LEXICAL,
        k: request.k,
        filtered: request.source.is_some() || request.chapter_no.is_some() || request.min_similarity.is_some(),
        embedding_tokens: 0,
        elapsed_ms,
        generation: generation.number(),
        warnings: if request.min_similarity.is_some() { &[NO_VECTORS] } else { &[] },
        request_id: &arrival.request_id,
    };
    reply::json(StatusCode::OK, &body, expected_bytes(&found))
}

/// The source of this name, which must be one that answers and that the caller may read.
pub(crate) fn known_source(generation: &Generation, name: &str, caller: &Principal) -> Result<SourceName, Failure> {
    let known = |name: &SourceName| caller.may_read(name) && generation.source(name).is_some();
    SourceName::new(name).ok().filter(known).ok_or_else(|| {
        Failure::new(ErrorCode::SourceNotFound, format!("there is no source named {name:?}"))
            .with_hint("GET /sources lists them")
    })
}

/// [`SearchResponse`], borrowed from the generation: article texts are written once, into the reply. A test holds the two
/// together.
#[derive(Serialize)]
struct SearchBody<'a> {
    hits: Hits<'a>,
    retriever: &'static str,
    k: u32,
    filtered: bool,
    embedding_tokens: u64,
    elapsed_ms: f64,
    generation: GenerationNumber,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [&'static str],
    request_id: &'a RequestId,
}

struct Hits<'a>(&'a Found);

impl Serialize for Hits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.hits.iter().chain(&self.0.referenced).map(HitBody::from))
    }
}

#[derive(Serialize)]
struct HitBody<'a> {
    id: &'a ArticleId,
    source: &'a SourceName,
    article: &'a ArticleAddress,
    article_no: u32,
    title: &'a str,
    heading_path: HeadingPath<'a>,
    text: &'a str,
    similarity: f32,
    score: f32,
    retrieved: bool,
    referenced: bool,
    used: bool,
    highlights: &'a [Span],
    quotes: [(); 0],
    source_version: &'a VersionId,
}

impl<'a> From<&'a Hit> for HitBody<'a> {
    fn from(hit: &'a Hit) -> Self {
        let article = &hit.article;
        let referenced = match hit.kind {
            HitKind::Ranked | HitKind::LookedUp => false,
            HitKind::Referenced { .. } => true,
        };
        Self {
            id: &article.id,
            source: &article.id.source,
            article: &article.id.article,
            article_no: article.id.article.main_number().unwrap_or(0),
            title: &article.title,
            heading_path: HeadingPath(&article.heading_path),
            text: &article.text,
            similarity: 0.0,
            score: hit.score,
            retrieved: !referenced,
            referenced,
            used: false,
            highlights: &hit.highlights,
            quotes: [],
            source_version: &article.version,
        }
    }
}

struct HeadingPath<'a>(&'a [Heading]);

impl Serialize for HeadingPath<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|heading| &heading.text))
    }
}

/// About what the reply will take: texts, and what surrounds each.
fn expected_bytes(found: &Found) -> usize {
    let hits = found.hits.iter().chain(&found.referenced);
    hits.map(|hit| hit.article.text.len() + 32 * hit.highlights.len() + 640).sum::<usize>() + 256
}
