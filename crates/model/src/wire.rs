//! The JSON of a reply, read leniently.

use std::time::Duration;

use bylaw_contract::TokenUsage;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    calls::CallPiece,
    chat::{FinishReason, Reasoning, ReasoningField},
};

/// The longest message of an endpoint that is passed on, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// One piece of a streamed reply, or a whole one. What a provider may leave out or set to null, one does.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ReplyBody {
    pub(crate) error: Option<Value>,
    pub(crate) choices: Option<Vec<Choice>>,
    pub(crate) usage: Option<Value>,
    pub(crate) model: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Choice {
    pub(crate) index: Option<u64>,
    delta: Option<Message>,
    message: Option<Message>,
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message {
    content: Option<Content>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    refusal: Option<String>,
    tool_calls: Option<Value>,
    function_call: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Value>),
}

/// What one piece of a reply says.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) reasoning: Option<Reasoning>,
    pub(crate) calls: Vec<CallPiece>,
    /// The calls are whole, and not pieces of a stream.
    pub(crate) whole: bool,
    /// Bytes of everything the model wrote.
    pub(crate) written: u64,
}

impl Choice {
    pub(crate) fn said(self) -> Said {
        let whole = self.delta.is_none();
        let Some(message) = self.delta.or(self.message) else { return Said::default() };
        let reasoning = reasoning(message.reasoning_content, message.reasoning);
        let refusal = message.refusal.map_or(0, |text| text.len());
        let (text, hidden) = match message.content {
            None => (String::new(), 0),
            Some(Content::Text(text)) => (text, 0),
            Some(Content::Parts(parts)) => join(&parts),
        };
        let calls: Vec<CallPiece> = match (message.tool_calls, message.function_call) {
            (Some(Value::Array(calls)), _) if !calls.is_empty() => calls.iter().map(CallPiece::read).collect(),
            (Some(call @ Value::Object(_)), _) | (_, Some(call @ Value::Object(_))) => vec![CallPiece::read(&call)],
            _ => Vec::new(),
        };
        let written = text.len()
            + hidden
            + refusal
            + reasoning.as_ref().map_or(0, |reasoning| reasoning.text.len())
            + calls.iter().map(CallPiece::written).sum::<usize>();
        Said { text, reasoning, calls, whole, written: written as u64 }
    }

    pub(crate) fn finish_reason(&self) -> Option<FinishReason> {
        Some(match self.finish_reason.as_deref()? {
            "" => return None,
            "stop" | "end_turn" | "eos" | "eos_token" | "stop_sequence" => FinishReason::Stop,
            "length" | "max_tokens" | "max_output_tokens" | "model_length" => FinishReason::Length,
            "tool_calls" | "tool_call" | "tool_use" | "function_call" => FinishReason::ToolCalls,
            "content_filter" => FinishReason::ContentFilter,
            other => FinishReason::Other(cut(other)),
        })
    }
}

/// Some servers send the same reasoning under both names.
fn reasoning(content: Option<Value>, plain: Option<Value>) -> Option<Reasoning> {
    let text = |value: Option<Value>| match value {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    };
    let content = text(content).map(|text| Reasoning { text, field: ReasoningField::ReasoningContent });
    content.or_else(|| text(plain).map(|text| Reasoning { text, field: ReasoningField::Reasoning }))
}

/// The text of the parts that have one, and how many bytes the others hold.
fn join(parts: &[Value]) -> (String, usize) {
    let mut text = String::new();
    let mut hidden = 0;
    for part in parts {
        match part.get("text").and_then(Value::as_str) {
            Some(piece) => text.push_str(piece),
            None => hidden += part.to_string().len(),
        }
    }
    (text, hidden)
}

/// The usage, if it says how much was read and written. As it was reported, also where it cannot be true: whoever books it
/// judges that, and must not be shown something better.
pub(crate) fn token_usage(usage: &Value) -> Option<TokenUsage> {
    let field = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    let input_tokens = field("/prompt_tokens")?;
    // Where reasoning is left out of the completion's tokens, the total still has it.
    let beyond_input = field("/total_tokens").map(|total| total.saturating_sub(input_tokens));
    let output_tokens = field("/completion_tokens").max(beyond_input)?;
    let cached = field("/prompt_tokens_details/cached_tokens").or_else(|| field("/prompt_cache_hit_tokens"));
    let reasoning = field("/completion_tokens_details/reasoning_tokens");
    Some(TokenUsage {
        input_tokens,
        cached_input_tokens: cached.unwrap_or(0),
        output_tokens,
        reasoning_tokens: reasoning.unwrap_or(0),
        embedding_tokens: 0,
    })
}

/// The HTTP status that an error object names, if it names one.
pub(crate) fn error_status(error: &Value) -> Option<u16> {
    let code = ["code", "status"].iter().find_map(|field| error.get(field).and_then(Value::as_u64))?;
    u16::try_from(code).ok().filter(|code| (400..600).contains(code))
}

