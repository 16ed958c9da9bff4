//! The label of a request, and when it arrived.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};
use bylaw_contract::{Randomness, RequestId};

/// The header that carries a request's label, in and out.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What is known of a request as soon as it arrives. In the extensions of every request.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) request_id: RequestId,
    /// `Clock::elapsed` at that moment.
    pub(crate) started: Duration,
}

/// The caller's label if it is a valid one, else a fresh one.
pub(crate) fn of(headers: &HeaderMap, random: &dyn Randomness) -> RequestId {
    headers
        .get(X_REQUEST_ID)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| RequestId::new(text).ok())
        .unwrap_or_else(|| RequestId::mint(random))
}
