//! `/v1`: the door for programs that speak to OpenAI. A question that comes in here is asked as at `/ask`; what is here
//! turns one shape into the other.
//!
//! ```text
//!   asked     a conversation → the question in it
//!   answered  an answer → text, tokens, and why it ends
//!   markers   ids of articles in a text → numbers
//!   links     the articles as a numbered list
//!   chunks    what happens → pieces of a stream
//!   refusal   a failure → OpenAI's error
//! ```

pub(crate) mod answered;
pub(crate) mod asked;
pub(crate) mod chunks;
pub(crate) mod links;
mod markers;
pub(crate) mod refusal;

use bylaw_contract::ask::Mode;

/// Modes, as models.
pub(crate) const MODELS: [(&str, Mode); 4] = [
    ("bylaw-auto", Mode::Auto),
    ("bylaw-extract", Mode::Extract),
    ("bylaw-pipeline", Mode::Pipeline),
    ("bylaw-agent", Mode::Agent),
];

/// Whether an address is of this door.
pub(crate) fn is_below(path: &str) -> bool {
    path == "/v1" || path.starts_with("/v1/")
}
