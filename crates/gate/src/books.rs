//! The bookkeeping of one batch, apart from where the books are kept.
//!
//! A store reads what a batch touches into [`Books`], lets them apply the batch, and writes what has changed, all in one
//! transaction. Every store thereby decides alike, and none decides by itself.

use std::collections::{BTreeMap, BTreeSet};

use bylaw_contract::{MicroUsd, OwnerId, ReservationId, Timestamp};

use crate::{
    account::{Account, Demand, Posting, Verdict, decide},
    budget::{BudgetKey, Claim},
    charge::Charge,
    period::Day,
    row::{Labels, Row, RowNumber, StoredRow, evidence},
};

/// A wish to reserve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The id of the reservation to be made.
    pub reservation: ReservationId,
    /// Who holds it.
    pub owner: OwnerId,
    /// Who and what.
    pub labels: Labels,
    /// The accounts that it draws on, each at most once.
    pub claims: Vec<Claim>,
    /// How much.
    pub demand: Demand,
    /// When.
    pub at: Timestamp,
    /// The day of `at` in the configured time zone.
    pub day: Day,
}

/// A reservation that is not settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenReservation {
    /// Its id.
    pub id: ReservationId,
    /// Who holds it.
    pub owner: OwnerId,
    /// Who and what.
    pub labels: Labels,
    /// The accounts that it draws on.
    pub budgets: Vec<BudgetKey>,
    /// How much is reserved on each of them.
    pub amount: MicroUsd,
    /// When it was made.
    pub at: Timestamp,
    /// The day it counts for.
    pub day: Day,
}

/// One thing to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Reserve, if it fits.
    Reserve(Order),
    /// Close a reservation with a row; correct its row if it is closed already and this knows better.
    Settle {
        /// Which.
        reservation: ReservationId,
        /// What is charged.
        charge: Charge,
        /// When.
        at: Timestamp,
    },
    /// Close a reservation whose request never left.
    Release {
        /// Which.
        reservation: ReservationId,
        /// When.
        at: Timestamp,
    },
    /// Add a row that settles nothing: what a cache has saved.
    Record(Row),
}

/// What came of a [`Write`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// For a reservation.
    Verdict(Verdict),
    /// A row was added.
    Row(RowNumber),
    /// Nothing changed: it had been done before, or better is known, or a release had nothing to leave behind.
    Nothing,
    /// A settlement for a reservation that there never was.
    NoSuchReservation,
}

/// What a batch has changed and a store has to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Accounts, as they stand now.
    pub accounts: Vec<(BudgetKey, Account)>,
    /// Reservations that were opened and are open.
    pub opened: Vec<OpenReservation>,
    /// Reservations that were open and are no more.
    pub closed: Vec<ReservationId>,
    /// Rows to add, in order.
    pub rows: Vec<StoredRow>,
}

/// The part of the books that a batch touches.
#[derive(Clone, Debug, Default)]
pub struct Books {
    accounts: BTreeMap<BudgetKey, Account>,
    open: BTreeMap<ReservationId, OpenReservation>,
    last_rows: BTreeMap<ReservationId, StoredRow>,
    last_row: RowNumber,
    touched: BTreeSet<BudgetKey>,
    opened: BTreeSet<ReservationId>,
    closed: BTreeSet<ReservationId>,
    rows: Vec<StoredRow>,
}

impl Books {
    /// Empty books whose last row is `last_row` (0 if there is none yet).
    #[must_use]
    pub fn after(last_row: RowNumber) -> Self {
        Self { last_row, ..Self::default() }
    }

    /// The reservations that `writes` touch. First load, for each, the open reservation or else its last row.
    #[must_use]
    pub fn reservations(writes: &[Write]) -> BTreeSet<&ReservationId> {
        writes
            .iter()
            .filter_map(|write| match write {
                Write::Reserve(order) => Some(&order.reservation),
                Write::Settle { reservation, .. } | Write::Release { reservation, .. } => Some(reservation),
                Write::Record(_) => None,
            })
            .collect()
    }

    /// The accounts that `writes` touch, given what was loaded for [`Books::reservations`]. Then load those.
    #[must_use]
    pub fn budgets(&self, writes: &[Write]) -> BTreeSet<BudgetKey> {
        let claimed = writes.iter().filter_map(|write| match write {
            Write::Reserve(order) => Some(order.claims.iter().map(|claim| claim.budget.clone())),
            Write::Settle { .. } | Write::Release { .. } | Write::Record(_) => None,
        });
        let open = self.open.values().flat_map(|open| open.budgets.iter().cloned());
        let booked = self.last_rows.values().flat_map(|stored| stored.row.budgets.iter().cloned());
        claimed.flatten().chain(open).chain(booked).collect()
    }

    /// Loads an open reservation.
    pub fn load_open(&mut self, open: OpenReservation) {
        self.open.insert(open.id.clone(), open);
    }

    /// Loads the last row of a reservation that is closed.
    pub fn load_last_row(&mut self, stored: StoredRow) {
        if let Some(reservation) = stored.row.reservation.clone() {
            self.last_rows.insert(reservation, stored);
        }
    }

