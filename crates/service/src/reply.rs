//! JSON replies.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use serde::Serialize;

use crate::error::Failure;

/// A JSON reply, written into a buffer of about the size it will need.
pub(crate) fn json(status: StatusCode, value: &impl Serialize, expected_bytes: usize) -> Result<Response, Failure> {
    let mut bytes = Vec::with_capacity(expected_bytes);
    serde_json::to_writer(&mut bytes, value).map_err(Failure::internal)?;
    Ok(json_text(status, bytes))
}

/// A JSON reply that is written already.
pub(crate) fn json_text(status: StatusCode, json: Vec<u8>) -> Response {
    let mut reply = Response::new(Body::from(json));
    *reply.status_mut() = status;
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

/// A JSON reply of moderate size.
pub(crate) fn ok(value: &impl Serialize) -> Result<Response, Failure> {
    json(StatusCode::OK, value, 1024)
}
