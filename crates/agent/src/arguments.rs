//! Arguments: from a model's words to an object that satisfies the tool's own schema.

use bylaw_model::ToolCallRequest;
use jsonschema::{
    JsonType, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// How strict arguments are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Validation {
    /// As the schema says.
    #[default]
    Strict,
    /// `"7"` is taken for 7 where a number is wanted, and the like.
    Coerce,
    /// Not at all: the server is left to complain.
    Off,
}

/// Most of a model's own words that are told back to it.
const MAX_ECHO_CHARS: usize = 800;

/// Most problems that are named at once.
const MAX_PROBLEMS: usize = 8;

/// Reads arguments. Nothing at all is an empty object.
pub(crate) fn parse(call: &ToolCallRequest) -> Result<Map<String, Value>, String> {
    let text = call.arguments.trim();
    if text.is_empty() || text == "null" {
        return Ok(Map::new());
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        // Once more than it had to be.
        Ok(Value::String(inner)) if matches!(inner.trim(), "" | "null") => Ok(Map::new()),
        Ok(other) => Err(format!("The arguments must be a JSON object, but they are {}: {}", kind(&other), echo(text))),
        Err(error) => Err(format!("The arguments are not valid JSON ({error}): {}", echo(text))),
    }
}

fn echo(text: &str) -> String {
    match text.char_indices().nth(MAX_ECHO_CHARS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A validator of the tool's own schema. Nothing is fetched: a schema that leads out of itself has none, nor has one
/// that is no schema.
pub(crate) fn validator(schema: &Map<String, Value>) -> Result<Validator, String> {
    jsonschema::options()
        // Of a stranger: its patterns must not run for ever.
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(&Value::Object(schema.clone()))
        .map_err(|error| error.to_string())
}

/// The arguments if they satisfy the schema, after help where that is wanted; else what is wrong with each.
pub(crate) fn satisfy(
    validator: &Validator,
    arguments: Map<String, Value>,
    how: Validation,
) -> Result<Map<String, Value>, Vec<String>> {
    if how == Validation::Off {
        return Ok(arguments);
    }
    let mut value = Value::Object(arguments);
    if !validator.is_valid(&value) {
        if how == Validation::Coerce {
            coerce(validator, &mut value);
        }
        let problems: Vec<String> = validator.iter_errors(&value).take(MAX_PROBLEMS).map(|e| problem(&e)).collect();
        if !problems.is_empty() {
            return Err(problems);
        }
    }
    match value {
        Value::Object(arguments) => Ok(arguments),
        _ => Ok(Map::new()),
    }
}

fn problem(error: &ValidationError<'_>) -> String {
    let path = error.instance_path().to_string();
    let path = if path.is_empty() { "the arguments".to_owned() } else { format!("`{}`", path.trim_start_matches('/')) };
    let told = match error.kind() {
        ValidationErrorKind::Enum { options } => {
            format!("{} is not allowed; allowed: {}", error.instance(), listed(options))
        }
        ValidationErrorKind::Constant { expected_value } => format!("must be {expected_value}"),
        ValidationErrorKind::Required { property } => format!("misses the required property {property}"),
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            format!("has properties that do not exist: {}", unexpected.join(", "))
        }
        ValidationErrorKind::Type { kind: wanted } => {
            format!(
                "must be of type {}, but is {}: {}",
                types(wanted).join(" or "),
                kind(error.instance()),
                error.instance()
            )
        }
        _ => error.to_string(),
    };
    format!("{path}: {}", echo(&told))
}

fn listed(options: &Value) -> String {
    let options: Vec<String> = options.as_array().into_iter().flatten().take(50).map(Value::to_string).collect();
    options.join(", ")
}

fn types(wanted: &TypeKind) -> Vec<&'static str> {
    let name = |kind: JsonType| match kind {
        JsonType::Array => "array",
        JsonType::Boolean => "boolean",
        JsonType::Integer => "integer",
        JsonType::Null => "null",
        JsonType::Number => "number",
        JsonType::Object => "object",
        JsonType::String => "string",
    };
    match wanted {
        TypeKind::Single(kind) => vec![name(*kind)],
        TypeKind::Multiple(kinds) => kinds.iter().map(name).collect(),
    }
}

