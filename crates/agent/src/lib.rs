//! The loop: a model, its tools, and limits that always end it.
//!
//! ```text
//!   Agent ── prompt, Toolbox, Limits, Approvals ──► run(Conversation, message, RunWith) ──► RunEnd
//!
//!     1 list tools ─► 2 ask the model ─► 3 run its calls ─► 4 put the results back ─┐    src/run.rs
//!     ▲                     └─ text ─► 5 stop                                       │
//!     └─────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Whatever a model or a server does, the run goes on or ends with a stop reason, and the history that is sent next is
//! valid for a strict provider. A call that is wrong is not made; its result says what to fix. A person's no is final.
//!
//! What has an effect is written down before it ([`RunLog`]): the intent of a model call, the intent of a tool call, and
//! what a person answered. [`Ask`] is the port to that person, [`ArtifactStore`] keeps what is too large to be said.
//!
//! Models are metered by whoever hands them in. Nothing here knows HTTP, SQL or a terminal.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::allow_attributes, reason = "a test that cannot go on should panic")
)]

mod agent;
mod agent_file;
mod approvals;
mod arguments;
mod artifacts;
mod ask;
mod calls;
mod conversation;
mod deadline;
mod desk;
mod elicitations;
mod end;
mod limits;
mod log;
mod make;
mod names;
mod repair;
mod research;
mod results;
mod run;
mod schemas;
mod state;
mod tool;
mod toolbox;
mod turn;

pub use agent::{Agent, RunWith};
pub use agent_file::{AgentFile, AgentFileError, ServerFile};
pub use approvals::{ApprovalPolicy, Approvals, ToolApproval};
pub use arguments::Validation;
pub use artifacts::{Artifact, ArtifactError, ArtifactStore, MemoryArtifacts};
pub use ask::{Ask, Question};
pub use conversation::Conversation;
pub use elicitations::Elicitations;
pub use end::RunEnd;
pub use limits::Limits;
pub use log::{MemoryLog, NoLog, RunLog, RunLogError};
pub use research::LoopResearcher;
pub use schemas::SchemaDialect;
pub use tool::{Tool, ToolContext, ToolInfo, text_outcome};
pub use toolbox::{ServerTools, Toolbox, ToolboxBuilder};
