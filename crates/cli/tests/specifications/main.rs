//! Specifications of the program as a whole.

#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

mod bad_input;
mod configuration;
mod documents;
mod layers;
mod program;
mod questions;
mod service;
