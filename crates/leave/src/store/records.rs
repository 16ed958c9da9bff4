//! What was shown, done once, and happened.

use bylaw_contract::Timestamp;
use sqlx::{Row, Sqlite, SqlitePool, Transaction, sqlite::SqliteRow};

use super::{
    SqliteLeaves,
    columns::{Failure, count, optional_text, text, word},
};
use crate::domain::{
    history::{Happening, HistoryEntry},
    ids::{EmployeeId, LeaveId, OnceKey},
    rules::{OnceRecord, Shown},
};

pub(super) async fn shown(pool: &SqlitePool, to: &EmployeeId, leave: &LeaveId) -> Result<Option<Shown>, Failure> {
    let row = sqlx::query("SELECT version, at FROM shown WHERE employee = ? AND leave = ?");
    let row = row.bind(to.as_str()).bind(leave.as_str()).fetch_optional(pool).await?;
    row.map(|row| Ok(Shown { version: count(&row, "version")?, at: Timestamp(row.try_get("at")?) })).transpose()
}

pub(super) async fn once(pool: &SqlitePool, by: &EmployeeId, key: &OnceKey) -> Result<Option<OnceRecord>, Failure> {
    let row = sqlx::query("SELECT * FROM once WHERE employee = ? AND key = ?");
    row.bind(by.as_str()).bind(key.as_str()).fetch_optional(pool).await?.as_ref().map(a_record).transpose()
}

pub(super) fn a_record(row: &SqliteRow) -> Result<OnceRecord, Failure> {
    Ok(OnceRecord {
        key: text(row, "key")?,
        fingerprint: row.try_get("fingerprint")?,
        reply: row.try_get("reply")?,
        at: Timestamp(row.try_get("at")?),
    })
}

pub(super) async fn history(pool: &SqlitePool, leave: &LeaveId) -> Result<Vec<HistoryEntry>, Failure> {
    let rows = sqlx::query("SELECT * FROM history WHERE leave = ? ORDER BY sequence");
    let entry = |row: &SqliteRow| {
        Ok(HistoryEntry {
            leave: optional_text(row, "leave")?,
            at: Timestamp(row.try_get("at")?),
            actor: optional_text(row, "actor")?,
            client: row.try_get("client")?,
            tool: row.try_get("tool")?,
            what: word(row, "what", Happening::named)?,
            version: count(row, "version")?,
            detail: row.try_get("detail")?,
            reason: row.try_get("reason")?,
        })
    };
    rows.bind(leave.as_str()).fetch_all(pool).await?.iter().map(entry).collect()
}

pub(super) async fn add_entry(to: &mut Transaction<'_, Sqlite>, entry: &HistoryEntry) -> Result<(), Failure> {
    sqlx::query(
        "INSERT INTO history (leave, at, actor, client, tool, what, version, detail, reason)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(entry.leave.as_ref().map(LeaveId::as_str))
    .bind(entry.at.0)
    .bind(entry.actor.as_ref().map(EmployeeId::as_str))
    .bind(&entry.client)
    .bind(&entry.tool)
    .bind(entry.what.as_str())
    .bind(entry.version)
    .bind(&entry.detail)
    .bind(&entry.reason)
    .execute(&mut **to)
    .await?;
    Ok(())
}

impl SqliteLeaves {
    pub(super) async fn put_entry(&self, entry: &HistoryEntry) -> Result<(), Failure> {
        let mut writing = self.write().await?;
        add_entry(&mut writing.transaction, entry).await?;
        Ok(writing.transaction.commit().await?)
    }

    pub(super) async fn put_shown(
        &self,
        to: &EmployeeId,
        leaves: &[(LeaveId, u32)],
        at: Timestamp,
    ) -> Result<(), Failure> {
        let mut writing = self.note().await?;
        for (leave, version) in leaves {
            sqlx::query(
                "INSERT INTO shown (employee, leave, version, at) VALUES (?, ?, ?, ?)
                 ON CONFLICT (employee, leave) DO UPDATE SET version = excluded.version, at = excluded.at",
            )
            .bind(to.as_str())
            .bind(leave.as_str())
            .bind(version)
            .bind(at.0)
            .execute(&mut *writing.transaction)
            .await?;
        }
        Ok(writing.transaction.commit().await?)
    }
}
