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
//! Agents are files, too: a [`Catalogue`] is a folder of them, and [`AgentFile::connect`] makes one ready to run.
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
mod catalogue;
mod connect;
mod conversation;
mod deadline;
mod desk;
mod elicitations;
mod end;
mod journal;
mod limits;
mod log;
mod make;
mod memory;
mod names;
mod repair;
mod research;
mod results;
mod run;
mod runner;
mod schemas;
mod state;
mod store;
mod tool;
mod toolbox;
mod turn;

pub use agent::{Agent, RunWith};
pub use agent_file::{AgentFile, AgentFileError, ServerFile};
pub use approvals::{ApprovalPolicy, Approvals, ToolApproval};
pub use arguments::Validation;
pub use artifacts::{Artifact, ArtifactError, ArtifactStore, MemoryArtifacts};
pub use ask::{Ask, Question};
pub use catalogue::{Catalogue, CatalogueError};
pub use connect::{ConnectWith, ConnectedAgent, Secrets};
pub use conversation::Conversation;
pub use elicitations::Elicitations;
pub use end::RunEnd;
pub use journal::{BeginError, Journal, JournalConfig, JournalTallies, OpenRun, RunArtifacts, Seen, Watch};
pub use limits::Limits;
pub use log::{MemoryLog, NoLog, RunLog, RunLogError};
pub use memory::MemoryRuns;
pub use research::LoopResearcher;
pub use runner::{
    Errand, ReplyError, Room, RunCounts, Runner, RunnerParts, StartError, Started, TighterLimits, action_name,
};
pub use schemas::SchemaDialect;
pub use store::{
    ArtifactPut, ConversationQuery, ConversationRecord, Deleted, Ended, GivenReply, KeptArtifact, KeptQuestion, NewRun,
    Owner, Purpose, Replied, RunQuery, RunRecord, RunStore, RunStoreError, RunWrite, Written,
};
pub use tool::{Tool, ToolContext, ToolInfo, text_outcome};
pub use toolbox::{ServerTools, Toolbox, ToolboxBuilder};
