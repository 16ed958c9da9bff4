//! Calls one tool as fast as a server answers, over some connections at once, and says how often a second.
//!
//! ```text
//! load http://127.0.0.1:9000/mcp list_leave_types 8 5      eight connections, five seconds
//! ```

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, tool, connections, seconds] = &arguments[..] else {
        return Err("say: load URL TOOL CONNECTIONS SECONDS".into());
    };
    let (connections, seconds) = (connections.parse::<usize>()?, seconds.parse::<u64>()?);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "load", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": tool, "arguments": {}, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let calls = Arc::new(AtomicU64::new(0));
    let begin = Instant::now();
    let end = begin + Duration::from_secs(seconds);
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..connections {
        let (url, tool, body, calls) = (url.clone(), tool.clone(), body.clone(), Arc::clone(&calls));
        workers.spawn(async move {
            let client = reqwest::Client::new();
            while Instant::now() < end {
                let reply = client
                    .post(&url)
                    .header("content-type", "application/json")
                    .header("accept", "application/json, text/event-stream")
                    .header("mcp-protocol-version", "2026-07-28")
                    .header("mcp-method", "tools/call")
                    .header("mcp-name", &tool)
                    .body(body.clone())
                    .send()
                    .await?;
                let text = reply.text().await?;
                if !text.contains("family_care") {
                    return Err(Failure::from(format!("not the reply that was wanted: {text}")));
                }
                calls.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
    }
    while let Some(worker) = workers.join_next().await {
        worker??;
    }
    println!("{:.0}", calls.load(Ordering::Relaxed) as f64 / begin.elapsed().as_secs_f64());
    Ok(())
}
