//! One question over one connection, which can be left in every way.

use std::{io, net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// The longest that anything may take here.
const PATIENCE: Duration = Duration::from_secs(120);

/// A question.
#[derive(Clone, Debug)]
pub(super) struct Question {
    /// The label of the request, and what the question calls itself.
    pub(super) call: String,
    /// What else it says, for example what the scripted model is to do.
    pub(super) more: String,
    pub(super) mode: &'static str,
    pub(super) stream: bool,
    pub(super) use_cache: bool,
}

impl Question {
    /// One that a model has to answer anew, as JSON.
    pub(super) fn new(call: impl Into<String>) -> Self {
        Self { call: call.into(), more: String::new(), mode: "pipeline", stream: false, use_cache: false }
    }

    pub(super) fn streamed(self, stream: bool) -> Self {
        Self { stream, ..self }
    }

    pub(super) fn body(&self) -> String {
        json!({
            "question": format!("出差住宿費每晚以多少為限？ call:{} {}", self.call, self.more),
            "mode": self.mode, "stream": self.stream, "use_cache": self.use_cache,
        })
        .to_string()
    }
}

/// A caller, who has asked and listens.
pub(super) struct Caller {
    connection: TcpStream,
    received: Vec<u8>,
}

/// What a caller has received.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    /// JSON, or the events one after the other.
    pub(super) body: String,
    /// Whether its end has come.
    pub(super) whole: bool,
}

impl Caller {
    /// Connects.
    pub(super) async fn connect(address: SocketAddr) -> io::Result<Self> {
        let connection = TcpStream::connect(address).await?;
        connection.set_nodelay(true)?;
        Ok(Self { connection, received: Vec::new() })
    }

    /// Connects and asks, on a connection for this question alone.
    pub(super) async fn ask(address: SocketAddr, question: &Question) -> io::Result<Self> {
        let mut caller = Self::connect(address).await?;
        caller.send(question).await?;
        Ok(caller)
    }

    pub(super) async fn send(&mut self, question: &Question) -> io::Result<()> {
        let body = question.body();
        let request = format!(
            "POST /ask HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\n\
             x-request-id: {}\r\ncontent-length: {}\r\n\r\n{body}",
            question.call,
            body.len()
        );
        self.connection.write_all(request.as_bytes()).await
    }

    /// Reads until this has come. Whether it has, before the end.
    pub(super) async fn until(&mut self, text: &str) -> io::Result<bool> {
        let mut from = 0;
        loop {
            let new = self.received.get(from..).unwrap_or_default();
            if new.windows(text.len()).any(|window| window == text.as_bytes()) {
                return Ok(true);
            }
            from = self.received.len().saturating_sub(text.len());
            if self.read().await? == 0 {
                return Ok(false);
            }
        }
    }

    /// Reads to the end.
    pub(super) async fn end(mut self) -> io::Result<Reply> {
        while self.read().await? > 0 {}
        Ok(self.so_far())
    }

    async fn read(&mut self) -> io::Result<usize> {
        let late = |_| io::Error::new(io::ErrorKind::TimedOut, "no answer, and no end");
        tokio::time::timeout(PATIENCE, self.connection.read_buf(&mut self.received)).await.map_err(late)?
    }

    /// What has come so far.
    pub(super) fn so_far(&self) -> Reply {
        reply(&self.received)
    }

    /// Leaves with a reset instead of a farewell.
    pub(super) fn reset(self) -> io::Result<()> {
        self.connection.set_zero_linger()
    }
}

impl Reply {
    /// The data of the events with this name, in their order.
    pub(super) fn events(&self, name: &str) -> Vec<Value> {
        let event = format!("event: {name}\ndata: ");
        let data = self.body.split("\n\n").filter_map(|block| block.strip_prefix(event.as_str()));
        data.filter_map(|data| serde_json::from_str(data).ok()).collect()
    }

    /// The answer: of a whole reply, or of its last event.
    pub(super) fn answer(&self) -> Option<Value> {
        self.events("done").pop().or_else(|| serde_json::from_str(&self.body).ok())
    }

    /// Bytes of text that were shown as they were written.
    pub(super) fn text_bytes(&self) -> u64 {
        let tokens = self.events("token");
        tokens.iter().filter_map(|token| token["text"].as_str()).map(|text| text.len() as u64).sum()
    }
}

/// Reads what there is of a reply.
fn reply(received: &[u8]) -> Reply {
    const GAP: &[u8] = b"\r\n\r\n";
    let nothing = Reply { status: 0, body: String::new(), whole: false };
    let Some(end) = received.windows(GAP.len()).position(|window| window == GAP) else { return nothing };
    let (head, body) = received.split_at(end + GAP.len());
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let (body, whole) = if head.contains("transfer-encoding: chunked") {
        unchunked(body)
    } else {
        let length = head.split_once("content-length: ").and_then(|(_, rest)| rest.lines().next()?.parse().ok());
        (body.to_vec(), Some(body.len()) == length)
    };
    Reply { status, body: String::from_utf8_lossy(&body).into_owned(), whole }
}

/// The chunks that are whole, and whether the last one is there.
fn unchunked(mut chunks: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(line) = chunks.windows(2).position(|window| window == b"\r\n") else { return (body, false) };
        let size = std::str::from_utf8(&chunks[..line]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let Some(size) = size else { return (body, false) };
        if size == 0 {
            return (body, true);
        }
        let Some(chunk) = chunks.get(line + 2..line + 2 + size) else { return (body, false) };
        body.extend_from_slice(chunk);
        chunks = chunks.get(line + 4 + size..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_read_as_far_as_it_has_come() {
        let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let event = "event: token\ndata: {\"text\":\"七日\"}\n\n";
        let chunk = format!("{:x}\r\n{event}\r\n", event.len());
        let rows = [
            ("HTTP/1.1 200 OK\r\n".to_owned(), 0, "", false),
            ("HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\n{}".to_owned(), 503, "{}", true),
            ("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}".to_owned(), 200, "{}", false),
            (format!("{chunked}{chunk}"), 200, event, false),
            (format!("{chunked}{chunk}0\r\n\r\n"), 200, event, true),
            (format!("{chunked}{chunk}7f\r\nevent"), 200, event, false),
        ];
        for (received, status, body, whole) in rows {
            let reply = reply(received.as_bytes());
            assert_eq!((reply.status, reply.body.as_str(), reply.whole), (status, body, whole), "{received}");
            assert_eq!(reply.text_bytes(), if body == event { 6 } else { 0 });
        }
    }
}
