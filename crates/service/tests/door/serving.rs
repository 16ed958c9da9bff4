//! Over a real socket: callers who leave, and stopping.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bylaw_model::scripted::{Script, ScriptedEnd, ScriptedReply};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::door::{Door, Plan};

/// Long enough for any machine; only a failing test waits for it.
const PATIENCE: Duration = Duration::from_secs(30);

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap()
}

struct Running {
    door: Door,
    address: SocketAddr,
    shutdown: CancellationToken,
    served: JoinHandle<std::io::Result<()>>,
    told: mpsc::UnboundedReceiver<&'static str>,
}

/// A service whose model begins to answer and then says nothing more.
async fn running(grace: Duration) -> Running {
    let script = Script::always(ScriptedReply::ending(["事假"], ScriptedEnd::Stalls)).with_patience(PATIENCE * 2);
    let door = Plan::new().model(script).settings(move |settings| settings.shutdown_grace = grace).open().await;
    let told = door.ledger.tell();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let shutdown = CancellationToken::new();
    let served = tokio::spawn(bylaw_service::serve(listener, Arc::clone(&door.service), shutdown.clone()));
    Running { door, address, shutdown, served, told }
}

fn request(body: &str) -> String {
    format!(
        "POST /ask HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

async fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    while !String::from_utf8_lossy(&text).contains(wanted) {
        let read = soon(stream.read(&mut buffer)).await.unwrap();
        assert!(read > 0, "ended without {wanted:?}: {}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&buffer[..read]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    soon(stream.read_to_end(&mut text)).await.unwrap();
    String::from_utf8(text).unwrap()
}

const STREAMED: &str = r#"{"question":"事假一年最多幾天？","mode":"pipeline","stream":true}"#;
/// Another question: the same one at the same time would share its model call.
const PLAIN: &str = r#"{"question":"事假有工資嗎？","mode":"pipeline"}"#;

#[tokio::test]
async fn hanging_up_stops_the_model_in_every_mode() {
    let mut running = running(PATIENCE).await;
    for body in [STREAMED, PLAIN] {
        let mut client = TcpStream::connect(running.address).await.unwrap();
        client.write_all(request(body).as_bytes()).await.unwrap();
        assert_eq!(soon(running.told.recv()).await, Some("reserved"));
        if body == STREAMED {
            read_until(&mut client, "event: citations").await;
        }
        drop(client);
        assert_eq!(soon(running.told.recv()).await, Some("settled"), "{body}");
    }
}

#[tokio::test]
async fn stopping_lets_a_request_in_flight_finish_and_accepts_no_other() {
    let running = running(PATIENCE).await;
    let body = r#"{"question":"事假一年最多幾天？","mode":"extract"}"#;
    let request = request(body);
    let (first, rest) = request.split_at(request.len() - 10);
    let mut client = TcpStream::connect(running.address).await.unwrap();
    client.write_all(first.as_bytes()).await.unwrap();
    // A whole exchange on another connection: by then the first one has been accepted.
    let mut idle = TcpStream::connect(running.address).await.unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    read_until(&mut idle, "\"ready\":true").await;

    running.shutdown.cancel();
    assert_eq!(read_to_end(&mut idle).await, "", "an idle connection is closed");
    client.write_all(rest.as_bytes()).await.unwrap();
    let reply = read_to_end(&mut client).await;
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    assert!(reply.contains("\"outcome\""), "{reply}");
    soon(running.served).await.unwrap().unwrap();
    assert!(TcpStream::connect(running.address).await.is_err());
}

#[tokio::test]
async fn when_the_grace_is_over_callers_are_told_and_the_model_is_stopped() {
    let mut running = running(Duration::from_millis(1)).await;
    let mut streamed = TcpStream::connect(running.address).await.unwrap();
    streamed.write_all(request(STREAMED).as_bytes()).await.unwrap();
    read_until(&mut streamed, "event: citations").await;
    let mut plain = TcpStream::connect(running.address).await.unwrap();
    plain.write_all(request(PLAIN).as_bytes()).await.unwrap();
    for _ in 0..2 {
        assert_eq!(soon(running.told.recv()).await, Some("reserved"));
    }

    running.shutdown.cancel();
    let streamed = read_to_end(&mut streamed).await;
    assert!(streamed.contains("event: error") && !streamed.contains("event: done"), "{streamed}");
    assert!(streamed.contains("\"cancelled\""), "{streamed}");
    let plain = read_to_end(&mut plain).await;
    assert!(plain.contains("shutting_down") || plain.contains("\"cancelled\""), "{plain}");
    for _ in 0..2 {
        assert_eq!(soon(running.told.recv()).await, Some("settled"));
    }
    soon(running.served).await.unwrap().unwrap();
    drop(running.door);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_in_words_over_a_socket() {
    let running = running(PATIENCE).await;
    let mut client = TcpStream::connect(running.address).await.unwrap();
    let body = format!(r#"{{"question":"{}"}}"#, "a".repeat(200_000));
    client.write_all(request(&body).as_bytes()).await.unwrap();
    let reply = read_until(&mut client, "payload_too_large").await;
    assert!(reply.starts_with("HTTP/1.1 413"), "{reply}");
}
