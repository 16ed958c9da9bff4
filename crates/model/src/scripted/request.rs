//! A request as a strict provider reads it.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::strict;
use crate::{
    chat::{ChatMessage, Reasoning, ReasoningField, Role},
    tools::{ToolCallRequest, ToolDefinition},
};

/// A request as the scripted model got it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedRequest {
    /// The model that was asked for.
    pub model: String,
    /// The conversation.
    #[serde(deserialize_with = "messages")]
    pub messages: Vec<ChatMessage>,
    /// What may be called.
    #[serde(default, deserialize_with = "tools")]
    pub tools: Vec<ToolDefinition>,
    /// Whether something has to be.
    pub tool_choice: Option<Value>,
    /// Whether several may be at once.
    pub parallel_tool_calls: Option<bool>,
    /// The form that the answer has to have.
    pub response_format: Option<Value>,
    /// Most tokens to write.
    #[serde(alias = "max_completion_tokens")]
    pub max_tokens: u32,
    /// 0, where it is taken.
    pub temperature: Option<f64>,
    /// Always true.
    pub stream: bool,
    /// Asks for the usage, where it is taken.
    pub stream_options: Option<Value>,
}

impl ScriptedRequest {
    /// What a provider would answer 400 to.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        strict::fault(self)
    }

    /// The results of calls that came after the last thing that the person said.
    #[must_use]
    pub fn results(&self) -> Vec<&str> {
        let last = self.messages.iter().rposition(|message| message.role() == Role::User).unwrap_or(0);
        let results = self.messages[last..].iter().filter(|message| message.role() == Role::Tool);
        results.map(ChatMessage::content).collect()
    }
}

#[derive(Deserialize)]
#[serde(tag = "role", rename_all = "lowercase", deny_unknown_fields)]
enum Message {
    System {
        content: String,
    },
    User {
        content: String,
    },
    Assistant {
        content: Option<String>,
        reasoning_content: Option<String>,
        reasoning: Option<String>,
        #[serde(default)]
        tool_calls: Vec<Call>,
    },
    Tool {
        tool_call_id: String,
        content: String,
    },
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
enum Call {
    Function { id: String, function: CallFunction },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallFunction {
    name: String,
    arguments: String,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
enum Tool {
    Function { function: ToolFunction },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolFunction {
    name: String,
    description: String,
    parameters: Value,
}

fn messages<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ChatMessage>, D::Error> {
    let messages = Vec::<Message>::deserialize(deserializer)?.into_iter();
    Ok(messages
        .map(|message| match message {
            Message::System { content } => ChatMessage::System { content },
            Message::User { content } => ChatMessage::User { content },
            Message::Tool { tool_call_id, content } => ChatMessage::Tool { call_id: tool_call_id, content },
            Message::Assistant { content, reasoning_content, reasoning, tool_calls } => {
                let thought = |text: Option<String>, field| text.map(|text| Reasoning { text, field });
                ChatMessage::Assistant {
                    content: content.unwrap_or_default(),
                    reasoning: thought(reasoning_content, ReasoningField::ReasoningContent)
                        .or_else(|| thought(reasoning, ReasoningField::Reasoning)),
                    tool_calls: tool_calls.into_iter().map(call).collect(),
                }
            }
        })
        .collect())
}

fn call(call: Call) -> ToolCallRequest {
    let Call::Function { id, function } = call;
    ToolCallRequest { id, name: function.name, arguments: function.arguments }
}

fn tools<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ToolDefinition>, D::Error> {
    let tools = Vec::<Tool>::deserialize(deserializer)?.into_iter();
    Ok(tools
        .map(|tool| {
            let Tool::Function { function: ToolFunction { name, description, parameters } } = tool;
            ToolDefinition { name, description, parameters }
        })
        .collect())
}
