//! `bylaw leave key`: keys of the leave system.

use bylaw_contract::{Clock, ErrorCode};
use bylaw_leave::{
    domain::{
        ids::LeaveKeyId,
        store::{LeaveKey as Record, LeaveStore},
    },
    keys::{self, CreateKeyError, Secret},
    store::SqliteLeaves,
};
use serde_json::{Value, json};

use super::{employee_id, no_employee, open};
use crate::{
    args::LeaveKey,
    config::Settings,
    failure::Failure,
    moments,
    system::{SystemClock, SystemRandom},
    terminal::{self, Format},
};

pub(super) async fn run(arguments: LeaveKey, settings: &Settings, format: Format) -> Result<(), Failure> {
    let store = open(settings).await?;
    let done = match arguments {
        LeaveKey::Create { employee } => create(&store, &employee, settings, format).await,
        LeaveKey::List => list(&store, settings, format).await,
        LeaveKey::Revoke { key, employee } => revoke(&store, key, employee, settings, format).await,
    };
    store.close().await;
    done
}

/// Makes a key for an employee.
pub(super) async fn make(store: &SqliteLeaves, employee: &str) -> Result<(Record, Secret), Failure> {
    let id = employee_id(employee)?;
    match keys::create(store, &id, &SystemClock::new(), &SystemRandom).await {
        Ok(made) => Ok(made),
        Err(CreateKeyError::UnknownEmployee(id)) => Err(no_employee(&id)),
        Err(CreateKeyError::Store(error)) => Err(error.into()),
    }
}

async fn create(store: &SqliteLeaves, employee: &str, settings: &Settings, format: Format) -> Result<(), Failure> {
    let (record, secret) = make(store, employee).await?;
    if format == Format::Json {
        let mut key = shown(&record, settings);
        key["secret"] = secret.reveal().into();
        terminal::json(&key);
        return Ok(());
    }
    write(&record, settings);
    terminal::line(format!("\n  {}\n", secret.reveal()));
    terminal::line("This secret is shown once and kept nowhere. MCP clients send it as");
    terminal::line("  authorization: Bearer leave_…");
    Ok(())
}

async fn list(store: &SqliteLeaves, settings: &Settings, format: Format) -> Result<(), Failure> {
    let keys = store.keys().await?;
    if format == Format::Json {
        terminal::json(&keys.iter().map(|key| shown(key, settings)).collect::<Vec<_>>());
        return Ok(());
    }
    if keys.is_empty() {
        terminal::note("there are no keys: bylaw leave key create --employee ID makes one");
    }
    keys.iter().for_each(|key| write(key, settings));
    Ok(())
}

async fn revoke(
    store: &SqliteLeaves,
    key: Option<String>,
    employee: Option<String>,
    settings: &Settings,
    format: Format,
) -> Result<(), Failure> {
    let now = SystemClock::new().now();
    let unknown =
        |what: String| Failure::new(ErrorCode::KeyNotFound, what).hint("bylaw leave key list shows every key");
    let ids: Vec<LeaveKeyId> = match (key, employee) {
        (Some(key), _) => match store.keys().await?.into_iter().find(|record| record.id.as_str() == key) {
            Some(record) => vec![record.id],
            None => return Err(unknown(format!("there is no key {key:?}"))),
        },
        (None, employee) => {
            let id = employee_id(&employee.unwrap_or_default())?;
            let of = store.keys().await?.into_iter().filter(|record| record.employee == id);
            let ids: Vec<LeaveKeyId> = of.map(|record| record.id).collect();
            if ids.is_empty() {
                return Err(unknown(format!("{id} has no key")));
            }
            ids
        }
    };
    for id in &ids {
        store.revoke_key(id, now).await?;
    }
    let revoked: Vec<Record> = store.keys().await?.into_iter().filter(|record| ids.contains(&record.id)).collect();
    if format == Format::Json {
        terminal::json(&revoked.iter().map(|key| shown(key, settings)).collect::<Vec<_>>());
    } else {
        revoked.iter().for_each(|key| write(key, settings));
        terminal::line("From now on it is refused.");
    }
    Ok(())
}

fn shown(key: &Record, settings: &Settings) -> Value {
    let moment = |at| moments::show(at, &settings.money.budgets.zone);
    json!({
        "id": key.id, "employee": key.employee, "created_at": moment(key.created_at),
        "revoked_at": key.revoked_at.map(moment), "valid": key.revoked_at.is_none(),
    })
}

fn write(key: &Record, settings: &Settings) {
    let moment = |at| moments::show(at, &settings.money.budgets.zone);
    let state = key.revoked_at.map_or_else(|| "valid".to_owned(), |at| format!("revoked {}", moment(at)));
    terminal::line(format!("{}  {}  made {}  {state}", key.id, key.employee, moment(key.created_at)));
}
