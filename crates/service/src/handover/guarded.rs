//! A reply that counts as under way until its last byte is written, or nobody wants it any more.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    body::{Body, Bytes, HttpBody},
    response::Response,
};
use hyper::body::{Frame, SizeHint};
use tokio_util::task::task_tracker::TaskTrackerToken;

struct Guarded {
    body: Body,
    _under_way: TaskTrackerToken,
}

pub(super) fn guarded(reply: Response, under_way: TaskTrackerToken) -> Response {
    reply.map(|body| Body::new(Guarded { body, _under_way: under_way }))
}

impl HttpBody for Guarded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
