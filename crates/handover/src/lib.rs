//! Bylaw as an MCP server: what other people's agents are handed.
//!
//! ```text
//!   search_rules · read_article · ask ─► FrontDoor (a port) ─► the HTTP door of a service, and nothing else
//!   rules://source/article                 │
//!   one prompt                             └─ over the network, or through the service's own router
//! ```
//!
//! An agent that calls from outside comes in by the front door like everybody: with a key, a request id, budgets and caps.
//! So this crate knows the values that cross the door and how MCP is spoken, and cannot reach anything behind. [`server`]
//! builds the server over any [`FrontDoor`].
//!
//! What a caller may not decide is no parameter: which documents may be read, what it may cost, how long it may take, and
//! with whose key. The operator sets these ([`HandoverSettings`]); a caller may ask for fewer steps, never for more.
//!
//! Everything said here is read by a model, which takes each word for what it says. A list of what was found is called
//! that; a cap is never told as a missing rule; an error says what to do next. The sentences are in one place
//! ([`sentences`]) and in both languages.

#![cfg_attr(test, allow(clippy::allow_attributes, clippy::unwrap_used, reason = "a failing test should panic"))]

mod advice;
mod aliases;
mod answer_text;
mod articles_text;
mod ask;
mod describe;
mod door_reply;
mod error_text;
mod front_door;
mod prompt;
mod read_article;
mod resources;
mod room;
mod search_rules;
pub mod sentences;
mod server;
mod settings;
mod spoken;
mod visit;

pub use advice::Advice;
pub use door_reply::{read_answer, read_reply};
pub use front_door::{DoorError, FrontDoor, News, Visit};
pub use resources::percent_encoded;
pub use room::MOST_CHARS;
pub use server::{HandoverParts, server};
pub use settings::{HandoverSettings, MOST_STEPS, MOST_WALL};
