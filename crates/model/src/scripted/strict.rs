//! What real providers answer 400 to.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::ScriptedRequest;
use crate::{
    calls::is_object,
    chat::{ChatMessage, Role},
    request::is_legal_name,
    tools::ToolDefinition,
};

/// Most tools that a provider takes.
const MAX_TOOLS: usize = 128;

const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// The first thing that is wrong with a request.
pub(super) fn fault(request: &ScriptedRequest) -> Option<String> {
    let messages = &request.messages;
    if messages.is_empty() {
        return Some("messages must not be empty".to_owned());
    }
    if !messages.iter().any(|message| message.role() == Role::User) {
        return Some("messages must hold at least one user message".to_owned());
    }
    if messages.iter().any(is_blank) {
        return Some("a message must not be blank".to_owned());
    }
    if request.max_tokens == 0 {
        return Some("max_tokens must be at least 1".to_owned());
    }
    history_fault(messages).or_else(|| tools_fault(&request.tools)).or_else(|| choice_fault(request))
}

fn is_blank(message: &ChatMessage) -> bool {
    let may_be = message.role() == Role::Tool || !message.tool_calls().is_empty();
    !may_be && message.content().trim().is_empty()
}

/// Every call is answered by the messages right after it, every answer has its call, and no two calls share an id.
fn history_fault(messages: &[ChatMessage]) -> Option<String> {
    let mut ids = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        if let ChatMessage::Tool { call_id, .. } = message {
            let Some(at) = open.iter().position(|id| id == call_id) else {
                return Some(format!("the tool message for `{call_id}` answers no call that is open"));
            };
            open.swap_remove(at);
            continue;
        }
        if let Some(id) = open.first() {
            return Some(format!("tool_call_ids did not have response messages: {id}"));
        }
        for call in message.tool_calls() {
            if call.id.is_empty() || !ids.insert(call.id.as_str()) {
                return Some(format!("the id `{}` of a tool call is empty or not unique", call.id));
            }
            if !is_legal_name(&call.name) {
                return Some(format!("`{}` is not the name of a tool", call.name));
            }
            if !is_object(&call.arguments) {
                return Some(format!("the arguments of `{}` are not a JSON object", call.id));
            }
            open.push(&call.id);
        }
    }
    open.first().map(|id| format!("tool_call_ids did not have response messages: {id}"))
}

fn tools_fault(tools: &[ToolDefinition]) -> Option<String> {
    if tools.len() > MAX_TOOLS {
        return Some(format!("more than {MAX_TOOLS} tools"));
    }
    let mut names = HashSet::new();
    for tool in tools {
        if !is_legal_name(&tool.name) {
            return Some(format!("`{}` is not a legal name of a tool", tool.name));
        }
        if !names.insert(tool.name.as_str()) {
            return Some(format!("two tools are called `{}`", tool.name));
        }
        let schema = &tool.parameters;
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Some(format!("the schema of `{}` is not of type \"object\"", tool.name));
        }
        if !schema.get("properties").is_some_and(Value::is_object) {
            return Some(format!("the object schema of `{}` misses properties", tool.name));
        }
        if let Some(fault) = schema_fault(schema, schema) {
            return Some(format!("the schema of `{}` is wrong: {fault}", tool.name));
        }
    }
    None
}

fn schema_fault(schema: &Value, root: &Value) -> Option<String> {
    let fields = match schema {
        Value::Bool(_) => return None,
        Value::Object(fields) => fields,
        other => return Some(format!("{other} is no schema")),
    };
    type_fault(fields)
        .or_else(|| reference_fault(fields, root))
        .or_else(|| {
            let required = fields.get("required")?;
            let names = required.as_array().is_some_and(|names| names.iter().all(Value::is_string));
            (!names).then(|| "`required` is no list of names".to_owned())
        })
        .or_else(|| {
            let values = fields.get("enum")?;
            values.as_array().is_none_or(Vec::is_empty).then(|| "`enum` is no list of values".to_owned())
        })
        .or_else(|| parts(fields).find_map(|part| schema_fault(part, root)))
}

fn type_fault(fields: &Map<String, Value>) -> Option<String> {
    let named = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    let kind = fields.get("type")?;
    let known = match kind {
        Value::Array(kinds) => !kinds.is_empty() && kinds.iter().all(named),
        other => named(other),
    };
    if !known {
        return Some(format!("{kind} is no type"));
    }
    (kind == "array" && !fields.contains_key("items")).then(|| "array schema missing items".to_owned())
}

fn reference_fault(fields: &Map<String, Value>, root: &Value) -> Option<String> {
    let reference = fields.get("$ref")?;
    let found = reference.as_str().and_then(|path| path.strip_prefix('#')).and_then(|path| root.pointer(path));
    found.is_none().then(|| format!("{reference} leads nowhere"))
}

/// The schemas inside a schema.
fn parts(fields: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let values = |key: &str| fields.get(key).and_then(Value::as_object).into_iter().flat_map(Map::values);
    let list = |key: &str| fields.get(key).and_then(Value::as_array).into_iter().flatten();
    values("properties")
        .chain(values("$defs"))
        .chain(values("definitions"))
        .chain(list("anyOf"))
        .chain(list("oneOf"))
        .chain(list("allOf"))
        .chain(fields.get("items"))
        .chain(fields.get("additionalProperties"))
}

fn choice_fault(request: &ScriptedRequest) -> Option<String> {
    let choice = request.tool_choice.as_ref()?;
    if request.tools.is_empty() {
        return Some("tool_choice is only allowed when tools are specified".to_owned());
    }
    let named = choice.pointer("/function/name").and_then(Value::as_str)?;
    let known = request.tools.iter().any(|tool| tool.name == named);
    (!known).then(|| format!("tool_choice names `{named}`, which is not among the tools"))
}
