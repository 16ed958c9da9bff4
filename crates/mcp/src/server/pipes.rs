//! The door over pipes: one client, whose principal was given by whoever started the process.

use std::sync::Arc;

use rmcp::{
    ServiceExt,
    service::{QuitReason, ServerInitializeError},
    transport::stdio_pipes,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::{
    Principal, ToolServer,
    handler::{Handler, Who},
};

/// Why a client on the other end of a pipe was not served to its end.
#[derive(Debug, thiserror::Error)]
pub enum PipesError {
    /// It did not begin as the protocol says.
    #[error("the client on the other end does not speak MCP")]
    Opening(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The server broke down.
    #[error("serving the pipe broke down")]
    Broken(#[source] tokio::task::JoinError),
}

/// Serves the client on this process's standard input and output until it hangs up or `shutdown` fires. Nothing else may
/// write to standard output meanwhile.
///
/// # Errors
/// When the client does not speak the protocol. One that says nothing and hangs up is no error.
pub async fn serve_stdio(
    server: Arc<ToolServer>,
    principal: Principal,
    shutdown: CancellationToken,
) -> Result<(), PipesError> {
    let (reader, writer) = stdio_pipes();
    serve_pipes(server, principal, reader, writer, shutdown).await
}

/// The same on any pair of pipes.
///
/// # Errors
/// The same.
pub async fn serve_pipes(
    server: Arc<ToolServer>,
    principal: Principal,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    shutdown: CancellationToken,
) -> Result<(), PipesError> {
    let handler = Handler { server, who: Who::Started(principal) };
    let running = match handler.serve_with_ct((reader, writer), shutdown).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(PipesError::Opening(Box::new(error))),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(PipesError::Broken(error)),
        Ok(_) => Ok(()),
    }
}
