//! Specifications of answers.

mod dev_questions;
mod outcomes;
mod pipeline;
mod rulebook;
