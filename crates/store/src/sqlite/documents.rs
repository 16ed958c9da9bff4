//! Sources, versions and documents.

use async_trait::async_trait;
use bylaw_contract::{SourceName, Timestamp, VersionId};
use bylaw_corpus::Document;
use bylaw_library::{DocumentStore, SourceRecord, StoreError, StoredVersion, VersionRecord};
use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use super::{
    SqliteStore,
    columns::{Failure, from_integer, from_json, from_text, from_word, integer, word},
    failed,
};

#[async_trait]
impl DocumentStore for SqliteStore {
    async fn sources(&self) -> Result<Vec<SourceRecord>, StoreError> {
        let read = async {
            sqlx::query(
                "SELECT s.name, s.deleted_at, s.origin, v.* FROM sources s JOIN versions v ON v.id = s.current
                 WHERE s.deleted_at IS NULL ORDER BY s.name",
            )
            .fetch_all(&self.readers)
            .await?
            .iter()
            .map(source_record)
            .collect::<Result<Vec<_>, Failure>>()
        };
        read.await.map_err(|error: Failure| failed("reading the list of sources", error))
    }

    async fn source(&self, name: &SourceName) -> Result<Option<SourceRecord>, StoreError> {
        let read = async {
            sqlx::query(
                "SELECT s.name, s.deleted_at, s.origin, v.* FROM sources s JOIN versions v ON v.id = s.current
                 WHERE s.name = ?",
            )
            .bind(name.as_str())
            .fetch_optional(&self.readers)
            .await?
            .as_ref()
            .map(source_record)
            .transpose()
        };
        read.await.map_err(|error: Failure| failed("reading a source", error))
    }

    async fn versions(&self, name: &SourceName) -> Result<Vec<VersionRecord>, StoreError> {
        let read = async {
            sqlx::query(
                "SELECT v.* FROM versions v JOIN sources s ON s.id = v.source
                 WHERE s.name = ? ORDER BY v.current_since DESC, v.id DESC",
            )
            .bind(name.as_str())
            .fetch_all(&self.readers)
            .await?
            .iter()
            .map(version_record)
            .collect::<Result<Vec<_>, Failure>>()
        };
        read.await.map_err(|error: Failure| failed("reading the versions of a source", error))
    }

    async fn version(&self, name: &SourceName, version: &VersionId) -> Result<Option<StoredVersion>, StoreError> {
        let read = async {
            sqlx::query(
                "SELECT v.*, d.title, d.language, d.structure, d.articles, d.text
                 FROM versions v JOIN sources s ON s.id = v.source JOIN documents d ON d.version = v.id
                 WHERE s.name = ? AND v.version = ?",
            )
            .bind(name.as_str())
            .bind(version.as_str())
            .fetch_optional(&self.readers)
            .await?
            .as_ref()
            .map(stored_version)
            .transpose()
        };
        read.await.map_err(|error: Failure| failed("reading a version", error))
    }

    async fn put_version(
        &self,
        name: &SourceName,
        version: &StoredVersion,
        origin: Option<&str>,
    ) -> Result<(), StoreError> {
        let written = async {
            let mut transaction = self.write().await?;
            let source: i64 = sqlx::query_scalar(
                "INSERT INTO sources (name, origin) VALUES (?, ?)
                 ON CONFLICT (name) DO UPDATE SET origin = excluded.origin RETURNING id",
            )
            .bind(name.as_str())
            .bind(origin)
            .fetch_one(&mut *transaction)
            .await?;
            let id = match id_of(&mut transaction, source, &version.record.version).await? {
                Some(id) => id,
                None => insert_version(&mut transaction, source, version).await?,
            };
            let changed = sqlx::query(
                "UPDATE sources SET current = ?1, deleted_at = NULL
                 WHERE id = ?2 AND (current IS NOT ?1 OR deleted_at IS NOT NULL)",
            )
            .bind(id)
            .bind(source)
            .execute(&mut *transaction)
            .await?;
            if changed.rows_affected() > 0 {
                let revision = grow_revision(&mut transaction).await?;
                sqlx::query("UPDATE versions SET current_since = ? WHERE id = ?")
                    .bind(revision)
                    .bind(id)
                    .execute(&mut *transaction)
                    .await?;
            }
            transaction.commit().await?;
            Ok(())
        };
        written.await.map_err(|error: Failure| failed("storing a version", error))
    }

    async fn delete(&self, name: &SourceName, at: Timestamp) -> Result<bool, StoreError> {
        let written = async {
            let mut transaction = self.write().await?;
            let changed = sqlx::query("UPDATE sources SET deleted_at = ? WHERE name = ? AND deleted_at IS NULL")
                .bind(at.0)
                .bind(name.as_str())
                .execute(&mut *transaction)
                .await?;
            finish(transaction, changed.rows_affected()).await
        };
        written.await.map(|rows| rows > 0).map_err(|error: Failure| failed("deleting a source", error))
    }

    async fn undo_delete(&self, name: &SourceName, not_before: Timestamp) -> Result<bool, StoreError> {
        let written = async {
            let mut transaction = self.write().await?;
            let changed = sqlx::query("UPDATE sources SET deleted_at = NULL WHERE name = ? AND deleted_at >= ?")
                .bind(name.as_str())
                .bind(not_before.0)
                .execute(&mut *transaction)
                .await?;
            finish(transaction, changed.rows_affected()).await
        };
        written.await.map(|rows| rows > 0).map_err(|error: Failure| failed("bringing a source back", error))
    }