    /// Loads an account. One that is not loaded is empty.
    pub fn load_account(&mut self, budget: BudgetKey, account: Account) {
        self.accounts.insert(budget, account);
    }

    /// Applies one write. The order of the writes of a batch is theirs.
    pub fn apply(&mut self, write: Write) -> Written {
        match write {
            // A reservation that was settled is over; it cannot be had a second time.
            Write::Reserve(order) if self.last_rows.contains_key(&order.reservation) => Written::Nothing,
            Write::Reserve(order) => Written::Verdict(self.reserve(order)),
            Write::Settle { reservation, charge, at } => self.settle(&reservation, charge, at),
            Write::Release { reservation, at } => self.release(&reservation, at),
            Write::Record(row) => Written::Row(self.add_row(row)),
        }
    }

    /// What has changed since the books were loaded, or since the last call.
    #[must_use]
    pub fn take_changes(&mut self) -> Changes {
        let opened = std::mem::take(&mut self.opened);
        Changes {
            accounts: std::mem::take(&mut self.touched)
                .into_iter()
                .map(|budget| {
                    let account = self.account(&budget);
                    (budget, account)
                })
                .collect(),
            opened: opened.iter().filter_map(|id| self.open.get(id).cloned()).collect(),
            closed: std::mem::take(&mut self.closed).into_iter().collect(),
            rows: std::mem::take(&mut self.rows),
        }
    }

    fn account(&self, budget: &BudgetKey) -> Account {
        self.accounts.get(budget).copied().unwrap_or_default()
    }

    fn change(&mut self, budget: &BudgetKey, change: impl FnOnce(&mut Account)) {
        change(self.accounts.entry(budget.clone()).or_default());
        self.touched.insert(budget.clone());
    }

    fn reserve(&mut self, order: Order) -> Verdict {
        if let Some(open) = self.open.get(&order.reservation) {
            return Verdict::Granted(open.amount);
        }
        let accounts = order.claims.iter().map(|claim| (claim, self.account(&claim.budget)));
        let verdict = decide(accounts, order.demand);
        if let Verdict::Granted(amount) = verdict {
            let budgets: Vec<_> = order.claims.into_iter().map(|claim| claim.budget).collect();
            for budget in &budgets {
                self.change(budget, |account| account.reserve(amount));
            }
            let Order { reservation: id, owner, labels, at, day, .. } = order;
            self.opened.insert(id.clone());
            self.open.insert(id.clone(), OpenReservation { id, owner, labels, budgets, amount, at, day });
        }
        verdict
    }

    fn settle(&mut self, reservation: &ReservationId, charge: Charge, at: Timestamp) -> Written {
        if let Some(open) = self.close(reservation) {
            for budget in &open.budgets {
                let posting = Posting { covered: open.amount, amount: charge.amount };
                self.change(budget, |account| account.book(Posting::default(), posting));
            }
            let row = Row {
                kind: charge.kind,
                at,
                day: open.day,
                labels: open.labels,
                reservation: Some(open.id),
                reserved: open.amount,
                covered: open.amount,
                amount: charge.amount,
                tokens: charge.tokens,
                budgets: open.budgets,
                corrects: None,
                repeats: None,
                note: charge.note,
            };
            return Written::Row(self.add_row(row));
        }
        let Some(last) = self.last_rows.get(reservation).cloned() else {
            return Written::NoSuchReservation;
        };
        if evidence(charge.kind, charge.note) <= evidence(last.row.kind, last.row.note) {
            return Written::Nothing;
        }
        // What the last row gave back is gone: others may have reserved it since.
        let posting = Posting { covered: MicroUsd(last.posting().within()), amount: charge.amount };
        for budget in &last.row.budgets {
            self.change(budget, |account| account.book(last.posting(), posting));
        }
        let corrects = Some(last.number);
        let Charge { kind, tokens, amount, note } = charge;
        Written::Row(self.add_row(Row {
            kind,
            at,
            covered: posting.covered,
            amount,
            tokens,
            corrects,
            note,
            ..last.row
        }))
    }

    fn release(&mut self, reservation: &ReservationId, at: Timestamp) -> Written {
        if self.close(reservation).is_some() || !self.last_rows.contains_key(reservation) {
            return Written::Nothing;
        }
        // Its lease had run out and it was booked as unknown. Now we know.
        self.settle(reservation, Charge::not_sent(), at)
    }

    /// Takes an open reservation off every account it draws on.
    fn close(&mut self, reservation: &ReservationId) -> Option<OpenReservation> {
        let open = self.open.remove(reservation)?;
        // Opened and closed in one batch leaves no trace.
        if !self.opened.remove(reservation) {
            self.closed.insert(reservation.clone());
        }
        for budget in &open.budgets {
            self.change(budget, |account| account.release(open.amount));
        }
        Some(open)
    }

    fn add_row(&mut self, row: Row) -> RowNumber {
        self.last_row = self.last_row.next();
        let stored = StoredRow::new(self.last_row, row);
        if let Some(reservation) = stored.row.reservation.clone() {
            self.last_rows.insert(reservation, stored.clone());
        }
        self.rows.push(stored);
        self.last_row
    }
}
