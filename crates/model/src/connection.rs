//! A way to a model that cannot be asked yet: it has no meter.

use std::{sync::Arc, time::Duration};

use crate::{
    action::ActionMode,
    backend::{Backend, Timeouts},
    chat::ModelError,
    dialect::Learned,
    endpoint::Endpoint,
    http::HttpBackend,
    meter::Meter,
    model::ChatModel,
    record::{RecordedBackend, Recorder, Replay},
    retry::{Pause, Retries},
    scripted::{Script, ScriptedBackend},
};

/// A model's endpoint, shared by everyone who asks it. Nothing can be asked of it but through
/// [`Connection::metered`]. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Connection {
    pub(crate) backend: Backend,
    pub(crate) timeouts: Timeouts,
    pub(crate) model: Arc<str>,
    pub(crate) retries: Option<Retries>,
    pub(crate) actions: ActionMode,
    pub(crate) pause: Arc<Pause>,
    pub(crate) dialect: Arc<Learned>,
}

impl Connection {
    /// A model behind an OpenAI-compatible endpoint. Nothing is sent yet. An address that is not of this machine is
    /// reached through the proxy that the environment names, if it names one.
    ///
    /// # Errors
    /// If the base URL is not `http://` or `https://`, if the key cannot be sent, or if HTTPS is asked for on a machine
    /// without CA certificates.
    pub fn open(endpoint: Endpoint) -> Result<Self, ModelError> {
        let backend = Backend::Http(Arc::new(HttpBackend::new(&endpoint)?));
        let timeouts = Timeouts {
            connect: endpoint.connect_timeout,
            first_byte: endpoint.first_byte_timeout,
            idle: endpoint.idle_timeout,
            total: endpoint.total_timeout,
        };
        Ok(Self::over(backend, timeouts, endpoint.model.into()))
    }

    /// A model that says what a script says, for tests and demonstrations. Permits, timeouts, cancellation and the
    /// reading of replies are those of a real endpoint.
    #[must_use]
    pub fn scripted(script: Script) -> Self {
        let patience = script.patience();
        let timeouts = Timeouts { connect: patience, first_byte: patience, idle: patience, total: Duration::MAX };
        let backend = Backend::Scripted(Arc::new(ScriptedBackend::new(script)));
        Self::over(backend, timeouts, "scripted".into())
    }

    /// A model that says what was recorded, and refuses loudly what was not asked then. Times out as a script does.
    #[must_use]
    pub fn replayed(replay: Replay) -> Self {
        let patience = Duration::from_millis(100);
        let timeouts = Timeouts { connect: patience, first_byte: patience, idle: patience, total: Duration::MAX };
        let model = replay.model().into();
        Self::over(Backend::Replayed(replay), timeouts, model)
    }

    /// The same connection, whose exchanges are written down.
    #[must_use]
    pub fn recorded(mut self, recorder: Recorder) -> Self {
        self.backend = Backend::Recorded(Arc::new(RecordedBackend::new(self.backend, recorder)));
        self
    }

    fn over(backend: Backend, timeouts: Timeouts, model: Arc<str>) -> Self {
        let (pause, dialect) = (Arc::default(), Arc::default());
        Self { backend, timeouts, model, retries: None, actions: ActionMode::Native, pause, dialect }
    }

    /// The same connection, over which calls that failed for the moment are tried again. Without, none is.
    #[must_use]
    pub fn with_retries(mut self, retries: Retries) -> Self {
        self.retries = Some(retries);
        self
    }

    /// The same connection, over which tools are offered and called in this way.
    #[must_use]
    pub fn with_actions(mut self, actions: ActionMode) -> Self {
        self.actions = actions;
        self
    }

    /// The model, with every attempt admitted and settled by `meter`.
    #[must_use]
    pub fn metered(&self, meter: Arc<dyn Meter>) -> ChatModel {
        ChatModel::new(self.clone(), meter)
    }

    /// The name that is asked for.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.model
    }
}
