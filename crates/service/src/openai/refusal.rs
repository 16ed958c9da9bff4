//! A failure in OpenAI's shape.

use axum::http::StatusCode;
use bylaw_contract::{
    ApiError,
    openai::{ChatError, ChatErrorResponse},
};

/// OpenAI's name for an error of this status.
const fn kind(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        StatusCode::FORBIDDEN => "permission_error",
        status if status.as_u16() < 500 => "invalid_request_error",
        _ => "server_error",
    }
}

/// The status that OpenAI's clients know: what is wrong in a request is 400 there.
pub(crate) fn status(status: StatusCode) -> StatusCode {
    if status == StatusCode::UNPROCESSABLE_ENTITY { StatusCode::BAD_REQUEST } else { status }
}

/// The body.
pub(crate) fn body(error: ApiError, status: StatusCode, param: Option<String>) -> ChatErrorResponse {
    let ApiError { code, message, request_id, hint } = error;
    ChatErrorResponse { error: ChatError { message, kind: kind(status).to_owned(), param, code, request_id, hint } }
}
