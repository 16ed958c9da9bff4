//! The door from outside: requests in, replies out.

#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

mod articles;
mod ask;
mod asking;
mod cost;
mod documents;
mod door;
mod errors;
mod health;
mod keys;
mod ledger;
mod metering;
mod metrics;
mod openapi;
mod search;
mod serving;
mod sources;
mod streaming;
mod usage;
mod visibility;
mod wire_names;
