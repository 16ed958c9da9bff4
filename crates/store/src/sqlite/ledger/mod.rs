//! The ledger: rows, accounts, open reservations, leases and seals.
//!
//! Nothing is decided here. A batch is read into [`Books`](bylaw_gate::Books), which decide, and what they changed is
//! written, all in one transaction that holds the write lock from its begin.
//!
//! What may read the whole ledger, all at once or page by page, has a connection of its own: a report that takes long
//! holds up the next report, and neither the check of a key nor the spending.
//!
//! ```text
//!   batch    commits and expiries
//!   report   rows and what they add up to
//!   values   values as columns hold them, and what to say when they cannot be right
//! ```

mod batch;
mod report;
mod values;

use async_trait::async_trait;
use bylaw_contract::{ReservationId, Timestamp};
use bylaw_gate::{
    Account, BudgetKey, Lease, LedgerError, LedgerStore, OpenReservation, RowFilter, RowNumber, Scope, Seal, StoredRow,
    UsageLine, Write, Written,
};
use sqlx::{Sqlite, pool::PoolConnection};

use self::values::{account, budget, ledger_error, link_bytes, open_reservation, row_number, seal};
use super::{
    SqliteStore,
    columns::{Failure, count, integer},
};

#[async_trait]
impl LedgerStore for SqliteStore {
    async fn commit(&self, lease: &Lease, writes: Vec<Write>) -> Result<Vec<Written>, LedgerError> {
        let written = async {
            let mut transaction = self.write().await?;
            batch::set_lease(&mut transaction, lease).await?;
            let written = batch::apply(&mut transaction, writes).await?;
            transaction.commit().await?;
            Ok(written)
        };
        written.await.map_err(|error| ledger_error("writing a batch", error))
    }

    async fn renew(&self, lease: &Lease) -> Result<(), LedgerError> {
        let written = async {
            let mut transaction = self.write().await?;
            batch::set_lease(&mut transaction, lease).await?;
            transaction.commit().await?;
            Ok(())
        };
        written.await.map_err(|error| ledger_error("renewing a lease", error))
    }

    async fn expire(&self, now: Timestamp, limit: usize) -> Result<usize, LedgerError> {
        let written = async {
            let mut transaction = self.write().await?;
            let expired = batch::expire(&mut transaction, now, count(limit)).await?;
            transaction.commit().await?;
            Ok(expired)
        };
        written.await.map_err(|error| ledger_error("expiring reservations", error))
    }

    async fn accounts(&self, budgets: &[BudgetKey]) -> Result<Vec<Account>, LedgerError> {
        let read = async {
            let mut connection = self.readers.acquire().await?;
            let known = batch::load_accounts(&mut connection, budgets).await?;
            Ok(budgets.iter().map(|budget| known.get(budget).copied().unwrap_or_default()).collect())
        };
        read.await.map_err(|error| ledger_error("reading accounts", error))
    }

    async fn open(&self, after: Option<&ReservationId>, limit: usize) -> Result<Vec<OpenReservation>, LedgerError> {
        let read = async {
            let mut connection = self.report().await?;
            sqlx::query("SELECT * FROM reservations WHERE id > ? ORDER BY id LIMIT ?")
                .bind(after.map_or("", ReservationId::as_str))
                .bind(count(limit))
                .fetch_all(&mut *connection)
                .await?
                .iter()
                .map(open_reservation)
                .collect::<Result<Vec<_>, Failure>>()
        };
        read.await.map_err(|error| ledger_error("reading open reservations", error))
    }

    async fn forget_requests(&self, before: Timestamp) -> Result<usize, LedgerError> {
        let written = async {
            // Between these two are the keys that begin with 'request:'; what follows that is the run.
            let forgotten = sqlx::query(
                "DELETE FROM accounts
                 WHERE budget > 'request:' AND budget < 'request;' AND reserved = 0 AND NOT EXISTS (
                     SELECT 1 FROM ledger WHERE run = substr(budget, 9, instr(budget, '/') - 9) AND at >= ?
                 )",
            )
            .bind(before.0)
            .execute(&self.writer)
            .await?;
            Ok(usize::try_from(forgotten.rows_affected())?)
        };
        written.await.map_err(|error: Failure| ledger_error("forgetting accounts of requests", error))
    }

