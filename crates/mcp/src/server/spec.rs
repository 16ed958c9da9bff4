//! A tool as it is offered.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{CallContext, Caller, ToolReply, ToolStop, Words};
use crate::client::ToolAnnotations;

/// What a server says of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name it is called by: letters, digits, `_`, `-` and `.`, at most 64 of them.
    pub name: String,
    /// A name for people.
    pub title: Option<Words>,
    /// For a model: what it does, when to use it, and when not.
    pub description: Words,
    /// JSON Schema of its arguments, portable: an object with `properties`, one type each, nothing referred to.
    pub input_schema: Value,
    /// JSON Schema of its structured reply: an object.
    pub output_schema: Option<Value>,
    /// What it does to the world.
    pub annotations: ToolAnnotations,
}

impl ToolSpec {
    /// A tool without arguments, of which the worst is assumed.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<Words>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: description.into(),
            input_schema: json!({ "type": "object", "properties": {} }),
            output_schema: None,
            annotations: ToolAnnotations::default(),
        }
    }

    /// With a name for people.
    #[must_use]
    pub fn titled(mut self, title: impl Into<Words>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// With arguments.
    #[must_use]
    pub fn taking(mut self, input_schema: Value) -> Self {
        self.input_schema = input_schema;
        self
    }

    /// With a structured reply.
    #[must_use]
    pub fn giving(mut self, output_schema: Value) -> Self {
        self.output_schema = Some(output_schema);
        self
    }

    /// With what it does to the world.
    #[must_use]
    pub fn that(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = annotations;
        self
    }
}

impl ToolAnnotations {
    /// Changes nothing, and stays within its own system.
    pub const READS: Self = Self { read_only: true, destructive: false, idempotent: true, open_world: false };
    /// Adds or changes without destroying; twice is once.
    pub const WRITES_ONCE: Self = Self { read_only: false, destructive: false, idempotent: true, open_world: false };
    /// Adds with each call.
    pub const WRITES: Self = Self { read_only: false, destructive: false, idempotent: false, open_world: false };
    /// Destroys, or undoes what others rely on.
    pub const DESTROYS: Self = Self { read_only: false, destructive: true, idempotent: false, open_world: false };
}

/// A tool: what is said of it, and what it does.
#[async_trait]
pub trait ServerTool: Send + Sync {
    /// What is said of it. Asked once, when the server is built.
    fn spec(&self) -> ToolSpec;

    /// How a call is refused whose arguments do not satisfy the input schema. `problems` names them.
    fn wrong(&self, _caller: &Caller, problems: &str) -> ToolStop {
        ToolStop::refused(format!("The arguments are wrong: {problems}. Correct them and call again."))
    }

    /// Does it. The arguments satisfy the input schema.
    ///
    /// The future is not dropped when the caller gives up: look at `call.cancel` before each effect.
    ///
    /// # Errors
    /// A sentence for the model that says what to do next, or what [`CallContext::confirm`] gave.
    async fn call(&self, call: CallContext) -> Result<ToolReply, ToolStop>;
}
