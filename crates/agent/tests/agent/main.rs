//! What the loop survives, and how it ends.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "a test that cannot go on should panic")]

mod agent_files;
mod any_model;
mod approvals;
mod arguments;
mod asking;
mod cancelling;
mod catalogue;
mod durable;
mod journal;
mod limits;
mod log;
mod names;
mod parallel;
mod replies;
mod results;
mod servers;
mod support;
mod watching;
