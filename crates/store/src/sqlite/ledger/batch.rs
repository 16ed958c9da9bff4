//! Batches: reading what they touch, letting the books decide, writing what has changed.
//!
//! Each step is one statement for the whole batch, with its many values as one JSON array: the number of statements, each a
//! way to the database's thread and back, does not grow with the batch.

use std::collections::BTreeMap;

use bylaw_contract::{MicroUsd, OwnerId, ReservationId, Timestamp};
use bylaw_gate::{
    Account, Books, BudgetKey, Changes, Charge, Day, Labels, Lease, OpenReservation, RowNumber, StoredRow, Write,
    Written,
};
use serde::Serialize;
use sqlx::SqliteConnection;

use super::values::{account, budget, open_reservation, row_number, stored_row};
use crate::sqlite::columns::{Failure, from_integer};

/// Sets until when the reservations of a process are its own.
pub(super) async fn set_lease(connection: &mut SqliteConnection, lease: &Lease) -> Result<(), Failure> {
    sqlx::query(
        "INSERT INTO leases (owner, until) VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET until = excluded.until",
    )
    .bind(lease.owner.as_str())
    .bind(lease.until.0)
    .execute(connection)
    .await?;
    Ok(())
}

/// Applies `writes`, within a transaction that may write.
pub(super) async fn apply(connection: &mut SqliteConnection, writes: Vec<Write>) -> Result<Vec<Written>, Failure> {
    if writes.is_empty() {
        return Ok(Vec::new());
    }
    let mut books = Books::after(last_row(connection).await?);
    load_reservations(connection, &mut books, &writes).await?;
    let budgets: Vec<_> = books.budgets(&writes).into_iter().collect();
    for (budget, account) in load_accounts(connection, &budgets).await? {
        books.load_account(budget, account);
    }
    let written = writes.into_iter().map(|write| books.apply(write)).collect();
    save(connection, books.take_changes()).await?;
    Ok(written)
}

/// Books what belongs to no living process as unknown, and forgets leases that nobody needs.
pub(super) async fn expire(connection: &mut SqliteConnection, now: Timestamp, limit: i64) -> Result<usize, Failure> {
    let writes = sqlx::query(
        "SELECT reservations.* FROM reservations LEFT JOIN leases ON leases.owner = reservations.owner
         WHERE leases.until IS NULL OR leases.until < ? ORDER BY id LIMIT ?",
    )
    .bind(now.0)
    .bind(limit)
    .fetch_all(&mut *connection)
    .await?
    .iter()
    .map(open_reservation)
    .map(|open| {
        let OpenReservation { id: reservation, amount, .. } = open?;
        Ok(Write::Settle { reservation, charge: Charge::unknown(amount), at: now })
    })
    .collect::<Result<Vec<_>, Failure>>()?;
    let expired = writes.len();
    apply(connection, writes).await?;
    sqlx::query("DELETE FROM leases WHERE until < ? AND owner NOT IN (SELECT owner FROM reservations)")
        .bind(now.0)
        .execute(connection)
        .await?;
    Ok(expired)
}

/// The number of the last row.
pub(super) async fn last_row(connection: &mut SqliteConnection) -> Result<RowNumber, Failure> {
    let row = sqlx::query("SELECT coalesce(max(number), 0) AS number FROM ledger").fetch_one(connection).await?;
    from_integer(&row, "number").map(RowNumber)
}

/// Those of `budgets` that have an account.
pub(super) async fn load_accounts(
    connection: &mut SqliteConnection,
    budgets: &[BudgetKey],
) -> Result<BTreeMap<BudgetKey, Account>, Failure> {
    if budgets.is_empty() {
        return Ok(BTreeMap::new());
    }
    sqlx::query("SELECT * FROM accounts WHERE budget IN (SELECT value FROM json_each(?))")
        .bind(serde_json::to_string(budgets)?)
        .fetch_all(connection)
        .await?
        .iter()
        .map(|row| Ok((budget(row)?, account(row)?)))
        .collect()
}

