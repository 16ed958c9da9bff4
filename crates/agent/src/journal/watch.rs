//! Watching a run.

use std::{collections::VecDeque, fmt, sync::Arc};

use bylaw_contract::{RunEvent, RunId, runs::NumberedEvent};
use tokio::sync::broadcast::error::RecvError;

use super::{
    Inner, goes_on,
    live::{Begun, News, ends_reply},
};
use crate::store::RunStoreError;

/// Events that are read from the store at once.
const PAGE: usize = 64;

/// What one who watches a run sees.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// An event, durable. In order, each once.
    Event(Arc<NumberedEvent>),
    /// What a model had said of its present reply when the watching began; what is shown goes on from there.
    TextSoFar(String),
    /// What is shown and not logged: a piece of text, or progress. Some may be missing where one is slow.
    Shown(Arc<RunEvent>),
}

/// Watches one run. Holds a page of its events at most.
pub struct Watch {
    journal: Arc<Inner>,
    run: RunId,
    /// The number of the last event that was seen.
    number: u64,
    /// The number of the last event that was seen and ended a reply.
    replied: u64,
    /// Read from the store and not yet seen.
    read: VecDeque<Arc<NumberedEvent>>,
    live: Option<Begun>,
    place: Place,
}

/// Where the next event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Nothing was done yet.
    Begin,
    /// The store has more than was seen, perhaps.
    Store,
    /// The store was read to its end.
    News,
    /// The run is over, and the store may have its last events.
    Rest,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("run", &self.run).field("number", &self.number).finish_non_exhaustive()
    }
}

impl Watch {
    pub(super) fn new(journal: Arc<Inner>, run: RunId, after: u64) -> Self {
        let (read, live, place) = (VecDeque::new(), None, Place::Begin);
        Self { journal, run, number: after, replied: 0, read, live, place }
    }

    /// What is to be seen next; none when the run is over and all was seen. Nothing is lost if the future is dropped.
    ///
    /// # Errors
    /// If the store fails. Asking again goes on where it failed.
    pub async fn next(&mut self) -> Result<Option<Seen>, RunStoreError> {
        loop {
            if let Some(event) = self.read.pop_front() {
                self.saw(&event);
                return Ok(Some(Seen::Event(event)));
            }
            match self.place {
                Place::Begin => {
                    self.live = self.journal.live.watch(&self.run);
                    self.place = Place::Store;
                }
                Place::Store => {
                    if !self.read_more().await? {
                        self.place = Place::News;
                        if let Some(text) = self.text_so_far() {
                            return Ok(Some(Seen::TextSoFar(text)));
                        }
                    }
                }
                Place::News => {
                    if let Some(seen) = self.news().await? {
                        return Ok(Some(seen));
                    }
                }
                Place::Rest => {
                    if !self.read_more().await? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    fn saw(&mut self, event: &NumberedEvent) {
        self.number = event.number;
        if ends_reply(&event.event) {
            self.replied = event.number;
        }
    }

    /// Whether there was more.
    async fn read_more(&mut self) -> Result<bool, RunStoreError> {
        let events = self.journal.store.events(&self.run, self.number, PAGE).await?;
        self.read.extend(events.into_iter().map(Arc::new));
        Ok(!self.read.is_empty())
    }

    /// Where to go on from, now that there is an event of this number.
    const fn place_of(&self, number: u64) -> Place {
        if number > self.number { Place::Store } else { Place::News }
    }

    /// The text that was there when the watching began, unless its reply has been seen since.
    fn text_so_far(&mut self) -> Option<String> {
        let begun = self.live.as_mut()?;
        let text = std::mem::take(&mut begun.text);
        (!text.is_empty() && self.replied <= begun.last).then_some(text)
    }

    /// The next thing that happens; none if it is to be looked for elsewhere.
    async fn news(&mut self) -> Result<Option<Seen>, RunStoreError> {
        let Some(begun) = &mut self.live else {
            // Of another process, or over.
            if !goes_on(self.journal.store.run(&self.run).await?.as_ref()) {
                self.place = Place::Rest;
                return Ok(None);
            }
            tokio::time::sleep(self.journal.config.poll).await;
            self.place = Place::Store;
            return Ok(None);
        };
        Ok(match begun.news.recv().await {
            Ok(News::Written(event)) if event.number == self.number + 1 => {
                self.saw(&event);
                Some(Seen::Event(event))
            }
            Ok(News::Written(event)) => {
                // Seen already, or some before it were missed.
                self.place = self.place_of(event.number);
                None
            }
            Ok(News::Stored(number)) => {
                self.place = self.place_of(number);
                None
            }
            Ok(News::Shown(last, event)) => (last >= self.replied).then_some(Seen::Shown(event)),
            Err(RecvError::Lagged(_)) => {
                self.place = Place::Store;
                None
            }
            Err(RecvError::Closed) => {
                self.live = None;
                None
            }
        })
    }
}
