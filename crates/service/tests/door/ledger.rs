//! A ledger that tells what happens to it, and that can break.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use bylaw_contract::{ReservationId, Timestamp};
use bylaw_gate::{
    Account, BudgetKey, Lease, LedgerError, LedgerStore, MemoryLedger, OpenReservation, RowFilter, RowNumber, Seal,
    StoredRow, UsageLine, Write, Written,
};
use tokio::sync::mpsc;

#[derive(Debug, Default)]
pub(crate) struct WatchedLedger {
    inner: MemoryLedger,
    told: Mutex<Option<mpsc::UnboundedSender<&'static str>>>,
    broken: AtomicBool,
    faulty: AtomicBool,
}

impl WatchedLedger {
    /// From now on every reservation and every settlement is told.
    pub(crate) fn tell(&self) -> mpsc::UnboundedReceiver<&'static str> {
        let (sender, receiver) = mpsc::unbounded_channel();
        *self.told.lock().unwrap() = Some(sender);
        receiver
    }

    /// From now on it cannot be read or written.
    pub(crate) fn break_down(&self) {
        self.broken.store(true, Ordering::SeqCst);
    }

    /// From now on whoever uses it panics.
    pub(crate) fn panic(&self) {
        self.faulty.store(true, Ordering::SeqCst);
    }

    fn check(&self) -> Result<(), LedgerError> {
        assert!(!self.faulty.load(Ordering::SeqCst), "a fault of the test's own");
        match self.broken.load(Ordering::SeqCst) {
            false => Ok(()),
            true => Err(LedgerError::Unavailable { operation: "reading", source: "no disk at /secret/path".into() }),
        }
    }
}

#[async_trait]
impl LedgerStore for WatchedLedger {
    async fn commit(&self, lease: &Lease, writes: Vec<Write>) -> Result<Vec<Written>, LedgerError> {
        self.check()?;
        let told = writes.iter().filter_map(|write| match write {
            Write::Reserve(_) => Some("reserved"),
            Write::Settle { .. } | Write::Release { .. } => Some("settled"),
            Write::Record(_) => None,
        });
        let told: Vec<_> = told.collect();
        let written = self.inner.commit(lease, writes).await?;
        if let Some(sender) = &*self.told.lock().unwrap() {
            // Fails only when the test has ended.
            for word in told {
                let _ = sender.send(word);
            }
        }
        Ok(written)
    }
    async fn renew(&self, lease: &Lease) -> Result<(), LedgerError> {
        self.check()?;
        self.inner.renew(lease).await
    }
    async fn expire(&self, now: Timestamp, limit: usize) -> Result<usize, LedgerError> {
        self.check()?;
        self.inner.expire(now, limit).await
    }
    async fn accounts(&self, budgets: &[BudgetKey]) -> Result<Vec<Account>, LedgerError> {
        self.check()?;
        self.inner.accounts(budgets).await
    }
    async fn open(&self, after: Option<&ReservationId>, limit: usize) -> Result<Vec<OpenReservation>, LedgerError> {
        self.check()?;
        self.inner.open(after, limit).await
    }
    async fn forget_requests(&self, before: Timestamp) -> Result<usize, LedgerError> {
        self.check()?;
        self.inner.forget_requests(before).await
    }
    async fn totals(&self, after: Option<&BudgetKey>, limit: usize) -> Result<Vec<(BudgetKey, Account)>, LedgerError> {
        self.check()?;
        self.inner.totals(after, limit).await
    }
    async fn rows(&self, filter: &RowFilter, after: RowNumber, limit: usize) -> Result<Vec<StoredRow>, LedgerError> {
        self.check()?;
        self.inner.rows(filter, after, limit).await
    }
    async fn usage(&self, filter: &RowFilter) -> Result<Vec<UsageLine>, LedgerError> {
        self.check()?;
        self.inner.usage(filter).await
    }
    async fn last_row(&self) -> Result<RowNumber, LedgerError> {
        self.check()?;
        self.inner.last_row().await
    }
    async fn seals(&self, after: RowNumber, limit: usize) -> Result<Vec<Seal>, LedgerError> {
        self.check()?;
        self.inner.seals(after, limit).await
    }
    async fn last_seal(&self) -> Result<Option<Seal>, LedgerError> {
        self.check()?;
        self.inner.last_seal().await
    }
    async fn append_seal(&self, seal: &Seal) -> Result<bool, LedgerError> {
        self.check()?;
        self.inner.append_seal(seal).await
    }
}
