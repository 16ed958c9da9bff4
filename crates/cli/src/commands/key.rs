//! `bylaw key`: make, list and revoke keys, beside whatever service runs.

use std::{collections::BTreeSet, process::ExitCode};

use bylaw_contract::{Clock, ErrorCode, KeyId, SourceName, Timestamp};
use bylaw_gate::{Budget, KeyRecord, KeySecret, KeyStore, NewKey, ReadableSources, Role, create_key};
use serde::Serialize;

use crate::{
    amounts,
    args::{Key, KeyCreate, KeyRole},
    config::Settings,
    dataset::DataSet,
    failure::Failure,
    moments,
    system::{SystemClock, SystemRandom},
    terminal::{self, Format, printable},
};

pub(crate) async fn run(arguments: Key, settings: &Settings, format: Format) -> Result<ExitCode, Failure> {
    let data = DataSet::to_read(settings)?;
    let now = SystemClock::new().now();
    match arguments {
        Key::Create(arguments) => create(&data, arguments, now, settings, format).await?,
        Key::List => list(&records(&data).await?, now, settings, format),
        Key::Revoke { key } => revoke(&data, &key, now, settings, format).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Every key of a data set; none if nothing was ever kept in it.
pub(crate) async fn records(data: &DataSet) -> Result<Vec<KeyRecord>, Failure> {
    if !data.is_used() {
        return Ok(Vec::new());
    }
    let store = data.store().await?;
    let records = store.list().await?;
    store.close().await;
    Ok(records)
}

async fn create(
    data: &DataSet,
    arguments: KeyCreate,
    now: Timestamp,
    settings: &Settings,
    format: Format,
) -> Result<(), Failure> {
    let new = new_key(arguments, now, settings).map_err(|problem| Failure::new(ErrorCode::InvalidRequest, problem))?;
    let store = data.store().await?;
    let is_first = store.list().await?.is_empty();
    let (record, secret) = create_key(&store, new, &SystemClock::new(), &SystemRandom).await?;
    store.close().await;
    created(&record, &secret, is_first, now, settings, format);
    Ok(())
}

fn new_key(arguments: KeyCreate, now: Timestamp, settings: &Settings) -> Result<NewKey, String> {
    let KeyCreate { name, role, sources, no_sources, budgets, expires } = arguments;
    let money = &settings.money;
    let names = sources.into_iter().map(SourceName::new).collect::<Result<BTreeSet<_>, _>>();
    let names = names.map_err(|error| format!("--source: {error}"))?;
    let budgets = amounts::budgets(budgets.iter().map(String::as_str), &money.currency);
    let expires_at = expires.map(|text| moments::end(&text, now, &money.budgets.zone)).transpose();
    Ok(NewKey {
        name,
        role: match role {
            KeyRole::Reader => Role::Reader,
            KeyRole::Editor => Role::Editor,
            KeyRole::Admin => Role::Admin,
        },
        sources: if names.is_empty() && !no_sources { ReadableSources::All } else { ReadableSources::Only(names) },
        budgets: budgets.map_err(|problem| format!("--budget: {problem}"))?,
        expires_at: expires_at.map_err(|problem| format!("--expires: {problem}"))?,
    })
}

fn created(
    record: &KeyRecord,
    secret: &KeySecret,
    is_first: bool,
    now: Timestamp,
    settings: &Settings,
    format: Format,
) {
    let shown = Shown::new(record, now, settings);
    if format == Format::Json {
        return terminal::json(&serde_json::json!({ "key": shown, "secret": secret.reveal(), "first": is_first }));
    }
    shown.write();
    terminal::line(format!("\n  {}\n", secret.reveal()));
    terminal::line("This secret is shown once and kept nowhere. Callers send it as");
    terminal::line("  authorization: Bearer bylaw_…");
    terminal::line("and this program reads it from the variable BYLAW_KEY.");
    if is_first {
        terminal::line("\nThis is the first key: from now on every request needs a key.");
    }
}

fn list(records: &[KeyRecord], now: Timestamp, settings: &Settings, format: Format) {
    let shown: Vec<Shown> = records.iter().map(|record| Shown::new(record, now, settings)).collect();
    if format == Format::Json {
        return terminal::json(&shown);
    }
    if shown.is_empty() {
        terminal::note("there are no keys: the service is open to this machine only; bylaw key create NAME makes one");
    }
    shown.iter().for_each(Shown::write);
}

async fn revoke(
    data: &DataSet,
    asked: &str,
    now: Timestamp,
    settings: &Settings,
    format: Format,
) -> Result<(), Failure> {
    let all = records(data).await?;
    let id = find(&all, asked)?.id.clone();
    let store = data.store().await?;
    let is_new = store.revoke(&id, now).await?;
    let all = store.list().await?;
    store.close().await;
    let record = all.iter().find(|record| record.id == id).ok_or_else(|| unknown(asked))?;
    let shown = Shown::new(record, now, settings);
    if format == Format::Json {
        terminal::json(&shown);
        return Ok(());
    }
    shown.write();
    terminal::line(if is_new {
        "It is refused from now on."
    } else {
        "It had been revoked before; nothing has changed."
    });
    if !all.iter().any(|record| record.is_valid(now)) {
        terminal::line("No valid key is left, and keys are still required: every request is refused.");
    }
    Ok(())
}

/// The key with this id, or the only one with this name. A name may have been given again after its key was revoked.
fn find<'a>(records: &'a [KeyRecord], asked: &str) -> Result<&'a KeyRecord, Failure> {
    if let Some(record) = records.iter().find(|record| record.id.as_str() == asked) {
        return Ok(record);
    }
    let named: Vec<&KeyRecord> = records.iter().filter(|record| record.name == asked).collect();
    let open: Vec<&KeyRecord> = named.iter().copied().filter(|record| record.revoked_at.is_none()).collect();
    match (open.as_slice(), named.last()) {
        ([record], _) => Ok(record),
        ([], Some(revoked)) => Ok(revoked),
        ([], None) => Err(unknown(asked)),
        (several, _) => {
            let ids: Vec<&str> = several.iter().map(|record| record.id.as_str()).collect();
            let message = format!("{} keys are named {asked:?}: {}", ids.len(), ids.join(", "));
            Err(Failure::new(ErrorCode::InvalidRequest, message).hint("give the id of the one that is meant"))
        }
    }
}

