//! `GET /articles/{source}/{article}`.

use std::sync::Arc;

use axum::{Extension, extract::State, response::Response};
use bylaw_contract::{ArticleAddress, ArticleId, ErrorCode, sources::ArticleResponse};
use bylaw_gate::Principal;
use bylaw_retrieval::{Generation, GenerationError, Ordinal};

use crate::{
    caller::Caller, error::Failure, parameters::Tail, reply, request_id::Arrival, routes::search::known_source,
    service::Service,
};

/// Reads one article, with its neighbours and what it and others refer to.
#[utoipa::path(
    get,
    path = "/articles/{source}/{article}",
    tag = "documents",
    params(
        ("source" = String, Path, description = "The source's name; `/` in it may stay or be written %2F"),
        ("article" = String, Path, description = "The article's address: `26`, `26-1`, `annex-1`"),
    ),
    responses((status = 200, description = "The article", body = ArticleResponse))
)]
pub(crate) async fn article(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    tail: Tail,
) -> Result<Response, Failure> {
    let generation = service.library.generation();
    // Cut before decoding: an address may itself hold an encoded slash.
    let (source, article) = tail.0.rsplit_once('/').ok_or_else(|| {
        Failure::new(ErrorCode::ArticleNotFound, "an article's address is /articles/{source}/{article}")
    })?;
    let source = known_source(&generation, &Tail::decode(source)?, &caller)?;
    let address = Tail::decode(article)?;
    let missing = || {
        Failure::new(ErrorCode::ArticleNotFound, format!("there is no article {address:?} in {source}"))
            .with_hint("GET /sources/{source} has the outline")
    };
    let id = ArticleId::new(source.clone(), ArticleAddress::new(address.clone()).map_err(|_| missing())?);
    let ordinal = generation.find(&id).ok_or_else(missing)?;
    let beside = |distance: i64| neighbour(&generation, &id, ordinal, distance);
    reply::ok(&ArticleResponse {
        article: bylaw_answer::citation_of_article(&*generation.article(ordinal)?),
        previous: beside(-1)?,
        next: beside(1)?,
        refers_to: ids(&generation, &generation.refers_to(ordinal), &caller)?,
        referred_by: ids(&generation, &generation.referred_by(ordinal), &caller)?,
        generation: generation.number(),
        request_id: arrival.request_id,
    })
}

/// The article before or after, in the same source.
fn neighbour(
    generation: &Generation,
    id: &ArticleId,
    ordinal: Ordinal,
    distance: i64,
) -> Result<Option<ArticleId>, GenerationError> {
    let Some(source) = generation.source(&id.source) else { return Ok(None) };
    let first = i64::from(source.first.0);
    let wanted = i64::from(ordinal.0) + distance;
    match u32::try_from(wanted) {
        Ok(place) if (first..first + i64::from(source.articles)).contains(&wanted) => {
            Ok(Some(generation.article(Ordinal(place))?.id.clone()))
        }
        _ => Ok(None),
    }
}

/// The ids of those that the caller may read.
fn ids(generation: &Generation, ordinals: &[Ordinal], caller: &Principal) -> Result<Vec<ArticleId>, GenerationError> {
    let all = ordinals.iter().map(|&ordinal| Ok(generation.article(ordinal)?.id.clone()));
    all.filter(|id| id.as_ref().map_or(true, |id| caller.may_read(&id.source))).collect()
}
