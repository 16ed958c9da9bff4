//! What the leave system promises, as examples.

#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

mod amounts;
mod catalogue;
mod company;
mod desk;
mod mcp;
mod quotas;
mod seniority;
mod sentences;
mod shape;
mod spans;
mod walker;
