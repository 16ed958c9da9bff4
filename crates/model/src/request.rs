//! The JSON of a request, written so that a strict server takes it.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    action::{ActionMode, ResponseFormat},
    calls::is_object,
    chat::{ChatMessage, ChatRequest, Reasoning, ReasoningField},
    dialect::{Dialect, Refusable},
    tools::{ToolCallRequest, ToolChoice, ToolDefinition},
};

/// The longest name that a tool may have.
const MAX_NAME_BYTES: usize = 64;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<&'a ResponseFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<u8>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    arguments: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: ToolFunction<'a>,
}

#[derive(Serialize)]
struct ToolFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

/// The bytes that are sent, asking for at most `max_tokens` tokens.
pub(crate) fn request_body(
    model: &str,
    request: &ChatRequest,
    max_tokens: u32,
    actions: ActionMode,
    dialect: Dialect,
) -> Bytes {
    let in_words = actions.in_words(request);
    let has_tools = !request.tools.is_empty() && in_words.is_none();
    let (messages, response_format) = match &in_words {
        Some(in_words) => (&in_words.messages, in_words.response_format.as_ref()),
        None => (&request.messages, None),
    };
    let takes = |field| !dialect.refuses(field);
    let keeps_reasoning = takes(Refusable::Reasoning);
    let body = Body {
        model,
        messages: messages.iter().map(|said| message(said, keeps_reasoning)).collect(),
        tools: request.tools.iter().filter(|_| has_tools).map(tool).collect(),
        tool_choice: tool_choice(&request.tool_choice).filter(|_| has_tools),
        parallel_tool_calls: request.parallel_tool_calls.filter(|_| has_tools && takes(Refusable::ParallelToolCalls)),
        response_format,
        max_tokens: takes(Refusable::MaxTokens).then_some(max_tokens),
        max_completion_tokens: dialect.refuses(Refusable::MaxTokens).then_some(max_tokens),
        temperature: takes(Refusable::Temperature).then_some(0),
        stream: true,
        stream_options: takes(Refusable::StreamOptions).then_some(StreamOptions { include_usage: true }),
    };
    serde_json::to_vec(&body).expect("strings and numbers always serialise").into()
}

fn message(message: &ChatMessage, keeps_reasoning: bool) -> Message<'_> {
    let plain = |role, content| Message {
        role,
        content: Some(content),
        reasoning_content: None,
        reasoning: None,
        tool_calls: Vec::new(),
        tool_call_id: None,
    };
    match message {
        ChatMessage::System { content } => plain("system", content),
        ChatMessage::User { content } => plain("user", content),
        ChatMessage::Tool { call_id, content } => Message { tool_call_id: Some(call_id), ..plain("tool", content) },
        ChatMessage::Assistant { content, reasoning, tool_calls } => {
            let kept = reasoning.as_ref().filter(|_| keeps_reasoning);
            let thought = |field| kept.filter(|thought| thought.field == field).map(text);
            Message {
                // Empty text beside calls is refused by some, null without calls by all.
                content: Some(content.as_str()).filter(|content| tool_calls.is_empty() || !content.is_empty()),
                reasoning_content: thought(ReasoningField::ReasoningContent),
                reasoning: thought(ReasoningField::Reasoning),
                tool_calls: tool_calls.iter().map(call).collect(),
                ..plain("assistant", content)
            }
        }
    }
}

fn text(reasoning: &Reasoning) -> &str {
    &reasoning.text
}

/// A call of the past. What a strict server would not read is told as something that it does: the model's own words are
/// told, where they matter, by the call's result.
fn call(call: &ToolCallRequest) -> Call<'_> {
    let arguments = if is_object(&call.arguments) { &call.arguments } else { "{}" };
    Call { id: &call.id, r#type: "function", function: Function { name: legal_name(&call.name), arguments } }
}

fn tool(tool: &ToolDefinition) -> Tool<'_> {
    let ToolDefinition { name, description, parameters } = tool;
    Tool { r#type: "function", function: ToolFunction { name, description, parameters } }
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Tool(name) => Some(json!({"type": "function", "function": {"name": name}})),
    }
}

/// Whether a provider takes this as the name of a tool.
pub(crate) fn is_legal_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.bytes().all(is_legal_byte)
}

fn is_legal_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn legal_name(name: &str) -> Cow<'_, str> {
    if is_legal_name(name) {
        return name.into();
    }
    let legal = |c: char| if c.is_ascii() && is_legal_byte(c as u8) { c } else { '_' };
    let name: String = name.chars().take(MAX_NAME_BYTES).map(legal).collect();
    if name.is_empty() { "unknown".into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;

    #[test]
    fn a_request_always_streams_with_usage_and_a_limit() {
        let message = ChatMessage::user("特休幾天?");
        let request = ChatRequest::new(Purpose::Answer, vec![message], 300);
        let body =
            String::from_utf8(request_body("small", &request, 300, ActionMode::Native, Dialect::default()).to_vec())
                .unwrap();
        insta::assert_snapshot!(body, @r#"{"model":"small","messages":[{"role":"user","content":"特休幾天?"}],"max_tokens":300,"temperature":0,"stream":true,"stream_options":{"include_usage":true}}"#);
    }
}
