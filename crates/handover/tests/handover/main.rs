//! What other people's agents are handed, seen from their side of the pipe.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "a failing test should panic")]

mod errors;
mod giving_up;
mod long;
mod offered;
mod replies;
mod resources;
mod support;