    async fn withdraw(&self, name: &SourceName, previous: Option<&SourceRecord>) -> Result<(), StoreError> {
        let written = async {
            let mut transaction = self.write().await?;
            let changed = match previous {
                None => {
                    sqlx::query("DELETE FROM sources WHERE name = ?")
                        .bind(name.as_str())
                        .execute(&mut *transaction)
                        .await?
                }
                Some(previous) => {
                    sqlx::query(
                        "UPDATE versions SET current_since = 0
                         WHERE id = (SELECT current FROM sources WHERE name = ?) AND version <> ?",
                    )
                    .bind(name.as_str())
                    .bind(previous.current.version.as_str())
                    .execute(&mut *transaction)
                    .await?;
                    sqlx::query(
                        "UPDATE sources SET deleted_at = ?2, origin = ?3,
                           current = coalesce((SELECT id FROM versions WHERE source = sources.id AND version = ?4), current)
                         WHERE name = ?1",
                    )
                    .bind(name.as_str())
                    .bind(previous.deleted_at.map(|at| at.0))
                    .bind(previous.origin.as_deref())
                    .bind(previous.current.version.as_str())
                    .execute(&mut *transaction)
                    .await?
                }
            };
            finish(transaction, changed.rows_affected()).await
        };
        written.await.map(drop).map_err(|error: Failure| failed("taking a version back", error))
    }

    async fn set_origin(&self, name: &SourceName, origin: Option<&str>) -> Result<(), StoreError> {
        sqlx::query("UPDATE sources SET origin = ? WHERE name = ?")
            .bind(origin)
            .bind(name.as_str())
            .execute(&self.writer)
            .await
            .map(drop)
            .map_err(|error| failed("storing where a source came from", error))
    }

    async fn purge(&self, before: Timestamp) -> Result<usize, StoreError> {
        // No change of what answers, so the revision stays.
        let written = async {
            let changed =
                sqlx::query("DELETE FROM sources WHERE deleted_at < ?").bind(before.0).execute(&self.writer).await?;
            Ok(usize::try_from(changed.rows_affected())?)
        };
        written.await.map_err(|error: Failure| failed("forgetting deleted sources", error))
    }

    async fn revision(&self) -> Result<u64, StoreError> {
        let read = async {
            let row = sqlx::query("SELECT value FROM revision").fetch_one(&self.readers).await?;
            from_integer(&row, "value")
        };
        read.await.map_err(|error: Failure| failed("reading the revision", error))
    }
}

async fn id_of(
    connection: &mut SqliteConnection,
    source: i64,
    version: &VersionId,
) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar("SELECT id FROM versions WHERE source = ? AND version = ?")
        .bind(source)
        .bind(version.as_str())
        .fetch_optional(connection)
        .await
}

async fn insert_version(
    connection: &mut SqliteConnection,
    source: i64,
    version: &StoredVersion,
) -> Result<i64, Failure> {
    let StoredVersion { record, document } = version;
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO versions (source, version, ingested_at, article_count, extractor, warnings, current_since)
         VALUES (?, ?, ?, ?, ?, ?, 0) RETURNING id",
    )
    .bind(source)
    .bind(record.version.as_str())
    .bind(record.ingested_at.0)
    .bind(integer(record.articles)?)
    .bind(record.extractor.as_str())
    .bind(serde_json::to_string(&record.warnings)?)
    .fetch_one(&mut *connection)
    .await?;
    sqlx::query(
        "INSERT INTO documents (version, title, language, structure, articles, text) VALUES (?, ?, ?, ?, ?, ?)",
    )
    .bind(id)
    .bind(document.title.as_deref())
    .bind(word(&document.language)?)
    .bind(word(&document.structure)?)
    .bind(serde_json::to_string(&document.articles)?)
    .bind(document.text.as_str())
    .execute(connection)
    .await?;
    Ok(id)
}

async fn grow_revision(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("UPDATE revision SET value = value + 1 RETURNING value").fetch_one(connection).await
}

/// Commits a change of what answers; the revision grows if rows changed.
async fn finish(mut transaction: sqlx::Transaction<'static, sqlx::Sqlite>, rows: u64) -> Result<u64, Failure> {
    if rows > 0 {
        grow_revision(&mut transaction).await?;
    }
    transaction.commit().await?;
    Ok(rows)
}

fn source_record(row: &SqliteRow) -> Result<SourceRecord, Failure> {
    Ok(SourceRecord {
        name: from_text(row, "name")?,
        current: version_record(row)?,
        deleted_at: row.try_get::<Option<i64>, _>("deleted_at")?.map(Timestamp),
        origin: row.try_get("origin")?,
    })
}

fn version_record(row: &SqliteRow) -> Result<VersionRecord, Failure> {
    Ok(VersionRecord {
        version: from_text(row, "version")?,
        ingested_at: Timestamp(row.try_get("ingested_at")?),
        articles: from_integer(row, "article_count")?,
        extractor: row.try_get("extractor")?,
        warnings: from_json(row, "warnings")?,
    })
}

fn stored_version(row: &SqliteRow) -> Result<StoredVersion, Failure> {
    let record = version_record(row)?;
    let document = Document {
        title: row.try_get("title")?,
        text: row.try_get("text")?,
        language: from_word(row, "language")?,
        structure: from_word(row, "structure")?,
        articles: from_json(row, "articles")?,
        extractor: record.extractor.clone(),
        warnings: record.warnings.clone(),
    };
    Ok(StoredVersion { record, document })
}
