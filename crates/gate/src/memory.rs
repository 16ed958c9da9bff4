//! Keys and a ledger that live in memory: for tests, for measuring, and as the plainest reading of the ports.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use bylaw_contract::{KeyId, OwnerId, ReservationId, Timestamp};

use crate::{
    account::Account,
    books::{Books, OpenReservation, Write, Written},
    budget::{BudgetKey, Scope},
    charge::Charge,
    keys::KeyRecord,
    row::{RowNumber, StoredRow},
    seal::Seal,
    secret::KeyHash,
    store::{KeyStore, KeyStoreError, Lease, LedgerError, LedgerStore, RowFilter, UsageLine},
};

/// Keys in memory.
#[derive(Debug, Default)]
pub struct MemoryKeys(Mutex<(u64, Vec<(KeyHash, KeyRecord)>)>);

#[async_trait]
impl KeyStore for MemoryKeys {
    async fn add(&self, record: &KeyRecord, hash: &KeyHash) -> Result<(), KeyStoreError> {
        let mut keys = lock(&self.0);
        keys.0 += 1;
        keys.1.push((*hash, record.clone()));
        Ok(())
    }

    async fn by_hash(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, KeyStoreError> {
        Ok(lock(&self.0).1.iter().find(|(of, _)| of == hash).map(|(_, record)| record.clone()))
    }

    async fn list(&self) -> Result<Vec<KeyRecord>, KeyStoreError> {
        Ok(lock(&self.0).1.iter().map(|(_, record)| record.clone()).collect())
    }

    async fn entries(&self) -> Result<Vec<(KeyHash, KeyRecord)>, KeyStoreError> {
        Ok(lock(&self.0).1.clone())
    }

    async fn revoke(&self, id: &KeyId, at: Timestamp) -> Result<bool, KeyStoreError> {
        let mut keys = lock(&self.0);
        let Some((_, record)) = keys.1.iter_mut().find(|(_, key)| key.id == *id && key.revoked_at.is_none()) else {
            return Ok(false);
        };
        record.revoked_at = Some(at);
        keys.0 += 1;
        Ok(true)
    }

    async fn revision(&self) -> Result<u64, KeyStoreError> {
        Ok(lock(&self.0).0)
    }
}

#[derive(Debug, Default)]
struct Memory {
    accounts: BTreeMap<BudgetKey, Account>,
    open: BTreeMap<ReservationId, OpenReservation>,
    rows: Vec<StoredRow>,
    last_rows: HashMap<ReservationId, usize>,
    leases: HashMap<OwnerId, Timestamp>,
    seals: Vec<Seal>,
}

impl Memory {
    fn commit(&mut self, writes: Vec<Write>) -> Vec<Written> {
        let mut books = Books::after(self.last_row());
        for id in Books::reservations(&writes) {
            if let Some(open) = self.open.get(id) {
                books.load_open(open.clone());
            } else if let Some(place) = self.last_rows.get(id) {
                books.load_last_row(self.rows[*place].clone());
            }
        }
        for budget in books.budgets(&writes) {
            if let Some(account) = self.accounts.get(&budget) {
                books.load_account(budget, *account);
            }
        }
        let written = writes.into_iter().map(|write| books.apply(write)).collect();
        let changes = books.take_changes();
        self.accounts.extend(changes.accounts);
        for id in &changes.closed {
            self.open.remove(id);
        }
        self.open.extend(changes.opened.into_iter().map(|open| (open.id.clone(), open)));
        for row in changes.rows {
            if let Some(reservation) = row.row.reservation.clone() {
                self.last_rows.insert(reservation, self.rows.len());
            }
            self.rows.push(row);
        }
        written
    }

    fn last_row(&self) -> RowNumber {
        self.rows.last().map(|row| row.number).unwrap_or_default()
    }
}

/// A ledger in memory. It survives nothing but its users: a [`Gate`](crate::Gate) that is dropped and another that is
/// opened on it are a crash and a restart.
#[derive(Debug, Default)]
pub struct MemoryLedger(Mutex<Memory>);

#[cfg(test)]
impl MemoryLedger {
    /// Changes what only a vandal changes.
    pub(crate) fn tamper(&self, change: impl FnOnce(&mut Vec<StoredRow>, &mut Vec<Seal>)) {
        let mut memory = lock(&self.0);
        let Memory { rows, seals, .. } = &mut *memory;
        change(rows, seals);
    }

    pub(crate) fn look_at_accounts(&self, look: impl Fn(&BudgetKey, Account)) {
        lock(&self.0).accounts.iter().for_each(|(budget, account)| look(budget, *account));
    }

    pub(crate) fn every_account(&self) -> Vec<(BudgetKey, Account)> {
        lock(&self.0).accounts.iter().map(|(budget, account)| (budget.clone(), *account)).collect()
    }
}

#[async_trait]
impl LedgerStore for MemoryLedger {
    async fn commit(&self, lease: &Lease, writes: Vec<Write>) -> Result<Vec<Written>, LedgerError> {
        let mut memory = lock(&self.0);
        memory.leases.insert(lease.owner.clone(), lease.until);
        Ok(memory.commit(writes))
    }