/// For each reservation that `writes` touch, what is open of it, or else its last row.
async fn load_reservations(
    connection: &mut SqliteConnection,
    books: &mut Books,
    writes: &[Write],
) -> Result<(), Failure> {
    let mut closed = Books::reservations(writes);
    if closed.is_empty() {
        return Ok(());
    }
    let found = sqlx::query("SELECT * FROM reservations WHERE id IN (SELECT value FROM json_each(?))")
        .bind(serde_json::to_string(&closed)?)
        .fetch_all(&mut *connection)
        .await?;
    for row in &found {
        let open = open_reservation(row)?;
        closed.remove(&open.id);
        books.load_open(open);
    }
    if closed.is_empty() {
        return Ok(());
    }
    let found = sqlx::query(
        "SELECT number, text FROM json_each(?) AS wanted
         CROSS JOIN ledger ON number = (SELECT max(number) FROM ledger WHERE reservation = wanted.value)",
    )
    .bind(serde_json::to_string(&closed)?)
    .fetch_all(connection)
    .await?;
    for row in &found {
        books.load_last_row(stored_row(row)?);
    }
    Ok(())
}

async fn save(connection: &mut SqliteConnection, changes: Changes) -> Result<(), Failure> {
    let Changes { accounts, opened, closed, rows } = changes;
    save_accounts(connection, &accounts).await?;
    remove_reservations(connection, &closed).await?;
    add_reservations(connection, &opened).await?;
    add_rows(connection, &rows).await
}

async fn save_accounts(connection: &mut SqliteConnection, accounts: &[(BudgetKey, Account)]) -> Result<(), Failure> {
    if accounts.is_empty() {
        return Ok(());
    }
    let accounts: Vec<(&BudgetKey, MicroUsd, MicroUsd, MicroUsd)> = accounts
        .iter()
        .map(|(budget, Account { settled, reserved, debt })| (budget, *settled, *reserved, *debt))
        .collect();
    // Without a condition, ON would be read as that of a join.
    sqlx::query(
        "INSERT INTO accounts (budget, settled, reserved, debt)
         SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?) WHERE true
         ON CONFLICT (budget) DO UPDATE SET
           settled = excluded.settled, reserved = excluded.reserved, debt = excluded.debt",
    )
    .bind(serde_json::to_string(&accounts)?)
    .execute(connection)
    .await?;
    Ok(())
}

async fn remove_reservations(connection: &mut SqliteConnection, closed: &[ReservationId]) -> Result<(), Failure> {
    if closed.is_empty() {
        return Ok(());
    }
    sqlx::query("DELETE FROM reservations WHERE id IN (SELECT value FROM json_each(?))")
        .bind(serde_json::to_string(closed)?)
        .execute(connection)
        .await?;
    Ok(())
}

async fn add_reservations(connection: &mut SqliteConnection, opened: &[OpenReservation]) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Columns<'a> {
        id: &'a ReservationId,
        owner: &'a OwnerId,
        labels: &'a Labels,
        budgets: &'a [BudgetKey],
        amount: MicroUsd,
        at: Timestamp,
        day: Day,
    }
    if opened.is_empty() {
        return Ok(());
    }
    let opened: Vec<_> = opened
        .iter()
        .map(|OpenReservation { id, owner, labels, budgets, amount, at, day }| Columns {
            id,
            owner,
            labels,
            budgets,
            amount: *amount,
            at: *at,
            day: *day,
        })
        .collect();
    sqlx::query(
        "INSERT INTO reservations (id, owner, labels, budgets, amount, at, day)
         SELECT value ->> 'id', value ->> 'owner', value -> 'labels', value -> 'budgets',
           value ->> 'amount', value ->> 'at', value ->> 'day' FROM json_each(?)",
    )
    .bind(serde_json::to_string(&opened)?)
    .execute(connection)
    .await?;
    Ok(())
}

/// Adds rows whose numbers follow one another.
async fn add_rows(connection: &mut SqliteConnection, rows: &[StoredRow]) -> Result<(), Failure> {
    let Some(first) = rows.first() else {
        return Ok(());
    };
    // As strings, not as objects: what is stored must be the very text, and the database would write an object anew.
    let texts: Vec<_> = rows.iter().map(StoredRow::text).collect();
    sqlx::query("INSERT INTO ledger (number, text) SELECT ?1 + key, value FROM json_each(?2)")
        .bind(row_number(first.number))
        .bind(serde_json::to_string(&texts)?)
        .execute(connection)
        .await?;
    Ok(())
}
