//! The network door: HTTP in front of library, retrieval and answerer.
//!
//! ```text
//!   connection ─ serve ─► front: label · key · host check · panics · error bodies · access log
//!                           └─► routes/ask        JSON, or events as they happen
//!                               routes/openai     the same question in OpenAI's shapes
//!                               routes/search     straight from the generation
//!                               routes/articles · sources · documents
//!                               routes/runs · events · replies · conversations · artifacts
//!                               routes/me · usage · budgets · cost · metrics · health · openapi
//!                               routes/ui         the page, which is part of the program
//!   /mcp ─► handover: host, origin, key, session ─► the routes above, as the same caller
//! ```
//!
//! [`Service`] holds the parts, [`router`] puts the routes before them, [`serve`] listens and stops in two stages. Every
//! reply carries `x-request-id`; every reply that is not 2xx has the body of
//! [`ErrorResponse`](bylaw_contract::error::ErrorResponse), whichever layer made it. A caller who leaves cancels what was
//! being done for it.
//!
//! It knows nothing of SQL, of how documents are read, or of how answers are made; it turns their failures into statuses.

#![cfg_attr(test, allow(clippy::allow_attributes, clippy::unwrap_used, reason = "a failing test should panic"))]

mod accounts;
mod ask_run;
mod body;
mod caller;
mod error;
mod frame_ancestor;
mod front;
mod handover;
mod hosts;
mod measure;
mod metrics;
mod openai;
mod page;
mod parameters;
mod reply;
mod request_id;
mod routes;
mod serve;
mod service;
mod settings;
mod standing;
mod stream;
mod ui_assets;
mod upload;

pub use accounts::Accounts;
pub use caller::Access;
pub use error::status_of;
pub use frame_ancestor::{FrameAncestor, InvalidOrigin};
pub use measure::{MeasureError, measure};
pub use routes::{Operation, openapi::document, operations, router};
pub use serve::serve;
pub use service::Service;
pub use settings::ServiceSettings;
