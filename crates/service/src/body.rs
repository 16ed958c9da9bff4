//! JSON bodies: bounded, typed, and refused in words.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{FromRequest, Request},
    http::{HeaderMap, StatusCode, header},
};
use bylaw_contract::ErrorCode;
use futures_util::StreamExt;
use serde::de::DeserializeOwned;

use crate::{error::Failure, service::Service};

/// A client that writes everything before it reads must get so far, or it sees a broken connection and not the refusal.
const DRAINED_BYTES: usize = 1024 * 1024;

/// A JSON body.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<Service>> for JsonBody<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self, Failure> {
        json(request, service, service.settings.json_limit_bytes).await.map(Self)
    }
}

/// The JSON body of a request, of at most `limit` bytes.
pub(crate) async fn json<T: DeserializeOwned>(request: Request, service: &Service, limit: usize) -> Result<T, Failure> {
    if media_type(request.headers()) != Some("application/json") {
        return Err(Failure::new(ErrorCode::UnsupportedMediaType, "the body must be JSON")
            .with_hint("send it with the header content-type: application/json"));
    }
    let read = read(request.into_body(), limit);
    let bytes = tokio::time::timeout(service.settings.read_timeout, read).await.map_err(|_| too_slow())??;
    parse(&bytes)
}

/// The media type without parameters, in the only spelling that clients use.
pub(crate) fn media_type(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let kind = value.split(';').next()?.trim();
    ["application/json", "multipart/form-data"].into_iter().find(|known| kind.eq_ignore_ascii_case(known))
}

pub(crate) fn too_slow() -> Failure {
    Failure::invalid("the body did not arrive in time").with_status(StatusCode::REQUEST_TIMEOUT)
}

pub(crate) fn cut_off() -> Failure {
    Failure::invalid("the body ended early or is not framed as HTTP says").with_status(StatusCode::BAD_REQUEST)
}

async fn read(body: Body, limit: usize) -> Result<Vec<u8>, Failure> {
    let mut stream = body.into_data_stream();
    let mut bytes = Vec::new();
    let mut received: usize = 0;
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|_| cut_off())?;
        received = received.saturating_add(piece.len());
        if received <= limit {
            bytes.extend_from_slice(&piece);
        } else if received > DRAINED_BYTES.max(limit) {
            break;
        }
    }
    if received > limit {
        return Err(Failure::new(ErrorCode::PayloadTooLarge, format!("the body is larger than {limit} bytes")));
    }
    Ok(bytes)
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    // A derived type would also be read from an array, field by field.
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    match first {
        None => return Err(Failure::invalid("the body is empty; send a JSON object")),
        Some(b'[' | b'"' | b'0'..=b'9' | b'-' | b't' | b'f' | b'n') => {
            return Err(Failure::invalid("the body must be a JSON object"));
        }
        Some(_) => {}
    }
    serde_json::from_slice(bytes).map_err(|error| explain::<T>(bytes, &error))
}

/// Says which field is wrong. Parsing again to find its path costs nothing where nothing is wrong.
fn explain<T: DeserializeOwned>(bytes: &[u8], error: &serde_json::Error) -> Failure {
    if !error.is_data() {
        return Failure::invalid(format!("the body is not JSON: {error}"));
    }
    let located = axum::Json::<T>::from_bytes(bytes).err().map(|rejection| rejection.body_text());
    let text = located.unwrap_or_else(|| error.to_string());
    let text = text.strip_prefix("Failed to deserialize the JSON body into the target type: ").unwrap_or(&text);
    let words = in_words(text);
    match words.split_once(": ") {
        Some((field, _)) if !field.contains(' ') => Failure::invalid(words.clone()).about(field.to_owned()),
        _ => Failure::invalid(words),
    }
}

/// A message of serde's with the field first and Rust's names for types left out.
pub(crate) fn in_words(text: &str) -> String {
    let text = text.split(" at line ").next().unwrap_or(text);
    for (problem, words) in
        [("unknown field `", "unknown field"), ("missing field `", "is required"), ("duplicate field `", "given twice")]
    {
        if let Some((_, rest)) = text.split_once(problem)
            && let Some((field, rest)) = rest.split_once('`')
        {
            let known = rest.strip_prefix(", expected ").map(|known| {
                let known = known.strip_prefix("one of ").unwrap_or(known);
                format!("; known are {}", known.replace('`', "").replace(" or ", ", "))
            });
            return format!("{field}: {words}{}", known.unwrap_or_default());
        }
    }
    // The names of our own types say nothing to callers.
    let text = match text.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected an object"),
        None => text.to_owned(),
    };
    text.replace("expected u32", "expected a whole number that is not negative")
        .replace("expected a sequence", "expected a list")
        .replace("expected a map", "expected an object")
        .replace("expected i64", "expected a whole number")
        .replace("expected f64", "expected a number")
        .replace("expected a boolean", "expected true or false")
        .replace("invalid digit found in string", "expected a whole number")
        .replace('`', "")
}

#[cfg(test)]
mod tests {
    use bylaw_contract::ask::AskRequest;

    use super::*;

    fn message(body: &[u8]) -> String {
        match parse::<AskRequest>(body) {
            Ok(_) => "fine".to_owned(),
            Err(failure) => failure.message(),
        }
    }

    #[test]
    fn a_refusal_names_the_field_and_says_what_is_allowed() {
        let known = "question, k, use_cache, mode, self_check, source, chapter_no, max_steps, max_cost, max_twd, max_wall_ms, stream";
        let rows: [(&str, String); 12] = [
            (r#"{"question":"a"}"#, "fine".to_owned()),
            ("", "the body is empty; send a JSON object".to_owned()),
            (r#"["a",3]"#, "the body must be a JSON object".to_owned()),
            ("null", "the body must be a JSON object".to_owned()),
            ("{", "the body is not JSON: EOF while parsing an object at line 1 column 1".to_owned()),
            (r#"{"question":"a"} x"#, "the body is not JSON: trailing characters at line 1 column 18".to_owned()),
            ("{}", "question: is required".to_owned()),
            (r#"{"question":"a","budgett":5}"#, format!("budgett: unknown field; known are {known}")),
            (r#"{"question":"a","k":1,"k":2}"#, "k: given twice".to_owned()),
            (
                r#"{"question":"a","k":"3"}"#,
                r#"k: invalid type: string "3", expected a whole number that is not negative"#.to_owned(),
            ),
            (
                r#"{"question":"a","mode":"magic"}"#,
                "mode: unknown variant magic, expected one of auto, extract, pipeline, agent".to_owned(),
            ),
            (r#"{"question":3}"#, "question: invalid type: integer 3, expected a string".to_owned()),
        ];
        for (body, expected) in rows {
            assert_eq!(message(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_and_towers_of_brackets_are_refused() {
        assert!(
            message(b"{\"question\":\"\xff\"}").starts_with("the body is not JSON"),
            "{}",
            message(b"{\"question\":\"\xff\"}")
        );
        let tower = format!("{{\"max_twd\":{}1{}}}", "[".repeat(20_000), "]".repeat(20_000));
        assert_ne!(message(tower.as_bytes()), "fine");
        let tower = "{\"a\":".repeat(10_000);
        assert_ne!(message(tower.as_bytes()), "fine");
    }
}