/// Changes what has the wrong type into what it says, where that is beyond doubt.
fn coerce(validator: &Validator, value: &mut Value) {
    let wrong: Vec<(String, Vec<&'static str>)> = validator
        .iter_errors(value)
        .filter_map(|error| match error.kind() {
            ValidationErrorKind::Type { kind } => Some((error.instance_path().to_string(), types(kind))),
            _ => None,
        })
        .collect();
    for (path, wanted) in wrong {
        if let Some(place) = value.pointer_mut(&path)
            && let Some(meant) = wanted.iter().find_map(|wanted| read_as(place, wanted))
        {
            *place = meant;
        }
    }
}

fn read_as(value: &Value, wanted: &str) -> Option<Value> {
    match (value, wanted) {
        (Value::Number(number), "string") => Some(Value::String(number.to_string())),
        (Value::Bool(truth), "string") => Some(Value::String(truth.to_string())),
        (Value::String(text), "number" | "integer" | "boolean" | "object" | "array") => {
            let read: Value = serde_json::from_str(text.trim()).ok()?;
            let fits = match wanted {
                "number" => read.is_number(),
                "integer" => read.is_i64() || read.is_u64(),
                "boolean" => read.is_boolean(),
                "object" => read.is_object(),
                _ => read.is_array(),
            };
            fits.then_some(read)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(arguments: &str) -> Result<Map<String, Value>, String> {
        parse(&ToolCallRequest { id: "c1".to_owned(), name: "t".to_owned(), arguments: arguments.to_owned() })
    }

    #[test]
    fn nothing_is_an_empty_object_and_everything_else_must_be_one() {
        for nothing in ["", "  ", "null", "\"null\"", "\"\"", "{}"] {
            assert_eq!(parsed(nothing), Ok(Map::new()), "{nothing:?}");
        }
        let check = |arguments: &str, expected: &str| {
            let told = parsed(arguments).unwrap_err();
            assert!(told.contains(expected), "{told}");
        };
        check("[\"家庭\"]", "but they are an array: [\"家庭\"]");
        check("\"家庭\"", "but they are a string");
        check("7", "but they are a number");
        check("true", "but they are a boolean");
        check("{\"keyword\": \"家庭", "not valid JSON (EOF while parsing a string at line 1 column");
    }

    #[test]
    fn each_problem_names_its_place_and_what_is_allowed() {
        let schema = json!({ "type": "object", "required": ["leave_id", "status"], "additionalProperties": false, "properties": {
            "leave_id": { "type": "string" }, "status": { "enum": ["draft", "submitted"] }, "days": { "type": ["integer", "null"] } } });
        let validator = validator(schema.as_object().unwrap()).unwrap();
        let check = |how: Validation, arguments: Value, expected: Result<Value, &[&str]>| {
            let satisfied = satisfy(&validator, arguments.as_object().unwrap().clone(), how);
            match (satisfied, expected) {
                (Ok(arguments), Ok(expected)) => assert_eq!(Value::Object(arguments), expected),
                (Err(problems), Err(expected)) => assert_eq!(problems, expected),
                (satisfied, _) => panic!("{satisfied:?}"),
            }
        };
        check(
            Validation::Strict,
            json!({ "leave_id": 7, "status": "teleported" }),
            Err(&[
                "`leave_id`: must be of type string, but is a number: 7",
                "`status`: \"teleported\" is not allowed; allowed: \"draft\", \"submitted\"",
            ]),
        );
        check(
            Validation::Strict,
            json!({ "leave_id": "LV-1", "state": "draft" }),
            Err(&[
                "the arguments: misses the required property \"status\"",
                "the arguments: has properties that do not exist: state",
            ]),
        );
        check(
            Validation::Coerce,
            json!({ "leave_id": 7, "status": "draft", "days": "3" }),
            Ok(json!({ "leave_id": "7", "status": "draft", "days": 3 })),
        );
        check(
            Validation::Coerce,
            json!({ "leave_id": "7", "status": "draft", "days": "three" }),
            Err(&["`days`: must be of type null or integer, but is a string: \"three\""]),
        );
        check(Validation::Off, json!({ "days": "three" }), Ok(json!({ "days": "three" })));
    }

    #[test]
    fn a_schema_that_leads_out_of_itself_is_not_followed() {
        assert!(validator(json!({ "$ref": "http://127.0.0.1:9/x.json" }).as_object().unwrap()).is_err());
    }
}
