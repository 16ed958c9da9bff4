//! What a strict provider refuses in a request.

use serde_json::Value;

/// The first thing that is wrong with a request.
pub(super) fn fault(request: &Value) -> Option<String> {
    tools(request).find_map(tool_fault).or_else(|| history_fault(request["messages"].as_array()?))
}

/// The functions that are offered.
pub(super) fn tools(request: &Value) -> impl Iterator<Item = &Value> {
    request["tools"].as_array().into_iter().flatten().map(|tool| &tool["function"])
}

fn tool_fault(tool: &Value) -> Option<String> {
    let name = tool["name"].as_str().unwrap_or_default();
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.is_empty() || name.len() > 64 || !name.bytes().all(legal) {
        return Some(format!("`{name}` is no name of a function"));
    }
    (!tool["parameters"]["properties"].is_object()).then(|| format!("the schema of `{name}` has no properties"))
}

/// Each call is an object of arguments and is answered, by the messages right after it.
fn history_fault(messages: &[Value]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            match open.iter().position(|call| *call == id) {
                Some(at) => open.swap_remove(at),
                None => return Some(format!("the result of `{id}` belongs to no call")),
            };
            continue;
        }
        if let Some(id) = open.first() {
            return Some(format!("`{id}` has no result"));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            if !serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object()) {
                return Some(format!("the arguments of {} are no object", call["id"]));
            }
            open.push(call["id"].as_str().unwrap_or_default());
        }
    }
    open.first().map(|id| format!("`{id}` has no result"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_providers_refuse_is_refused() {
        let check = |request: Value, is_right: bool| assert_eq!(fault(&request).is_none(), is_right, "{request}");
        let call = |arguments: &str| json!({ "role": "assistant", "tool_calls": [{ "id": "a", "function": { "name": "f", "arguments": arguments } }] });
        let result = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "" });
        let said = |messages: &[Value]| json!({ "messages": messages });
        let tool = |name: &str, parameters: Value| json!({ "messages": [], "tools": [{ "function": { "name": name, "parameters": parameters } }] });
        check(said(&[call("{}"), result("a")]), true);
        check(said(&[call("{}")]), false);
        check(said(&[call("{}"), json!({ "role": "user" }), result("a")]), false);
        check(said(&[call("{}"), result("b")]), false);
        check(said(&[result("a")]), false);
        check(said(&[call("[]"), result("a")]), false);
        check(said(&[call(""), result("a")]), false);
        check(tool("f", json!({ "type": "object", "properties": {} })), true);
        check(tool("f", json!({ "type": "object" })), false);
        check(tool("f.g", json!({ "properties": {} })), false);
        check(tool(&"f".repeat(65), json!({ "properties": {} })), false);
    }
}