    async fn totals(&self, after: Option<&BudgetKey>, limit: usize) -> Result<Vec<(BudgetKey, Account)>, LedgerError> {
        let after = after.map_or(String::new(), |budget| match budget.scope {
            // Requests come before every other scope.
            Scope::Request(_) => String::new(),
            Scope::Key(_) | Scope::Service => budget.to_string(),
        });
        let read = async {
            let mut connection = self.report().await?;
            sqlx::query("SELECT * FROM accounts WHERE place > replace(?, '/once', '/') ORDER BY place LIMIT ?")
                .bind(after)
                .bind(count(limit))
                .fetch_all(&mut *connection)
                .await?
                .iter()
                .map(|row| Ok((budget(row)?, account(row)?)))
                .collect::<Result<Vec<_>, Failure>>()
        };
        read.await.map_err(|error| ledger_error("reading accounts", error))
    }

    async fn rows(&self, filter: &RowFilter, after: RowNumber, limit: usize) -> Result<Vec<StoredRow>, LedgerError> {
        let read = async { report::rows(&mut *self.report().await?, filter, after, count(limit)).await };
        read.await.map_err(|error| ledger_error("reading rows", error))
    }

    async fn usage(&self, filter: &RowFilter) -> Result<Vec<UsageLine>, LedgerError> {
        let read = async { report::usage(&mut *self.report().await?, filter).await };
        read.await.map_err(|error| ledger_error("adding up rows", error))
    }

    async fn last_row(&self) -> Result<RowNumber, LedgerError> {
        let read = async {
            let mut connection = self.readers.acquire().await?;
            batch::last_row(&mut connection).await
        };
        read.await.map_err(|error| ledger_error("reading the last row", error))
    }

    async fn seals(&self, after: RowNumber, limit: usize) -> Result<Vec<Seal>, LedgerError> {
        let read = async {
            let mut connection = self.report().await?;
            sqlx::query("SELECT * FROM seals WHERE last > ? ORDER BY last LIMIT ?")
                .bind(row_number(after))
                .bind(count(limit))
                .fetch_all(&mut *connection)
                .await?
                .iter()
                .map(seal)
                .collect::<Result<Vec<_>, Failure>>()
        };
        read.await.map_err(|error| ledger_error("reading seals", error))
    }

    async fn last_seal(&self) -> Result<Option<Seal>, LedgerError> {
        let read = async {
            sqlx::query("SELECT * FROM seals ORDER BY last DESC LIMIT 1")
                .fetch_optional(&self.readers)
                .await?
                .as_ref()
                .map(seal)
                .transpose()
        };
        read.await.map_err(|error| ledger_error("reading the newest seal", error))
    }

    async fn append_seal(&self, seal: &Seal) -> Result<bool, LedgerError> {
        let written = async {
            // One statement, which takes the write lock before it looks at the newest seal.
            let added = sqlx::query(
                "INSERT INTO seals (first, last, before, links, sealed_at, signature) SELECT ?1, ?2, ?3, ?4, ?5, ?6
                 WHERE ?1 = (SELECT coalesce(max(last), 0) + 1 FROM seals)",
            )
            .bind(integer(seal.first.0)?)
            .bind(integer(seal.last().0)?)
            .bind(seal.before.0.as_slice())
            .bind(link_bytes(&seal.links))
            .bind(seal.sealed_at.0)
            .bind(seal.signature.as_slice())
            .execute(&self.writer)
            .await?;
            Ok(added.rows_affected() > 0)
        };
        written.await.map_err(|error: Failure| ledger_error("adding a seal", error))
    }
}

/// Why there is no report now.
#[derive(Debug, thiserror::Error)]
#[error("another report is being made; try again when it is done")]
struct Busy;

impl SqliteStore {
    /// The connection for whatever may read the whole ledger.
    async fn report(&self) -> Result<PoolConnection<Sqlite>, Failure> {
        self.reports.acquire().await.map_err(|error| match error {
            sqlx::Error::PoolTimedOut => Failure::from(Busy),
            other => other.into(),
        })
    }
}
