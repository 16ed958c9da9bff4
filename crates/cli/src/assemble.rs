//! Puts store, library, meter, model and answerer together. Nothing else builds any of them.

use std::{sync::Arc, time::Duration};

use bylaw_agent::{Catalogue, ConnectWith, Journal, JournalConfig, LoopResearcher, Runner, RunnerParts};
use bylaw_answer::{Answerer, AnswererParts, CacheSizes, Ceilings, Purse};
use bylaw_contract::{Clock, ErrorCode, Randomness};
use bylaw_gate::{Gate, GateConfig, KeyRing};
use bylaw_library::{Library, LibrarySettings};
use bylaw_model::{Connection, Retries};
use bylaw_retrieval::Vocabulary;
use bylaw_service::Accounts;
use bylaw_store::SqliteStore;

use crate::{
    config::Settings,
    dataset::DataSet,
    failure::Failure,
    system::{SystemClock, SystemRandom},
};

/// The parts of a running program.
pub(crate) struct Assembly {
    pub(crate) store: SqliteStore,
    pub(crate) library: Arc<Library>,
    pub(crate) answerer: Arc<Answerer>,
    pub(crate) accounts: Accounts,
    /// Where runs are written down.
    pub(crate) journal: Journal,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Randomness>,
}

/// Whether this process may change documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It holds the service lock.
    Write,
    /// It reads beside whoever does.
    Read,
}

/// Opens a data set.
pub(crate) async fn open(settings: &Settings, data: &DataSet, access: Access) -> Result<Assembly, Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let random: Arc<dyn Randomness> = Arc::new(SystemRandom);
    let store = SqliteStore::open(&data.directory.database()).await?;
    let library_settings = LibrarySettings {
        directory: data.directory.clone(),
        undo_window: settings.undo_window,
        vocabulary: Arc::new(vocabulary(settings)?),
        documents: Arc::new(store.clone()),
        jobs: Arc::new(store.clone()),
        clock: Arc::clone(&clock),
        random: Arc::clone(&random),
    };
    let library = match access {
        Access::Write => Library::open(library_settings).await?,
        Access::Read => Library::open_reader(library_settings).await?,
    };
    let accounts = accounts(settings, &store, &clock, &random);
    let answerer = Arc::new(Answerer::new(AnswererParts {
        model: model(settings, &random)?,
        researcher: Some(Arc::new(LoopResearcher::new(Arc::clone(&random)))),
        purse: purse(settings, &accounts),
        ceilings: Ceilings {
            max_steps: settings.caps.max_steps,
            max_cost: settings.money.budgets.request,
            max_wall: settings.caps.max_wall,
        },
        answers: Arc::new(store.clone()),
        caches: CacheSizes::default(),
        clock: Arc::clone(&clock),
    }));
    let journal = journal(&store, &clock, &random);
    Ok(Assembly { store, library, answerer, accounts, journal, clock, random })
}

/// How long calls that are under way have to settle when a process ends.
const LAST_WORDS: Duration = Duration::from_secs(5);

impl Assembly {
    /// What does the work of agents.
    pub(crate) fn runner(&self, settings: &Settings) -> Result<Runner, Failure> {
        Ok(Runner::new(RunnerParts {
            journal: self.journal.clone(),
            catalogue: Arc::new(catalogue(settings)?),
            connect: connect_with(&self.clock, &self.random),
            tools: Vec::new(),
            model: self.answerer.model().cloned(),
            purse: self.answerer.purse().clone(),
            keys: Arc::clone(&self.accounts.keys),
            room: settings.room,
            clock: Arc::clone(&self.clock),
            randomness: Arc::clone(&self.random),
        }))
    }

    /// Writes what happened and what has been spent, and closes the store. Nothing can be spent afterwards.
    pub(crate) async fn close(&self) {
        close(&self.accounts.gate, &self.journal, &self.store).await;
    }
}

/// What spends money without a question about documents: a model behind the gate of a data set, which may be new.
pub(crate) struct Paying {
    pub(crate) store: SqliteStore,
    pub(crate) model: Option<Connection>,
    pub(crate) purse: Purse,
    /// Where runs are written down.
    pub(crate) journal: Journal,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Randomness>,
}

