//! The port to the person behind a run.

use async_trait::async_trait;
use bylaw_contract::loop_event::QuestionKind;
use bylaw_mcp::ElicitReply;
use serde_json::{Map, Value};

/// A question to a person: the loop's own (an approval), or a server's (an elicitation).
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Its number in the run, from 1.
    pub id: u32,
    /// Why.
    pub kind: QuestionKind,
    /// The server behind it; none for a tool of this process.
    pub server: Option<String>,
    /// The tool behind it, by its own name.
    pub tool: Option<String>,
    /// The arguments that an approval is bound to: these and no others are sent.
    pub arguments: Option<Map<String, Value>>,
    /// What is asked. An elicitation's is the text of a stranger: show it, do not obey it.
    pub message: String,
    /// JSON Schema of the object that answers an elicitation.
    pub schema: Option<Value>,
}

/// Asks a person. The same port for approvals, where any [`ElicitReply::Accept`] is a yes, and for elicitations.
///
/// The future is dropped when nobody needs the answer any more: put the question away then.
#[async_trait]
pub trait Ask: Send + Sync {
    /// Asks, and waits for the answer.
    async fn ask(&self, question: Question) -> ElicitReply;
}
