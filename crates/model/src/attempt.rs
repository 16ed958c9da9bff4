//! One attempt between its permit and its settlement.

use std::fmt;

use tokio::{sync::watch, time::Instant};

use crate::{
    meter::{Permit, Settlement},
    reply::{Asked, ReplyReader},
};

/// Held by whoever sends; marked when the first byte of the request is about to leave.
#[derive(Debug)]
pub(crate) struct Departure(watch::Sender<Option<Instant>>);

/// Knows whether and when the request left.
#[derive(Clone, Debug)]
pub(crate) struct Departed(watch::Receiver<Option<Instant>>);

pub(crate) fn departure() -> (Departure, Departed) {
    let (sender, receiver) = watch::channel(None);
    (Departure(sender), Departed(receiver))
}

impl Departure {
    pub(crate) fn mark(&self) {
        self.0.send_replace(Some(Instant::now()));
    }
}

impl Departed {
    pub(crate) fn at(&self) -> Option<Instant> {
        *self.0.borrow()
    }

    /// Waits for the departure; `None` if there will be none.
    pub(crate) async fn wait(&mut self) -> Option<Instant> {
        self.0.wait_for(Option::is_some).await.ok().and_then(|at| *at)
    }
}

/// An admitted attempt. Dropping it, at whatever moment and for whatever reason, is what settles it: there is no path
/// that settles twice or not at all.
pub(crate) struct MeteredAttempt {
    permit: Option<Box<dyn Permit>>,
    departed: Departed,
    pub(crate) reader: ReplyReader,
}

impl MeteredAttempt {
    pub(crate) fn new(permit: Box<dyn Permit>, departed: Departed, asked: Asked) -> Self {
        Self { permit: Some(permit), departed, reader: ReplyReader::new(asked) }
    }

    fn settlement(&self) -> Settlement {
        if self.departed.at().is_none() {
            return Settlement::NotSent;
        }
        match self.reader.final_usage() {
            Some(usage) => Settlement::Reported(usage),
            None => Settlement::Received { text_bytes: self.reader.text_bytes() },
        }
    }
}

impl Drop for MeteredAttempt {
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take() {
            let settlement = self.settlement();
            tracing::debug!(?settlement, "attempt settled");
            permit.settle(settlement);
        }
    }
}

impl fmt::Debug for MeteredAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MeteredAttempt").field("settlement", &self.settlement()).finish_non_exhaustive()
    }
}
