//! One file per resource, and the table of all routes.

use std::sync::Arc;

use axum::{
    Router,
    handler::Handler,
    middleware::from_fn_with_state,
    routing::{MethodFilter, MethodRouter, any, on},
};
use bylaw_gate::Action;

use crate::{
    caller::Access,
    front::{self, Post},
    handover,
    service::Service,
};

pub(crate) mod articles;
pub(crate) mod artifacts;
pub(crate) mod ask;
pub(crate) mod budgets;
pub(crate) mod conversations;
pub(crate) mod cost;
pub(crate) mod documents;
pub(crate) mod events;
pub(crate) mod health;
pub(crate) mod me;
pub(crate) mod metrics;
pub(crate) mod openai;
pub(crate) mod openapi;
pub(crate) mod replies;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod sources;
pub(crate) mod ui;
pub(crate) mod usage;

/// A path of the router, and the operations that it stands for in the OpenAPI document. Their addresses differ where a
/// source's name, which may hold `/`, is not the last segment: the router knows a rest only at the end.
struct Resource {
    path: &'static str,
    operations: Vec<Routed>,
}

/// One operation as the OpenAPI document writes it, and what it asks of its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The method, in lower case.
    pub method: &'static str,
    /// The address.
    pub address: &'static str,
    /// What it asks of its callers.
    pub access: Access,
}

/// An operation with its handler. The only way to make one says what it needs.
struct Routed {
    operation: Operation,
    handler: MethodRouter<Arc<Service>>,
}

impl Routed {
    fn new<H, T>(filter: MethodFilter, operation: Operation, handler: H) -> Self
    where
        H: Handler<T, Arc<Service>>,
        T: 'static,
    {
        Self { operation, handler: on(filter, handler) }
    }
}

fn get<H: Handler<T, Arc<Service>>, T: 'static>(address: &'static str, access: Access, handler: H) -> Routed {
    Routed::new(MethodFilter::GET, Operation { method: "get", address, access }, handler)
}

fn post<H: Handler<T, Arc<Service>>, T: 'static>(address: &'static str, access: Access, handler: H) -> Routed {
    Routed::new(MethodFilter::POST, Operation { method: "post", address, access }, handler)
}

fn delete<H: Handler<T, Arc<Service>>, T: 'static>(address: &'static str, access: Access, handler: H) -> Routed {
    Routed::new(MethodFilter::DELETE, Operation { method: "delete", address, access }, handler)
}

