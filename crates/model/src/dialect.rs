//! What an endpoint does not understand, learned from its refusals.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::chat::{ChatMessage, ChatRequest, ModelError};

/// The fields that an endpoint has refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dialect(u8);

/// A field that some endpoints refuse. What they want instead is nothing, or another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusable {
    /// `max_tokens`, for `max_completion_tokens`.
    MaxTokens = 1,
    /// `temperature`.
    Temperature = 2,
    /// `stream_options`.
    StreamOptions = 4,
    /// `parallel_tool_calls`.
    ParallelToolCalls = 8,
    /// What the model thought, in a message.
    Reasoning = 16,
}

impl Dialect {
    pub(crate) const fn refuses(self, field: Refusable) -> bool {
        self.0 & field as u8 != 0
    }

    /// The dialect of an endpoint that speaks this one and refused `request` so; `None` if nothing is to be learned.
    pub(crate) fn after(self, failure: &ModelError, request: &ChatRequest) -> Option<Self> {
        let ModelError::Status { status: 400 | 422, message, .. } = failure else { return None };
        let field = refused(&message.to_lowercase(), request)?;
        (!self.refuses(field)).then_some(Self(self.0 | field as u8))
    }
}

fn refused(message: &str, request: &ChatRequest) -> Option<Refusable> {
    let says = |word: &str| message.contains(word);
    let thought = |message: &ChatMessage| matches!(message, ChatMessage::Assistant { reasoning: Some(_), .. });
    if says("max_tokens") && says("max_completion_tokens") {
        Some(Refusable::MaxTokens)
    } else if says("stream_options") {
        Some(Refusable::StreamOptions)
    } else if says("parallel_tool_calls") {
        Some(Refusable::ParallelToolCalls)
    } else if says("temperature") {
        Some(Refusable::Temperature)
    } else if says("reasoning") && !says("must") && !says("pass") && request.messages.iter().any(thought) {
        // Where it says that it must be there, it was, and leaving it out would not help.
        Some(Refusable::Reasoning)
    } else {
        None
    }
}

/// A dialect that those who share a connection learn together.
#[derive(Debug, Default)]
pub(crate) struct Learned(AtomicU8);

impl Learned {
    pub(crate) fn get(&self) -> Dialect {
        Dialect(self.0.load(Ordering::Relaxed))
    }

    pub(crate) fn learn(&self, dialect: Dialect) {
        self.0.fetch_or(dialect.0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, Reasoning, ReasoningField};

    #[test]
    fn a_refusal_that_names_a_field_teaches_to_leave_it_out() {
        let reasoning = Some(Reasoning { text: "hm".to_owned(), field: ReasoningField::Reasoning });
        let thought = ChatMessage::Assistant { content: "yes".to_owned(), reasoning, tool_calls: Vec::new() };
        let plain = ChatRequest::new(Purpose::AgentTurn, vec![ChatMessage::user("hi")], 10);
        let thinking = ChatRequest { messages: vec![ChatMessage::user("hi"), thought], ..plain.clone() };
        let learned = |request: &ChatRequest, status, message: &str| {
            let failure = ModelError::Status { status, message: message.to_owned(), retry_after: None };
            Dialect::default().after(&failure, request)
        };
        let check = |request: &ChatRequest, message: &str, expected: Option<Refusable>| {
            assert_eq!(learned(request, 400, message), expected.map(|field| Dialect(field as u8)), "{message}");
        };
        check(
            &plain,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            Some(Refusable::MaxTokens),
        );
        check(&plain, "Unsupported value: 'temperature' does not support 0", Some(Refusable::Temperature));
        check(&plain, r#"[{"loc":["body","stream_options"],"msg":"extra"}]"#, Some(Refusable::StreamOptions));
        check(&plain, "Unknown parameter: 'parallel_tool_calls'", Some(Refusable::ParallelToolCalls));
        check(&thinking, "property 'reasoning_content' is unsupported", Some(Refusable::Reasoning));
        check(&plain, "property 'reasoning_content' is unsupported", None);
        check(&thinking, "The reasoning_content in the thinking mode must be passed back to the API.", None);
        check(&plain, "max_tokens must be at least 1", None);
        check(&plain, "no such model", None);
        assert_eq!(learned(&plain, 500, "stream_options"), None);
        let known = Dialect(Refusable::StreamOptions as u8);
        let failure = ModelError::Status { status: 400, message: "stream_options".to_owned(), retry_after: None };
        assert_eq!(known.after(&failure, &plain), None, "nothing is learned twice");
    }
}
