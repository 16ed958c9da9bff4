//! From a question to a cited answer.
//!
//! ```text
//!   AskRequest ─► retrieval ─► extract: the sentences that answer the asked kind of fact, verbatim, free
//!                     │            └ outcome: answered, not_in_rules, insufficient, ruled_elsewhere, not_understood
//!                     └──────► pipeline: prompt ─► model (metered) ─► cited ids checked ─► answer
//! ```
//!
//! It reports [`bylaw_contract::RunEvent`]s to the [`EventSink`] that its caller gives. It knows nothing of HTTP.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::allow_attributes, reason = "in tests, a failing assumption should panic")
)]

mod ask;
mod asked;
mod attribution;
mod citations;
mod complete;
mod contrast;
mod deferral;
mod extract;
mod facts;
mod id_filter;
mod outcome;
mod parts;
mod pattern;
mod period;
mod pipeline;
mod prompts;
mod quantities;
mod run;
mod script;
mod stops;
#[cfg(test)]
mod testing;
mod units;
mod view;
mod words;

pub use ask::{AnswerError, Answerer, Ask, EventSink, IgnoreEvents};
pub use citations::{citation_of_article, citations_of};
