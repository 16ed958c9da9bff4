//! A model behind a real HTTP server on the loopback interface.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use bylaw_contract::TokenUsage;
use bylaw_model::{
    ChatDelta, ChatMessage, ChatModel, ChatRequest, CountingMeter, Endpoint, FinishReason, MeterCounts, ModelError,
    Purpose,
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(50);

const STREAM: &str = concat!(
    "data: {\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
    "data: {\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"特休\"},\"finish_reason\":null}]}\n\n",
    ": keep alive\n\n",
    "data: {\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"七日\"},\"finish_reason\":null}]}\n\n",
    "data: {\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"model\":\"m-1\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n",
    "data: [DONE]\n\n",
);

const FIRST_PIECE: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"特休\"}}]}\n\n";

/// A server that answers every request with `reply`, for as long as the test's runtime lives.
async fn serve<F, R>(reply: F) -> SocketAddr
where
    F: Fn(HeaderMap, String) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Response> + Send + 'static,
{
    let router = Router::new().route("/v1/chat/completions", post(reply));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

async fn serve_bytes(status: u16, headers: &'static [(&str, &str)], body: impl Into<Bytes>) -> SocketAddr {
    let body = body.into();
    serve(move |_, _| {
        let mut response = (StatusCode::from_u16(status).unwrap(), body.clone()).into_response();
        for (name, value) in headers {
            response.headers_mut().insert(*name, value.parse().unwrap());
        }
        async { response }
    })
    .await
}

fn streamed(pieces: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static) -> Response {
    Response::new(Body::from_stream(pieces))
}

fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint {
        base_url: format!("http://{address}/v1"),
        api_key: Some("sk-secret".to_owned()),
        model: "small".to_owned(),
        connect_timeout: LONG,
        first_byte_timeout: LONG,
        idle_timeout: LONG,
        total_timeout: LONG,
    }
}

fn connect(endpoint: Endpoint) -> (ChatModel, CountingMeter) {
    let meter = CountingMeter::default();
    (ChatModel::connect(endpoint, Arc::new(meter.clone())).unwrap(), meter)
}

fn question() -> ChatRequest {
    let message = ChatMessage::user("特休幾天?");
    ChatRequest::new(Purpose::Answer, vec![message], 50)
}

/// All text of a reply, and how it ended.
async fn ask(model: &ChatModel) -> (String, Result<ChatDelta, ModelError>) {
    let mut text = String::new();
    let mut stream = match model.chat(&question(), CancellationToken::new()).await {
        Ok(stream) => stream,
        Err(error) => return (text, Err(error)),
    };
    while let Some(item) = stream.next().await {
        match item {
            Ok(ChatDelta::Text(piece)) => text.push_str(&piece),
            end => return (text, end),
        }
    }
    panic!("the stream had no end");
}

fn good_end() -> ChatDelta {
    let usage = TokenUsage { input_tokens: 9, output_tokens: 4, ..TokenUsage::default() };
    ChatDelta::End { finish_reason: FinishReason::Stop, usage: Some(usage), model: "m-1".to_owned() }
}

fn reported() -> MeterCounts {
    let usage = TokenUsage { input_tokens: 9, output_tokens: 4, ..TokenUsage::default() };
    MeterCounts { attempts: 1, settled: 1, reported: 1, usage, ..MeterCounts::default() }
}

fn unreported(text_bytes: u64) -> MeterCounts {
    MeterCounts { attempts: 1, settled: 1, unreported: 1, text_bytes, ..MeterCounts::default() }
}

fn not_sent() -> MeterCounts {
    MeterCounts { attempts: 1, settled: 1, not_sent: 1, ..MeterCounts::default() }
}

#[tokio::test]
async fn every_good_form_gives_the_same_reply() {
    let check = async |address: SocketAddr| {
        let (model, meter) = connect(endpoint(address));
        let (text, end) = ask(&model).await;
        assert_eq!((text.as_str(), end.unwrap()), ("特休七日", good_end()));
        assert_eq!(meter.snapshot(), reported());
    };
    check(serve_bytes(200, &[("content-type", "text/event-stream")], STREAM).await).await;
    check(serve_bytes(200, &[("content-type", "text/event-stream")], STREAM.replace('\n', "\r\n")).await).await;
    check(serve_bytes(200, &[("content-type", "text/plain")], STREAM).await).await;
    let json = r#"{"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"特休七日"},
        "finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":null}}"#;
    check(serve_bytes(200, &[("content-type", "application/json")], json).await).await;
    let bytewise =
        serve(async |_, _| streamed(stream::iter(STREAM.bytes().map(|byte| Ok(Bytes::copy_from_slice(&[byte]))))));
    check(bytewise.await).await;
}

