//! What a service does from time to time for its ledger and its runs.

use std::{sync::Arc, time::Duration};

use bylaw_agent::{Journal, RunStore, RunStoreError};
use bylaw_contract::{Clock, Timestamp};
use bylaw_gate::{LedgerError, LedgerStore, SealingKey, seal_some};
use tokio::time::{Interval, MissedTickBehavior};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{info, warn};

use crate::failure::chain;

const FORGET_EVERY: Duration = Duration::from_secs(60 * 60);
/// Runs that are forgotten in one transaction: others write meanwhile.
const FORGOTTEN_AT_ONCE: usize = 200;
/// How often it is looked for runs whose process is gone.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// Most runs that are ended at once; the rest follows at the next look.
const ENDED_AT_ONCE: usize = 1_000;
const FORGET_AFTER: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// Seals what is new every `seal_every`, and forgets accounts of requests that are long over, until `shutdown` fires.
pub(crate) fn start(
    work: &TaskTracker,
    ledger: &Arc<dyn LedgerStore>,
    clock: &Arc<dyn Clock>,
    sealing: Option<SealingKey>,
    seal_every: Duration,
    shutdown: &CancellationToken,
) {
    if let Some(key) = sealing {
        work.spawn(keep_sealing(Arc::clone(ledger), Arc::clone(clock), key, seal_every, shutdown.clone()));
    }
    work.spawn(keep_forgetting(Arc::clone(ledger), Arc::clone(clock), shutdown.clone()));
}

/// Ends runs whose process is gone, and forgets those that ended longer than `keep` ago, until `shutdown` fires.
pub(crate) fn start_runs(
    work: &TaskTracker,
    journal: &Journal,
    clock: &Arc<dyn Clock>,
    keep: Duration,
    shutdown: &CancellationToken,
) {
    work.spawn(keep_ending(journal.clone(), shutdown.clone()));
    work.spawn(keep_forgetting_runs(Arc::clone(journal.store()), Arc::clone(clock), keep, shutdown.clone()));
}

async fn keep_ending(journal: Journal, stop: CancellationToken) {
    let mut log = Log::new("ending runs whose process is gone");
    let mut ticks = ticks(LOOK_EVERY);
    while tick(&mut ticks, &stop).await {
        let ended = journal.end_lost(ENDED_AT_ONCE).await;
        if let Ok(count @ 1..) = ended {
            warn!(count, "runs of a process that is gone were ended");
        }
        log.heard(ended.map(drop));
    }
}

async fn keep_forgetting_runs(runs: Arc<dyn RunStore>, clock: Arc<dyn Clock>, keep: Duration, stop: CancellationToken) {
    let mut log = Log::new("forgetting old runs");
    let mut ticks = ticks(FORGET_EVERY);
    while tick(&mut ticks, &stop).await {
        log.heard(forget_runs(&*runs, before(clock.now(), keep), &stop).await);
    }
}

async fn forget_runs(runs: &dyn RunStore, before: Timestamp, stop: &CancellationToken) -> Result<(), RunStoreError> {
    while !stop.is_cancelled() && runs.prune(before, FORGOTTEN_AT_ONCE).await? > 0 {}
    Ok(())
}

async fn keep_sealing(
    ledger: Arc<dyn LedgerStore>,
    clock: Arc<dyn Clock>,
    key: SealingKey,
    every: Duration,
    stop: CancellationToken,
) {
    let mut log = Log::new("sealing the ledger");
    let mut ticks = ticks(every);
    while tick(&mut ticks, &stop).await {
        log.heard(seal(&*ledger, &key, &*clock, &stop).await);
    }
}

async fn keep_forgetting(ledger: Arc<dyn LedgerStore>, clock: Arc<dyn Clock>, stop: CancellationToken) {
    let mut log = Log::new("forgetting the accounts of old requests");
    let mut ticks = ticks(FORGET_EVERY);
    while tick(&mut ticks, &stop).await {
        log.heard(forget(&*ledger, clock.now()).await);
    }
}

fn ticks(every: Duration) -> Interval {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Waits for the next tick; `false` when it is time to stop.
async fn tick(ticks: &mut Interval, stop: &CancellationToken) -> bool {
    tokio::select! {
        () = stop.cancelled() => false,
        _ = ticks.tick() => true,
    }
}

async fn seal(
    ledger: &dyn LedgerStore,
    key: &SealingKey,
    clock: &dyn Clock,
    stop: &CancellationToken,
) -> Result<(), LedgerError> {
    while !stop.is_cancelled() && seal_some(ledger, key, clock).await? > 0 {}
    Ok(())
}

async fn forget(ledger: &dyn LedgerStore, now: Timestamp) -> Result<(), LedgerError> {
    ledger.forget_requests(before(now, FORGET_AFTER)).await.map(drop)
}

fn before(now: Timestamp, age: Duration) -> Timestamp {
    Timestamp(now.0.saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX)))
}

/// Says what fails when it begins to, when it fails otherwise, and when it is over; not every time.
struct Log {
    what: &'static str,
    failing: Option<String>,
}

impl Log {
    const fn new(what: &'static str) -> Self {
        Self { what, failing: None }
    }

    /// Whether this was news.
    fn is_news(&mut self, failure: Option<&str>) -> bool {
        let is_news = self.failing.as_deref() != failure;
        self.failing = failure.map(str::to_owned);
        is_news
    }

    fn heard<E: std::error::Error>(&mut self, result: Result<(), E>) {
        let failure = result.err().map(|error| chain(&error));
        if self.is_news(failure.as_deref()) {
            match failure {
                Some(error) => warn!(error, "{} fails", self.what),
                None => info!("{} works again", self.what),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_news_when_it_begins_changes_and_ends() {
        let mut log = Log::new("sealing");
        let heard = [None, Some("full"), Some("full"), Some("gone"), Some("gone"), None, None];
        let news = heard.map(|failure| log.is_news(failure));
        assert_eq!(news, [false, true, false, true, false, true, false]);
    }
}
