//! A ledger in a file, with someone who looks at every commit.

use std::{
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Instant,
};

use async_trait::async_trait;
use bylaw_contract::{ErrorCode, ReservationId, Timestamp};
use bylaw_gate::{
    Account, BudgetKey, Lease, LedgerError, LedgerStore, OpenReservation, RowFilter, RowNumber, Seal, StoredRow,
    UsageLine, Write, Written,
};
use bylaw_store::SqliteStore;

use super::spending::run_number;
use crate::failure::Failure;

/// A [`SqliteStore`] that is watched.
pub(super) struct Watched {
    store: SqliteStore,
    /// Looked at after every commit.
    account: Option<BudgetKey>,
    most_held: AtomicI64,
    begun: AtomicU64,
    finished: AtomicU64,
    /// By the number of the run: the commit that first carried its order.
    carriers: Vec<AtomicU64>,
    commit_ms: Mutex<Vec<f64>>,
}

impl Watched {
    /// Opens a file. `account` is looked at after every commit; of runs below `runs` it is known which commit carried them.
    pub(super) async fn open(file: &Path, account: Option<BudgetKey>, runs: usize) -> Result<Self, Failure> {
        Ok(Self {
            store: SqliteStore::open(file).await?,
            account,
            most_held: AtomicI64::new(0),
            begun: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            carriers: (0..runs).map(|_run| AtomicU64::new(0)).collect(),
            commit_ms: Mutex::default(),
        })
    }

    /// The most that was ever settled, in debt and reserved together after a commit, in micro-USD.
    pub(super) fn most_held(&self) -> i64 {
        self.most_held.load(Ordering::SeqCst)
    }

    /// Commits that have ended.
    pub(super) fn finished(&self) -> u64 {
        self.finished.load(Ordering::SeqCst)
    }

    /// The number of the commit that carried the order of a run; the first commit is 1, and 0 is none.
    pub(super) fn carrier(&self, run: usize) -> u64 {
        self.carriers.get(run).map_or(0, |carrier| carrier.load(Ordering::SeqCst))
    }

    /// How long each commit took.
    pub(super) fn take_commit_ms(&self) -> Vec<f64> {
        std::mem::take(&mut self.commit_ms.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Closes the file.
    pub(super) async fn close(&self) {
        self.store.close().await;
    }

    fn note_carried(&self, commit: u64, writes: &[Write]) {
        for write in writes {
            let Write::Reserve(order) = write else { continue };
            let run = order.labels.run_id.as_ref().and_then(run_number);
            if let Some(carrier) = run.and_then(|run| self.carriers.get(run)) {
                let _later = carrier.compare_exchange(0, commit, Ordering::SeqCst, Ordering::SeqCst);
            }
        }
    }

    async fn look(&self) -> Result<(), LedgerError> {
        let Some(account) = &self.account else { return Ok(()) };
        for Account { settled, reserved, debt } in self.store.accounts(std::slice::from_ref(account)).await? {
            let held = settled.0.saturating_add(reserved.0).saturating_add(debt.0);
            self.most_held.fetch_max(held, Ordering::SeqCst);
        }
        Ok(())
    }
}

/// A failure of the ledger as a failure of the command.
pub(super) fn ledger_failure(error: &LedgerError) -> Failure {
    Failure::from_error(ErrorCode::LedgerUnavailable, error)
}

#[async_trait]
impl LedgerStore for Watched {
    async fn commit(&self, lease: &Lease, writes: Vec<Write>) -> Result<Vec<Written>, LedgerError> {
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        self.note_carried(number, &writes);
        let start = Instant::now();
        let written = self.store.commit(lease, writes).await;
        let took = start.elapsed().as_secs_f64() * 1e3;
        self.commit_ms.lock().unwrap_or_else(PoisonError::into_inner).push(took);
        self.finished.fetch_add(1, Ordering::SeqCst);
        self.look().await?;
        written
    }

    async fn renew(&self, lease: &Lease) -> Result<(), LedgerError> {
        self.store.renew(lease).await
    }

    async fn expire(&self, now: Timestamp, limit: usize) -> Result<usize, LedgerError> {
        self.store.expire(now, limit).await
    }

    async fn accounts(&self, budgets: &[BudgetKey]) -> Result<Vec<Account>, LedgerError> {
        self.store.accounts(budgets).await
    }

    async fn open(&self, after: Option<&ReservationId>, limit: usize) -> Result<Vec<OpenReservation>, LedgerError> {
        LedgerStore::open(&self.store, after, limit).await
    }

    async fn forget_requests(&self, before: Timestamp) -> Result<usize, LedgerError> {
        self.store.forget_requests(before).await
    }

    async fn totals(&self, after: Option<&BudgetKey>, limit: usize) -> Result<Vec<(BudgetKey, Account)>, LedgerError> {
        self.store.totals(after, limit).await
    }

    async fn rows(&self, filter: &RowFilter, after: RowNumber, limit: usize) -> Result<Vec<StoredRow>, LedgerError> {
        self.store.rows(filter, after, limit).await
    }

    async fn usage(&self, filter: &RowFilter) -> Result<Vec<UsageLine>, LedgerError> {
        self.store.usage(filter).await
    }

    async fn last_row(&self) -> Result<RowNumber, LedgerError> {
        self.store.last_row().await
    }

    async fn seals(&self, after: RowNumber, limit: usize) -> Result<Vec<Seal>, LedgerError> {
        self.store.seals(after, limit).await
    }

    async fn last_seal(&self) -> Result<Option<Seal>, LedgerError> {
        self.store.last_seal().await
    }

    async fn append_seal(&self, seal: &Seal) -> Result<bool, LedgerError> {
        self.store.append_seal(seal).await
    }
}
