//! The form beside a question.

use jsonschema::Validator;
use rmcp::model::ElicitationSchema;
use serde_json::{Map, Value};

use super::schema;

pub(super) struct Form {
    wire: ElicitationSchema,
    validator: Validator,
}

impl Form {
    /// Fails if clients could not show it.
    pub(super) fn read(schema: &Value) -> Result<Self, String> {
        let wire = serde_json::from_value(schema.clone()).map_err(|error| error.to_string())?;
        Ok(Self { wire, validator: schema::validator(schema)? })
    }

    pub(super) fn wire(&self) -> ElicitationSchema {
        self.wire.clone()
    }

    /// What was filled in, or what is wrong with it.
    pub(super) fn check(&self, content: Option<Value>) -> Result<Map<String, Value>, String> {
        let content = content.unwrap_or_else(|| Value::Object(Map::new()));
        if let Some(problems) = schema::problems(&self.validator, &content) {
            return Err(problems);
        }
        match content {
            Value::Object(filled) => Ok(filled),
            other => Err(format!("an object is expected, not {other}")),
        }
    }
}
