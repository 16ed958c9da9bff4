//! The door from outside: requests in, replies out.

#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

mod agent;
mod articles;
mod artifacts;
mod ask;
mod ask_runs;
mod asking;
mod conversations;
mod cost;
mod documents;
mod door;
mod errors;
mod health;
mod keys;
mod ledger;
mod mcp;
mod me;
mod metering;
mod metrics;
mod openai;
mod openapi;
mod replies;
mod runs;
mod search;
mod servers;
mod serving;
mod sources;
mod streaming;
mod ui;
mod usage;
mod visibility;
mod wire_names;
