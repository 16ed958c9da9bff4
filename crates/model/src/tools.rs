//! Tools: what a model may call, and what it calls.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolDefinition {
    /// Its name: `^[a-zA-Z0-9_-]{1,64}$`, and no two tools of a request share one.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its arguments: an object with `properties`.
    pub parameters: Value,
}

/// Whether a model has to call a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As the model likes.
    #[default]
    Auto,
    /// It must not.
    None,
    /// It must.
    Required,
    /// It must call this one.
    Tool(String),
}

/// A call that a model asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallRequest {
    /// Its id: never empty, and no other call of the conversation has it.
    pub id: String,
    /// The tool's name as the model wrote it. It may be no tool's name, or empty.
    pub name: String,
    /// The arguments as the model wrote them: JSON if all went well. Empty where the model wrote none.
    pub arguments: String,
}
