//! The leave system: a business system whose rules travel with its tools.
//!
//! ```text
//!   domain    what a leave is, what may be done with it, and the five rules: values and functions
//!   desk      the operations, with every rule enforced, for any front: MCP, a terminal, a test
//!   store     one SQLite file behind the port that `domain` declares
//!   server    nine MCP tools over the desk, in either era of the protocol
//! ```
//!
//! It stands for any business system that an assistant is let into. So it knows nothing of the rest of Bylaw: not its
//! documents, its models or its keys. Its own rules hold whatever client calls, and whatever model is behind it:
//!
//! 1. *Shown first*: a leave is touched only in the version that this person was shown lately.
//! 2. *One step*: a leave moves one step at a time, by whom the step is for.
//! 3. *Ask first*: what others rely on is not called off before a person was asked, with the facts.
//! 4. *No stays no*: what the person declined is reached by no other tool either.
//! 5. *Once*: a write that is sent again is done once.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failing test should panic"))]

pub mod desk;
pub mod domain;
pub mod keys;
pub mod seed;
pub mod server;
pub mod store;
