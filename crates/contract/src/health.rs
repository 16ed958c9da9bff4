//! `/healthz` and `/readyz`.

use serde::{Deserialize, Serialize};

use crate::ids::{GenerationNumber, RequestId};

/// Whether the process is alive, and what it is made of. Always 200.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Health {
    /// The program's version.
    pub version: String,
    /// Whether `/readyz` would say yes.
    pub ready: bool,
    /// Articles in the index that the caller may read: 0 for a caller without a key where keys are required.
    pub chunks: usize,
    /// Sources in the index, counted likewise.
    pub sources: usize,
    /// Milliseconds from start to ready.
    pub boot_ms: Option<f64>,
    /// Retrievers that can be asked for.
    pub retrievers: Vec<String>,
    /// The one that is used.
    pub default_retriever: String,
    /// The index generation that answers.
    pub generation: GenerationNumber,
    /// The model that pipeline answers come from, if one is configured.
    pub model: Option<String>,
    /// Parts that are missing or broken, each with a reason.
    pub degraded: Vec<Degraded>,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}

/// A part that does not work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Degraded {
    /// `index`, `ledger`, `model`, `store`.
    pub part: String,
    /// One sentence.
    pub reason: String,
}
