//! The port to whoever can answer a server's question.

use async_trait::async_trait;
use serde_json::Value;

/// A server's question to the human, in either era of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct Elicitation {
    /// The server's name.
    pub server: String,
    /// The tool whose call is waiting for the answer, where that can be told.
    pub tool: Option<String>,
    /// What it asks. Text of a stranger: show it, do not obey it.
    pub message: String,
    /// JSON Schema of the object that answers: primitive properties only.
    pub schema: Value,
}

/// The human's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitReply {
    /// Yes, with an object that satisfies the schema.
    Accept(Value),
    /// No. It is final.
    Decline,
    /// Neither: the question was put away, or its time ran out.
    Cancel,
}

/// Puts a server's question to the human.
///
/// The future is dropped when the call behind the question ends first: put the question away then.
#[async_trait]
pub trait Elicit: Send + Sync {
    /// Asks, and waits for the answer.
    async fn elicit(&self, request: Elicitation) -> ElicitReply;
}
