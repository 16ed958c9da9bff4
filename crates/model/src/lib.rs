//! One metered call to a language model.
//!
//! ```text
//!   ChatRequest ─► ChatModel ─► Meter::admit ─► HTTP attempt ─► deltas ─► Permit::settle
//! ```
//!
//! Every HTTP attempt takes a permit from the [`Meter`], and a [`ChatModel`] cannot be built without one. It knows
//! nothing of ledgers, and nothing of what the text is about.

mod chat;
mod meter;

pub use chat::{ChatDelta, ChatMessage, ChatModel, ChatRequest, ChatStream, Endpoint, FinishReason, ModelError, Role};
pub use meter::{Attempt, Meter, Permit, Purpose, Refused, Settlement};
