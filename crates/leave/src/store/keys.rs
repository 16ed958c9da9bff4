//! Keys, as hashes.

use bylaw_contract::Timestamp;
use sqlx::{Row, SqlitePool, sqlite::SqliteRow};

use super::{
    SqliteLeaves,
    columns::{Failure, text},
};
use crate::domain::{
    ids::LeaveKeyId,
    store::{LeaveKey, SecretHash},
};

pub(super) async fn by_hash(pool: &SqlitePool, hash: &SecretHash) -> Result<Option<LeaveKey>, Failure> {
    let row = sqlx::query("SELECT * FROM keys WHERE hash = ?").bind(hash.0.as_slice()).fetch_optional(pool).await?;
    row.as_ref().map(a_key).transpose()
}

pub(super) async fn all(pool: &SqlitePool) -> Result<Vec<LeaveKey>, Failure> {
    sqlx::query("SELECT * FROM keys ORDER BY sequence").fetch_all(pool).await?.iter().map(a_key).collect()
}

fn a_key(row: &SqliteRow) -> Result<LeaveKey, Failure> {
    Ok(LeaveKey {
        id: text(row, "id")?,
        employee: text(row, "employee")?,
        created_at: Timestamp(row.try_get("created_at")?),
        revoked_at: row.try_get::<Option<i64>, _>("revoked_at")?.map(Timestamp),
    })
}

impl SqliteLeaves {
    pub(super) async fn put_key(&self, key: &LeaveKey, hash: &SecretHash) -> Result<(), Failure> {
        let mut writing = self.write().await?;
        sqlx::query("INSERT INTO keys (id, hash, employee, created_at, revoked_at) VALUES (?, ?, ?, ?, ?)")
            .bind(key.id.as_str())
            .bind(hash.0.as_slice())
            .bind(key.employee.as_str())
            .bind(key.created_at.0)
            .bind(key.revoked_at.map(|at| at.0))
            .execute(&mut *writing.transaction)
            .await?;
        Ok(writing.transaction.commit().await?)
    }

    pub(super) async fn end_key(&self, id: &LeaveKeyId, at: Timestamp) -> Result<bool, Failure> {
        let mut writing = self.write().await?;
        let done = sqlx::query("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL")
            .bind(at.0)
            .bind(id.as_str())
            .execute(&mut *writing.transaction)
            .await?;
        writing.transaction.commit().await?;
        Ok(done.rows_affected() == 1)
    }
}
