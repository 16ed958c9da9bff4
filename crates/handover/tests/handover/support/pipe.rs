//! A client of the older era on the other end of a pipe.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bylaw_contract::Randomness;
use bylaw_handover::{FrontDoor, HandoverParts, HandoverSettings, server};
use bylaw_mcp::{CallLimits, Principal, serve_pipes};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, split};
use tokio_util::sync::CancellationToken;

#[derive(Default)]
struct Counting(AtomicU64);

impl Randomness for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0);
        let next = self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes();
        let end = bytes.len();
        bytes[end - 8..].copy_from_slice(&next);
    }
}

pub(crate) struct Pipe {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    next_id: u64,
    /// What came without being the reply that was waited for.
    pub(crate) notices: VecDeque<Value>,
}

/// What became of a call of a tool.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) is_error: bool,
    pub(crate) text: String,
    pub(crate) structured: Value,
}

impl Pipe {
    pub(crate) async fn open(door: Arc<dyn FrontDoor>) -> Self {
        Self::open_with(door, HandoverSettings::default()).await
    }

    pub(crate) async fn open_with(door: Arc<dyn FrontDoor>, settings: HandoverSettings) -> Self {
        let random = Arc::new(Counting::default());
        let server = server(HandoverParts { door, settings, limits: CallLimits::default(), random }).unwrap();
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = split(theirs);
        tokio::spawn(serve_pipes(server, Principal::new("amy"), reader, writer, CancellationToken::new()));
        let (reader, writer) = split(ours);
        let mut pipe = Self { reader: BufReader::new(reader), writer, next_id: 0, notices: VecDeque::new() };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        });
        pipe.request("initialize", hello).await;
        pipe.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        pipe
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"))
    }

    /// Sends a request and does not wait; its id.
    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    pub(crate) async fn reply_to(&mut self, id: u64) -> Value {
        loop {
            let heard = self.hear().await;
            if heard["id"] == id {
                return heard;
            }
            self.notices.push_back(heard);
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.reply_to(id).await
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Called {
        let reply = self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        called(&reply)
    }
}

pub(crate) fn called(reply: &Value) -> Called {
    let result = reply.get("result").unwrap_or_else(|| panic!("{reply}"));
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "{result}");
    Called {
        is_error: result["isError"].as_bool().unwrap_or_default(),
        text: content[0]["text"].as_str().unwrap().to_owned(),
        structured: result.get("structuredContent").cloned().unwrap_or_default(),
    }
}
