//! The port to storage: answers that are kept for a repeated request.

use async_trait::async_trait;
use bylaw_contract::{KeyId, Timestamp};

/// How long an answer is kept for its `Idempotency-Key`, in milliseconds: a day.
pub const KEPT_MS: i64 = 24 * 60 * 60 * 1_000;

/// A caller's own name for a request, so that sending it twice does not cost twice. 1–255 visible ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

/// A text that is no idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an Idempotency-Key has 1 to 255 visible ASCII characters")]
pub struct InvalidIdempotencyKey;

impl IdempotencyKey {
    /// Checks and wraps `text`.
    ///
    /// # Errors
    /// If it is empty, over-long, or holds anything but visible ASCII characters.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidIdempotencyKey> {
        let text = text.into();
        let valid = (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if valid { Ok(Self(text)) } else { Err(InvalidIdempotencyKey) }
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whose idempotency keys are told apart: each API key's own, and the local door's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeptName {
    /// The API key; `None` for the local door.
    pub owner: Option<KeyId>,
    /// What the caller named the request.
    pub key: IdempotencyKey,
}

/// An answer that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    /// A hash of the request that it answers.
    pub fingerprint: [u8; 32],
    /// The answer, as JSON.
    pub answer: String,
    /// When it was kept.
    pub kept_at: Timestamp,
}

/// Where kept answers are kept failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{operation} failed: {problem}")]
pub struct AnswerStoreError {
    /// What was being done.
    pub operation: &'static str,
    /// Why.
    pub problem: String,
}

/// Kept answers. Each method is one atomic operation.
#[async_trait]
pub trait AnswerStore: Send + Sync {
    /// The answer that is kept under a name and was kept since `since`.
    async fn find(&self, name: &KeptName, since: Timestamp) -> Result<Option<KeptAnswer>, AnswerStoreError>;

    /// Keeps an answer, unless one is kept under this name already, and forgets what was kept before `forget_before`.
    async fn keep(
        &self,
        name: &KeptName,
        answer: &KeptAnswer,
        forget_before: Timestamp,
    ) -> Result<(), AnswerStoreError>;
}
