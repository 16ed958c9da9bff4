//! The whole idea: a model, an MCP server, and a question.
//!
//! ```text
//! native_loop http://127.0.0.1:11434/v1 MODEL http://127.0.0.1:8031/mcp "Submit my family care leave"
//! ```
#![allow(clippy::print_stdout, clippy::allow_attributes, reason = "an example shows what it does")]

use std::{
    error::Error,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use bylaw_agent::{Agent, Conversation, RunWith, ServerTools, Toolbox};
use bylaw_contract::{Clock, Randomness, Timestamp};
use bylaw_mcp::{ClientOptions, Host, McpClient, McpServer};
use bylaw_model::{Connection, CountingMeter, Endpoint, Retries};

struct System(Instant);

impl Clock for System {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(0).plus(since)
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

impl Randomness for System {
    fn fill(&self, bytes: &mut [u8]) {
        // Good enough for the ids of one run.
        let mut state = u64::from(self.0.elapsed().subsec_nanos()) | 1;
        bytes.fill_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()[0]
        });
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let [base_url, model, mcp_url, message] = std::env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| "usage: native_loop BASE_URL MODEL MCP_URL MESSAGE")?;
    let system = Arc::new(System(Instant::now()));
    let wait = Duration::from_secs(60);
    let endpoint = Endpoint {
        base_url,
        api_key: std::env::var("OPENAI_API_KEY").ok(),
        model,
        connect_timeout: Duration::from_secs(5),
        first_byte_timeout: wait,
        idle_timeout: wait,
        total_timeout: wait,
    };
    let meter = CountingMeter::default();
    let connection = Connection::open(endpoint)?.with_retries(Retries::new(4, system.clone()));
    let model = connection.metered(Arc::new(meter.clone()));
    let host = Host { elicit: None, clock: system.clone(), randomness: system.clone() };
    let server = McpClient::connect(McpServer::http("mcp", mcp_url), ClientOptions::default(), host).await?;
    let toolbox = Toolbox::builder().server(server.clone(), ServerTools::default()).build().await;

    let agent = Agent::new("Use the tools. Say what you did.", toolbox);
    let end = agent.run(&mut Conversation::default(), &message, RunWith::new(model, system)).await;

    println!("{}", end.answer.as_deref().unwrap_or("(no answer)"));
    println!("{:?}: {} ({} steps, {} tool calls)", end.stop.reason, end.stop.message, end.steps, end.tool_calls);
    println!("{:?}", meter.snapshot());
    server.close().await;
    Ok(())
}
