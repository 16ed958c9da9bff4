//! The question in a conversation.

use bylaw_contract::{
    ErrorCode,
    ask::{AskRequest, check_question},
    openai::ChatRequest,
};
use serde_json::{Map, Value};

use crate::{error::Failure, openai::MODELS};

/// What a conversation comes to.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) request: AskRequest,
    /// As the caller calls it.
    pub(crate) model: &'static str,
    pub(crate) messages_not_used: usize,
    pub(crate) include_usage: bool,
}

impl Asked {
    /// Reads a request.
    ///
    /// # Errors
    /// What is asked for and cannot be given, and what is no question. Everything else is ignored.
    pub(crate) fn read(request: &ChatRequest) -> Result<Self, Failure> {
        let (model, mode) = MODELS.into_iter().find(|(name, _)| *name == request.model).ok_or_else(|| {
            Failure::new(ErrorCode::ModelNotFound, format!("there is no model named {:?}", request.model))
                .about("model")
                .with_hint("GET /v1/models lists them")
        })?;
        for (field, value) in [("tools", &request.tools), ("functions", &request.functions)] {
            if value.as_ref().is_some_and(|value| !is_empty(value)) {
                let message = format!("{field}: the models of this service use no tools of their callers");
                return Err(Failure::invalid(message).about(field).with_hint("leave it out"));
            }
        }
        if request.n.as_ref().is_some_and(|n| !n.is_null() && n.as_f64() != Some(1.0)) {
            return Err(Failure::invalid("n: there is one answer to a question").about("n").with_hint("leave it out"));
        }
        let place = request.messages.iter().rposition(|message| message.get("role").is_some_and(|role| role == "user"));
        let place = place.ok_or_else(|| {
            Failure::invalid("messages: there is no message of the user, and the last one of them is the question")
                .about("messages")
        })?;
        let question = text(place, &request.messages[place])?;
        check_question(&question).map_err(|error| {
            let field = content(place);
            Failure::invalid(format!("{field}: {}", error.problem)).about(field)
        })?;
        let stream = request.stream.unwrap_or_default();
        Ok(Self {
            request: AskRequest { mode, stream, ..AskRequest::new(question) },
            model,
            messages_not_used: request.messages.len() - 1,
            include_usage: request.stream_options.and_then(|options| options.include_usage).unwrap_or_default(),
        })
    }
}

fn content(place: usize) -> String {
    format!("messages[{place}].content")
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// The text of a message, whose content is text or parts of it.
fn text(place: usize, message: &Map<String, Value>) -> Result<String, Failure> {
    let refuse = |field: String, problem: &str| Failure::invalid(format!("{field}: {problem}")).about(field);
    let parts = match message.get("content") {
        Some(Value::String(text)) => return Ok(text.trim().to_owned()),
        Some(Value::Array(parts)) => parts,
        _ => return Err(refuse(content(place), "must be text, or a list of parts of the type text")),
    };
    let mut texts = Vec::with_capacity(parts.len());
    for (number, part) in parts.iter().enumerate() {
        let field = format!("{}[{number}]", content(place));
        match (part.get("type").and_then(Value::as_str), part.get("text").and_then(Value::as_str)) {
            (Some("text"), Some(text)) => texts.push(text),
            (Some("text"), None) => return Err(refuse(field, "a part of the type text needs text")),
            (Some(_), _) => {
                return Err(refuse(field, "only parts of the type text are read; images, files and sound are not"));
            }
            (None, _) => return Err(refuse(field, "a part needs a type")),
        }
    }
    Ok(texts.join("\n").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use bylaw_contract::ask::Mode;
    use serde_json::json;

    use super::*;

    fn read(body: Value) -> Result<Asked, Failure> {
        Asked::read(&serde_json::from_value(body).unwrap())
    }

    #[test]
    fn the_last_message_of_the_user_is_the_question() {
        let rows = [
            (json!([{"role": "user", "content": "事假幾天？"}]), "事假幾天？", 0),
            (json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": " a \n"}]), "a", 1),
            (
                json!([
                    {"role": "user", "content": "a"},
                    {"role": "assistant", "content": "b", "tool_calls": []},
                    {"role": "user", "content": [{"type": "text", "text": "c"}, {"type": "text", "text": "d"}]},
                    {"role": "assistant", "content": null},
                ]),
                "c\nd",
                3,
            ),
            (
                json!([
                    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
                    {"role": "user", "content": "what about it?"},
                ]),
                "what about it?",
                1,
            ),
        ];
        for (messages, question, not_used) in rows {
            let asked = read(json!({ "model": "bylaw-auto", "messages": messages })).unwrap();
            assert_eq!((asked.request.question.as_str(), asked.messages_not_used), (question, not_used));
        }
    }

    #[test]
    fn models_are_modes_and_what_is_not_known_is_ignored() {
        let messages = json!([{"role": "user", "content": "a", "name": "b"}]);
        for (model, mode) in MODELS {
            let asked = read(json!({
                "model": model, "messages": messages, "temperature": "hot", "top_p": 2, "seed": [], "user": 3, "n": 1,
                "tools": [], "functions": null, "stream": null, "stream_options": null, "anything": { "else": true },
            }))
            .unwrap();
            assert_eq!((asked.model, asked.request.mode, asked.request.stream), (model, mode, false));
            assert_eq!(asked.request, AskRequest { mode, ..AskRequest::new("a") });
        }
        let asked = json!({
            "model": "bylaw-agent", "messages": messages, "stream": true, "stream_options": { "include_usage": true, "x": 1 }
        });
        let asked = read(asked).unwrap();
        assert_eq!((asked.request.mode, asked.request.stream, asked.include_usage), (Mode::Agent, true, true));
    }
}
