//! One file per resource, and the table of all routes.

use std::sync::Arc;

use axum::{
    Router,
    middleware::from_fn_with_state,
    routing::{MethodRouter, get, post},
};

use crate::{front, service::Service};

pub(crate) mod articles;
pub(crate) mod ask;
pub(crate) mod documents;
pub(crate) mod health;
pub(crate) mod openapi;
pub(crate) mod search;
pub(crate) mod sources;

/// A path of the router, and the operations that it stands for in the OpenAPI document. They differ where a source's
/// name, which may hold `/`, is not the last segment: the router knows a rest only at the end.
struct Resource {
    path: &'static str,
    operations: &'static [(&'static str, &'static str)],
    handlers: MethodRouter<Arc<Service>>,
}

/// Every route there is.
fn resources() -> Vec<Resource> {
    let resource = |path, operations, handlers| Resource { path, operations, handlers };
    vec![
        resource("/ask", &[("post", "/ask")], post(ask::ask)),
        resource("/search", &[("post", "/search")], post(search::search)),
        resource("/articles/{*id}", &[("get", "/articles/{source}/{article}")], get(articles::article)),
        resource("/sources", &[("get", "/sources")], get(sources::list)),
        resource(
            "/sources/{*source}",
            &[("get", "/sources/{source}"), ("delete", "/sources/{source}"), ("post", "/sources/{source}/undo")],
            get(sources::detail).delete(sources::delete).post(sources::undo),
        ),
        resource(
            "/documents",
            &[("get", "/documents"), ("post", "/documents")],
            get(documents::list).post(documents::submit),
        ),
        resource("/documents/{job}", &[("get", "/documents/{job}")], get(documents::job)),
        resource("/healthz", &[("get", "/healthz")], get(health::healthz)),
        resource("/readyz", &[("get", "/readyz")], get(health::readyz)),
        resource("/openapi.json", &[("get", "/openapi.json")], get(openapi::openapi)),
    ]
}

/// Every operation that the router answers: method and address, as the OpenAPI document writes them.
#[must_use]
pub fn operations() -> Vec<(&'static str, &'static str)> {
    resources().iter().flat_map(|resource| resource.operations).copied().collect()
}

/// The whole door as a service.
pub fn router(service: Arc<Service>) -> Router {
    resources()
        .into_iter()
        .fold(Router::new(), |router, resource| router.route(resource.path, resource.handlers))
        .fallback(front::not_found)
        .method_not_allowed_fallback(front::method_not_allowed)
        .layer(from_fn_with_state(Arc::clone(&service), front::front))
        .with_state(service)
}
