//! Kept answers in memory, for tests and demonstrations.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use bylaw_contract::Timestamp;

use crate::store::{AnswerStore, AnswerStoreError, KeptAnswer, KeptName};

/// Kept answers that are gone with the process.
#[derive(Debug, Default)]
pub struct MemoryAnswers(Mutex<HashMap<KeptName, KeptAnswer>>);

#[async_trait]
impl AnswerStore for MemoryAnswers {
    async fn find(&self, name: &KeptName, since: Timestamp) -> Result<Option<KeptAnswer>, AnswerStoreError> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(kept.get(name).filter(|answer| answer.kept_at >= since).cloned())
    }

    async fn keep(
        &self,
        name: &KeptName,
        answer: &KeptAnswer,
        forget_before: Timestamp,
    ) -> Result<(), AnswerStoreError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, answer| answer.kept_at >= forget_before);
        kept.entry(name.clone()).or_insert_with(|| answer.clone());
        Ok(())
    }
}