#[tokio::test]
async fn the_request_carries_key_length_and_body() {
    let seen = Arc::new(Mutex::new(None));
    let record = Arc::clone(&seen);
    let address = serve(move |headers, body| {
        *record.lock().unwrap() = Some((headers, body));
        async { STREAM.into_response() }
    })
    .await;
    ask(&connect(endpoint(address)).0).await.1.unwrap();
    let (headers, body) = seen.lock().unwrap().take().unwrap();
    assert_eq!(headers["authorization"], "Bearer sk-secret");
    assert_eq!(headers["content-length"], body.len().to_string().as_str());
    assert!(!headers.contains_key("transfer-encoding"));
    insta::assert_snapshot!(body, @r#"{"model":"small","messages":[{"role":"user","content":"特休幾天?"}],"max_tokens":50,"temperature":0,"stream":true,"stream_options":{"include_usage":true}}"#);
}

#[tokio::test]
async fn calls_one_after_the_other_share_a_connection() {
    let peers = Arc::new(Mutex::new(std::collections::HashSet::new()));
    let record = Arc::clone(&peers);
    let reply = move |axum::extract::ConnectInfo(peer): axum::extract::ConnectInfo<SocketAddr>| {
        record.lock().unwrap().insert(peer);
        async {
            // The end marker, and the end of the body a moment later.
            let end = stream::once(async {
                tokio::task::yield_now().await;
                Ok(Bytes::from_static(b"\n"))
            });
            streamed(stream::iter([Ok(Bytes::from(STREAM))]).chain(end))
        }
    };
    let router = Router::new().route("/v1/chat/completions", post(reply));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    let (model, _) = connect(endpoint(address));
    for _ in 0..40 {
        ask(&model).await.1.unwrap();
        for _ in 0..2000 {
            tokio::task::yield_now().await;
        }
    }
    // The rest of a body is read in the background, so the next call may be too early and open another; not each.
    let connections = peers.lock().unwrap().len();
    assert!(connections < 20, "{connections}");
}

#[tokio::test]
async fn a_reply_without_usage_is_settled_by_its_text() {
    let body = format!("{FIRST_PIECE}data: {{\"choices\":[{{\"finish_reason\":\"length\"}}],\"usage\":null}}\n\n");
    let (model, meter) = connect(endpoint(serve_bytes(200, &[], body).await));
    let (text, end) = ask(&model).await;
    let end = end.unwrap();
    assert!(
        matches!(&end, ChatDelta::End { finish_reason: FinishReason::Length, usage: None, model } if model == "small")
    );
    assert_eq!((text.as_str(), meter.snapshot()), ("特休", unreported(6)));
}

#[tokio::test]
async fn a_connection_that_breaks_leaves_the_reply_incomplete() {
    let die = CancellationToken::new();
    let told_to_die = die.clone();
    let address = serve(move |_, _| {
        let told_to_die = told_to_die.clone();
        async {
            let end = stream::once(async move {
                told_to_die.cancelled().await;
                Err(std::io::Error::other("the server died"))
            });
            Response::new(Body::from_stream(stream::iter([Ok(Bytes::from(FIRST_PIECE))]).chain(end)))
        }
    });
    let (model, meter) = connect(endpoint(address.await));
    let mut stream = model.chat(&question(), CancellationToken::new()).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap(), ChatDelta::Text("特休".to_owned()));
    die.cancel();
    let end = stream.next().await;
    assert!(matches!(end, Some(Err(ModelError::Incomplete))), "{end:?}");
    assert_eq!(meter.snapshot(), unreported(6));
}

