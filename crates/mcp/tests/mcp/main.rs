//! Specifications of speaking MCP with servers, good and bad.

#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

mod asking;
mod calls;
mod connecting;
mod lists;
mod pipes;
mod server_calls;
mod sessions;
mod support;
mod troubles;
