//! Pieces of tool calls in, whole calls out.
//!
//! Servers disagree about how a call is cut: some count with an index, some give every call the same one or none, some
//! send the id once, never, or always. What is certain is used first: a new id is a new call.

use std::collections::HashSet;

use serde_json::Value;

use crate::tools::ToolCallRequest;

/// Most calls of one reply. No provider takes more tools than that.
const MAX_CALLS: usize = 128;

/// A piece of a call. Whole messages hold whole calls, streams hold pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallPiece {
    index: Option<u64>,
    id: Option<String>,
    name: Option<String>,
    arguments: String,
}

impl CallPiece {
    /// Reads an item of `tool_calls`, or a `function_call`, whose fields are not nested.
    pub(crate) fn read(value: &Value) -> Self {
        let function = value.get("function").filter(|function| function.is_object()).unwrap_or(value);
        let text = |value: Option<&Value>| value?.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        Self {
            index: value.get("index").and_then(Value::as_u64),
            id: text(value.get("id")),
            name: text(function.get("name")),
            arguments: match function.get("arguments") {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            },
        }
    }

    /// A call that was read from words.
    pub(crate) fn whole(name: &str, arguments: &str) -> Self {
        Self { index: None, id: None, name: Some(name.to_owned()), arguments: arguments.to_owned() }
    }

    #[cfg(test)]
    pub(crate) fn told(&self) -> String {
        format!("{} {}", self.name.as_deref().unwrap_or_default(), self.arguments)
    }

    /// Bytes that the model wrote.
    pub(crate) fn written(&self) -> usize {
        self.name.as_ref().map_or(0, String::len) + self.arguments.len()
    }
}

/// There are too many.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("it asks for more than {MAX_CALLS} calls")]
pub(crate) struct TooManyCalls;

/// Puts the pieces of calls together.
#[derive(Debug, Default)]
pub(crate) struct CallAssembler {
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    index: u64,
    id: Option<String>,
    name: Option<String>,
    arguments: String,
}

impl Call {
    fn is_whole(&self) -> bool {
        is_object(&self.arguments)
    }

    /// Whether `piece`, which claims to go on with this call, is another one.
    fn is_left_by(&self, piece: &CallPiece) -> bool {
        let (Some(mine), Some(name)) = (&self.name, &piece.name) else { return false };
        // Nothing can follow arguments that are whole, unless they are told once more.
        let begins_again =
            || !piece.arguments.trim().is_empty() && self.is_whole() && piece.arguments != self.arguments;
        mine != name || begins_again()
    }

    fn extend(&mut self, piece: CallPiece) {
        let told_again = piece.name.is_some() && piece.arguments == self.arguments && self.is_whole();
        self.id = self.id.take().or(piece.id);
        self.name = self.name.take().or(piece.name);
        if !told_again {
            self.arguments.push_str(&piece.arguments);
        }
    }
}

impl CallAssembler {
    /// A call of a message that is whole.
    pub(crate) fn push_whole(&mut self, piece: CallPiece) -> Result<(), TooManyCalls> {
        self.begin(CallPiece { index: None, ..piece })
    }

    /// A piece of a stream.
    pub(crate) fn push(&mut self, piece: CallPiece) -> Result<(), TooManyCalls> {
        match self.find(&piece) {
            Some(at) if !self.calls[at].is_left_by(&piece) => {
                self.calls[at].extend(piece);
                Ok(())
            }
            Some(_) | None => self.begin(piece),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether the arguments of every call are a whole object.
    pub(crate) fn are_whole(&self) -> bool {
        self.calls.iter().all(Call::is_whole)
    }

    /// The calls in the model's order. Those without an id get one that depends on nothing but `turn` and their place;
    /// ids that another call has, here or in `taken`, are changed.
    pub(crate) fn finish(self, turn: usize, taken: &HashSet<String>) -> Vec<ToolCallRequest> {
        let mut calls = self.calls;
        // However the pieces were shuffled. Stable, for calls that share an index.
        calls.sort_by_key(|call| call.index);
        let mut given = HashSet::new();
        let mut requests = Vec::with_capacity(calls.len());
        for (place, call) in calls.into_iter().enumerate() {
            let wish = call.id.unwrap_or_else(|| format!("call_{turn}_{place}"));
            let mut id = wish.clone();
            let mut count = 1;
            while taken.contains(&id) || given.contains(&id) {
                count += 1;
                id = format!("{wish}_{count}");
            }
            given.insert(id.clone());
            let name = call.name.unwrap_or_default();
            requests.push(ToolCallRequest { id, name, arguments: call.arguments });
        }
        requests
    }

    /// The call that this piece belongs to, by what it says of itself.
    fn find(&self, piece: &CallPiece) -> Option<usize> {
        let by_id = piece.id.as_ref().and_then(|id| self.calls.iter().rposition(|call| call.id.as_ref() == Some(id)));
        let by_index = piece.index.and_then(|index| self.calls.iter().rposition(|call| call.index == index));
        match (by_id, by_index) {
            // The same id under a new index, with a name: two calls that share an id.
            (Some(_), None) if piece.index.is_some() && piece.name.is_some() => None,
            (Some(at), _) => Some(at),
            (None, Some(at)) if piece.id.is_some() && self.calls[at].id.is_some() => None,
            (None, Some(at)) => Some(at),
            (None, None) if piece.index.is_none() && piece.id.is_none() => self.calls.len().checked_sub(1),
            (None, None) => None,
        }
    }

    fn begin(&mut self, piece: CallPiece) -> Result<(), TooManyCalls> {
        if self.calls.len() == MAX_CALLS {
            return Err(TooManyCalls);
        }
        let next = || self.calls.iter().map(|call| call.index.saturating_add(1)).max().unwrap_or(0);
        let CallPiece { index, id, name, arguments } = piece;
        self.calls.push(Call { index: index.unwrap_or_else(next), id, name, arguments });
        Ok(())
    }
}

/// Whether a text is a whole JSON object.
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
