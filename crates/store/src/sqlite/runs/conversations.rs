//! Conversations and artifacts, and forgetting.

use bylaw_agent::{Artifact, ArtifactPut, Conversation, ConversationQuery, ConversationRecord, Deleted, KeptArtifact};
use bylaw_contract::{ArtifactId, ConversationId, RunId, Timestamp};
use bytes::Bytes;
use sqlx::{QueryBuilder, Row, SqliteConnection};

use super::values::{conversation, name, owner, owner_text};
use crate::sqlite::{
    columns::{Failure, count, from_integer, from_json, from_optional_text, from_text},
    damage::corrupt,
};

const COLUMNS: &str = "SELECT id, owner, title, agent, created_at, updated_at, busy FROM conversations";

/// Keeps an empty conversation. Whether its id was new.
pub(super) async fn create(connection: &mut SqliteConnection, record: &ConversationRecord) -> Result<bool, Failure> {
    let ConversationRecord { id, owner, title, agent, created_at, updated_at, busy } = record;
    let created = sqlx::query(
        "INSERT INTO conversations (id, owner, title, agent, created_at, updated_at, busy, said)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
    )
    .bind(id.as_str())
    .bind(owner_text(owner))
    .bind(title.as_str())
    .bind(agent.as_deref())
    .bind(created_at.0)
    .bind(updated_at.0)
    .bind(busy.as_ref().map(RunId::as_str))
    .bind(serde_json::to_string(&Conversation::default())?)
    .execute(connection)
    .await?;
    Ok(created.rows_affected() > 0)
}

/// A conversation, and what was said in it.
pub(super) async fn one(
    connection: &mut SqliteConnection,
    id: &ConversationId,
) -> Result<Option<(ConversationRecord, Conversation)>, Failure> {
    let query = sqlx::query("SELECT * FROM conversations WHERE id = ?").bind(id.as_str());
    let row = query.fetch_optional(connection).await?;
    row.map(|row| {
        let said = from_json(&row, "said").map_err(|error| corrupt(&format!("the conversation {id}"), &error))?;
        Ok((conversation(&row)?, said))
    })
    .transpose()
}

/// Conversations, the newest first.
pub(super) async fn list(
    connection: &mut SqliteConnection,
    query: &ConversationQuery,
) -> Result<Vec<ConversationRecord>, Failure> {
    let ConversationQuery { owner, before, limit } = query;
    let mut sql = QueryBuilder::new(COLUMNS);
    sql.push(" WHERE true");
    if let Some(before) = before {
        sql.push(" AND place < (SELECT place FROM conversations WHERE id = ").push_bind(before.to_string()).push(")");
    }
    if let Some(owner) = owner {
        sql.push(" AND owner = ").push_bind(owner_text(owner).to_owned());
    }
    sql.push(" ORDER BY place DESC LIMIT ").push_bind(count(*limit));
    sql.build().fetch_all(connection).await?.iter().map(conversation).collect()
}

/// Deletes a conversation with its runs, unless a run has it.
pub(super) async fn delete(connection: &mut SqliteConnection, id: &ConversationId) -> Result<Deleted, Failure> {
    let query = sqlx::query("SELECT id, busy FROM conversations WHERE id = ?").bind(id.as_str());
    let Some(row) = query.fetch_optional(&mut *connection).await? else { return Ok(Deleted::NoSuchConversation) };
    if let Some(run) = from_optional_text(&row, "busy")? {
        return Ok(Deleted::Busy(run));
    }
    sqlx::query("DELETE FROM conversations WHERE id = ?").bind(id.as_str()).execute(connection).await?;
    Ok(Deleted::Done)
}

/// Keeps an artifact, if there is room.
pub(super) async fn put_artifact(
    connection: &mut SqliteConnection,
    run: &RunId,
    artifact: &Artifact,
    most_bytes: u64,
) -> Result<ArtifactPut, Failure> {
    let query = sqlx::query(
        "SELECT place, (SELECT coalesce(sum(length(bytes)), 0) FROM run_artifacts WHERE run = runs.place) AS size
         FROM runs WHERE id = ?",
    );
    let Some(row) = query.bind(run.as_str()).fetch_optional(&mut *connection).await? else {
        return Ok(ArtifactPut::NoSuchRun);
    };
    if from_integer::<u64>(&row, "size")?.saturating_add(artifact.bytes.len() as u64) > most_bytes {
        return Ok(ArtifactPut::Full);
    }
    sqlx::query("INSERT INTO run_artifacts (id, run, mime, bytes) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING")
        .bind(artifact.id.as_str())
        .bind(row.try_get::<i64, _>("place")?)
        .bind(artifact.mime.as_str())
        .bind(&artifact.bytes[..])
        .execute(connection)
        .await?;
    Ok(ArtifactPut::Kept)
}

/// An artifact.
pub(super) async fn artifact(
    connection: &mut SqliteConnection,
    id: &ArtifactId,
) -> Result<Option<KeptArtifact>, Failure> {
    let query = sqlx::query(
        "SELECT run_artifacts.id, mime, bytes, runs.id AS of_run, owner
         FROM run_artifacts JOIN runs ON runs.place = run WHERE run_artifacts.id = ?",
    );
    let row = query.bind(id.as_str()).fetch_optional(connection).await?;
    row.map(|row| {
        let read = || {
            let bytes: Vec<u8> = row.try_get("bytes")?;
            let artifact = Artifact { id: id.clone(), mime: row.try_get("mime")?, bytes: Bytes::from(bytes) };
            Ok(KeptArtifact { run: from_text(&row, "of_run")?, owner: owner(&row)?, artifact })
        };
        read().map_err(|error: Failure| corrupt(&format!("the artifact {}", name(&row)), &error))
    })
    .transpose()
}

/// Forgets runs that ended before `before`, and conversations that have not changed since.
pub(super) async fn prune(
    connection: &mut SqliteConnection,
    before: Timestamp,
    limit: usize,
) -> Result<usize, Failure> {
    let runs = sqlx::query(
        "DELETE FROM runs WHERE place IN (
             SELECT place FROM runs WHERE ended_at < ? AND ended_at IS NOT NULL AND conversation IS NULL
             ORDER BY ended_at LIMIT ?
         )",
    )
    .bind(before.0)
    .bind(count(limit))
    .execute(&mut *connection)
    .await?;
    let mut forgotten = usize::try_from(runs.rows_affected())?;
    while forgotten < limit {
        let old = sqlx::query(
            "SELECT place, (SELECT count(*) FROM runs WHERE conversation = conversations.id) AS runs
             FROM conversations WHERE updated_at < ? AND busy IS NULL ORDER BY updated_at LIMIT 1",
        );
        let Some(row) = old.bind(before.0).fetch_optional(&mut *connection).await? else { break };
        let place: i64 = row.try_get("place")?;
        sqlx::query("DELETE FROM conversations WHERE place = ?").bind(place).execute(&mut *connection).await?;
        forgotten += 1 + from_integer::<usize>(&row, "runs")?;
    }
    sqlx::query(
        "DELETE FROM run_processes
         WHERE until < ? AND id NOT IN (SELECT process FROM runs WHERE ended_at IS NULL)",
    )
    .bind(before.0)
    .execute(connection)
    .await?;
    Ok(forgotten)
}
