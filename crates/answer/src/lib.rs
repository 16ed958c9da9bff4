//! From a question to a cited answer.
//!
//! ```text
//!   AskRequest ─► kept for its Idempotency-Key? ─► in the cache of answers? ─► retrieval
//!                                                                                  │
//!   extract: the sentences that answer the asked kind of fact, verbatim, free ◄────┤
//!     └ outcome: answered, not_in_rules, insufficient, ruled_elsewhere, not_understood
//!   pipeline: prompt ─► one flight for all who ask the same ─► model call ─► ids checked ◄┘
//!                         within the caps, in the cache of calls, or metered by the gate
//!   agent: one flight likewise ─► Researcher (a port): model and tools, which see the rules through a Window ─► ids checked
//! ```
//!
//! A listener's place in a flight is a value: dropping it is leaving, and when the last has left the call is cut. What it
//! cost by then is booked in any case. It reports [`bylaw_contract::RunEvent`]s to the [`EventSink`] that its caller gives. It knows nothing of HTTP.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::allow_attributes, reason = "in tests, a failing assumption should panic")
)]

mod ask;
mod asked;
mod attribution;
mod bill;
mod cache;
mod call;
mod caps;
mod checked;
mod citations;
mod complete;
mod compose;
mod contrast;
mod deferral;
mod digest;
mod extract;
mod facts;
mod flight;
mod id_filter;
mod keyed;
mod memory;
mod meter;
mod notebook;
mod outcome;
mod parts;
mod pattern;
mod period;
mod pipeline;
mod prompts;
mod quantities;
mod reading;
mod recall;
mod research;
mod researcher;
mod run;
mod script;
mod stops;
mod store;
mod tallies;
#[cfg(test)]
mod testing;
mod units;
mod view;
mod window;
mod words;

pub use ask::{AnswerError, Answerer, AnswererParts, Ask, EventSink, IgnoreEvents};
pub use cache::CacheSizes;
pub use caps::{Caps, Ceilings};
pub use checked::Checked;
pub use citations::{citation_of_article, citations_of};
pub use memory::MemoryAnswers;
pub use meter::{Purse, Tab};
pub use notebook::{Notebook, Notes};
pub use prompts::{NOT_IN_RULES, passage};
pub use reading::without_stalling;
pub use recall::Recalled;
pub use researcher::{EMPTY_ANSWER, Research, ResearchLog, Researched, Researcher};
pub use store::{AnswerStore, AnswerStoreError, IdempotencyKey, InvalidIdempotencyKey, KEPT_MS, KeptAnswer, KeptName};
pub use tallies::TallySnapshot;
pub use window::Window;
