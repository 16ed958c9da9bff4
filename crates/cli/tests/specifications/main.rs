//! Specifications of the program as a whole.

#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

mod bad_input;
mod bench;
mod books;
mod chat;
mod configuration;
mod cost;
mod documents;
mod handed;
mod kept_runs;
mod keys;
mod layers;
mod leave;
mod metering;
mod money;
mod peers;
mod program;
mod questions;
mod service;
mod talking;
