//! What the human is asked before something is done.

use serde_json::{Map, Value, json};

/// A question to the human, with everything that an answer holds for.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What it is about, such as the id of a leave. Never shown; an answer for another subject is refused.
    pub subject: String,
    /// The subject's version. If it has changed when the answer comes, the question is put anew.
    pub version: String,
    /// The facts and the question, for the human: whose, when, how much, what is lost.
    pub message: String,
    /// What the question is called between client and server; `confirm` unless said otherwise.
    pub name: String,
    /// JSON Schema of the answer beside yes or no: an object of primitive properties.
    pub schema: Value,
}

impl Question {
    /// A question whose answer is yes or no.
    #[must_use]
    pub fn new(subject: impl Into<String>, version: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            version: version.into(),
            message: message.into(),
            name: "confirm".to_owned(),
            schema: json!({ "type": "object", "properties": {} }),
        }
    }

    /// Under another name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// With a form to fill in beside a yes.
    #[must_use]
    pub fn with_form(mut self, schema: Value) -> Self {
        self.schema = schema;
        self
    }
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Confirmation {
    /// Yes, with what was filled in. It holds for this call alone, and was used up by it.
    Accepted(Map<String, Value>),
    /// No. It is final: remember it.
    Declined,
    /// The question was put away. Neither yes nor no.
    Dismissed,
    /// Nobody answered in time. Neither yes nor no.
    TimedOut,
    /// The client cannot ask. Refuse, and say how else it can be done.
    Unsupported,
}
