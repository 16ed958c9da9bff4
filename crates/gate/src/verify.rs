//! Verifying a ledger: is every row as it was sealed, is none missing, and do the accounts follow from the rows?

use std::{collections::BTreeMap, fmt};

use crate::{
    account::{Account, Posting},
    budget::{BudgetKey, Scope},
    row::{RowKind, RowNumber, StoredRow},
    seal::{Checkpoint, Link, VerifyingKey},
    store::{LedgerError, LedgerStore, RowFilter},
};

const PAGE: usize = 1_000;

/// What is wrong with a ledger: the first thing found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// This row is not as it was sealed.
    RowChanged(RowNumber),
    /// This row is not there, and later ones or a seal say that it was.
    RowMissing(RowNumber),
    /// The seal that begins at this row was not signed with the key, or not over this.
    SealForged(RowNumber),
    /// The seals do not follow one another at this row.
    SealMissing(RowNumber),
    /// The ledger ends before a checkpoint that was kept elsewhere.
    CutOff {
        /// The last row that is sealed.
        sealed: RowNumber,
        /// The row of the checkpoint.
        checkpoint: RowNumber,
    },
    /// The ledger is another one than the checkpoint was taken from.
    CheckpointDiffers(RowNumber),
    /// An account does not say what its rows and open reservations add up to.
    AccountDiffers {
        /// Which.
        budget: BudgetKey,
        /// What it says.
        says: Account,
        /// What they add up to.
        adds_up_to: Account,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RowChanged(row) => write!(f, "row {row} is not as it was sealed"),
            Self::RowMissing(row) => write!(f, "row {row} is missing"),
            Self::SealForged(row) => write!(f, "the seal that begins at row {row} was not signed with this key"),
            Self::SealMissing(row) => write!(f, "the seal that should begin at row {row} is missing"),
            Self::CutOff { sealed, checkpoint } => {
                write!(f, "the ledger is sealed up to row {sealed}, and the checkpoint was taken at row {checkpoint}")
            }
            Self::CheckpointDiffers(row) => write!(f, "row {row} is not the one that the checkpoint was taken from"),
            Self::AccountDiffers { budget, says, adds_up_to } => write!(
                f,
                "the account {budget} says settled {}, debt {}, reserved {}, and its rows say settled {}, debt {}, reserved {}",
                says.settled, says.debt, says.reserved, adds_up_to.settled, adds_up_to.debt, adds_up_to.reserved
            ),
        }
    }
}

/// What a verification found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// How many rows there are.
    pub rows: u64,
    /// Up to which row they are sealed.
    pub sealed: RowNumber,
    /// The first fault, if there is one.
    pub fault: Option<Fault>,
}

/// Verifies the chain, and then the accounts. Give a checkpoint that was kept elsewhere to notice a missing end. Memory is
/// bounded by the number of accounts that are not requests' own.
///
/// The accounts are compared only while nobody writes: run it on a store that rests, or take a difference for a reason to
/// run it again.
///
/// # Errors
/// If the ledger cannot be read.
pub async fn verify(
    store: &dyn LedgerStore,
    key: &VerifyingKey,
    checkpoint: Option<Checkpoint>,
) -> Result<Verification, LedgerError> {
    verify_watched(store, key, checkpoint, &|_row| ()).await
}

/// Like [`verify`], and tells `watch` each row that has been read.
///
/// # Errors
/// If the ledger cannot be read.
pub async fn verify_watched(
    store: &dyn LedgerStore,
    key: &VerifyingKey,
    checkpoint: Option<Checkpoint>,
    watch: &(dyn Fn(RowNumber) + Sync),
) -> Result<Verification, LedgerError> {
    let mut walk = Walk { key, checkpoint, watch, row: RowNumber(0), sealed: RowNumber(0), accounts: BTreeMap::new() };
    let mut fault = walk.chain(store).await?;
    if fault.is_none() {
        fault = walk.unsealed(store).await?;
    }
    if fault.is_none() {
        fault = walk.compare(store).await?;
    }
    Ok(Verification { rows: walk.row.0, sealed: walk.sealed, fault })
}

struct Walk<'a> {
    key: &'a VerifyingKey,
    checkpoint: Option<Checkpoint>,
    watch: &'a (dyn Fn(RowNumber) + Sync),
    row: RowNumber,
    sealed: RowNumber,
    accounts: BTreeMap<BudgetKey, Account>,
}

