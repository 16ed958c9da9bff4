//! Tools for models that cannot call any: told in words, and read from words.

mod read;

use std::{collections::HashMap, fmt::Write as _};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) use self::read::read;
use crate::{
    calls::is_object,
    chat::{ChatMessage, ChatRequest},
    tools::{ToolChoice, ToolDefinition},
};

/// What a model "calls" to answer where every reply is a call. No tool may have this name in that mode.
const FINAL_ANSWER: &str = "final_answer";

/// How a model is given tools and how it calls them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionMode {
    /// By the fields of the protocol.
    #[default]
    Native,
    /// In a system message; the endpoint makes the model write one JSON object, a call or an answer.
    JsonSchema,
    /// In a system message; calls are read from fenced blocks of JSON in the text.
    Fenced,
}

/// A request without tools that asks for the same.
#[derive(Debug)]
pub(crate) struct InWords {
    pub(crate) messages: Vec<ChatMessage>,
    pub(crate) response_format: Option<ResponseFormat>,
}

impl ActionMode {
    /// Whether the reply to `request` has to be read for calls.
    pub(crate) fn reads(self, request: &ChatRequest) -> bool {
        self != Self::Native && !offered(request).is_empty()
    }

    /// `request` in words; `None` where the protocol's own are understood.
    pub(crate) fn in_words(self, request: &ChatRequest) -> Option<InWords> {
        let past = request.messages.iter().any(|message| !message.tool_calls().is_empty());
        if self == Self::Native || (request.tools.is_empty() && !past) {
            return None;
        }
        let tools = offered(request);
        let mut messages = history(&request.messages, self);
        if !tools.is_empty() {
            let told = instructions(&tools, &request.tool_choice, self);
            match messages.first_mut() {
                // Many templates take one system message, and only at the start.
                Some(ChatMessage::System { content }) => {
                    content.push_str("\n\n");
                    content.push_str(&told);
                }
                _ => messages.insert(0, ChatMessage::System { content: told }),
            }
        }
        let response_format = (self == Self::JsonSchema && !tools.is_empty())
            .then(|| response_format(&tools, may_answer(&request.tool_choice)));
        Some(InWords { messages, response_format })
    }
}

/// The tools that may be called.
fn offered(request: &ChatRequest) -> Vec<&ToolDefinition> {
    let tools = request.tools.iter();
    match &request.tool_choice {
        ToolChoice::None => Vec::new(),
        ToolChoice::Auto | ToolChoice::Required => tools.collect(),
        ToolChoice::Tool(name) => tools.filter(|tool| tool.name == *name).collect(),
    }
}

fn may_answer(choice: &ToolChoice) -> bool {
    match choice {
        ToolChoice::Auto | ToolChoice::None => true,
        ToolChoice::Required | ToolChoice::Tool(_) => false,
    }
}

fn instructions(tools: &[&ToolDefinition], choice: &ToolChoice, mode: ActionMode) -> String {
    let example = tools.first().map(|tool| example(tool)).unwrap_or_default();
    let mut told = String::from("You act by calling tools, one at a time. ");
    match mode {
        ActionMode::Fenced => {
            let _ = write!(told, "To call one, write a block like this and stop:\n```json\n{example}\n```\n");
        }
        ActionMode::Native | ActionMode::JsonSchema => {
            let _ = write!(told, "Reply with one JSON object and nothing else. To call a tool:\n{example}\n");
        }
    }
    if may_answer(choice) {
        // Small models would rather answer at once.
        told.push_str(
            "Its result comes in the next message. Then call the next tool that is needed. Never make up what a tool \
             can tell, and never say that something is done before a tool has done it.\n",
        );
        told.push_str(match mode {
            ActionMode::Fenced => "When everything is done, answer in plain text without such a block.\n",
            ActionMode::Native | ActionMode::JsonSchema => {
                "When everything is done, and not before, reply:\n\
                 {\"name\": \"final_answer\", \"arguments\": {\"text\": \"...\"}}\n"
            }
        });
    } else {
        told.push_str("You must call a tool now.\n");
    }
    told.push_str("The tools, each with the JSON schema of its arguments:");
    for ToolDefinition { name, description, parameters } in tools {
        let _ = write!(told, "\n- {name}: {}\n  {parameters}", description.trim());
    }
    told
}

/// A call of this tool: small models copy what they are shown, so it has to be a real one.
fn example(tool: &ToolDefinition) -> String {
    let required = tool.parameters.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| {
        let schema = tool.parameters.get("properties").and_then(|properties| properties.get(name));
        let first = schema.and_then(|schema| schema.get("enum")?.get(0).cloned());
        first.unwrap_or_else(|| match schema.and_then(|schema| schema.get("type")?.as_str()) {
            Some("integer" | "number") => json!(1),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            Some(_) | None => json!("..."),
        })
    };
    let arguments: Map<String, Value> = names.map(|name| (name.to_owned(), value(name))).collect();
    call_in_words(&tool.name, &Value::Object(arguments).to_string())
}

fn call_in_words(name: &str, arguments: &str) -> String {
    format!("{{\"name\": {}, \"arguments\": {arguments}}}", json!(name))
}

