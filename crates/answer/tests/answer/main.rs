//! Specifications of answers.

mod bank;
mod dev_questions;
mod money;
mod outcomes;
mod pipeline;
mod rulebook;
mod sharing;
mod simulation;
