//! Keys.

use async_trait::async_trait;
use bylaw_contract::{KeyId, Timestamp};
use bylaw_gate::{KeyHash, KeyRecord, KeyStore, KeyStoreError};
use sqlx::{Row, sqlite::SqliteRow};

use super::{
    SqliteStore,
    columns::{Failure, from_integer, from_json, from_text},
};

#[async_trait]
impl KeyStore for SqliteStore {
    async fn add(&self, record: &KeyRecord, hash: &KeyHash) -> Result<(), KeyStoreError> {
        let written = async {
            sqlx::query(
                "INSERT INTO keys (id, hash, name, role, sources, budgets, created_at, expires_at, revoked_at)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )
            .bind(record.id.as_str())
            .bind(hash.0.as_slice())
            .bind(record.name.as_str())
            .bind(record.role.as_str())
            .bind(serde_json::to_string(&record.sources)?)
            .bind(serde_json::to_string(&record.budgets)?)
            .bind(record.created_at.0)
            .bind(record.expires_at.map(|at| at.0))
            .bind(record.revoked_at.map(|at| at.0))
            .execute(&self.writer)
            .await?;
            Ok(())
        };
        written.await.map_err(|error: Failure| failed("storing a key", error))
    }

    async fn by_hash(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, KeyStoreError> {
        let read = async {
            sqlx::query("SELECT * FROM keys WHERE hash = ?")
                .bind(hash.0.as_slice())
                .fetch_optional(&self.readers)
                .await?
                .as_ref()
                .map(key_record)
                .transpose()
        };
        read.await.map_err(|error: Failure| failed("reading a key", error))
    }

    async fn list(&self) -> Result<Vec<KeyRecord>, KeyStoreError> {
        let read = async {
            sqlx::query("SELECT * FROM keys ORDER BY sequence")
                .fetch_all(&self.readers)
                .await?
                .iter()
                .map(key_record)
                .collect::<Result<Vec<_>, Failure>>()
        };
        read.await.map_err(|error: Failure| failed("reading the list of keys", error))
    }

    async fn entries(&self) -> Result<Vec<(KeyHash, KeyRecord)>, KeyStoreError> {
        let entry = |row: &SqliteRow| {
            let hash: Vec<u8> = row.try_get("hash")?;
            let hash = <[u8; 32]>::try_from(hash.as_slice())?;
            Ok((KeyHash(hash), key_record(row)?))
        };
        let read = async {
            sqlx::query("SELECT * FROM keys ORDER BY sequence")
                .fetch_all(&self.readers)
                .await?
                .iter()
                .map(entry)
                .collect::<Result<Vec<_>, Failure>>()
        };
        read.await.map_err(|error: Failure| failed("reading the keys", error))
    }

    async fn revoke(&self, id: &KeyId, at: Timestamp) -> Result<bool, KeyStoreError> {
        sqlx::query("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL")
            .bind(at.0)
            .bind(id.as_str())
            .execute(&self.writer)
            .await
            .map(|changed| changed.rows_affected() > 0)
            .map_err(|error| failed("revoking a key", error))
    }

    async fn revision(&self) -> Result<u64, KeyStoreError> {
        let read = async {
            let row = sqlx::query("SELECT value FROM key_revision").fetch_one(&self.readers).await?;
            from_integer(&row, "value")
        };
        read.await.map_err(|error: Failure| failed("reading the revision of the keys", error))
    }
}

fn key_record(row: &SqliteRow) -> Result<KeyRecord, Failure> {
    let moment = |column: &str| row.try_get::<Option<i64>, _>(column).map(|at| at.map(Timestamp));
    Ok(KeyRecord {
        id: from_text(row, "id")?,
        name: row.try_get("name")?,
        role: from_text(row, "role")?,
        sources: from_json(row, "sources")?,
        budgets: from_json(row, "budgets")?,
        created_at: Timestamp(row.try_get("created_at")?),
        expires_at: moment("expires_at")?,
        revoked_at: moment("revoked_at")?,
    })
}

fn failed(operation: &'static str, source: impl Into<Failure>) -> KeyStoreError {
    KeyStoreError { operation, source: source.into() }
}