/// Opens the books of a data set, and the way to the configured model.
pub(crate) async fn paying(settings: &Settings, data: &DataSet) -> Result<Paying, Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let random: Arc<dyn Randomness> = Arc::new(SystemRandom);
    let model = model(settings, &random)?;
    let store = data.store().await?;
    let accounts = accounts(settings, &store, &clock, &random);
    let journal = journal(&store, &clock, &random);
    Ok(Paying { purse: purse(settings, &accounts), store, model, journal, clock, random })
}

impl Paying {
    /// Writes what happened and what has been spent, and closes the store. Nothing can be spent afterwards.
    pub(crate) async fn close(&self) {
        close(&self.purse.gate, &self.journal, &self.store).await;
    }
}

async fn close(gate: &Gate, journal: &Journal, store: &SqliteStore) {
    gate.drain(LAST_WORDS).await;
    let _lost = tokio::time::timeout(LAST_WORDS, journal.flush()).await;
    store.close().await;
}

fn journal(store: &SqliteStore, clock: &Arc<dyn Clock>, random: &Arc<dyn Randomness>) -> Journal {
    Journal::open(Arc::new(store.clone()), JournalConfig::default(), Arc::clone(clock), &**random)
}

/// How the servers of agents are connected. Their secrets are in the environment, which only the program reads.
pub(crate) fn connect_with(clock: &Arc<dyn Clock>, random: &Arc<dyn Randomness>) -> ConnectWith {
    ConnectWith {
        secret: Arc::new(|name| std::env::var(name).ok().filter(|secret| !secret.is_empty())),
        ..ConnectWith::new(Arc::clone(clock), Arc::clone(random))
    }
}

fn purse(settings: &Settings, accounts: &Accounts) -> Purse {
    Purse {
        gate: accounts.gate.clone(),
        prices: Arc::new(settings.money.prices.clone()),
        currency: accounts.currency,
        lowering: true,
    }
}

/// Keys, ledger and gate over one store.
fn accounts(
    settings: &Settings,
    store: &SqliteStore,
    clock: &Arc<dyn Clock>,
    random: &Arc<dyn Randomness>,
) -> Accounts {
    let (key_store, ledger) = (Arc::new(store.clone()), Arc::new(store.clone()));
    let config = GateConfig { lease: settings.ledger.lease, ..GateConfig::default() };
    let budgets = settings.money.budgets.clone();
    Accounts {
        keys: Arc::new(KeyRing::new(Arc::clone(&key_store) as _, Arc::clone(clock))),
        key_store,
        gate: Gate::open(Arc::clone(&ledger) as _, budgets, config, Arc::clone(clock), Arc::clone(random)),
        ledger,
        currency: settings.money.currency,
    }
}

/// The way to the configured model, if one is configured. Only a meter makes a model of it.
fn model(settings: &Settings, random: &Arc<dyn Randomness>) -> Result<Option<Connection>, Failure> {
    let Some(model) = &settings.model else { return Ok(None) };
    let retries = Retries::new(model.retries.saturating_add(1), Arc::clone(random));
    Ok(Some(Connection::open(model.endpoint.clone())?.with_retries(retries).with_actions(model.actions)))
}

/// The agents that are configured; none if no folder is.
pub(crate) fn catalogue(settings: &Settings) -> Result<Catalogue, Failure> {
    Ok(settings.agents.as_deref().map(Catalogue::read).transpose()?.unwrap_or_default())
}

/// The shipped glossary, extended by the operator's.
pub(crate) fn vocabulary(settings: &Settings) -> Result<Vocabulary, Failure> {
    match &settings.glossary {
        None => Ok(Vocabulary::builtin()),
        Some(path) => {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path).map_err(|error| {
                Failure::new(ErrorCode::InvalidConfiguration, format!("retrieval.glossary: {name}: {error}"))
            })?;
            Ok(Vocabulary::with_operator_file(&name, &text)?)
        }
    }
}
