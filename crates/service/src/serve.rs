//! Listening, and stopping in two stages.

use std::{io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt;

use crate::{routes::router, service::Service};

/// How long cancelled requests have to say so.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Serves connections until `shutdown` fires, then stops in two stages: nothing new is accepted, and requests in flight and
/// runs that do not wait for a person go on for the grace of the settings; then they are cancelled, say so to their
/// callers, and every connection is closed.
///
/// Returns when the last connection is closed. Dropping the future instead leaves connections open.
///
/// # Errors
/// Never today: connections that fail are closed one by one, and a listener that cannot accept (out of descriptors) is
/// tried again.
pub async fn serve(listener: TcpListener, service: Arc<Service>, shutdown: CancellationToken) -> io::Result<()> {
    let router = router(Arc::clone(&service));
    let connections = TaskTracker::new();
    let abort = CancellationToken::new();
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let connection = Connection {
                    peer,
                    closing: service.closing.clone(),
                    abort: abort.clone(),
                    wait: service.settings.read_timeout,
                };
                connections.spawn(connection.run(stream, router.clone()));
            }
            // The client was gone before it was accepted.
            Err(error) if is_connection_error(&error) => {}
            Err(error) => {
                tracing::error!(%error, "connections cannot be accepted; trying again in a second");
                tokio::select! {
                    () = shutdown.cancelled() => break,
                    () = tokio::time::sleep(Duration::from_secs(1)) => {}
                }
            }
        }
    }
    drop(listener);
    service.closing.cancel();
    connections.close();
    let finished = async { tokio::join!(service.runner.finish(), service.handed.finish(), connections.wait()) };
    if tokio::time::timeout(service.settings.shutdown_grace, finished).await.is_err() {
        tracing::warn!(connections = connections.len(), "the grace is over; what is in flight is cancelled");
        service.cut.cancel();
        service.handed.end();
        service.runner.shut_down().await;
        if tokio::time::timeout(LAST_WORDS, connections.wait()).await.is_err() {
            abort.cancel();
            connections.wait().await;
        }
    }
    Ok(())
}

fn is_connection_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

struct Connection {
    peer: SocketAddr,
    closing: CancellationToken,
    abort: CancellationToken,
    wait: Duration,
}

impl Connection {
    async fn run(self, stream: TcpStream, router: axum::Router) {
        // Events and short replies must leave at once.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, peer = %self.peer, "TCP_NODELAY cannot be set");
        }
        let requests =
            router.map_request(|request: hyper::Request<hyper::body::Incoming>| request.map(axum::body::Body::new));
        let mut connection = pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(self.wait)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(requests))
        );
        let mut ending = false;
        let result = loop {
            tokio::select! {
                result = connection.as_mut() => break result,
                () = self.closing.cancelled(), if !ending => {
                    ending = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = self.abort.cancelled() => return,
            }
        };
        if let Err(error) = result {
            // Callers who leave in the middle: ordinary, and handled where their request is.
            tracing::debug!(error = bylaw_contract::chain(&error), peer = %self.peer, "a connection ended early");
        }
    }
}
