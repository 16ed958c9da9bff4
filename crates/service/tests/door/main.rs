//! The door from outside: requests in, replies out.

#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

mod articles;
mod ask;
mod documents;
mod door;
mod errors;
mod health;
mod openapi;
mod search;
mod serving;
mod sources;
mod streaming;
mod wire_names;
