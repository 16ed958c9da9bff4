//! Speaking MCP: with the servers that offer tools, and as one of them.
//!
//! # Calling
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
//!
//! ```no_run
//! # async fn example(host: bylaw_mcp::Host) -> Result<(), bylaw_mcp::McpError> {
//! use bylaw_mcp::{CallOptions, ClientOptions, McpClient, McpServer};
//!
//! let server = McpServer::http("leaves", "http://127.0.0.1:9000/mcp");
//! let client = McpClient::connect(server, ClientOptions::default(), host).await?;
//! for tool in client.tools().await? {
//!     println!("{} {:?}", tool.name, tool.annotations);
//! }
//! let arguments = serde_json::Map::from_iter([("keyword".to_owned(), "family".into())]);
//! match client.call("search_leaves", &arguments, CallOptions::default()).await {
//!     Ok(outcome) => println!("{:?}", outcome.content),
//!     Err(error) if error.may_have_happened() => println!("look first: {error}"),
//!     Err(error) => println!("{error}"),
//! }
//! client.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! What bounds a client's memory: a message longer than [`ClientOptions::max_message_bytes`] is thrown away as it arrives, on
//! either transport, and its call fails with [`McpError::TooLarge`] while the connection stays. What a server sends
//! without being asked is bounded in the same way, each message by itself.
//!
//! # Being called
//!
//! ```text
//!   ServerTool, ServerPrompt, ServerResources ─► ToolServer ─► HttpMount ─► listen     HTTP: many, by their keys
//!                                                    │    └──► serve_stdio             pipes: one, given at the start
//!                          CallContext::confirm ─► ConfirmationGate ─► ConfirmationUses (a port)
//! ```
//!
//! A tool is a description and a handler; it sees neither the era nor the transport. What it is given is checked against
//! its schema, who calls comes from [`Authenticate`] or from whoever started the process, and a call that must not happen
//! by a model's word alone asks the human through [`CallContext::confirm`]. The answer holds for this principal, tool,
//! arguments, subject and version, once, for some minutes.
//!
//! ```
//! use async_trait::async_trait;
//! use bylaw_mcp::{
//!     CallContext, Confirmation, Question, ServerTool, ToolAnnotations, ToolReply, ToolServer, ToolSpec, ToolStop,
//! };
//! use serde_json::json;
//!
//! struct Cancel;
//!
//! #[async_trait]
//! impl ServerTool for Cancel {
//!     fn spec(&self) -> ToolSpec {
//!         let id = json!({ "type": "string", "description": "The leave's id." });
//!         ToolSpec::new("cancel", "Cancels a leave. The person is asked first.")
//!             .taking(json!({ "type": "object", "properties": { "id": id }, "required": ["id"] }))
//!             .that(ToolAnnotations::DESTROYS)
//!     }
//!
//!     async fn call(&self, call: CallContext) -> Result<ToolReply, ToolStop> {
//!         let id = call.arguments["id"].as_str().unwrap_or_default().to_owned();
//!         match call.confirm(Question::new(&id, "3", format!("Cancel {id}, three days in May?"))).await? {
//!             Confirmation::Accepted(_) => Ok(ToolReply::text(format!("{id} is cancelled."))),
//!             Confirmation::Declined => Err(ToolStop::refused("The person said no. Do not ask again.")),
//!             Confirmation::Dismissed | Confirmation::TimedOut => Err(ToolStop::refused("Nobody answered.")),
//!             Confirmation::Unsupported => Err(ToolStop::refused("Your client cannot ask. Use the web page.")),
//!         }
//!     }
//! }
//!
//! let server = ToolServer::builder("leaves", "1").tool(Cancel).build()?;
//! # Ok::<(), bylaw_mcp::ToolServerError>(())
//! ```
//!
//! What bounds a server: calls at once and waiting ([`CallLimits`]); bodies, sessions and their idleness
//! ([`HttpOptions`]). Host and origin are loopback's unless said otherwise.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::allow_attributes, reason = "a test that cannot go on should panic")
)]

mod client;
mod server;

pub use client::{
    CallOptions, ClientOptions, Content, Elicit, ElicitReply, Elicitation, Host, McpAddress, McpClient, McpClients,
    McpError, McpServer, Progress, ProgressSink, RemoteTool, ResourceBody, ServerState, ToolAnnotations, ToolOutcome,
};
pub use server::{
    Authenticate, CallContext, CallLimits, Caller, ClientIdentity, Confirmation, ConfirmationGate, ConfirmationId,
    ConfirmationKey, ConfirmationUse, ConfirmationUses, ConfirmationUsesError, Credentials, Era, HttpMount,
    HttpOptions, MemoryUses, PipesError, Principal, ProgressReporter, PromptArgument, PromptMessage, PromptRole,
    PromptSpec, Question, RefusedCredentials, ResourceSpec, ResourceTemplate, ServerPrompt, ServerResources,
    ServerTool, ToolReply, ToolServer, ToolServerBuilder, ToolServerError, ToolSpec, ToolStop, Words, listen,
    serve_pipes, serve_stdio,
};
