//! What is being said right now, for whoever watches.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bylaw_contract::{LoopEvent, RunEvent, RunId, runs::NumberedEvent};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::JournalConfig;

/// News of a run.
#[derive(Clone, Debug)]
pub(crate) enum News {
    /// An event is durable.
    Written(Arc<NumberedEvent>),
    /// The event of this number is durable, and nobody watched when it was about to be written: the store has it.
    Stored(u64),
    /// Something is shown that is not logged. This was the last number when it was shown.
    Shown(u64, Arc<RunEvent>),
}

/// The runs of this process that go on.
pub(crate) struct Live {
    runs: Mutex<HashMap<RunId, Speaking>>,
    config: JournalConfig,
}

/// A run that goes on.
#[derive(Default)]
struct Speaking {
    /// Made when somebody watches.
    news: Option<broadcast::Sender<News>>,
    /// What a model has said of a reply that is not yet written down.
    text: String,
    /// It has said more than is remembered.
    is_cut: bool,
    /// The number of the last event that was written.
    last: u64,
    /// What stops it.
    stop: Option<CancellationToken>,
    /// It was stopped on request.
    was_stopped: bool,
}

/// What one who begins to watch is given.
pub(crate) struct Begun {
    pub(crate) news: broadcast::Receiver<News>,
    /// The text so far, if all of it is remembered.
    pub(crate) text: String,
    /// The number of the last event that was written.
    pub(crate) last: u64,
}

impl Live {
    pub(crate) fn new(config: JournalConfig) -> Self {
        Self { runs: Mutex::default(), config }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Speaking>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin(&self, run: &RunId) {
        self.lock().insert(run.clone(), Speaking::default());
    }

    /// The run is over; those who watch are told by the end of their channel.
    pub(crate) fn end(&self, run: &RunId) {
        self.lock().remove(run);
    }

    /// From now on the run can be [stopped](Self::stop) by cancelling the token.
    pub(crate) fn stops_with(&self, run: &RunId, token: CancellationToken) {
        if let Some(speaking) = self.lock().get_mut(run) {
            speaking.stop = Some(token);
        }
    }

    /// Stops a run. False if it does not go on here, or nothing stops it.
    pub(crate) fn stop(&self, run: &RunId) -> bool {
        let mut runs = self.lock();
        let Some(speaking) = runs.get_mut(run) else { return false };
        let Some(token) = &speaking.stop else { return false };
        token.cancel();
        speaking.was_stopped = true;
        true
    }

    pub(crate) fn was_stopped(&self, run: &RunId) -> bool {
        self.lock().get(run).is_some_and(|speaking| speaking.was_stopped)
    }

    pub(crate) fn watch(&self, run: &RunId) -> Option<Begun> {
        let mut runs = self.lock();
        let speaking = runs.get_mut(run)?;
        let news = speaking.news.get_or_insert_with(|| broadcast::channel(self.config.behind.max(1)).0).subscribe();
        let text = if speaking.is_cut { String::new() } else { speaking.text.clone() };
        Some(Begun { news, text, last: speaking.last })
    }

    pub(crate) fn is_watched(&self, run: &RunId) -> bool {
        let has_receiver = |news: &broadcast::Sender<News>| news.receiver_count() > 0;
        self.lock().get(run).is_some_and(|speaking| speaking.news.as_ref().is_some_and(has_receiver))
    }

    /// An event is durable. `event` is given if somebody watched when it was about to be written. Whoever began to watch
    /// since may have read the store before the event was in it, and must hear that there is one.
    pub(crate) fn written(&self, run: &RunId, number: u64, ends_reply: bool, event: Option<NumberedEvent>) {
        let mut runs = self.lock();
        let Some(speaking) = runs.get_mut(run) else { return };
        speaking.last = number;
        if ends_reply {
            speaking.text.clear();
            speaking.is_cut = false;
        }
        if let Some(news) = &speaking.news {
            let _nobody = news.send(match event {
                Some(event) => News::Written(Arc::new(event)),
                None => News::Stored(number),
            });
        }
    }

    pub(crate) fn shown(&self, run: &RunId, event: RunEvent) {
        let mut runs = self.lock();
        let Some(speaking) = runs.get_mut(run) else { return };
        if let RunEvent::Token { text } | RunEvent::Loop(LoopEvent::TextDelta { text }) = &event {
            speaking.is_cut |= speaking.text.len() + text.len() > self.config.text_bytes;
            if !speaking.is_cut {
                speaking.text.push_str(text);
            }
        }
        if let Some(news) = &speaking.news {
            let _nobody = news.send(News::Shown(speaking.last, Arc::new(event)));
        }
    }
}

/// Whether an event says again, and for good, what a model was saying.
pub(crate) fn ends_reply(event: &RunEvent) -> bool {
    match event {
        RunEvent::Done { .. } | RunEvent::Failed { .. } => true,
        RunEvent::Citations { .. } | RunEvent::Step(_) | RunEvent::Token { .. } => false,
        RunEvent::Loop(event) => {
            matches!(event, LoopEvent::ModelReply { .. } | LoopEvent::ModelFailed { .. } | LoopEvent::Ended { .. })
        }
    }
}
