//! Values of runs as columns hold them, and what to say when they cannot be right.

use bylaw_agent::{ConversationRecord, Ended, NewRun, Owner, Purpose, RunRecord, RunStoreError};
use bylaw_contract::{KeyId, MicroUsd, Timestamp, runs::RunKind};
use sqlx::{Row, sqlite::SqliteRow};

use crate::sqlite::{
    columns::{Failure, from_optional_json, from_optional_text, from_optional_word, from_text, from_word},
    damage::{corrupt, damage},
};

/// What the port says for a failure.
pub(super) fn failed(operation: &'static str, error: Failure) -> RunStoreError {
    match damage(error) {
        Ok(what) => RunStoreError::Corrupt { what },
        Err(source) => RunStoreError::Unavailable { operation, source },
    }
}

/// The columns of a run.
pub(super) const RUN: &str = "SELECT runs.*, ended_at IS NULL AND EXISTS (
    SELECT 1 FROM run_questions WHERE run = place AND given IS NULL
) AS waits FROM runs";

/// A run.
pub(super) fn record(row: &SqliteRow) -> Result<RunRecord, Failure> {
    let read = || {
        let purpose = match from_word(row, "kind")? {
            RunKind::Ask => Purpose::Ask(from_word(row, "mode")?),
            RunKind::Agent => Purpose::Agent(row.try_get("agent")?),
        };
        let run = NewRun {
            id: from_text(row, "id")?,
            owner: owner(row)?,
            purpose,
            model: row.try_get("model")?,
            conversation: from_optional_text(row, "conversation")?,
            message: row.try_get("message")?,
            request_id: from_text(row, "request")?,
            started_at: Timestamp(row.try_get("started_at")?),
        };
        let ended = match row.try_get::<Option<i64>, _>("ended_at")? {
            None => None,
            Some(at) => Some(Ended {
                at: Timestamp(at),
                reason: from_word(row, "stop")?,
                code: row.try_get("code")?,
                usage: from_optional_json(row, "usage")?,
                cost: row.try_get::<Option<i64>, _>("cost")?.map(MicroUsd),
            }),
        };
        Ok(RunRecord { run, process: from_text(row, "process")?, waits: row.try_get("waits")?, ended })
    };
    read().map_err(|error: Failure| corrupt(&format!("the run {}", name(row)), &error))
}

/// A conversation, without what was said in it.
pub(super) fn conversation(row: &SqliteRow) -> Result<ConversationRecord, Failure> {
    let read = || {
        Ok(ConversationRecord {
            id: from_text(row, "id")?,
            owner: owner(row)?,
            title: row.try_get("title")?,
            agent: row.try_get("agent")?,
            created_at: Timestamp(row.try_get("created_at")?),
            updated_at: Timestamp(row.try_get("updated_at")?),
            busy: from_optional_text(row, "busy")?,
        })
    };
    read().map_err(|error: Failure| corrupt(&format!("the conversation {}", name(row)), &error))
}

/// How a row names itself, if it can.
pub(super) fn name(row: &SqliteRow) -> String {
    row.try_get("id").unwrap_or_else(|_| "without an id".to_owned())
}

/// Whom something belongs to.
pub(super) fn owner(row: &SqliteRow) -> Result<Owner, Failure> {
    match row.try_get::<&str, _>("owner")? {
        "" => Ok(Owner::LocalDoor),
        _ => from_text(row, "owner").map(Owner::Key),
    }
}

/// Whom something belongs to, as a column holds it.
pub(super) fn owner_text(owner: &Owner) -> &str {
    owner.key().map_or("", KeyId::as_str)
}

/// A closed choice back from its name, or nothing.
pub(super) fn optional_purpose(row: &SqliteRow) -> Result<Purpose, Failure> {
    match from_word(row, "kind")? {
        // What is asked here is only what ends it, and that is the same in every mode.
        RunKind::Ask => Ok(Purpose::Ask(from_optional_word(row, "mode")?.unwrap_or_default())),
        RunKind::Agent => Ok(Purpose::Agent(String::new())),
    }
}
