//! Calls and answers, read from words.

use serde_json::Value;

use super::FINAL_ANSWER;
use crate::{
    calls::CallPiece,
    chat::{Reasoning, ReasoningField},
};

/// What a text says and asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) reasoning: Option<Reasoning>,
    pub(crate) text: String,
    pub(crate) calls: Vec<CallPiece>,
}

/// Reads a whole reply, or what there is of one that was cut off.
pub(crate) fn read(reply: &str) -> Read {
    let (thought, said) = match reply.split_once("</think>") {
        Some((thought, said)) => (thought.trim().trim_start_matches("<think>").trim(), said.trim()),
        None => ("", reply.trim()),
    };
    let mut read = Read {
        reasoning: (!thought.is_empty())
            .then(|| Reasoning { text: thought.to_owned(), field: ReasoningField::ReasoningContent }),
        ..Read::default()
    };
    if let Some(answer) = answer(said) {
        read.text = answer;
    } else if let Some(calls) = actions(said) {
        read.calls = calls;
    } else {
        read_blocks(said, &mut read);
    }
    read
}

/// The text around the blocks that are calls, and these calls.
fn read_blocks(said: &str, read: &mut Read) {
    let mut rest = said;
    while let Some((at, open, close)) = next_block(rest) {
        let inside = &rest[at + open.len()..];
        let (block, after) = inside.split_once(close).unwrap_or((inside, ""));
        // The language of a fence.
        let body = block.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '_').trim();
        match (answer(body), actions(body)) {
            (Some(answer), _) => {
                read.text.push_str(&rest[..at]);
                read.text.push_str(&answer);
            }
            (None, Some(calls)) => {
                read.calls.extend(calls);
                read.text.push_str(&rest[..at]);
            }
            (None, None) => read.text.push_str(&rest[..rest.len() - after.len()]),
        }
        rest = after;
    }
    read.text.push_str(rest);
    let trimmed = read.text.trim();
    if trimmed.len() != read.text.len() {
        read.text = trimmed.to_owned();
    }
}

fn next_block(text: &str) -> Option<(usize, &'static str, &'static str)> {
    let blocks = [("```", "```"), ("<tool_call>", "</tool_call>")];
    let found = blocks.into_iter().filter_map(|(open, close)| Some((text.find(open)?, open, close)));
    found.min_by_key(|(at, ..)| *at)
}

/// The text of a final answer, also of one that was cut off.
fn answer(text: &str) -> Option<String> {
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        let arguments =
            value.get("arguments").filter(|_| value.get("name").is_some_and(|name| name == FINAL_ANSWER))?;
        return arguments.get("text").or(Some(arguments))?.as_str().map(str::to_owned);
    }
    let call = text.strip_prefix('{')?.split_once(':')?.1.trim_start().strip_prefix('"')?.strip_prefix(FINAL_ANSWER)?;
    let Some((_, after)) = call.split_once("\"text\"") else { return Some(String::new()) };
    let Some(mut written) = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"') else {
        return Some(String::new());
    };
    // At most a whole escaped pair is cut: `\ud83d\ude0`.
    for _ in 0..12 {
        if let Ok(answer) = serde_json::from_str(&format!("\"{written}\"")) {
            return Some(answer);
        }
        written = &written[..written.char_indices().next_back()?.0];
    }
    None
}

/// The calls that a piece of JSON is.
fn actions(text: &str) -> Option<Vec<CallPiece>> {
    match serde_json::from_str(text) {
        Ok(Value::Array(items)) if !items.is_empty() => items.iter().map(action).collect(),
        Ok(value) => Some(vec![action(&value)?]),
        // Some models put one object after the other.
        Err(_) => {
            let values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
            let calls: Option<Vec<CallPiece>> = values.map(|value| action(&value.ok()?)).collect();
            calls.filter(|calls| !calls.is_empty()).or_else(|| broken_action(text).map(|call| vec![call]))
        }
    }
}