    async fn renew(&self, lease: &Lease) -> Result<(), LedgerError> {
        lock(&self.0).leases.insert(lease.owner.clone(), lease.until);
        Ok(())
    }

    async fn expire(&self, now: Timestamp, limit: usize) -> Result<usize, LedgerError> {
        let mut memory = lock(&self.0);
        let ran_out = |open: &&OpenReservation| memory.leases.get(&open.owner).is_none_or(|until| *until < now);
        let writes: Vec<_> = memory
            .open
            .values()
            .filter(ran_out)
            .take(limit)
            .map(|open| Write::Settle { reservation: open.id.clone(), charge: Charge::unknown(open.amount), at: now })
            .collect();
        let expired = writes.len();
        memory.commit(writes);
        let holding: BTreeSet<_> = memory.open.values().map(|open| open.owner.clone()).collect();
        memory.leases.retain(|owner, until| *until >= now || holding.contains(owner));
        Ok(expired)
    }

    async fn accounts(&self, budgets: &[BudgetKey]) -> Result<Vec<Account>, LedgerError> {
        let memory = lock(&self.0);
        Ok(budgets.iter().map(|budget| memory.accounts.get(budget).copied().unwrap_or_default()).collect())
    }

    async fn open(&self, after: Option<&ReservationId>, limit: usize) -> Result<Vec<OpenReservation>, LedgerError> {
        let memory = lock(&self.0);
        Ok(memory.open.values().filter(|open| after.is_none_or(|id| open.id > *id)).take(limit).cloned().collect())
    }

    async fn forget_requests(&self, before: Timestamp) -> Result<usize, LedgerError> {
        let mut memory = lock(&self.0);
        let recent: BTreeSet<_> = memory
            .rows
            .iter()
            .filter(|row| row.row.at >= before)
            .filter_map(|row| row.row.labels.run_id.clone())
            .collect();
        let count = memory.accounts.len();
        memory.accounts.retain(|budget, account| match &budget.scope {
            Scope::Request(run) => account.reserved.0 != 0 || recent.contains(run),
            Scope::Key(_) | Scope::Service => true,
        });
        Ok(count - memory.accounts.len())
    }

    async fn totals(&self, after: Option<&BudgetKey>, limit: usize) -> Result<Vec<(BudgetKey, Account)>, LedgerError> {
        let memory = lock(&self.0);
        let lasting = memory.accounts.iter().filter(|(budget, _)| !matches!(budget.scope, Scope::Request(_)));
        let wanted = lasting.filter(|(budget, _)| after.is_none_or(|key| *budget > key));
        Ok(wanted.take(limit).map(|(budget, account)| (budget.clone(), *account)).collect())
    }

    async fn rows(&self, filter: &RowFilter, after: RowNumber, limit: usize) -> Result<Vec<StoredRow>, LedgerError> {
        let memory = lock(&self.0);
        let begin = memory.rows.partition_point(|row| row.number <= after);
        Ok(memory.rows[begin..].iter().filter(|row| filter.accepts(row)).take(limit).cloned().collect())
    }

    async fn usage(&self, filter: &RowFilter) -> Result<Vec<UsageLine>, LedgerError> {
        let memory = lock(&self.0);
        let corrected: BTreeSet<_> = memory.rows.iter().filter_map(|row| row.row.corrects).collect();
        let counted = memory.rows.iter().filter(|row| filter.accepts(row) && !corrected.contains(&row.number));
        let mut lines = Vec::<UsageLine>::new();
        for stored in counted {
            let line = UsageLine::of(stored);
            match lines.iter_mut().find(|other| other.same_group(&line)) {
                Some(other) => other.add(&line),
                None => lines.push(line),
            }
        }
        Ok(lines)
    }

    async fn last_row(&self) -> Result<RowNumber, LedgerError> {
        Ok(lock(&self.0).last_row())
    }

    async fn seals(&self, after: RowNumber, limit: usize) -> Result<Vec<Seal>, LedgerError> {
        Ok(lock(&self.0).seals.iter().filter(|seal| seal.last() > after).take(limit).cloned().collect())
    }

    async fn last_seal(&self) -> Result<Option<Seal>, LedgerError> {
        Ok(lock(&self.0).seals.last().cloned())
    }

    async fn append_seal(&self, seal: &Seal) -> Result<bool, LedgerError> {
        let mut memory = lock(&self.0);
        let follows = seal.first == memory.seals.last().map(Seal::last).unwrap_or_default().next();
        if follows {
            memory.seals.push(seal.clone());
        }
        Ok(follows)
    }
}

/// What a panicking test left behind is still whole: every change is made under one lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
