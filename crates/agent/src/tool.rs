//! A tool of this process.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use async_trait::async_trait;
use bylaw_mcp::{Content, ToolAnnotations, ToolOutcome};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// What a tool says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolInfo {
    /// The name it is called by.
    pub name: String,
    /// What it does, for a model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Map<String, Value>,
    /// What it does to the world.
    pub annotations: ToolAnnotations,
    /// Calling it again and again with the same arguments is how it is used.
    pub polls: bool,
    /// The longest that a call may take; the client's own limit holds besides.
    pub timeout: Option<Duration>,
}

impl ToolInfo {
    /// A tool that only reads, with this schema: an object, or it is taken as one without properties.
    #[must_use]
    pub fn reading(name: &str, description: &str, schema: Value) -> Self {
        let annotations = ToolAnnotations { read_only: true, destructive: false, idempotent: true, open_world: false };
        let schema = if let Value::Object(schema) = schema { schema } else { Map::new() };
        let (name, description) = (name.to_owned(), description.to_owned());
        Self { name, description, schema, annotations, polls: false, timeout: None }
    }

    /// A tool that changes something, and may overwrite or destroy.
    #[must_use]
    pub fn changing(name: &str, description: &str, schema: Value) -> Self {
        Self { annotations: ToolAnnotations::default(), ..Self::reading(name, description, schema) }
    }
}

/// What a call is given beside its arguments.
#[derive(Clone)]
pub struct ToolContext {
    /// Fires when nobody waits for the result any more; a tenth of a second later the call is dropped.
    pub cancel: CancellationToken,
    pub(crate) progress: Arc<dyn Fn(String) + Send + Sync>,
    /// What a tool of this run ended it with.
    pub(crate) answer: Arc<OnceLock<String>>,
}

impl ToolContext {
    /// Tells whoever watches how far the call is.
    pub fn progress(&self, message: impl Into<String>) {
        (self.progress)(message.into());
    }

    /// Ends the run with this answer, once every call of the model's reply has its result. The first answer counts.
    pub fn answer(&self, text: impl Into<String>) {
        // Refused if there is one already.
        let _ = self.answer.set(text.into());
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext").finish_non_exhaustive()
    }
}

/// A tool of this process.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What it says of itself; asked once, when it is put into a toolbox.
    fn info(&self) -> ToolInfo;

    /// Makes a call. The arguments satisfy the schema.
    ///
    /// # Errors
    /// What the model should know about a call that failed: what went wrong, and what to do about it.
    async fn call(&self, arguments: Map<String, Value>, context: ToolContext) -> Result<ToolOutcome, String>;
}

/// A result that is a text.
#[must_use]
pub fn text_outcome(text: impl Into<String>) -> ToolOutcome {
    ToolOutcome { is_error: false, structured: None, content: vec![Content::Text(text.into())] }
}