fn action(value: &Value) -> Option<CallPiece> {
    let value = value.get("function").filter(|function| function.is_object()).unwrap_or(value);
    let name = value.get("name")?.as_str()?;
    let arguments = value.get("arguments").or_else(|| value.get("parameters"))?;
    let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
    Some(CallPiece::whole(name, &arguments))
}

/// A call whose JSON is wrong or not all there. Its arguments are told as they were written.
fn broken_action(text: &str) -> Option<CallPiece> {
    let value = |text: &'static str, inside: &str| {
        let after = inside.split_once(text)?.1.trim_start().strip_prefix(':')?.trim_start().to_owned();
        Some(after)
    };
    let named = value("\"name\"", text.strip_prefix('{')?)?;
    let name = named.strip_prefix('"')?.split('"').next()?;
    let arguments = value("\"arguments\"", text).unwrap_or_default();
    Some(CallPiece::whole(name, &arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(reply: &str) -> String {
        let Read { reasoning, text, calls } = read(reply);
        let thought = reasoning.map(|thought| format!("({})", thought.text)).unwrap_or_default();
        let calls: String = calls.iter().map(|call| format!("|{}", call.told())).collect();
        format!("{thought}{text}{calls}")
    }

    #[test]
    fn calls_are_read_from_words() {
        let check = |reply: &str, expected: &str| assert_eq!(told(reply), expected, "{reply}");
        check(r#"{"name": "search", "arguments": {"q": "特休"}}"#, r#"|search {"q":"特休"}"#);
        check(r#" {"name": "final_answer", "arguments": {"text": "七日\n[26]"}} "#, "七日\n[26]");
        check("七日。", "七日。");
        check("```json\n{\"name\":\"final_answer\",\"arguments\":{\"text\":\"七日\"}}\n```", "七日");
        check("Let me look.\n```json\n{\"name\":\"a\",\"arguments\":{}}\n```", "Let me look.|a {}");
        check(
            "```json\n{\"name\":\"a\",\"arguments\":{}}\n```\n```\n{\"name\":\"b\",\"arguments\":{}}\n```",
            "|a {}|b {}",
        );
        check("<think>hm</think>\n{\"name\":\"a\",\"arguments\":{}}", "(hm)|a {}");
        check("<tool_call>\n{\"name\":\"a\",\"arguments\":{}}\n</tool_call>", "|a {}");
        check(r#"[{"name":"a","arguments":{}},{"name":"b","parameters":{"x":1}}]"#, r#"|a {}|b {"x":1}"#);
        check("{\"name\":\"a\",\"arguments\":{}}\n{\"name\":\"b\",\"arguments\":{}}", "|a {}|b {}");
        check(r#"{"name":"a","arguments":"{\"x\":1}"}"#, r#"|a {"x":1}"#);
        check(r#"{"type":"function","function":{"name":"a","arguments":{}}}"#, "|a {}");
    }

    #[test]
    fn what_is_no_call_is_text() {
        let check = |reply: &str| assert_eq!(told(reply), reply);
        check("```python\nprint(1)\n```");
        check("```json\n{\"name\": \"Ann\"}\n```");
        check(r#"{"leave": 7}"#);
        check("use `{}` here");
        check("");
    }

    #[test]
    fn what_was_cut_off_or_is_wrong_is_told_as_it_was_written() {
        let check = |reply: &str, expected: &str| assert_eq!(told(reply), expected, "{reply}");
        check(r#"{"name":"a","arguments":{"x":"#, r#"|a {"x":"#);
        check("```json\n{\"name\":\"a\",\"argu", "|a ");
        check(r#"{"name":"final_answer","arguments":{"text":"七日\u7"#, "七日");
        check(r#"{"name":"final_answer","argu"#, "");
        check(r#"{"name":"final_answer","arguments":{"text":"said \"#, "said ");
    }
}
