//! Puts store, library, meter, model and answerer together. Nothing else builds any of them.

use std::sync::Arc;

use bylaw_answer::Answerer;
use bylaw_contract::{Clock, ErrorCode, Randomness};
use bylaw_library::{Library, LibrarySettings};
use bylaw_model::{ChatModel, CountingMeter};
use bylaw_retrieval::Vocabulary;
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
    let answerer = Arc::new(Answerer::new(model(settings)?, Arc::clone(&clock)));
    Ok(Assembly { store, library, answerer, clock, random })
}

/// The configured model behind the one meter, if a model is configured.
pub(crate) fn model(settings: &Settings) -> Result<Option<ChatModel>, Failure> {
    match &settings.model {
        None => Ok(None),
        Some(endpoint) => Ok(Some(ChatModel::connect(endpoint.clone(), Arc::new(CountingMeter::default()))?)),
    }
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
