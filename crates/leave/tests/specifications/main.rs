//! What the leave system promises, as examples.

#![expect(clippy::unwrap_used, reason = "a failing test should panic")]
#![expect(clippy::print_stderr, reason = "a test that could not look says so")]

mod amounts;
mod asking;
mod bad_input;
mod catalogue;
mod company;
mod desk;
mod doors;
mod house;
mod mcp;
mod quotas;
mod rules;
mod seniority;
mod sentences;
mod shape;
mod spans;
mod walker;
mod watcher;
mod wire;