#[tokio::test]
async fn errors_come_with_status_reason_and_wait() {
    let check = async |address: SocketAddr, status: u16, reason: &str, wait: Option<u64>| {
        let (model, meter) = connect(endpoint(address));
        let error = ask(&model).await.1.unwrap_err();
        let ModelError::Status { status: got, ref message, retry_after } = error else { panic!("{error:?}") };
        assert_eq!((got, message.as_str(), retry_after), (status, reason, wait.map(Duration::from_secs)));
        assert_eq!(meter.snapshot(), unreported(0));
    };
    let wrong_key = r#"{"error":{"message":"Incorrect API key provided: sk-secret","type":"invalid_request_error"}}"#;
    check(serve_bytes(401, &[], wrong_key).await, 401, "Incorrect API key provided: ***", None).await;
    let busy = r#"{"error":{"message":"slow down","code":"rate_limit_exceeded"}}"#;
    check(serve_bytes(429, &[("retry-after", "20")], busy).await, 429, "slow down", Some(20)).await;
    let page = "<html><head><title>500</title></head><body><h1>Internal\nerror</h1></body></html>";
    check(serve_bytes(500, &[("content-type", "text/html")], page).await, 500, "500 Internal error", None).await;
    check(serve_bytes(503, &[], "").await, 503, "it gives no reason", None).await;
    check(serve_bytes(500, &[], "條".repeat(100_000)).await, 500, &"條".repeat(300), None).await;
    let moved = "it redirects; `model.base_url` needs the final address";
    check(serve_bytes(307, &[("location", "http://127.0.0.1:9/")], "").await, 307, moved, None).await;
    let inside = "data: {\"error\":{\"message\":\"no slot\",\"code\":503}}\n\n";
    check(serve_bytes(200, &[], inside).await, 503, "no slot", None).await;
    let at_the_cut = format!("data: {{\"error\":\"{}sk-secret\"}}\n\n", "x".repeat(296));
    check(serve_bytes(200, &[], at_the_cut).await, 200, &format!("{}***", "x".repeat(296)), None).await;
}

#[tokio::test]
async fn every_silence_has_its_limit() {
    let check = async |address: SocketAddr, endpoint: Endpoint, text: &str| {
        let (model, meter) = connect(Endpoint { base_url: format!("http://{address}/v1"), ..endpoint });
        let (told, end) = ask(&model).await;
        assert!(matches!(end, Err(ModelError::TimedOut { waited }) if waited == SHORT), "{end:?}");
        assert_eq!((told.as_str(), meter.snapshot()), (text, unreported(text.len() as u64)));
    };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let first = Endpoint { first_byte_timeout: SHORT, ..endpoint(any) };
    check(serve(async |_, _| std::future::pending().await).await, first.clone(), "").await;
    // The head alone is not an answer: many servers send it before the model has read its prompt.
    check(serve(async |_, _| streamed(stream::pending())).await, first, "").await;
    let idle = Endpoint { idle_timeout: SHORT, ..endpoint(any) };
    let stalls =
        async |_: HeaderMap, _: String| streamed(stream::iter([Ok(Bytes::from(FIRST_PIECE))]).chain(stream::pending()));
    check(serve(stalls).await, idle, "特休").await;
}

