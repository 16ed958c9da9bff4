//! What a server says of a tool.

use std::sync::Arc;

use serde_json::{Map, Value, json};

/// A tool of a server. Names, descriptions and hints are the server's words, not truths.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteTool {
    /// The name it is called by.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does, for a model.
    pub description: Option<String>,
    /// JSON Schema of its arguments, as the server gave it; an empty object schema if it gave none.
    pub input_schema: Arc<Map<String, Value>>,
    /// JSON Schema of its structured result.
    pub output_schema: Option<Arc<Map<String, Value>>>,
    /// What it does to the world.
    pub annotations: ToolAnnotations,
}

/// What a tool says it does to the world; what it does not say is assumed to be the worst, as the protocol asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolAnnotations {
    /// Changes nothing.
    pub read_only: bool,
    /// May destroy or overwrite. Never so for a tool that only reads.
    pub destructive: bool,
    /// Calling it twice with the same arguments is like calling it once.
    pub idempotent: bool,
    /// Reaches things beyond its own system.
    pub open_world: bool,
}

impl Default for ToolAnnotations {
    fn default() -> Self {
        Self { read_only: false, destructive: true, idempotent: false, open_world: true }
    }
}

impl ToolAnnotations {
    /// Whether a call that may have happened may be made again.
    #[must_use]
    pub fn may_repeat(&self) -> bool {
        self.read_only || self.idempotent
    }
}

impl RemoteTool {
    /// Reads one entry of a list; nothing if it has not even a name.
    pub(super) fn read(entry: &Value) -> Option<Self> {
        let text = |at: &Value, key: &str| at.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
        let object = |key: &str| entry.get(key).and_then(Value::as_object).map(|object| Arc::new(object.clone()));
        let hints = entry.get("annotations").unwrap_or(&Value::Null);
        let hint = |key: &str| hints.get(key).and_then(Value::as_bool);
        let read_only = hint("readOnlyHint").unwrap_or(false);
        Some(Self {
            name: text(entry, "name").filter(|name| !name.is_empty())?,
            title: text(entry, "title").or_else(|| text(hints, "title")),
            description: text(entry, "description"),
            input_schema: object("inputSchema")
                .unwrap_or_else(|| Arc::new(Map::from_iter([("type".to_owned(), json!("object"))]))),
            output_schema: object("outputSchema"),
            annotations: ToolAnnotations {
                read_only,
                destructive: !read_only && hint("destructiveHint").unwrap_or(true),
                idempotent: hint("idempotentHint").unwrap_or(false),
                open_world: hint("openWorldHint").unwrap_or(true),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_read_with_the_worst_assumed_of_what_it_does_not_say() {
        let check = |annotations: Value, expected: [bool; 4]| {
            let tool = RemoteTool::read(&json!({ "name": "t", "annotations": annotations })).unwrap();
            let ToolAnnotations { read_only, destructive, idempotent, open_world } = tool.annotations;
            assert_eq!([read_only, destructive, idempotent, open_world], expected, "{annotations}");
        };
        check(json!(null), [false, true, false, true]);
        check(json!({ "readOnlyHint": true }), [true, false, false, true]);
        check(json!({ "readOnlyHint": true, "destructiveHint": true }), [true, false, false, true]);
        check(
            json!({ "destructiveHint": false, "idempotentHint": true, "openWorldHint": false }),
            [false, false, true, false],
        );
        assert_eq!(RemoteTool::read(&json!({ "name": "t" })).unwrap().annotations, ToolAnnotations::default());
    }

    #[test]
    fn what_has_no_schema_takes_any_object_and_what_has_no_name_is_no_tool() {
        let tool = RemoteTool::read(&json!({ "name": "ping" })).unwrap();
        assert_eq!(Value::Object(tool.input_schema.as_ref().clone()), json!({ "type": "object" }));
        assert_eq!(RemoteTool::read(&json!({ "description": "?" })), None);
    }
}
