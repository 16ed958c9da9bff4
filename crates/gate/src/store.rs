//! The ports to storage. Each method is one atomic operation.

use async_trait::async_trait;
use bylaw_contract::{KeyId, MicroUsd, OwnerId, RequestId, ReservationId, RunId, Timestamp, TokenUsage, ask::Mode};

use crate::{
    account::Account,
    books::{OpenReservation, Write, Written},
    budget::BudgetKey,
    keys::KeyRecord,
    period::Day,
    row::{Row, RowKind, RowNumber, StoredRow},
    seal::Seal,
    secret::KeyHash,
};

/// Where keys are kept failed.
#[derive(Debug, thiserror::Error)]
#[error("{operation} failed")]
pub struct KeyStoreError {
    /// What was being done.
    pub operation: &'static str,
    /// Why.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// Keys.
#[async_trait]
pub trait KeyStore: Send + Sync {
    /// Adds a key.
    async fn add(&self, record: &KeyRecord, hash: &KeyHash) -> Result<(), KeyStoreError>;
    /// The key with this hash, whether or not it is valid.
    async fn by_hash(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, KeyStoreError>;
    /// Every key, the oldest first.
    async fn list(&self) -> Result<Vec<KeyRecord>, KeyStoreError>;
    /// Every key with its hash, whether or not it is valid.
    async fn entries(&self) -> Result<Vec<(KeyHash, KeyRecord)>, KeyStoreError>;
    /// Revokes a key. Whether there was one that was not revoked.
    async fn revoke(&self, id: &KeyId, at: Timestamp) -> Result<bool, KeyStoreError>;
    /// A number that grows with every change of the keys, also from other processes: whoever remembers keys asks this
    /// before trusting them, so that a revoked key is refused at once.
    async fn revision(&self) -> Result<u64, KeyStoreError>;
}

/// Why the ledger cannot be used. Nothing may be spent then; searching goes on.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// It cannot be reached or written now: a full disk, a lost connection. Worth trying again.
    #[error("the ledger cannot be used: {operation} failed")]
    Unavailable {
        /// What was being done.
        operation: &'static str,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What it holds cannot be right. Trying again will not help.
    #[error("the ledger is corrupt: {what}; nothing is spent until it is repaired or restored from a backup")]
    Corrupt {
        /// What is wrong, and where.
        what: String,
    },
}

/// The lease of a process on its reservations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The process.
    pub owner: OwnerId,
    /// Until when its reservations are its own.
    pub until: Timestamp,
}

/// Which rows to show. A row is shown if it agrees with everything that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowFilter {
    /// Of this request label; callers choose it, so several requests may match.
    pub request_id: Option<RequestId>,
    /// Of this run.
    pub run_id: Option<RunId>,
    /// Of this key.
    pub key: Option<KeyId>,
    /// Of this day and later.
    pub from: Option<Day>,
    /// Of this day and earlier.
    pub to: Option<Day>,
}

impl RowFilter {
    /// Whether `stored` is to be shown.
    #[must_use]
    pub fn accepts(&self, stored: &StoredRow) -> bool {
        let Row { day, ref labels, .. } = stored.row;
        self.request_id.as_ref().is_none_or(|id| *id == labels.request_id)
            && self.run_id.as_ref().is_none_or(|id| labels.run_id.as_ref() == Some(id))
            && self.key.as_ref().is_none_or(|id| labels.key.as_ref() == Some(id))
            && self.from.is_none_or(|from| from <= day)
            && self.to.is_none_or(|to| day <= to)
    }
}

/// What the rows of one day, key, model, mode and kind add up to; rows that were corrected do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageLine {
    /// The day.
    pub day: Day,
    /// The key; `None` for the local door.
    pub key: Option<KeyId>,
    /// The model.
    pub model: String,
    /// The mode.
    pub mode: Option<Mode>,
    /// The kind.
    pub kind: RowKind,
    /// How many rows.
    pub rows: u64,
    /// Their amounts.
    pub amount: MicroUsd,
    /// The part of the amounts beyond the reservations.
    pub overrun: MicroUsd,
    /// Their tokens.
    pub tokens: TokenUsage,
}

