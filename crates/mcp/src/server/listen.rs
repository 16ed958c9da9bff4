//! Listening: no delay on sockets, no wait without a limit, and an end in two stages.

use std::{io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{Router, extract::ConnectInfo};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt;

/// Connections at once; more wait to be accepted.
const MAX_CONNECTIONS: usize = 4096;

/// How long the head of a request may take.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// How long requests in flight may go on after the end was asked for.
const GRACE: Duration = Duration::from_secs(5);

/// Serves a router until `shutdown` fires; what is in flight then has five seconds to end. Give the same token to
/// [`super::HttpMount::new`], so that sessions and streams end too.
pub async fn listen(listener: TcpListener, router: Router, shutdown: CancellationToken) {
    let (connections, abort) = (TaskTracker::new(), CancellationToken::new());
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (place, accept(&listener).await)
            } => accepted,
        };
        match accepted {
            (place, Ok((stream, peer))) => {
                let run = connection(stream, peer, router.clone(), shutdown.clone(), abort.clone());
                connections.spawn(async move {
                    run.await;
                    drop(place);
                });
            }
            (_, Err(error)) => {
                tracing::error!(%error, "connections cannot be accepted; trying again in a second");
                tokio::select! {
                    () = shutdown.cancelled() => break,
                    () = tokio::time::sleep(Duration::from_secs(1)) => {}
                }
            }
        }
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(GRACE, connections.wait()).await.is_err() {
        abort.cancel();
        connections.wait().await;
    }
}

/// The next connection. Each reply of a session is two small writes: without `TCP_NODELAY` the second waits some 40 ms for
/// the client to acknowledge the first.
async fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => match stream.set_nodelay(true) {
                Ok(()) => return Ok((stream, peer)),
                // It is gone already.
                Err(error) => tracing::debug!(%error, %peer, "TCP_NODELAY cannot be set; the connection is closed"),
            },
            // The client was gone before it was accepted.
            Err(error) if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) => {}
            Err(error) => return Err(error),
        }
    }
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    shutdown: CancellationToken,
    abort: CancellationToken,
) {
    let requests = router.map_request(move |request: hyper::Request<hyper::body::Incoming>| {
        let mut request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        request
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(requests))
    );
    let mut ending = false;
    loop {
        tokio::select! {
            result = connection.as_mut() => {
                if let Err(error) = result {
                    tracing::debug!(%error, %peer, "a connection ended early");
                }
                return;
            }
            () = shutdown.cancelled(), if !ending => {
                ending = true;
                connection.as_mut().graceful_shutdown();
            }
            () = abort.cancelled() => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn accepted_sockets_send_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (accepted, _) = accept(&listener).await.unwrap();
        assert!(accepted.nodelay().unwrap());
    }
}
