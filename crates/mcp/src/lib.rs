//! Speaking MCP with the servers that offer tools.
//!
//! ```text
//!   McpServer ─► McpClient ── tools() ─► RemoteTool          one server: connects, reconnects, closes
//!                    │    ── call()  ─► ToolOutcome          one call: timed, cancellable, bounded
//!                    ├── Elicit ◄── a server's question      the port to whoever can answer it
//!                    └── ServerState, list changes           what to watch
//!   McpClients                                               many servers, none of which stops another
//! ```
//!
//! Both eras of the protocol are spoken, over HTTP and over the pipes of a child process: 2026-07-28, where a server
//! that needs an answer says so and is called again with it, and 2025-11-25, where it asks in the middle of a call.
//! Either way the question reaches the same port.
//!
//! A call has an outcome, an error that says what to do, or the plain word that nobody knows whether it happened
//! ([`McpError::may_have_happened`]). Only what a server marks read-only or idempotent is ever repeated after it may
//! have run; what a server refused unread (it had forgotten the session) is repeated whatever it is.
//!
//! Nothing here knows what the tools are for. No type of the library underneath shows.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::allow_attributes, reason = "a test that cannot go on should panic")
)]

mod client;

pub use client::{
    CallOptions, ClientOptions, Content, Elicit, ElicitReply, Elicitation, Host, McpAddress, McpClient, McpClients,
    McpError, McpServer, Progress, ProgressSink, RemoteTool, ResourceBody, ServerState, ToolAnnotations, ToolOutcome,
};
