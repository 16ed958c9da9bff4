//! One metered call to a language model.
//!
//! ```text
//!   Connection ─ metered ─┐
//!   ChatRequest ─► ChatModel ─► Meter::admit ─► HTTP attempt ─► deltas ─► Permit::settle
//! ```
//!
//! Every HTTP attempt takes a permit from the [`Meter`], and a [`ChatModel`] cannot be built without one. It knows
//! nothing of ledgers, and nothing of what the text is about.
//!
//! Servers disagree about the protocol, and this crate hides it: a [`ToolCallRequest`] is whole, has an id of its own,
//! and comes only from a reply that was not cut off; a history is sent so that a strict server takes it. What a call
//! *means* is not known here: its arguments are told as the model wrote them, right or wrong. Models that cannot call
//! tools are given them in words ([`ActionMode`]); failures that may pass are tried again where [`Retries`] allow it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use bylaw_model::{
//!     ChatDelta, ChatMessage, ChatModel, ChatReply, ChatRequest, CountingMeter, Purpose,
//!     scripted::{Script, ScriptedReply},
//! };
//! use futures_util::StreamExt;
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), bylaw_model::ModelError> {
//! let meter = CountingMeter::default();
//! let script = Script::new([ScriptedReply::pieces(["Seven days ", "[26]."])]);
//! // A real one: `ChatModel::connect(endpoint, Arc::new(meter.clone()))?`.
//! let model = ChatModel::scripted(script, Arc::new(meter.clone()));
//!
//! let question = ChatMessage::user("How many days of annual leave?");
//! let request = ChatRequest::new(Purpose::Answer, vec![question], 300);
//! let mut stream = model.chat(&request, CancellationToken::new()).await?;
//! if let Some(Ok(ChatDelta::Text(first))) = stream.next().await {
//!     assert_eq!(first, "Seven days ");
//! }
//! // What is left of it; a whole stream gives a whole reply.
//! let reply = ChatReply::collect(stream).await?;
//! assert_eq!(reply.text, "[26].");
//! assert_eq!((meter.snapshot().attempts, meter.snapshot().reported), (1, 1));
//! # Ok(())
//! # }
//! ```
//!
//! There is no way around the meter. A connection alone cannot be asked:
//!
//! ```compile_fail,E0599
//! # let connection: bylaw_model::Connection = unimplemented!();
//! # let request: bylaw_model::ChatRequest = unimplemented!();
//! let reply = connection.chat(&request, tokio_util::sync::CancellationToken::new());
//! ```
//!
//! no constructor takes less than a meter:
//!
//! ```compile_fail,E0061
//! # let endpoint: bylaw_model::Endpoint = unimplemented!();
//! let model = bylaw_model::ChatModel::connect(endpoint);
//! ```
//!
//! and the parts of a model are its own:
//!
//! ```compile_fail,E0451
//! # let endpoint: bylaw_model::Endpoint = unimplemented!();
//! # let metered: bylaw_model::ChatModel = unimplemented!();
//! let model = bylaw_model::ChatModel { meter: unimplemented!(), ..metered };
//! ```
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::allow_attributes, reason = "a test that cannot go on should panic")
)]

mod action;
mod attempt;
mod backend;
mod calls;
mod chat;
mod client;
mod collect;
mod connection;
mod counting;
mod dialect;
mod endpoint;
mod http;
mod meter;
mod model;
mod probe;
mod record;
mod reply;
mod request;
mod retry;
pub mod scripted;
mod sse;
mod stream;
mod tools;
mod wire;

pub use action::ActionMode;
pub use chat::{
    ChatDelta, ChatMessage, ChatRequest, ChatStream, FinishReason, ModelError, Reasoning, ReasoningField, Role,
};
pub use client::http_client;
pub use collect::{ChatReply, ReplyCollector};
pub use connection::Connection;
pub use counting::{CountingMeter, MeterCounts};
pub use endpoint::Endpoint;
pub use meter::{Attempt, Meter, Permit, Purpose, Refused, Settlement};
pub use model::ChatModel;
pub use record::{Recorder, Replay, ReplayError};
pub use retry::Retries;
pub use tools::{ToolCallRequest, ToolChoice, ToolDefinition};
