//! Reading runs, their events and their questions.

use bylaw_agent::{KeptQuestion, RunQuery, RunRecord};
use bylaw_contract::{
    RunId, Timestamp,
    runs::{NumberedEvent, RunStatus},
};
use sqlx::{AssertSqlSafe, QueryBuilder, Row, Sqlite, SqliteConnection, sqlite::SqliteRow};

use super::values::{RUN, owner_text, record};
use crate::sqlite::{
    columns::{Failure, count, from_integer, from_json, from_optional_json, word},
    damage::corrupt,
};

/// One run.
pub(super) async fn run(connection: &mut SqliteConnection, id: &RunId) -> Result<Option<RunRecord>, Failure> {
    let query = sqlx::query(AssertSqlSafe(format!("{RUN} WHERE id = ?"))).bind(id.as_str());
    query.fetch_optional(connection).await?.as_ref().map(record).transpose()
}

/// Runs, the newest first.
pub(super) async fn runs(connection: &mut SqliteConnection, query: &RunQuery) -> Result<Vec<RunRecord>, Failure> {
    let mut sql = QueryBuilder::new(RUN);
    push(&mut sql, query)?;
    sql.push(" ORDER BY place DESC LIMIT ").push_bind(count(query.limit));
    sql.build().fetch_all(connection).await?.iter().map(record).collect()
}

/// Restricts a query to what is asked for.
fn push(sql: &mut QueryBuilder<Sqlite>, query: &RunQuery) -> Result<(), Failure> {
    let RunQuery { owner, status, kind, agent, conversation, request_id, before, limit: _ } = query;
    sql.push(" WHERE true");
    if let Some(before) = before {
        sql.push(" AND place < (SELECT place FROM runs WHERE id = ").push_bind(before.to_string()).push(")");
    }
    if let Some(owner) = owner {
        sql.push(" AND owner = ").push_bind(owner_text(owner).to_owned());
    }
    // As it stands in the index over those that go on.
    match status {
        None => {}
        Some(RunStatus::Ended) => _ = sql.push(" AND ended_at IS NOT NULL"),
        Some(RunStatus::Running) => _ = sql.push(" AND ended_at IS NULL AND NOT waits"),
        Some(RunStatus::Waiting) => _ = sql.push(" AND ended_at IS NULL AND waits"),
    }
    if let Some(kind) = kind {
        sql.push(" AND kind = ").push_bind(word(kind)?);
    }
    if let Some(agent) = agent {
        sql.push(" AND agent = ").push_bind(agent.clone());
    }
    if let Some(conversation) = conversation {
        sql.push(" AND conversation = ").push_bind(conversation.to_string());
    }
    if let Some(request) = request_id {
        sql.push(" AND request = ").push_bind(request.to_string());
    }
    Ok(())
}

/// Runs whose process is gone, the oldest first.
pub(super) async fn lost(
    connection: &mut SqliteConnection,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<RunRecord>, Failure> {
    let sql = format!(
        "{RUN} WHERE ended_at IS NULL AND process NOT IN (SELECT id FROM run_processes WHERE until >= ?)
         ORDER BY place LIMIT ?"
    );
    let query = sqlx::query(AssertSqlSafe(sql)).bind(now.0).bind(count(limit));
    query.fetch_all(connection).await?.iter().map(record).collect()
}

/// Events after `after`, in their order.
pub(super) async fn events(
    connection: &mut SqliteConnection,
    run: &RunId,
    after: u64,
    limit: usize,
) -> Result<Vec<NumberedEvent>, Failure> {
    sqlx::query(
        "SELECT number, at, text FROM run_events
         WHERE run = (SELECT place FROM runs WHERE id = ?) AND number > ? ORDER BY number LIMIT ?",
    )
    .bind(run.as_str())
    .bind(i64::try_from(after).unwrap_or(i64::MAX))
    .bind(count(limit))
    .fetch_all(connection)
    .await?
    .iter()
    .map(|row| event(run, row))
    .collect()
}

fn event(run: &RunId, row: &SqliteRow) -> Result<NumberedEvent, Failure> {
    let number = from_integer(row, "number")?;
    let read = || Ok(NumberedEvent { number, at: Timestamp(row.try_get("at")?), event: from_json(row, "text")? });
    read().map_err(|error: Failure| corrupt(&format!("event {number} of {run}"), &error))
}

/// The questions of a run, in their order.
pub(super) async fn questions(connection: &mut SqliteConnection, run: &RunId) -> Result<Vec<KeptQuestion>, Failure> {
    sqlx::query(
        "SELECT number, text, given FROM run_questions
         WHERE run = (SELECT place FROM runs WHERE id = ?) ORDER BY number",
    )
    .bind(run.as_str())
    .fetch_all(connection)
    .await?
    .iter()
    .map(|row| question(run, row))
    .collect()
}

fn question(run: &RunId, row: &SqliteRow) -> Result<KeptQuestion, Failure> {
    let number = from_integer(row, "number")?;
    let read =
        || Ok(KeptQuestion { number, question: from_json(row, "text")?, given: from_optional_json(row, "given")? });
    read().map_err(|error: Failure| corrupt(&format!("question {number} of {run}"), &error))
}
