//! What is remembered: answers, and model calls. Exact, bounded, and never a part of anything.

use std::sync::Arc;

use bylaw_contract::{MicroUsd, RunId, ask::Answer};
use bylaw_model::FinishReason;
use quick_cache::{Weighter, sync::Cache};

use crate::{digest::Digest, recall::Pieces};

/// Bytes that an average answer with its articles takes.
const AVERAGE_BYTES: u64 = 8 * 1024;

/// A whole answer that a model wrote.
#[derive(Debug)]
pub(crate) struct CachedAnswer {
    pub(crate) answer: Answer,
    /// What it cost the first time.
    pub(crate) cost: MicroUsd,
    /// The run that made it.
    pub(crate) run_id: RunId,
    /// Its JSON, if that has the expected form.
    pub(crate) pieces: Option<Pieces>,
    /// What it takes, twice its JSON.
    pub(crate) bytes: u64,
}

/// A whole reply of a model.
#[derive(Debug)]
pub(crate) struct CachedCall {
    pub(crate) text: String,
    pub(crate) finish_reason: FinishReason,
    pub(crate) model: String,
    pub(crate) cost: MicroUsd,
    pub(crate) run_id: RunId,
}

/// How much memory the two caches may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSizes {
    /// Bytes of answers.
    pub answers: u64,
    /// Bytes of model calls.
    pub calls: u64,
}

impl Default for CacheSizes {
    fn default() -> Self {
        Self { answers: 32 * 1024 * 1024, calls: 8 * 1024 * 1024 }
    }
}

/// Weighs what is remembered by its size.
#[derive(Clone)]
pub(crate) struct Bytes;

impl Weighter<Digest, Arc<CachedAnswer>> for Bytes {
    fn weight(&self, _key: &Digest, answer: &Arc<CachedAnswer>) -> u64 {
        answer.bytes
    }
}

impl Weighter<Digest, Arc<CachedCall>> for Bytes {
    fn weight(&self, _key: &Digest, call: &Arc<CachedCall>) -> u64 {
        (call.text.len() + 256) as u64
    }
}

/// Both caches.
pub(crate) struct Caches {
    pub(crate) answers: Cache<Digest, Arc<CachedAnswer>, Bytes>,
    pub(crate) calls: Cache<Digest, Arc<CachedCall>, Bytes>,
}

impl Caches {
    pub(crate) fn new(sizes: CacheSizes) -> Self {
        let items = |bytes: u64| usize::try_from(bytes / AVERAGE_BYTES).unwrap_or(usize::MAX).max(16);
        Self {
            answers: Cache::with_weighter(items(sizes.answers), sizes.answers, Bytes),
            calls: Cache::with_weighter(items(sizes.calls), sizes.calls, Bytes),
        }
    }
}
