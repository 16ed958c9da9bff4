//! What a model call consumed.

use serde::{Deserialize, Serialize};

/// Tokens of one or several attempts, as the provider reported them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TokenUsage {
    /// Tokens of the prompt, cached ones included.
    pub input_tokens: u64,
    /// The part of `input_tokens` that the provider served from its own cache.
    #[serde(default)]
    pub cached_input_tokens: u64,
    /// Tokens written by the model, reasoning included.
    pub output_tokens: u64,
    /// The part of `output_tokens` that was reasoning.
    #[serde(default)]
    pub reasoning_tokens: u64,
    /// Tokens of embedding requests.
    #[serde(default)]
    pub embedding_tokens: u64,
}

impl TokenUsage {
    /// Adds `other` field by field, saturating.
    pub fn add(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_input_tokens = self.cached_input_tokens.saturating_add(other.cached_input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        self.embedding_tokens = self.embedding_tokens.saturating_add(other.embedding_tokens);
    }
}
