//! The half that calls: from a server's description to the outcome of a tool call.

mod backoff;
mod call;
mod clients;
mod connection;
mod elicit;
mod error;
mod handler;
mod http;
mod lenient;
mod list;
mod mcp_client;
mod options;
mod outcome;
mod server;
mod sse;
mod stdio;
mod timer;
mod tls;
mod tool;
mod trouble;

pub use call::{CallOptions, Progress, ProgressSink};
pub use clients::McpClients;
pub use elicit::{Elicit, ElicitReply, Elicitation};
pub use error::McpError;
pub use mcp_client::{McpClient, ServerState};
pub use options::{ClientOptions, Host};
pub use outcome::{Content, ResourceBody, ToolOutcome};
pub use server::{McpAddress, McpServer};
pub use tool::{RemoteTool, ToolAnnotations};
