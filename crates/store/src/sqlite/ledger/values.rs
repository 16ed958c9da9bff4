//! Values of the ledger as columns hold them, and what to say when they cannot be right.

use bylaw_contract::{MicroUsd, Timestamp};
use bylaw_gate::{Account, BudgetKey, LedgerError, Link, OpenReservation, RowNumber, Seal, StoredRow};
use sqlx::{Row, sqlite::SqliteRow};

use crate::sqlite::{
    columns::{Failure, from_integer, from_json, from_text},
    damage::{corrupt, damage},
};

/// What the port says for a failure.
pub(super) fn ledger_error(operation: &'static str, error: Failure) -> LedgerError {
    match damage(error) {
        Ok(what) => LedgerError::Corrupt { what },
        Err(source) => LedgerError::Unavailable { operation, source },
    }
}

/// A place to go on from; no row is ever beyond the largest.
pub(super) fn row_number(number: RowNumber) -> i64 {
    i64::try_from(number.0).unwrap_or(i64::MAX)
}

/// A row from its number and text.
pub(super) fn stored_row(row: &SqliteRow) -> Result<StoredRow, Failure> {
    let number: u64 = from_integer(row, "number")?;
    let read = || {
        let stored = StoredRow::from_text(row.try_get("text")?)?;
        if stored.number.0 == number { Ok(stored) } else { Err(format!("its text says {}", stored.number).into()) }
    };
    read().map_err(|error: Failure| corrupt(&format!("row {number}"), &error))
}

/// The budget that an account is kept for.
pub(super) fn budget(row: &SqliteRow) -> Result<BudgetKey, Failure> {
    from_text(row, "budget").map_err(|error| corrupt("an account", &error))
}

/// What stands on an account.
pub(super) fn account(row: &SqliteRow) -> Result<Account, Failure> {
    let sum = |column: &str| row.try_get(column).map(MicroUsd);
    Ok(Account { settled: sum("settled")?, reserved: sum("reserved")?, debt: sum("debt")? })
}

/// An open reservation.
pub(super) fn open_reservation(row: &SqliteRow) -> Result<OpenReservation, Failure> {
    let read = || {
        Ok(OpenReservation {
            id: from_text(row, "id")?,
            owner: from_text(row, "owner")?,
            labels: from_json(row, "labels")?,
            budgets: from_json(row, "budgets")?,
            amount: MicroUsd(row.try_get("amount")?),
            at: Timestamp(row.try_get("at")?),
            day: from_text(row, "day")?,
        })
    };
    read().map_err(|error: Failure| {
        let id = row.try_get::<&str, _>("id").unwrap_or_default();
        corrupt(&format!("the reservation {id:?}"), &error)
    })
}

/// A seal.
pub(super) fn seal(row: &SqliteRow) -> Result<Seal, Failure> {
    let first: u64 = from_integer(row, "first")?;
    let read = || {
        let (links, rest) = row.try_get::<&[u8], _>("links")?.as_chunks();
        if !rest.is_empty() {
            return Err("links have 32 bytes each".into());
        }
        Ok(Seal {
            first: RowNumber(first),
            before: Link(row.try_get::<&[u8], _>("before")?.try_into()?),
            links: links.iter().copied().map(Link).collect(),
            sealed_at: Timestamp(row.try_get("sealed_at")?),
            signature: row.try_get::<&[u8], _>("signature")?.try_into()?,
        })
    };
    read().map_err(|error: Failure| corrupt(&format!("the seal that begins at row {first}"), &error))
}

/// Links as one column holds them.
pub(super) fn link_bytes(links: &[Link]) -> Vec<u8> {
    links.iter().flat_map(|link| link.0).collect()
}
