//! From a question to a cited answer.
//!
//! ```text
//!   AskRequest ─► retrieval ─► extract: the sentences that answer the asked kind of fact, verbatim, free
//!                     │            └ outcome: answered, not_in_rules, insufficient, ruled_elsewhere, not_understood
//!                     └──────► pipeline: prompt ─► model (metered) ─► cited ids checked ─► answer
//! ```
//!
//! It reports [`bylaw_contract::RunEvent`]s to the [`EventSink`] that its caller gives. It knows nothing of HTTP.

mod ask;

pub use ask::{AnswerError, Answerer, Ask, EventSink, IgnoreEvents, citations_of};
