//! Schemas as providers take them. What a call is validated against is always the tool's own schema.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// How much of JSON Schema a provider takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SchemaDialect {
    /// All of it.
    #[default]
    Full,
    /// No references and none of the rarer keywords: references are replaced by what they lead to.
    Plain,
}

/// How deep a schema is followed; what is deeper takes anything.
const MAX_DEPTH: usize = 24;

/// Most schemas inside one; a reference that is repeated again and again grows without end otherwise.
const MAX_PARTS: usize = 2_000;

/// What `Plain` keeps.
const PLAIN: &[&str] = &[
    "type",
    "description",
    "title",
    "properties",
    "required",
    "items",
    "enum",
    "anyOf",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// The schema that a provider is given.
pub(crate) fn for_provider(schema: &Map<String, Value>, dialect: SchemaDialect) -> Value {
    let root = Value::Object(schema.clone());
    let mut writer = Writer { root: &root, dialect, parts: 0 };
    let mut written = match writer.write(&root, 0) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    written.insert("type".to_owned(), json!("object"));
    if !written.get("properties").is_some_and(Value::is_object) {
        written.insert("properties".to_owned(), json!({}));
    }
    Value::Object(written)
}

struct Writer<'a> {
    root: &'a Value,
    dialect: SchemaDialect,
    parts: usize,
}

impl Writer<'_> {
    fn write(&mut self, schema: &Value, depth: usize) -> Value {
        self.parts += 1;
        let fields = match schema {
            Value::Object(fields) if depth < MAX_DEPTH && self.parts < MAX_PARTS => fields,
            Value::Bool(allows) if self.dialect == SchemaDialect::Full => return Value::Bool(*allows),
            _ => return json!({}),
        };
        if let Some(reference) = fields.get("$ref") {
            let target = reference.as_str().and_then(|path| path.strip_prefix('#'));
            match (target.and_then(|path| self.root.pointer(path)), self.dialect) {
                (Some(_), SchemaDialect::Full) => {}
                (Some(target), SchemaDialect::Plain) => return self.write(&target.clone(), depth + 1),
                // It leads out of the schema; what is there is the server's business.
                (None, _) => {
                    let others = fields.iter().filter(|(key, _)| *key != "$ref");
                    let others = others.map(|(key, value)| (key.clone(), value.clone())).collect();
                    return self.write(&Value::Object(others), depth + 1);
                }
            }
        }
        let mut written = Map::new();
        for (key, value) in fields {
            if self.dialect == SchemaDialect::Plain && !PLAIN.contains(&key.as_str()) {
                continue;
            }
            if let Some(value) = self.keyword(key, value, depth) {
                written.insert(key.clone(), value);
            }
        }
        if written.get("type").and_then(Value::as_str) == Some("array") && !written.contains_key("items") {
            written.insert("items".to_owned(), json!({}));
        }
        Value::Object(written)
    }

    /// The keyword's value as it is sent; nothing where it makes no sense.
    fn keyword(&mut self, key: &str, value: &Value, depth: usize) -> Option<Value> {
        match key {
            "properties" | "$defs" | "definitions" => {
                let parts = value.as_object()?.iter();
                Some(parts.map(|(name, part)| (name.clone(), self.write(part, depth + 1))).collect())
            }
            "anyOf" | "oneOf" | "allOf" => {
                let parts = value.as_array()?;
                Some(parts.iter().map(|part| self.write(part, depth + 1)).collect())
            }
            "items" | "additionalProperties" => match value {
                Value::Object(_) | Value::Bool(_) => Some(self.write(value, depth + 1)),
                _ => Some(json!({})),
            },
            "type" => match (value, self.dialect) {
                (Value::String(name), _) => TYPES.contains(&name.as_str()).then(|| value.clone()),
                (Value::Array(names), SchemaDialect::Full) => {
                    let known = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
                    (!names.is_empty() && names.iter().all(known)).then(|| value.clone())
                }
                (Value::Array(names), SchemaDialect::Plain) => names.iter().find(|name| *name != "null").cloned(),
                _ => None,
            },
            "enum" => value.as_array().filter(|values| !values.is_empty()).map(|_| value.clone()),
            "required" => {
                let names = value.as_array().filter(|names| names.iter().all(Value::is_string))?;
                Some(Value::Array(names.clone()))
            }
            _ => Some(value.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "rows read better")]
    fn check(dialect: SchemaDialect, schema: Value, expected: Value) {
        assert_eq!(for_provider(schema.as_object().unwrap(), dialect), expected);
    }

    #[test]
    fn what_is_missing_is_added_and_the_rest_is_left_as_it_is() {
        let full = |schema, expected| check(SchemaDialect::Full, schema, expected);
        full(json!({ "type": "object" }), json!({ "type": "object", "properties": {} }));
        full(json!({}), json!({ "type": "object", "properties": {} }));
        full(json!({ "type": ["object", "null"] }), json!({ "type": "object", "properties": {} }));
        full(
            json!({ "type": "object", "properties": { "tags": { "type": "array" }, "x": { "type": "date" }, "y": true } }),
            json!({ "type": "object", "properties": { "tags": { "type": "array", "items": {} }, "x": {}, "y": true } }),
        );
        full(
            json!({ "properties": { "x": { "$ref": "http://elsewhere/x.json", "description": "d" } }, "required": 7 }),
            json!({ "type": "object", "properties": { "x": { "description": "d" } } }),
        );
        let rich = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "$defs": { "Filter": { "type": ["object", "null"], "properties": { "q": { "anyOf": [{ "type": "string" }, { "type": "null" }] } } } },
            "properties": { "filter": { "$ref": "#/$defs/Filter" } }, "additionalProperties": false,
        });
        full(rich.clone(), rich);
    }

    #[test]
    fn the_plain_dialect_has_no_references_and_no_rare_keywords() {
        check(
            SchemaDialect::Plain,
            json!({
                "$schema": "x", "type": "object", "additionalProperties": false,
                "$defs": { "Filter": { "type": ["null", "object"], "properties": { "q": { "type": "string", "pattern": "^a" } } } },
                "properties": { "filter": { "$ref": "#/$defs/Filter" } }, "required": ["filter"],
            }),
            json!({
                "type": "object", "required": ["filter"],
                "properties": { "filter": { "type": "object", "properties": { "q": { "type": "string" } } } },
            }),
        );
    }

    #[test]
    fn a_schema_that_holds_itself_ends() {
        let tree = json!({ "type": "object", "properties": { "l": { "$ref": "#" }, "r": { "$ref": "#" } } });
        let written = for_provider(tree.as_object().unwrap(), SchemaDialect::Plain);
        assert!(written.to_string().len() < 200_000);
    }
}
