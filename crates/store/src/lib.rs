//! All of Bylaw's SQL: SQLite behind the ports that the crates below declare.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failing test should panic"))]

mod sqlite;

pub use sqlite::SqliteStore;
