//! The port that makes an answer of the human good for one use.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use bylaw_contract::Timestamp;

/// Names one question that was put.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfirmationId(pub(super) String);

impl ConfirmationId {
    /// As 32 hexadecimal digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConfirmationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One answer that is about to be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmationUse {
    /// Which question it answers.
    pub id: ConfirmationId,
    /// Whose it is.
    pub principal: String,
    /// What it is about.
    pub subject: String,
    /// The present moment.
    pub now: Timestamp,
    /// After this moment the answer is refused by itself, and need not be remembered.
    pub expires: Timestamp,
}

/// The uses cannot be written down now; the answer is not taken.
#[derive(Debug, thiserror::Error)]
#[error("the use of a confirmation cannot be recorded")]
pub struct ConfirmationUsesError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Remembers which answers were taken, at least until they expire.
#[async_trait]
pub trait ConfirmationUses: Send + Sync {
    /// Writes a use down, durably, before it returns. False if it was there already.
    ///
    /// # Errors
    /// When it cannot be written down.
    async fn spend(&self, used: &ConfirmationUse) -> Result<bool, ConfirmationUsesError>;
}

/// Remembers as long as the process lives. With a sealing key that outlives the process, answers that were taken before a
/// restart could be taken again until they expire.
#[derive(Debug, Default)]
pub struct MemoryUses {
    spent: Mutex<BTreeSet<(Timestamp, ConfirmationId)>>,
}

#[async_trait]
impl ConfirmationUses for MemoryUses {
    async fn spend(&self, used: &ConfirmationUse) -> Result<bool, ConfirmationUsesError> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        while spent.first().is_some_and(|(expires, _)| *expires < used.now) {
            spent.pop_first();
        }
        Ok(spent.insert((used.expires, used.id.clone())))
    }
}
