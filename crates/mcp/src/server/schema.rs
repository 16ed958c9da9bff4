//! Schemas: portable ones only, and what does not satisfy them.

use jsonschema::Validator;
use serde_json::{Map, Value};

/// Most problems that are named at once.
const MAX_PROBLEMS: usize = 8;

/// Most of a caller's own words that are told back.
const MAX_ECHO_CHARS: usize = 300;

/// What common clients and providers do not take, wherever it stands.
const NOT_PORTABLE: [&str; 9] =
    ["$ref", "$defs", "definitions", "anyOf", "oneOf", "allOf", "not", "if", "patternProperties"];

/// The schema of an object that every client understands, and its validator.
pub(super) fn portable(schema: &Value) -> Result<(Map<String, Value>, Validator), String> {
    let object = schema.as_object().ok_or("the schema is no object")?;
    if object.get("type").and_then(Value::as_str) != Some("object") {
        return Err("the schema must have the type \"object\"".to_owned());
    }
    if !object.get("properties").is_some_and(Value::is_object) {
        return Err("the schema must have `properties`".to_owned());
    }
    walk(schema, "the schema")?;
    Ok((object.clone(), validator(schema)?))
}

/// The schema of any object, and its validator.
pub(super) fn object(schema: &Value) -> Result<(Map<String, Value>, Validator), String> {
    let object = schema.as_object().ok_or("the schema is no object")?;
    if object.get("type").and_then(Value::as_str) != Some("object") {
        return Err("the schema must have the type \"object\"".to_owned());
    }
    Ok((object.clone(), validator(schema)?))
}

/// A validator whose patterns end in linear time, and which fetches nothing.
pub(super) fn validator(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(schema)
        .map_err(|error| error.to_string())
}

fn walk(schema: &Value, at: &str) -> Result<(), String> {
    let Some(object) = schema.as_object() else {
        return Err(format!("{at} must be an object, not {schema}"));
    };
    if let Some(word) = NOT_PORTABLE.iter().find(|word| object.contains_key(**word)) {
        return Err(format!("{at} uses {word}, which not every client understands"));
    }
    match object.get("type") {
        Some(Value::String(_)) => {}
        Some(other) => return Err(format!("{at} must have one type, not {other}")),
        None if object.contains_key("enum") || object.contains_key("const") => {}
        None => return Err(format!("{at} has no type")),
    }
    for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        walk(property, &format!("`{name}`"))?;
    }
    match object.get("items") {
        Some(items) => walk(items, &format!("the items of {at}")),
        None if object.get("type").and_then(Value::as_str) == Some("array") => Err(format!("{at} has no `items`")),
        None => Ok(()),
    }
}

/// What is wrong with a value, in one line; nothing if it satisfies the schema.
pub(super) fn problems(validator: &Validator, value: &Value) -> Option<String> {
    if validator.is_valid(value) {
        return None;
    }
    let problem = |error: jsonschema::ValidationError<'_>| {
        let path = error.instance_path().to_string();
        let told = cut(&error.to_string());
        if path.is_empty() { told } else { format!("`{}`: {told}", path.trim_start_matches('/')) }
    };
    let problems: Vec<String> = validator.iter_errors(value).take(MAX_PROBLEMS).map(problem).collect();
    Some(problems.join("; "))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_ECHO_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