/// Every route there is.
fn resources() -> Vec<Resource> {
    use Access::{Needs, Open};
    let resource = |path, operations| Resource { path, operations };
    vec![
        resource("/ask", vec![post("/ask", Needs(Action::Ask), ask::ask)]),
        resource("/v1/models", vec![get("/v1/models", Needs(Action::Ask), openai::models)]),
        resource(
            "/v1/chat/completions",
            vec![post("/v1/chat/completions", Needs(Action::Ask), openai::chat_completions)],
        ),
        resource("/search", vec![post("/search", Needs(Action::Search), search::search)]),
        resource("/articles/{*id}", vec![get("/articles/{source}/{article}", Needs(Action::Read), articles::article)]),
        resource("/sources", vec![get("/sources", Needs(Action::Read), sources::list)]),
        resource(
            "/sources/{*source}",
            vec![
                get("/sources/{source}", Needs(Action::Read), sources::detail),
                delete("/sources/{source}", Needs(Action::ChangeDocuments), sources::delete),
                post("/sources/{source}/undo", Needs(Action::ChangeDocuments), sources::undo),
            ],
        ),
        resource(
            "/documents",
            vec![
                get("/documents", Needs(Action::ChangeDocuments), documents::list),
                post("/documents", Needs(Action::ChangeDocuments), documents::submit),
            ],
        ),
        resource("/documents/{job}", vec![get("/documents/{job}", Needs(Action::ChangeDocuments), documents::job)]),
        resource(
            "/runs",
            vec![get("/runs", Needs(Action::OwnRuns), runs::list), post("/runs", Needs(Action::Ask), runs::start)],
        ),
        resource(
            "/runs/{run}",
            vec![
                get("/runs/{run}", Needs(Action::OwnRuns), runs::detail),
                delete("/runs/{run}", Needs(Action::OwnRuns), runs::cancel),
            ],
        ),
        resource("/runs/{run}/events", vec![get("/runs/{run}/events", Needs(Action::OwnRuns), events::events)]),
        resource(
            "/runs/{run}/replies/{question}",
            vec![post("/runs/{run}/replies/{question}", Needs(Action::OwnRuns), replies::answer)],
        ),
        resource(
            "/conversations",
            vec![
                get("/conversations", Needs(Action::OwnRuns), conversations::list),
                post("/conversations", Needs(Action::Ask), conversations::begin),
            ],
        ),
        resource(
            "/conversations/{conversation}",
            vec![
                get("/conversations/{conversation}", Needs(Action::OwnRuns), conversations::detail),
                delete("/conversations/{conversation}", Needs(Action::OwnRuns), conversations::delete),
            ],
        ),
        resource(
            "/artifacts/{artifact}",
            vec![get("/artifacts/{artifact}", Needs(Action::OwnRuns), artifacts::artifact)],
        ),
        resource("/me", vec![get("/me", Needs(Action::OwnUsage), me::me)]),
        resource("/usage", vec![get("/usage", Needs(Action::OwnUsage), usage::usage)]),
        resource("/budgets", vec![get("/budgets", Needs(Action::Budgets), budgets::budgets)]),
        // It computes with what the caller sends; but it computes long enough that a stranger should not ask for it.
        resource("/cost", vec![post("/cost", Needs(Action::OwnUsage), cost::cost)]),
        resource("/metrics", vec![get("/metrics", Needs(Action::Metrics), metrics::metrics)]),
        resource("/healthz", vec![get("/healthz", Open, health::healthz)]),
        resource("/readyz", vec![get("/readyz", Open, health::readyz)]),
        resource("/openapi.json", vec![get("/openapi.json", Open, openapi::openapi)]),
    ]
}

/// Every operation that the router answers.
#[must_use]
pub fn operations() -> Vec<Operation> {
    resources().iter().flat_map(|resource| &resource.operations).map(|routed| routed.operation).collect()
}

/// The whole door as a service.
pub fn router(service: Arc<Service>) -> Router {
    let api = api(Arc::clone(&service));
    match handover::router(service, api.clone()) {
        Ok(mcp) => api.merge(mcp),
        Err(error) => {
            // A mistake in what is offered; a test holds that there is none.
            tracing::error!(%error, "/mcp is not served");
            api
        }
    }
}

/// Everything but `/mcp`.
fn api(service: Arc<Service>) -> Router {
    // Each operation has its own front layer, which thereby knows what it needs without looking it up.
    let layer = |access, address, method| {
        let answered = service.metrics.requests(method, address);
        from_fn_with_state(Arc::new(Post { service: Arc::clone(&service), access, answered }), front::front)
    };
    // What is not there needs no key: which addresses there are is no secret.
    let elsewhere = || layer(Access::Open, "other", "other");
    let refusing = || MethodRouter::new().fallback(front::method_not_allowed).layer(elsewhere());
    // The page is no operation: it is not called by programs. It holds nothing of what is kept, so it needs no key.
    let page = || refusing().merge(on(MethodFilter::GET, ui::page).layer(layer(Access::Open, "/ui/", "get")));
    resources()
        .into_iter()
        .fold(Router::new(), |router, resource| {
            let methods = resource.operations.into_iter().fold(refusing(), |methods, Routed { operation, handler }| {
                let Operation { method, address, access } = operation;
                methods.merge(handler.layer(layer(access, address, method)))
            });
            router.route(resource.path, methods)
        })
        .route("/ui", page())
        .route("/ui/", page())
        .route("/ui/{*path}", page())
        .route("/", any(ui::root).layer(elsewhere()))
        .fallback_service(any(front::not_found).layer(elsewhere()).with_state(()))
        .with_state(service)
}
