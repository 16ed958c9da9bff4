//! Specifications of speaking MCP with servers, good and bad, and of being one.

#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

mod asking;
mod calls;
mod connecting;
mod lists;
mod pipes;
mod server_building;
mod server_calls;
mod server_confirm;
mod server_doors;
mod server_pipes;
mod server_sessions;
mod sessions;
mod support;
mod troubles;
