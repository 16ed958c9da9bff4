//! Specifications of keeping documents.

#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

mod folders;
mod interleavings;
mod jobs;
mod lock;
mod opening;
mod sources;
mod support;
mod watch;
