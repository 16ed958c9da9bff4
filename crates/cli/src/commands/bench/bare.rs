//! `bylaw bench bare`: a bare JSON route, the yardstick for what HTTP itself costs on this machine.

use std::{net::SocketAddr, process::ExitCode};

use axum::{
    Json, Router,
    routing::{get, post},
};
use bylaw_contract::ErrorCode;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use crate::{args::BenchBare, failure::Failure};

#[derive(Deserialize)]
struct Question {
    question: String,
}

#[derive(Serialize)]
struct Reply {
    question: String,
    text: &'static str,
}

/// About a kilobyte of reply.
const TEXT: &str = concat!(
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
);

pub(super) async fn run(arguments: &BenchBare) -> Result<ExitCode, Failure> {
    let address = SocketAddr::from(([127, 0, 0, 1], arguments.port));
    let fail = |error: std::io::Error| Failure::new(ErrorCode::AddressUnavailable, format!("{address}: {error}"));
    let listener = axum::serve::ListenerExt::tap_io(TcpListener::bind(address).await.map_err(fail)?, |stream| {
        // Without it the yardstick would measure Nagle's algorithm.
        let _ = stream.set_nodelay(true);
    });
    let router = Router::new().route("/", post(reply)).route("/healthz", get(|| async { "ok" }));
    axum::serve(listener, router).await.map_err(fail)?;
    Ok(ExitCode::SUCCESS)
}

async fn reply(Json(question): Json<Question>) -> Json<Reply> {
    Json(Reply { question: question.question, text: TEXT })
}
