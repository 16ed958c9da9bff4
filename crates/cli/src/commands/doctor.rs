//! `bylaw doctor`: is everything in order? One line a part, and what to do about each that is not.

use std::process::ExitCode;

use bylaw_contract::{ErrorCode, RequestId, RunId};
use bylaw_gate::{Principal, Spender};
use bylaw_library::ServiceLock;
use bylaw_model::{ActionMode, ChatDelta, ChatMessage, ChatRequest, Purpose};
use futures_util::StreamExt;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::{
    amounts,
    args::Doctor,
    assemble::{self, Access, Paying},
    commands::{key, serve::door},
    config::{Layers, Settings},
    dataset::DataSet,
    failure::Failure,
    system::SystemClock,
    terminal::{self, Format},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Good,
    Missing,
    Bad,
}

#[derive(Debug, Serialize)]
struct Check {
    part: &'static str,
    verdict: Verdict,
    detail: String,
}

fn check(part: &'static str, verdict: Verdict, detail: impl Into<String>) -> Check {
    Check { part, verdict, detail: detail.into() }
}

pub(crate) async fn run(
    arguments: Doctor,
    settings: &Settings,
    layers: &Layers,
    format: Format,
) -> Result<ExitCode, Failure> {
    let mut checks = vec![configuration(layers)];
    checks.extend(data(settings).await?);
    checks.extend(model(settings, arguments.model).await);
    checks.push(agents(settings));
    checks.push(budgets(settings));
    settings.money.warn();
    let is_bad = checks.iter().any(|check| check.verdict == Verdict::Bad);
    match format {
        Format::Json => terminal::json(&checks),
        Format::Text => checks.iter().for_each(|check| {
            let verdict = match check.verdict {
                Verdict::Good => "ok",
                Verdict::Missing => "--",
                Verdict::Bad => "BAD",
            };
            terminal::line(format!("{verdict:<4} {:<14} {}", check.part, check.detail));
        }),
    }
    Ok(if is_bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn configuration(layers: &Layers) -> Check {
    match &layers.file {
        Some(path) => check("configuration", Verdict::Good, path.display().to_string()),
        None => check("configuration", Verdict::Good, "defaults; no bylaw.toml"),
    }
}

async fn data(settings: &Settings) -> Result<Vec<Check>, Failure> {
    let data = DataSet::to_read(settings)?;
    let folder = data.directory.root().display().to_string();
    if !data.is_used() {
        return Ok(vec![check("data", Verdict::Missing, format!("{folder} is empty; bylaw ingest FILE_OR_FOLDER"))]);
    }
    let service = match ServiceLock::holder(&data.directory) {
        Some(holder) => check("service", Verdict::Good, holder.to_string()),
        None => check("service", Verdict::Missing, "not running; bylaw serve"),
    };
    let documents = match assemble::open(settings, &data, Access::Read).await {
        // Keys may be made before there is anything to ask about.
        Err(failure) if failure.code == ErrorCode::NotReady => {
            vec![check("data", Verdict::Missing, format!("{folder} has no documents; bylaw ingest FILE_OR_FOLDER"))]
        }
        Err(failure) => vec![check("data", Verdict::Bad, failure.to_string().replace('\n', "; "))],
        Ok(assembly) => {
            let generation = assembly.library.generation();
            let store = match assembly.store.check().await {
                Ok(()) => check("data", Verdict::Good, folder),
                Err(error) => check("data", Verdict::Bad, crate::failure::chain(&error)),
            };
            let counts = format!(
                "generation {}, {} sources, {} articles",
                generation.number(),
                generation.sources().len(),
                generation.article_count()
            );
            vec![store, check("index", Verdict::Good, counts)]
        }
    };
    let keys = match key::records(&data).await {
        Ok(keys) => check("keys", Verdict::Good, door(&keys, &SystemClock::new())),
        Err(failure) => check("keys", Verdict::Bad, failure.message),
    };
    Ok(documents.into_iter().chain([keys, service]).collect())
}

fn budgets(settings: &Settings) -> Check {
    let money = &settings.money;
    let (budgets, currency) = (&money.budgets, &money.currency);
    let request = budgets.request.map(|most| format!("{} {currency}", amounts::limit(most, currency)));
    let limits = format!(
        "one question: {}; each key: {}; everyone: {}",
        request.as_deref().unwrap_or("no limit"),
        amounts::show_budgets(&budgets.key, currency),
        amounts::show_budgets(&budgets.service, currency)
    );
    check("budgets", Verdict::Good, limits)
}

fn agents(settings: &Settings) -> Check {
    match assemble::catalogue(settings) {
        Ok(agents) if agents.is_empty() => check("agents", Verdict::Missing, "none; bylaw chat needs none"),
        Ok(agents) => check("agents", Verdict::Good, agents.names().collect::<Vec<_>>().join(", ")),
        Err(failure) => check("agents", Verdict::Bad, failure.message),
    }
}

async fn model(settings: &Settings, ask: bool) -> Vec<Check> {
    let Some(model) = &settings.model else {
        return vec![check("model", Verdict::Missing, "none configured; answers are extracts")];
    };
    let name = format!("{} at {}", model.endpoint.model, model.endpoint.base_url);
    if !ask {
        return vec![check("model", Verdict::Good, format!("{name} (not asked; --model asks it)"))];
    }
    match probe(settings).await {
        Ok((reply, tools)) => {
            let answered = check("model", Verdict::Good, format!("{name} answered {reply:?}"));
            vec![answered, tools_check(model.actions, tools)]
        }
        Err(failure) => vec![check("model", Verdict::Bad, failure.message)],
    }
}

/// Which way of giving it tools fits, and whether that is the one that is configured.
fn tools_check(configured: ActionMode, found: Result<Option<ActionMode>, Failure>) -> Check {
    match found {
        Ok(Some(mode)) if mode == configured => {
            check("tools", Verdict::Good, format!("it calls tools with model.actions = {:?}", in_toml(mode)))
        }
        Ok(Some(mode)) => check(
            "tools",
            Verdict::Missing,
            format!(
                "set model.actions = {:?}: it calls tools that way; configured is {:?}",
                in_toml(mode),
                in_toml(configured)
            ),
        ),
        Ok(None) => {
            check("tools", Verdict::Missing, "it called no tool in any way; bylaw chat needs another model for them")
        }
        Err(failure) => check("tools", Verdict::Bad, failure.message),
    }
}

const fn in_toml(mode: ActionMode) -> &'static str {
    match mode {
        ActionMode::Native => "native",
        ActionMode::JsonSchema => "json_schema",
        ActionMode::Fenced => "fenced",
    }
}

type Probed = (String, Result<Option<ActionMode>, Failure>);

async fn probe(settings: &Settings) -> Result<Probed, Failure> {
    // A probe costs money like any other call: it passes the gate, and is on the books of the data set.
    let paying = assemble::paying(settings, &DataSet::to_read(settings)?).await?;
    let reply = probed(&paying).await;
    paying.close().await;
    reply
}

async fn probed(paying: &Paying) -> Result<Probed, Failure> {
    let Some(connection) = &paying.model else { return Ok((String::new(), Ok(None))) };
    let spender = Spender {
        principal: Principal::LocalDoor,
        request_id: RequestId::mint(&*paying.random),
        run_id: RunId::mint(&*paying.random),
        mode: None,
        max_cost: None,
    };
    let model = connection.metered(paying.purse.meter(spender));
    let messages = vec![ChatMessage::user("Reply with the word ready.")];
    let request = ChatRequest::new(Purpose::Probe, messages, 16);
    let mut stream = model.chat(&request, CancellationToken::new()).await?;
    let mut reply = String::new();
    while let Some(delta) = stream.next().await {
        if let ChatDelta::Text(text) = delta? {
            reply.push_str(&text);
        }
    }
    let tools = model.probe_actions(CancellationToken::new()).await;
    Ok((terminal::shorten(&reply, 40), tools.map_err(Failure::from)))
}
