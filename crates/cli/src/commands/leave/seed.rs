//! `bylaw leave seed`: a demonstration company.

use bylaw_contract::ErrorCode;
use bylaw_leave::{
    keys::Secret,
    seed::{FIRST, FIRST_MANAGER},
    store::SqliteLeaves,
};
use serde_json::{Value, json};

use super::{found, key, note_calendar, open, policy};
use crate::{
    args::LeavePolicy,
    config::Settings,
    failure::Failure,
    terminal::{self, Format},
};

pub(super) async fn run(arguments: &LeavePolicy, settings: &Settings, format: Format) -> Result<(), Failure> {
    let policy = policy(arguments)?;
    note_calendar(&policy);
    let store = open(settings).await?;
    let is_new = found(&store, &policy).await?;
    let keys = if is_new { make_keys(&store).await } else { Ok(Vec::new()) };
    store.close().await;
    let keys = keys?;
    if is_new {
        match format {
            Format::Text => write(&keys),
            Format::Json => terminal::json(&json!({ "keys": as_json(&keys) })),
        }
        return Ok(());
    }
    Err(Failure::new(ErrorCode::InvalidRequest, "there are employees in this file already; nothing has changed")
        .hint("choose another data directory with --data"))
}

/// Makes keys for the first demonstration employee and for their manager: whose, and the secret.
pub(super) async fn make_keys(store: &SqliteLeaves) -> Result<Vec<(&'static str, Secret)>, Failure> {
    let mut made = Vec::new();
    for employee in [FIRST, FIRST_MANAGER] {
        made.push((employee, key::make(store, employee).await?.1));
    }
    Ok(made)
}

/// Keys as a program reads them.
pub(super) fn as_json(keys: &[(&'static str, Secret)]) -> Vec<Value> {
    keys.iter().map(|(employee, secret)| json!({ "employee": employee, "secret": secret.reveal() })).collect()
}

/// Keys as a person reads them.
pub(super) fn write(keys: &[(&'static str, Secret)]) {
    terminal::line("A demonstration company of twelve was put into the file. Keys, shown once:");
    for (employee, secret) in keys {
        terminal::line(format!("  {employee}  {}", secret.reveal()));
    }
}