impl Walk<'_> {
    async fn chain(&mut self, store: &dyn LedgerStore) -> Result<Option<Fault>, LedgerError> {
        let mut link = Link::default();
        let mut seen = self.checkpoint.is_none_or(|checkpoint| checkpoint.row == RowNumber(0));
        while let Some(seal) = store.seals(self.sealed, 1).await?.pop() {
            let expected = self.sealed.next();
            if seal.first != expected || seal.before != link || seal.links.is_empty() {
                return Ok(Some(Fault::SealMissing(expected)));
            }
            let rows = store.rows(&RowFilter::default(), self.sealed, seal.links.len()).await?;
            let mut rows = rows.into_iter().peekable();
            for sealed_link in &seal.links {
                let number = self.row.next();
                let Some(row) = rows.next_if(|row| row.number == number) else {
                    return Ok(Some(Fault::RowMissing(number)));
                };
                link = link.then(&row);
                if link != *sealed_link {
                    return Ok(Some(Fault::RowChanged(number)));
                }
                self.row = number;
                if let Some(checkpoint) = self.checkpoint.filter(|checkpoint| checkpoint.row == number) {
                    seen = true;
                    if checkpoint.link != link {
                        return Ok(Some(Fault::CheckpointDiffers(number)));
                    }
                }
                self.add(store, row).await?;
            }
            if !self.key.verifies(&seal) {
                return Ok(Some(Fault::SealForged(seal.first)));
            }
            self.sealed = seal.last();
        }
        let cut_off = self.checkpoint.filter(|_| !seen);
        Ok(cut_off.map(|checkpoint| Fault::CutOff { sealed: self.sealed, checkpoint: checkpoint.row }))
    }

    /// Rows that the sealer has not come to yet: nothing is known of them but that none may be missing between them.
    async fn unsealed(&mut self, store: &dyn LedgerStore) -> Result<Option<Fault>, LedgerError> {
        loop {
            let rows = store.rows(&RowFilter::default(), self.row, PAGE).await?;
            if rows.is_empty() {
                return Ok(None);
            }
            for row in rows {
                if row.number != self.row.next() {
                    return Ok(Some(Fault::RowMissing(self.row.next())));
                }
                self.row = row.number;
                self.add(store, row).await?;
            }
        }
    }

    async fn add(&mut self, store: &dyn LedgerStore, stored: StoredRow) -> Result<(), LedgerError> {
        (self.watch)(stored.number);
        if stored.row.kind == RowKind::Avoided {
            return Ok(());
        }
        let posting = stored.posting();
        let before = match stored.row.corrects {
            None => Posting::default(),
            Some(RowNumber(corrected)) => {
                let after = RowNumber(corrected.saturating_sub(1));
                let found = store.rows(&RowFilter::default(), after, 1).await?;
                let same =
                    |row: &&StoredRow| row.number.0 == corrected && row.row.reservation == stored.row.reservation;
                found.first().filter(same).map(StoredRow::posting).ok_or_else(|| LedgerError::Corrupt {
                    what: format!("row {} corrects row {corrected}, which is not of its reservation", stored.number),
                })?
            }
        };
        for budget in stored.row.budgets.into_iter().filter(is_lasting) {
            self.accounts.entry(budget).or_default().book(before, posting);
        }
        Ok(())
    }

    async fn compare(&mut self, store: &dyn LedgerStore) -> Result<Option<Fault>, LedgerError> {
        let mut after = None;
        loop {
            let page = store.open(after.as_ref(), PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id.clone());
            for open in page {
                for budget in open.budgets.into_iter().filter(is_lasting) {
                    self.accounts.entry(budget).or_default().reserve(open.amount);
                }
            }
        }
        let mut after = None;
        loop {
            let page = store.totals(after.as_ref(), PAGE).await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(last.clone());
            for (budget, says) in page {
                let adds_up_to = self.accounts.remove(&budget).unwrap_or_default();
                if says != adds_up_to {
                    return Ok(Some(Fault::AccountDiffers { budget, says, adds_up_to }));
                }
            }
        }
        let missing =
            std::mem::take(&mut self.accounts).into_iter().find(|(_, account)| *account != Account::default());
        Ok(missing.map(|(budget, adds_up_to)| Fault::AccountDiffers { budget, says: Account::default(), adds_up_to }))
    }
}

fn is_lasting(budget: &BudgetKey) -> bool {
    match budget.scope {
        Scope::Key(_) | Scope::Service => true,
        Scope::Request(_) => false,
    }
}