fn unknown(asked: &str) -> Failure {
    Failure::new(ErrorCode::KeyNotFound, format!("there is no key with the id or name {asked:?}"))
        .hint("bylaw key list shows every key")
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Valid,
    Expired,
    Revoked,
}

/// A key as it is shown: neither its secret nor the hash of that.
#[derive(Serialize)]
struct Shown<'a> {
    id: &'a KeyId,
    name: &'a str,
    role: Role,
    sources: &'a ReadableSources,
    budgets: Vec<ShownBudget>,
    currency: &'a str,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
    state: State,
    #[serde(skip)]
    settings: &'a Settings,
}

#[derive(Serialize)]
struct ShownBudget {
    limit: String,
    period: &'static str,
}

impl<'a> Shown<'a> {
    fn new(record: &'a KeyRecord, now: Timestamp, settings: &'a Settings) -> Self {
        let currency = &settings.money.currency;
        let budget = |budget: Budget| ShownBudget {
            limit: amounts::limit(budget.limit, currency),
            period: amounts::period(&budget),
        };
        Self {
            id: &record.id,
            name: &record.name,
            role: record.role,
            sources: &record.sources,
            budgets: record.budgets.iter().copied().map(budget).collect(),
            currency: currency.code(),
            created_at: record.created_at,
            expires_at: record.expires_at,
            revoked_at: record.revoked_at,
            state: match record.revoked_at {
                Some(_) => State::Revoked,
                None if record.is_valid(now) => State::Valid,
                None => State::Expired,
            },
            settings,
        }
    }

    fn write(&self) {
        let moment = |at| moments::show(at, &self.settings.money.budgets.zone);
        let sources = match self.sources {
            ReadableSources::All => "every source".to_owned(),
            ReadableSources::Only(names) if names.is_empty() => "no source".to_owned(),
            ReadableSources::Only(names) => names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        };
        let budgets = if self.budgets.is_empty() {
            let everyones = amounts::show_budgets(&self.settings.money.budgets.key, &self.settings.money.currency);
            format!("none of its own (budgets.key: {everyones})")
        } else {
            let one = |budget: &ShownBudget| format!("{} {}/{}", budget.limit, self.currency, budget.period);
            self.budgets.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let state = match (&self.state, self.revoked_at, self.expires_at) {
            (State::Revoked, Some(at), _) => format!("revoked {}", moment(at)),
            (State::Expired, _, Some(at)) => format!("expired {}", moment(at)),
            (_, _, Some(at)) => format!("valid until {}", moment(at)),
            (_, _, None) => "valid, never expires".to_owned(),
        };
        terminal::line(format!("{}  {:<7} {}", self.id, self.role, printable(self.name)));
        for (what, text) in
            [("reads", sources), ("may spend", budgets), ("made", moment(self.created_at)), ("state", state)]
        {
            terminal::line(format!("  {what:<10} {}", printable(&text)));
        }
    }
}
