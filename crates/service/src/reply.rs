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
    let mut reply = Response::new(Body::from(bytes));
    *reply.status_mut() = status;
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(reply)
}

/// A JSON reply of moderate size.
pub(crate) fn ok(value: &impl Serialize) -> Result<Response, Failure> {
    json(StatusCode::OK, value, 1024)
}