#[tokio::test]
async fn a_reply_that_trickles_on_for_ever_is_cut() {
    let keep_alive = Bytes::from(": still there\n\n");
    let trickle = move |_: HeaderMap, _: String| {
        let piece = keep_alive.clone();
        let first = stream::iter([Ok(Bytes::from(FIRST_PIECE))]);
        let rest = stream::repeat_with(move || Ok(piece.clone())).then(async |piece| {
            tokio::task::yield_now().await;
            piece
        });
        async { streamed(first.chain(rest)) }
    };
    let address = serve(trickle).await;
    let (model, meter) = connect(Endpoint { total_timeout: SHORT, ..endpoint(address) });
    let (told, end) = ask(&model).await;
    assert!(matches!(end, Err(ModelError::TimedOut { waited }) if waited == SHORT), "{end:?}");
    assert_eq!((told.as_str(), meter.snapshot()), ("特休", unreported(6)));
}

#[tokio::test]
async fn a_finished_reply_does_not_wait_for_its_end_marker() {
    let body = STREAM.replace("data: [DONE]\n\n", "");
    let address = serve(move |_, _| {
        let body = Bytes::from(body.clone());
        async { streamed(stream::iter([Ok(body)]).chain(stream::pending())) }
    });
    let (model, meter) = connect(Endpoint { idle_timeout: SHORT, ..endpoint(address.await) });
    assert_eq!(ask(&model).await.1.unwrap(), good_end());
    assert_eq!(meter.snapshot(), reported());
}

/// Fires when the server lets go of a reply, which it does when its connection closes.
struct OnDrop(Option<oneshot::Sender<()>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(sender) = self.0.take() {
            let _ = sender.send(());
        }
    }
}

/// A server that sends `start` and then says nothing more until its connection closes. `arrived` is cancelled when the
/// request is there.
async fn serve_and_watch(start: &'static str, arrived: CancellationToken) -> (SocketAddr, oneshot::Receiver<()>) {
    let (sender, closed) = oneshot::channel();
    let sender = Arc::new(Mutex::new(Some(sender)));
    let address = serve(move |_, _| {
        let guard = OnDrop(sender.lock().unwrap().take());
        arrived.cancel();
        async move {
            let start =
                stream::iter([start].into_iter().filter(|start| !start.is_empty()).map(|start| Ok(Bytes::from(start))));
            streamed(start.chain(stream::once(async move {
                let _guard = guard;
                std::future::pending().await
            })))
        }
    });
    (address.await, closed)
}

async fn within(closed: oneshot::Receiver<()>) {
    tokio::time::timeout(LONG, closed).await.expect("the connection should close").unwrap();
}

#[tokio::test]
async fn cancelling_closes_the_connection_though_nobody_polls() {
    let (address, closed) = serve_and_watch(FIRST_PIECE, CancellationToken::new()).await;
    let (model, meter) = connect(endpoint(address));
    let cancel = CancellationToken::new();
    let mut stream = model.chat(&question(), cancel.clone()).await.unwrap();
    cancel.cancel();
    within(closed).await;
    assert_eq!(meter.snapshot(), unreported(6));
    assert_eq!(stream.next().await.unwrap().unwrap(), ChatDelta::Text("特休".to_owned()));
    assert!(matches!(stream.next().await, Some(Err(ModelError::Cancelled))));
}

#[tokio::test]
async fn cancelling_wakes_whoever_waits() {
    let (address, closed) = serve_and_watch(FIRST_PIECE, CancellationToken::new()).await;
    let (model, _) = connect(endpoint(address));
    let cancel = CancellationToken::new();
    let mut stream = model.chat(&question(), cancel.clone()).await.unwrap();
    stream.next().await.unwrap().unwrap();
    let waiting = tokio::spawn(async move { stream.next().await });
    tokio::task::yield_now().await;
    cancel.cancel();
    assert!(matches!(waiting.await.unwrap(), Some(Err(ModelError::Cancelled))));
    within(closed).await;
}

