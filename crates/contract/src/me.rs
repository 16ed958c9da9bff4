//! `GET /me`: who the caller is, and what they may do.

use serde::{Deserialize, Serialize};

use crate::ids::{RequestId, SourceName};

/// Who the caller is, and what there is for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Me {
    /// The key's id; `local` while there are no keys.
    pub principal: String,
    /// What people call the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the caller may do.
    pub role: CallerRole,
    /// Whether every request needs a key.
    pub keys_required: bool,
    /// The only sources that the caller may read, whether or not they exist now; null for all.
    #[schema(value_type = Option<Vec<String>>)]
    pub sources: Option<Vec<SourceName>>,
    /// Whether a model is configured. Without one every answer is an extract.
    pub model: bool,
    /// The agents that the caller can start a run of, in order.
    pub agents: Vec<String>,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}

/// What a caller may do. Each role may do what the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallerRole {
    /// Asks, searches, reads; sees their own runs and usage.
    Reader,
    /// Also changes documents.
    Editor,
    /// Also sees everyone's runs, usage and budgets.
    Admin,
}
