//! Specifications of the program as a whole.

#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

mod bad_input;
mod bench;
mod books;
mod configuration;
mod documents;
mod keys;
mod layers;
mod leave;
mod metering;
mod money;
mod program;
mod questions;
mod service;
