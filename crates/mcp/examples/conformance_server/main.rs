//! A server with the tools that the protocol's conformance suite and the interoperability scripts expect, mounted through
//! the same layers and the same gate as any other.
//!
//! ```text
//! conformance_server http 9000    on http://127.0.0.1:9000/mcp
//! conformance_server stdio        on standard input and output
//! ```

#![expect(clippy::print_stderr, reason = "an example says where it is")]

mod fixtures;
mod leaves;

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use async_trait::async_trait;
use bylaw_contract::{Clock, Randomness, Timestamp};
use bylaw_mcp::{
    Authenticate, ConfirmationGate, ConfirmationKey, Credentials, HttpMount, HttpOptions, MemoryUses, Principal,
    RefusedCredentials, ToolServer, listen, serve_stdio,
};
use ring::rand::{SecureRandom, SystemRandom};
use tokio_util::sync::CancellationToken;

struct System(Instant);

impl Clock for System {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

struct Random(SystemRandom);

impl Randomness for Random {
    fn fill(&self, bytes: &mut [u8]) {
        assert!(self.0.fill(bytes).is_ok(), "this system has no randomness");
    }
}

/// Whoever comes, without a key or with any.
struct Anybody;

#[async_trait]
impl Authenticate for Anybody {
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Principal, RefusedCredentials> {
        Ok(Principal::new(credentials.bearer.unwrap_or("anybody")))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clock: Arc<dyn Clock> = Arc::new(System(Instant::now()));
    let random = Random(SystemRandom::new());
    let mut secret = [0; 32];
    random.fill(&mut secret);
    let key = ConfirmationKey::new(&secret);
    let gate = ConfirmationGate::new(key, Arc::new(MemoryUses::default()), Arc::clone(&clock), Arc::new(random));
    let server = ToolServer::builder("bylaw-conformance", env!("CARGO_PKG_VERSION"))
        .titled("Bylaw's conformance server")
        .instructed("Tools without a purpose, for test programs.")
        .tools(fixtures::tools())
        .tools(leaves::tools())
        .prompt(fixtures::TestPrompt::Simple)
        .prompt(fixtures::TestPrompt::WithArguments)
        .prompt(fixtures::TestPrompt::WithEmbeddedResource)
        .prompt(fixtures::TestPrompt::WithImage)
        .resources(fixtures::TestResources)
        .gate(gate)
        .build()?;
    let shutdown = CancellationToken::new();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["http", port] => {
            let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse::<u16>()?)).await?;
            eprintln!("listening on http://{}/mcp", listener.local_addr()?);
            let mount = HttpMount::new(server, Arc::new(Anybody), clock, HttpOptions::default(), shutdown.clone());
            listen(listener, mount.router(), shutdown).await;
        }
        ["stdio"] => serve_stdio(server, Principal::new("whoever started it"), shutdown).await?,
        _ => return Err("say `http PORT` or `stdio`".into()),
    }
    Ok(())
}