/// The conversation, with calls and their results told in words.
fn history(messages: &[ChatMessage], mode: ActionMode) -> Vec<ChatMessage> {
    let calls = messages.iter().flat_map(ChatMessage::tool_calls);
    let names: HashMap<&str, &str> = calls.map(|call| (call.id.as_str(), call.name.as_str())).collect();
    let mut told: Vec<ChatMessage> = Vec::new();
    for message in messages {
        match message {
            ChatMessage::Tool { call_id, content } => {
                let name = names.get(call_id.as_str()).copied().unwrap_or("the tool");
                user(&mut told, &format!("Result of {name}:\n{content}"));
            }
            ChatMessage::User { content } => user(&mut told, content),
            ChatMessage::Assistant { content, reasoning, tool_calls } if !tool_calls.is_empty() => {
                let mut content = content.clone();
                for call in tool_calls {
                    let arguments = if is_object(&call.arguments) { call.arguments.trim() } else { "{}" };
                    let action = call_in_words(&call.name, arguments);
                    if !content.is_empty() {
                        content.push('\n');
                    }
                    let _ = match mode {
                        ActionMode::Fenced => write!(content, "```json\n{action}\n```"),
                        ActionMode::Native | ActionMode::JsonSchema => write!(content, "{action}"),
                    };
                }
                told.push(ChatMessage::Assistant { content, reasoning: reasoning.clone(), tool_calls: Vec::new() });
            }
            ChatMessage::System { .. } | ChatMessage::Assistant { .. } => told.push(message.clone()),
        }
    }
    told
}

/// Many templates want the person and the model to take turns.
fn user(told: &mut Vec<ChatMessage>, text: &str) {
    match told.last_mut() {
        Some(ChatMessage::User { content }) => {
            content.push_str("\n\n");
            content.push_str(text);
        }
        _ => told.push(ChatMessage::user(text)),
    }
}

/// The form of a reply: one of these objects. Its fields are written in the order that they have here, and the name of a
/// tool has to come before its arguments.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ResponseFormat {
    r#type: &'static str,
    json_schema: NamedSchema,
}

#[derive(Clone, Debug, Serialize)]
struct NamedSchema {
    name: &'static str,
    schema: AnyOf,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AnyOf {
    any_of: Vec<ObjectSchema>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ObjectSchema {
    r#type: &'static str,
    properties: Properties,
    required: &'static [&'static str],
    additional_properties: bool,
}

#[derive(Clone, Debug, Serialize)]
struct Properties {
    name: Value,
    arguments: Value,
}

fn response_format(tools: &[&ToolDefinition], may_answer: bool) -> ResponseFormat {
    let object = |name: &str, arguments| ObjectSchema {
        r#type: "object",
        properties: Properties { name: json!({"type": "string", "enum": [name]}), arguments },
        required: &["name", "arguments"],
        additional_properties: false,
    };
    let call = |(place, tool): (usize, &&ToolDefinition)| {
        let mut arguments = tool.parameters.clone();
        move_references(&mut arguments, &format!("#/anyOf/{place}/properties/arguments"));
        object(&tool.name, arguments)
    };
    let mut any_of: Vec<ObjectSchema> = tools.iter().enumerate().map(call).collect();
    if may_answer {
        // In the form of a call, as small models are quick to choose another.
        let text = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        any_of.push(object(FINAL_ANSWER, text));
    }
    ResponseFormat { r#type: "json_schema", json_schema: NamedSchema { name: "action", schema: AnyOf { any_of } } }
}

/// References of a schema that has moved to `place`.
fn move_references(schema: &mut Value, place: &str) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(path) if key == "$ref" && path.starts_with('#') => {
                        *path = format!("{place}{}", &path[1..]);
                    }
                    value => move_references(value, place),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| move_references(value, place)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, ToolCallRequest};

    fn asked(choice: ToolChoice) -> ChatRequest {
        let parameters =
            json!({"type": "object", "properties": {"f": {"$ref": "#/$defs/F"}}, "$defs": {"F": {"type": "string"}}});
        let tool = ToolDefinition { name: "search".to_owned(), description: "Finds.".to_owned(), parameters };
        let call = ToolCallRequest { id: "c1".to_owned(), name: "search".to_owned(), arguments: "{}".to_owned() };
        let messages = vec![
            ChatMessage::system("Be brief."),
            ChatMessage::user("hi"),
            ChatMessage::Assistant { content: String::new(), reasoning: None, tool_calls: vec![call] },
            ChatMessage::tool("c1", "nothing"),
            ChatMessage::user("again"),
        ];
        let request = ChatRequest::new(Purpose::AgentTurn, messages, 10);
        ChatRequest { tools: [tool].into(), tool_choice: choice, ..request }
    }

    #[test]
    fn tools_calls_and_results_are_told_in_words() {
        let InWords { messages, response_format } = ActionMode::Fenced.in_words(&asked(ToolChoice::Auto)).unwrap();
        assert!(response_format.is_none());
        let told: Vec<String> = messages.iter().map(|said| format!("{:?}: {}", said.role(), said.content())).collect();
        insta::assert_snapshot!(told.join("\n---\n"));
        let format = ActionMode::JsonSchema.in_words(&asked(ToolChoice::Auto)).unwrap().response_format.unwrap();
        insta::assert_snapshot!(serde_json::to_string(&format).unwrap());
    }

    #[test]
    fn the_choice_of_a_tool_is_told_too() {
        let check = |choice: ToolChoice, tools: bool, answer: bool| {
            let InWords { messages, response_format } = ActionMode::JsonSchema.in_words(&asked(choice)).unwrap();
            assert_eq!(messages[0].content().contains("Finds."), tools);
            let format = serde_json::to_string(&response_format).unwrap();
            assert_eq!((format.contains("search"), format.contains("final_answer")), (tools, answer));
        };
        check(ToolChoice::Auto, true, true);
        check(ToolChoice::Required, true, false);
        check(ToolChoice::Tool("search".to_owned()), true, false);
        check(ToolChoice::None, false, false);
        assert!(ActionMode::Native.in_words(&asked(ToolChoice::Auto)).is_none());
    }
}
