//! The SQLite store: the behaviour of every store, and what only a file has.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "a failing test should panic")]

mod documents;
mod folder;
mod ledger;
mod runs;
