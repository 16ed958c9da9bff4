//! The values that every part of Bylaw exchanges: ids, money, articles and citations, run events, outcomes, stop
//! reasons, error codes, and the bodies of requests and responses.
//!
//! ```text
//!   ids ─ time ─ money ─ usage          what everything is counted in
//!   article ─ citation ─ outcome        what an answer is made of
//!   event ─ loop_event ─ stop           what happens while it is made
//!   ask ─ search ─ sources ─ documents  what crosses the network, field by field
//!   runs ─ runs_api ─ conversations ─ accounts ─ me ─ health ─ openai
//!   error                               how all of it can fail
//! ```
//!
//! Values only: nothing here waits, does I/O, speaks HTTP or SQL. `Serialize` is derived where a type crosses a
//! boundary; such a type is a promise and has a snapshot test.
//!
//! # Words
//!
//! **source** a document as its owner knows it · **version** one set of bytes of a source plus the extractor that read
//! them · **article** the unit of citation, with heading path, text and span · **reference** one article naming another
//! · **passage** an article or part of it as given to a model · **hit** a passage with a score · **citation** an article
//! in an answer, `retrieved`, `referenced` or `used` · **quote** a span inside an article · **question**, **answer**,
//! **outcome**, **extract** · **run** one unit of work with an id · **model call** one question to a model, **attempt**
//! one HTTP request for it · **reservation → settlement** in the **ledger** · **stop reason** why a run ended, **finish
//! reason** why one model response ended · **generation** the number of an index · **glossary** words people use ↔ words
//! the rules use.

pub mod accounts;
pub mod article;
pub mod ask;
pub mod citation;
pub mod conversations;
pub mod documents;
pub mod error;
pub mod event;
pub mod health;
pub mod ids;
pub mod language;
pub mod loop_event;
pub mod me;
pub mod money;
pub mod openai;
pub mod outcome;
pub mod runs;
pub mod runs_api;
pub mod search;
pub mod sources;
pub mod stop;
pub mod time;
pub mod usage;

pub use article::{ArticleAddress, ArticleId, Span};
pub use citation::Citation;
pub use error::{ApiError, ErrorCode, chain};
pub use event::RunEvent;
pub use ids::{
    ArtifactId, ConversationId, GenerationNumber, JobId, KeyId, OwnerId, RequestId, ReservationId, RunId, SourceName,
    VersionId,
};
pub use language::Language;
pub use loop_event::LoopEvent;
pub use money::MicroUsd;
pub use outcome::Outcome;
pub use stop::{Stop, StopReason};
pub use time::{Clock, Randomness, Timestamp};
pub use usage::TokenUsage;