#[tokio::test]
async fn a_call_cancelled_before_its_first_piece_closes_the_connection() {
    let arrived = CancellationToken::new();
    let (address, closed) = serve_and_watch("", arrived.clone()).await;
    let (model, meter) = connect(endpoint(address));
    let cancel = CancellationToken::new();
    let canceller = cancel.clone();
    let waiting = tokio::spawn(async move { model.chat(&question(), cancel).await.err() });
    arrived.cancelled().await;
    canceller.cancel();
    assert!(matches!(waiting.await.unwrap(), Some(ModelError::Cancelled)));
    assert_eq!(meter.snapshot(), unreported(0));
    within(closed).await;
}

#[tokio::test]
async fn a_call_dropped_before_its_first_piece_closes_the_connection_and_settles() {
    let arrived = CancellationToken::new();
    let (address, closed) = serve_and_watch("", arrived.clone()).await;
    let (model, meter) = connect(endpoint(address));
    let question = question();
    tokio::select! {
        _ = model.chat(&question, CancellationToken::new()) => panic!("there is no reply"),
        () = arrived.cancelled() => {}
    }
    assert_eq!(meter.snapshot(), unreported(0));
    within(closed).await;
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection_and_settles() {
    let (address, closed) = serve_and_watch(FIRST_PIECE, CancellationToken::new()).await;
    let (model, meter) = connect(endpoint(address));
    let stream = model.chat(&question(), CancellationToken::new()).await.unwrap();
    drop(stream);
    assert_eq!(meter.snapshot(), unreported(6));
    within(closed).await;
}

#[tokio::test]
async fn a_connection_that_was_never_made_sent_nothing() {
    // Bound and closed again: nothing listens there.
    let address = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (model, meter) = connect(Endpoint { base_url: format!("http://me:secret@{address}/v1"), ..endpoint(address) });
    let error = ask(&model).await.1.unwrap_err();
    let told = error.to_string();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
    assert!(told.contains(&format!("http://{address}/v1/chat/completions: ")) && !told.contains("secret"), "{told}");
    assert_eq!(meter.snapshot(), not_sent());
}

#[tokio::test]
async fn a_connection_that_takes_too_long_sent_nothing() {
    // TLS to a server that never greets: the connection is open, but not made.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let base_url = format!("https://{address}/v1");
    let meter = CountingMeter::default();
    let endpoint = Endpoint { base_url, connect_timeout: SHORT, ..endpoint(address) };
    match ChatModel::connect(endpoint, Arc::new(meter.clone())) {
        Ok(model) => {
            let error = ask(&model).await.1.unwrap_err();
            assert!(
                matches!(&error, ModelError::Unreachable { problem, .. } if problem == "no connection within 50ms"),
                "{error:?}"
            );
            assert_eq!(meter.snapshot(), not_sent());
        }
        // A machine without CA certificates refuses HTTPS from the start.
        Err(error) => assert!(error.to_string().contains("CA certificates"), "{error}"),
    }
}

#[tokio::test]
async fn what_is_no_http_server_is_named() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { drop(listener.accept().await) });
    let (model, meter) = connect(endpoint(address));
    let error = ask(&model).await.1.unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
    assert_eq!(meter.snapshot().settled, 1);
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_at_once_and_the_key_is_never_shown() {
    let any = SocketAddr::from(([127, 0, 0, 1], 9));
    for base_url in ["ftp://127.0.0.1/v1", "127.0.0.1:9", ""] {
        let endpoint = Endpoint { base_url: base_url.to_owned(), ..endpoint(any) };
        let result = ChatModel::connect(endpoint, Arc::new(CountingMeter::default()));
        assert!(matches!(result, Err(ModelError::Unreachable { .. })), "{base_url}");
    }
    let (model, _) = connect(endpoint(any));
    assert!(!format!("{model:?} {:?}", endpoint(any)).contains("secret"));
}
