//! Specifications of one model call.

#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

mod endpoint;
mod retries;
mod scripted;
mod tools;
