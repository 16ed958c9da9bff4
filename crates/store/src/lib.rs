//! All of Bylaw's SQL: SQLite behind the ports that the crates below declare.

mod sqlite;

pub use sqlite::SqliteStore;