impl UsageLine {
    /// The line of one row alone.
    #[must_use]
    pub fn of(stored: &StoredRow) -> Self {
        let Row { day, labels, kind, amount, tokens, .. } = &stored.row;
        Self {
            day: *day,
            key: labels.key.clone(),
            model: labels.model.clone(),
            mode: labels.mode,
            kind: *kind,
            rows: 1,
            amount: *amount,
            overrun: stored.overrun(),
            tokens: *tokens,
        }
    }

    /// Whether two lines belong together.
    #[must_use]
    pub fn same_group(&self, other: &Self) -> bool {
        let group = |line: &Self| (line.day, line.mode, line.kind);
        group(self) == group(other) && self.key == other.key && self.model == other.model
    }

    /// Adds a line that belongs to this one.
    pub fn add(&mut self, other: &Self) {
        self.rows = self.rows.saturating_add(other.rows);
        self.amount = MicroUsd(self.amount.0.saturating_add(other.amount.0));
        self.overrun = MicroUsd(self.overrun.0.saturating_add(other.overrun.0));
        self.tokens.add(other.tokens);
    }
}

/// Accounts, reservations, rows and seals.
///
/// A store that can be written by several processes serialises `commit` and `expire` among them: row numbers are given out
/// in the order of commits and without gaps, and no commit sees accounts that another is changing.
#[async_trait]
pub trait LedgerStore: Send + Sync {
    /// Applies a batch in one transaction with [`Books`](crate::Books), durable when it returns, and sets the lease of the
    /// writer. What came of each write, in their order. If it fails, nothing of it was done, or all of it: a caller who
    /// must know settles or releases again, since doing that twice changes nothing.
    async fn commit(&self, lease: &Lease, writes: Vec<Write>) -> Result<Vec<Written>, LedgerError>;

    /// Sets the lease of a process.
    async fn renew(&self, lease: &Lease) -> Result<(), LedgerError>;

    /// Books reservations whose lease ran out before `now` as unknown, at their full amount; at most `limit` of them. How
    /// many. A reservation whose owner has no lease counts as run out.
    async fn expire(&self, now: Timestamp, limit: usize) -> Result<usize, LedgerError>;

    /// The accounts of `budgets`, in their order.
    async fn accounts(&self, budgets: &[BudgetKey]) -> Result<Vec<Account>, LedgerError>;

    /// Open reservations, by id, after the given one.
    async fn open(&self, after: Option<&ReservationId>, limit: usize) -> Result<Vec<OpenReservation>, LedgerError>;

    /// Forgets accounts of requests that hold no reservation and whose run has no row since `before`. How many. Their rows
    /// stay. Without this there would be an account for every run there ever was.
    async fn forget_requests(&self, before: Timestamp) -> Result<usize, LedgerError>;

    /// Every account but those of requests, by key, after the given one.
    async fn totals(&self, after: Option<&BudgetKey>, limit: usize) -> Result<Vec<(BudgetKey, Account)>, LedgerError>;

    /// Rows after `after`, in their order.
    async fn rows(&self, filter: &RowFilter, after: RowNumber, limit: usize) -> Result<Vec<StoredRow>, LedgerError>;

    /// What the rows add up to.
    async fn usage(&self, filter: &RowFilter) -> Result<Vec<UsageLine>, LedgerError>;

    /// The last row; 0 if there is none.
    async fn last_row(&self) -> Result<RowNumber, LedgerError>;

    /// Seals whose last row is after `after`, in their order.
    async fn seals(&self, after: RowNumber, limit: usize) -> Result<Vec<Seal>, LedgerError>;

    /// The newest seal.
    async fn last_seal(&self) -> Result<Option<Seal>, LedgerError>;

    /// Adds a seal, if it begins right after the newest one. Whether it did: two processes may seal at the same time, and
    /// one of them is too late.
    async fn append_seal(&self, seal: &Seal) -> Result<bool, LedgerError>;
}
