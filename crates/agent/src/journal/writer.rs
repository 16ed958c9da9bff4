//! The one task that writes runs down. Whatever queues up while a commit runs is the next commit.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bylaw_contract::{Clock, OwnerId, RunId, runs::NumberedEvent};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, MissedTickBehavior, interval_at},
};

use super::{
    Answer, Command, JournalConfig, Tallies,
    live::{Live, ends_reply},
};
use crate::store::{RunStore, RunStoreError, RunWrite, Written};

pub(crate) struct Writer {
    pub(crate) store: Arc<dyn RunStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) process: OwnerId,
    pub(crate) config: JournalConfig,
    pub(crate) handed: Arc<AtomicUsize>,
    pub(crate) live: Arc<Live>,
    pub(crate) tallies: Arc<Tallies>,
}

/// The writes of one command, by their place in the batch.
struct Part {
    writes: usize,
    source: Source,
}

/// Where writes come from.
enum Source {
    /// Somebody waits for them.
    Awaited(oneshot::Sender<Answer>),
    /// They were handed over, and each has a place.
    Handed,
    /// They are tried until they are done.
    Owed,
}

/// An event that somebody may watch.
struct Told {
    run: RunId,
    ends_reply: bool,
    /// Its number is still to be given.
    event: Option<NumberedEvent>,
}

impl Writer {
    pub(crate) async fn run(self, mut commands: mpsc::UnboundedReceiver<Command>) {
        let (mut queued, mut owed) = (Vec::new(), Vec::new());
        let mut kept = false;
        // Three beats to a lease: two may fail before anyone takes this process for dead.
        let beat = self.config.lease / 3;
        let mut beats = interval_at(Instant::now() + beat, beat);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                // A process that never wrote anything has nothing to lose.
                _ = beats.tick(), if kept => {
                    self.keep_process().await;
                }
                count = commands.recv_many(&mut queued, self.config.batch) => {
                    if count == 0 {
                        break;
                    }
                    if !kept {
                        // Before the first run: without a lease it could be taken for lost.
                        kept = self.keep_process().await;
                    }
                    self.write(&mut queued, &mut owed).await;
                }
                () = tokio::time::sleep(self.config.retry), if !owed.is_empty() => {
                    self.write(&mut queued, &mut owed).await;
                }
            }
        }
        if !owed.is_empty() {
            self.write(&mut queued, &mut owed).await;
        }
    }

    async fn keep_process(&self) -> bool {
        let until = self.clock.now().plus(self.config.lease);
        match self.store.keep_process(&self.process, until).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "it cannot be said that this process lives");
                false
            }
        }
    }

    /// Writes what is queued. `owed` is what is left of before, and what is left afterwards.
    async fn write(&self, queued: &mut Vec<Command>, owed: &mut Vec<RunWrite>) {
        let (mut batch, mut parts, mut flushes, mut closed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut owes = std::mem::take(owed);
        // In their turn: a conversation that was given back can be had in the same commit.
        parts.push(Part { writes: owes.len(), source: Source::Owed });
        batch.extend(owes.iter().cloned());
        for command in queued.drain(..) {
            match command {
                Command::Write(writes, waiting) => {
                    let source = waiting.map_or(Source::Handed, Source::Awaited);
                    parts.push(Part { writes: writes.len(), source });
                    batch.extend(writes);
                }
                Command::Owe(writes) => {
                    parts.push(Part { writes: writes.len(), source: Source::Owed });
                    batch.extend(writes.iter().cloned());
                    owes.extend(writes);
                }
                Command::Close(run) => closed.push(run),
                Command::Flush(done) => flushes.push(done),
            }
        }
        if !batch.is_empty() {
            let told: Vec<_> = batch.iter().map(|write| self.told(write)).collect();
            let written = self.store.write(batch).await;
            if written.is_err() {
                let more = owes.len().saturating_sub(self.config.queue);
                self.tallies.lost.fetch_add(more as u64, Ordering::Relaxed);
                *owed = owes.split_off(more);
            }
            self.answer(parts, written, told);
        }
        closed.iter().for_each(|run| self.live.end(run));
        for done in flushes {
            let _left = done.send(());
        }
    }

    /// What is told of an event when it is durable.
    fn told(&self, write: &RunWrite) -> Option<Told> {
        let RunWrite::Event { run, at, event } = write else { return None };
        let is_watched = self.live.is_watched(run);
        Some(Told {
            run: run.clone(),
            ends_reply: ends_reply(event),
            event: is_watched.then(|| NumberedEvent { number: 0, at: *at, event: (**event).clone() }),
        })
    }

    fn answer(&self, parts: Vec<Part>, written: Result<Vec<Written>, RunStoreError>, told: Vec<Option<Told>>) {
        let written = match written {
            Ok(written) => written,
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "runs could not be written down");
                let error = Arc::new(error);
                for part in parts {
                    match part.source {
                        Source::Awaited(waiting) => _ = waiting.send(Err(Arc::clone(&error))),
                        Source::Handed => self.lost(part.writes),
                        Source::Owed => {}
                    }
                }
                return;
            }
        };
        self.tallies.commits.fetch_add(1, Ordering::Relaxed);
        let events = written.iter().filter(|written| matches!(written, Written::Event(_))).count();
        self.tallies.events.fetch_add(events as u64, Ordering::Relaxed);
        for (written, told) in written.iter().zip(told) {
            if let (Written::Event(number), Some(Told { run, ends_reply, event })) = (written, told) {
                let event = event.map(|event| NumberedEvent { number: *number, ..event });
                self.live.written(&run, *number, ends_reply, event);
            }
        }
        let mut written = written.into_iter();
        for part in parts {
            let of_part: Vec<Written> = written.by_ref().take(part.writes).collect();
            match part.source {
                Source::Awaited(waiting) => _ = waiting.send(Ok(of_part)),
                Source::Handed => _ = self.handed.fetch_sub(part.writes, Ordering::Relaxed),
                Source::Owed => {}
            }
        }
    }

    fn lost(&self, writes: usize) {
        self.handed.fetch_sub(writes, Ordering::Relaxed);
        self.tallies.lost.fetch_add(writes as u64, Ordering::Relaxed);
    }
}
