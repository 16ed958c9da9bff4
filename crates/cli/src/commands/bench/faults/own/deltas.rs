//! A reply as a stream that is cut where it hurts: calls side by side and in pieces, lines that end with CRLF, comments,
//! and packets that end inside of characters.

use axum::body::Bytes;
use serde_json::{Value, json};

use super::script::Reply;

/// Bytes of a packet: three of a character's bytes and one of the next, sooner or later.
const PACKET: usize = 7;

/// Characters of a piece of arguments: 1, 2, 3, 1, …
const CHARS: [usize; 3] = [1, 2, 3];

/// The packets of a reply.
pub(super) fn packets(reply: &Reply, model: &str) -> Vec<Bytes> {
    let mut stream = Stream { model, bytes: String::from(": the model is awake\r\n\r\n"), events: 0 };
    stream.delta(&json!({ "role": "assistant", "content": null }));
    for piece in pieces(reply.reasoning.unwrap_or_default()) {
        stream.delta(&json!({ "reasoning_content": piece }));
    }
    for piece in pieces(reply.text) {
        stream.delta(&json!({ "content": piece }));
    }
    for (index, call) in reply.calls.iter().enumerate() {
        let function = json!({ "name": call.name, "arguments": "" });
        stream.delta(&json!({
            "tool_calls": [{ "index": index, "id": call.id, "type": "function", "function": function }]
        }));
    }
    // In turns, one piece of each.
    let mut arguments: Vec<_> = reply.calls.iter().map(|call| pieces(call.arguments).into_iter()).collect();
    let mut left = true;
    while left {
        left = false;
        for (index, pieces) in arguments.iter_mut().enumerate() {
            let Some(piece) = pieces.next() else { continue };
            left = true;
            let mut call = json!({ "index": index, "function": { "arguments": piece } });
            if stream.events.is_multiple_of(2) {
                // Some servers tell an id that is none.
                call["id"] = json!("");
            }
            stream.delta(&json!({ "tool_calls": [call] }));
        }
    }
    stream.choice(&json!({}), &json!(reply.finish));
    let usage = match reply.counts {
        true => json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 }),
        false => json!({ "prompt_tokens": null, "completion_tokens": null, "total_tokens": null }),
    };
    stream.event(&json!({ "object": "chat.completion.chunk", "model": model, "choices": [], "usage": usage }));
    stream.bytes.push_str("data: [DONE]\r\n\r\n");
    stream.bytes.as_bytes().chunks(PACKET).map(Bytes::copy_from_slice).collect()
}

struct Stream<'a> {
    model: &'a str,
    bytes: String,
    events: usize,
}

impl Stream<'_> {
    fn delta(&mut self, delta: &Value) {
        self.choice(delta, &Value::Null);
    }

    fn choice(&mut self, delta: &Value, finish_reason: &Value) {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish_reason });
        let model = self.model;
        self.event(&json!({ "object": "chat.completion.chunk", "model": model, "choices": [choice], "usage": null }));
    }

    fn event(&mut self, event: &Value) {
        // The blank after the colon is left to the server.
        self.bytes.push_str(if self.events.is_multiple_of(3) { "data:" } else { "data: " });
        self.bytes.push_str(&event.to_string());
        self.bytes.push_str("\r\n\r\n");
        self.events += 1;
    }
}

fn pieces(text: &str) -> Vec<String> {
    let mut chars = text.chars();
    let piece = |count: usize| -> String { chars.by_ref().take(count).collect() };
    CHARS.into_iter().cycle().map(piece).take_while(|piece| !piece.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::script::Call, *};

    #[test]
    fn a_packet_ends_inside_of_a_character_and_all_of_them_are_the_reply() {
        let call = |id: &str, arguments| Call { id: id.to_owned(), name: "f".to_owned(), arguments };
        let calls = vec![call("a", r#"{"k":"家庭"}"#), call("b", r#"{"k":"病"}"#)];
        let reply = Reply {
            text: "好的，我先查一查家庭旅遊的特休還有幾天。",
            reasoning: None,
            calls,
            finish: "tool_calls",
            counts: true,
        };
        let packets = packets(&reply, "m");
        assert!(packets.iter().any(|packet| std::str::from_utf8(packet).is_err()));
        let whole = String::from_utf8(packets.concat()).unwrap();
        let events = whole.split("\r\n\r\n").filter_map(|event| event.strip_prefix("data:"));
        let events: Vec<Value> = events.filter_map(|data| serde_json::from_str(data).ok()).collect();
        let arguments = |index: usize| -> String {
            let calls = events.iter().map(|event| &event["choices"][0]["delta"]["tool_calls"][0]);
            calls
                .filter(|call| call["index"] == index)
                .filter_map(|call| call["function"]["arguments"].as_str())
                .collect()
        };
        assert_eq!([arguments(0), arguments(1)], [r#"{"k":"家庭"}"#, r#"{"k":"病"}"#]);
        assert!(whole.ends_with("data: [DONE]\r\n\r\n"));
    }
}
