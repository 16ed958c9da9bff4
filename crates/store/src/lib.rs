//! All of Bylaw's SQL
