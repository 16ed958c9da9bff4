//! `GET /artifacts/{artifact}`: what a run kept aside.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderValue, header},
    response::Response,
};
use bylaw_contract::{ArtifactId, ErrorCode};

use crate::{caller::Caller, error::Failure, parameters::Tail, service::Service};

/// Media types that are told as they are. Whatever else a tool says of what it gave is not repeated to a browser.
const TOLD: [&str; 9] = [
    "application/json",
    "application/pdf",
    "audio/mpeg",
    "audio/wav",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "text/plain",
];

/// Gives what a run kept aside, byte by byte.
#[utoipa::path(
    get,
    path = "/artifacts/{artifact}",
    tag = "runs",
    params(("artifact" = String, Path, description = "The artifact's id")),
    responses((status = 200, description = "Its bytes", body = Vec<u8>, content_type = "application/octet-stream"))
)]
pub(crate) async fn artifact(
    State(service): State<Arc<Service>>,
    Caller(caller): Caller,
    tail: Tail,
) -> Result<Response, Failure> {
    let [text] = tail.parts()?;
    let missing = || Failure::new(ErrorCode::ArtifactNotFound, format!("there is no artifact {text:?}"));
    let id = ArtifactId::new(text.as_str()).map_err(|_| missing())?;
    let found = service.runner.store().artifact(&id).await?;
    let found = found.filter(|found| caller.may_see_run_of(found.owner.key())).ok_or_else(missing)?;
    let kind = found.artifact.mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let kind = match TOLD.into_iter().find(|told| *told == kind) {
        Some("text/plain") => "text/plain; charset=utf-8",
        Some(told) => told,
        None => "application/octet-stream",
    };
    let mut reply = Response::new(Body::from(found.artifact.bytes));
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    // It came from a stranger: a browser saves it and opens nothing.
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    Ok(reply)
}