/// What an error object says, however long.
pub(crate) fn error_message(error: &Value) -> String {
    match error {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let named = ["message", "error", "detail", "msg"].iter().find_map(|field| fields.get(*field));
            named.map_or_else(|| error.to_string(), error_message)
        }
        other => other.to_string(),
    }
}

/// What the body of an error says, however long: JSON, a web page, or plain text. Empty if it says nothing.
pub(crate) fn body_message(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => error_message(&value),
        Err(_) if text.trim_start().starts_with('<') => strip_markup(&text),
        Err(_) => text.into_owned(),
    }
}

/// How long the body of an error asks to wait, in seconds.
pub(crate) fn body_retry_after(body: &[u8]) -> Option<Duration> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let asked = ["/retry_after", "/error/retry_after", "/error/metadata/retry_after", "/error/details/retry_after"];
    let seconds = asked.iter().find_map(|path| body.pointer(path)?.as_f64())?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Whether an error says that the conversation is longer than the model can read. There is no field for it that all
/// servers share.
pub(crate) fn is_too_long(error: &[u8]) -> bool {
    let text = String::from_utf8_lossy(error).to_lowercase();
    let says = |words: &[&str]| words.iter().all(|word| text.contains(word));
    [
        &["context_length_exceeded"][..],
        &["exceed_context_size"],
        &["maximum context length"],
        &["context length", "exceed"],
        &["context length", "too long"],
        &["context window", "exceed"],
        &["context size", "exceed"],
        &["context limit", "exceed"],
        &["prompt is too long"],
        &["prompt too long"],
        &["input is too long"],
        &["too many tokens"],
        &["input token count", "exceed"],
    ]
    .into_iter()
    .any(says)
}

/// One line of at most 300 characters.
pub(crate) fn cut(text: &str) -> String {
    let mut line = String::new();
    let mut chars = 0;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        for c in (chars > 0).then_some(' ').into_iter().chain(word.chars()) {
            line.push(c);
            chars += 1;
            if chars == MAX_MESSAGE_CHARS {
                return line;
            }
        }
    }
    line
}

/// The text of a web page, roughly: enough to recognise a proxy's error page by.
fn strip_markup(page: &str) -> String {
    let mut text = String::new();
    let mut hidden = None;
    for piece in page.split('<') {
        let (tag, after) = piece.split_once('>').unwrap_or((piece, ""));
        let name = tag.split(|c: char| c.is_whitespace()).next().unwrap_or_default().to_ascii_lowercase();
        match hidden {
            None if matches!(name.as_str(), "script" | "style") => hidden = Some(format!("/{name}")),
            Some(ref end) if *end == name => hidden = None,
            _ => {}
        }
        if hidden.is_none() {
            text.push(' ');
            text.push_str(after);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn usage_counts_only_when_it_says_both_halves() {
        let check = |usage: Value, expected: Option<(u64, u64, u64, u64)>| {
            let got = token_usage(&usage).map(|usage| {
                (usage.input_tokens, usage.cached_input_tokens, usage.output_tokens, usage.reasoning_tokens)
            });
            assert_eq!(got, expected, "{usage}");
        };
        check(json!({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}), Some((9, 0, 2, 0)));
        check(
            json!({"prompt_tokens": 9, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 5}}),
            Some((9, 4, 7, 5)),
        );
        check(json!({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": null}), Some((9, 0, 2, 0)));
        check(json!({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 31}), Some((9, 0, 22, 0)));
        check(json!({"prompt_tokens": 9, "total_tokens": 11}), Some((9, 0, 2, 0)));
        check(json!({"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 50}), Some((9, 50, 2, 0)));
        check(json!({"prompt_tokens": 9}), None);
        check(json!({"prompt_tokens": -1, "completion_tokens": "2"}), None);
        check(json!({}), None);
        check(json!(null), None);
    }

    #[test]
    fn an_error_body_becomes_one_line() {
        let check = |body: &str, expected: &str| assert_eq!(cut(&body_message(body.as_bytes())), expected);
        check(r#"{"error":{"message":"no such model","type":"x","code":null}}"#, "no such model");
        check(r#"{"error":"model not found"}"#, "model not found");
        check(r#"{"object":"error","message":"too\nlong"}"#, "too long");
        check(r#"{"detail":[{"msg":"field required"}]}"#, r#"[{"msg":"field required"}]"#);
        check(
            "<html><head><title>502</title><style>p {}</style></head>\r\n<body><h1>Bad Gateway</h1></body>",
            "502 Bad Gateway",
        );
        check("upstream\r\n connect error", "upstream connect error");
        check("", "");
        assert_eq!(cut(&"條".repeat(1000)).chars().count(), 300);
        assert_eq!(body_message(&[0xff, b'x']), "\u{fffd}x");
    }

    #[test]
    fn an_error_object_may_name_a_status() {
        assert_eq!(error_status(&json!({"code": 429})), Some(429));
        assert_eq!(error_status(&json!({"code": "rate_limit"})), None);
        assert_eq!(error_status(&json!({"code": 7})), None);
        assert_eq!(error_status(&json!("overloaded")), None);
    }
}
