//! The journal: writes the events of many runs down, in order, and shows them to whoever watches.
//!
//! ```text
//!   OpenRun ─ write (awaited) ──┐
//!   OpenRun ─ report (handed) ──┼─► writer: one commit for whatever came meanwhile ─► RunStore
//!   OpenRun ─ show ─► live ─────┴─────────────► live: numbered events, after their commit ─► Watch
//! ```
//!
//! What is awaited is durable when the wait is over. What is handed over is written soon, or, if the store fails or the
//! queue is full, not at all; it is counted then. The end of a run that has begun is tried until it is written.

mod live;
mod open;
mod watch;
mod writer;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bylaw_contract::{
    Clock, LoopEvent, OwnerId, Randomness, RunEvent, RunId, Stop, StopReason, Timestamp, TokenUsage, runs::RunKind,
};
use tokio::sync::{mpsc, oneshot};

use self::{live::Live, writer::Writer};
pub use self::{
    open::{OpenRun, RunArtifacts},
    watch::{Seen, Watch},
};
use crate::store::{NewRun, Purpose, RunRecord, RunStore, RunStoreError, RunWrite, Written};

/// How a journal works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalConfig {
    /// Most writes in one commit.
    pub batch: usize,
    /// Most writes that may be handed over and not yet committed; what comes beyond is dropped, and counted.
    pub queue: usize,
    /// How long after its last sign of life the runs of a process are given up by others.
    pub lease: Duration,
    /// Most bytes that the artifacts of one run may have together.
    pub artifact_bytes: u64,
    /// Most bytes of text that are remembered for who begins to watch while a model speaks.
    pub text_bytes: usize,
    /// Events that may be on their way to one who watches; who is slower reads them from the store.
    pub behind: usize,
    /// After how long the ends of runs that could not be written are tried again.
    pub retry: Duration,
    /// How often the store is asked about a run of another process that is watched.
    pub poll: Duration,
}

impl Default for JournalConfig {
    fn default() -> Self {
        Self {
            batch: 512,
            queue: 4_096,
            lease: Duration::from_secs(60),
            artifact_bytes: 64 << 20,
            text_bytes: 256 << 10,
            behind: 64,
            retry: Duration::from_secs(1),
            poll: Duration::from_secs(1),
        }
    }
}

/// Why a run cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// Another run has the conversation.
    #[error("the conversation is busy with {0}; wait for that run, or cancel it")]
    Busy(RunId),
    /// There is no such conversation, or not for this owner.
    #[error("there is no such conversation")]
    NoSuchConversation,
    /// It cannot be written down.
    #[error(transparent)]
    Store(#[from] Arc<RunStoreError>),
    /// The journal is closed.
    #[error("the journal is closed")]
    Closed,
}

/// What a journal has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JournalTallies {
    /// Commits that succeeded.
    pub commits: u64,
    /// Events that were written.
    pub events: u64,
    /// Writes that were handed over and lost, since the store failed or the queue was full.
    pub lost: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Tallies {
    commits: AtomicU64,
    events: AtomicU64,
    lost: AtomicU64,
}

/// What the writer is told to do.
pub(crate) enum Command {
    /// Writes of one run. Whoever waits is answered when they are durable; without anybody they have a place each.
    Write(Vec<RunWrite>, Option<oneshot::Sender<Answer>>),
    /// The last writes of a run that has begun. They are tried until they are done, so that no run and no conversation
    /// stays open for ever because a disk was full for a moment; doing them twice changes nothing.
    Owe(Vec<RunWrite>),
    /// Nothing more will come of a run.
    Close(RunId),
    /// Answered when everything before is committed, or lost.
    Flush(oneshot::Sender<()>),
}

/// What came of each write, or why there was no commit.
pub(crate) type Answer = Result<Vec<Written>, Arc<RunStoreError>>;

pub(crate) struct Inner {
    pub(crate) store: Arc<dyn RunStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) process: OwnerId,
    pub(crate) config: JournalConfig,
    /// Unbounded: who waits has one write on its way, and what is handed over is counted in `handed`.
    pub(crate) commands: mpsc::UnboundedSender<Command>,
    /// Writes that were handed over and are not yet committed.
    pub(crate) handed: Arc<AtomicUsize>,
    pub(crate) live: Arc<Live>,
    pub(crate) tallies: Arc<Tallies>,
}

/// Writes runs down. Clones share everything.
#[derive(Clone)]
pub struct Journal(Arc<Inner>);

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("process", &self.0.process).finish_non_exhaustive()
    }
}

impl Journal {
    /// A journal over a store. Its one task ends when the last clone and the last run are gone.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn open(
        store: Arc<dyn RunStore>,
        config: JournalConfig,
        clock: Arc<dyn Clock>,
        random: &dyn Randomness,
    ) -> Self {
        let (sender, commands) = mpsc::unbounded_channel();
        let process = OwnerId::mint(random);
        let (handed, live, tallies) = (Arc::default(), Arc::new(Live::new(config)), Arc::default());
        let writer = Writer {
            store: Arc::clone(&store),
            clock: Arc::clone(&clock),
            process: process.clone(),
            config,
            handed: Arc::clone(&handed),
            live: Arc::clone(&live),
            tallies: Arc::clone(&tallies),
        };
        tokio::spawn(writer.run(commands));
        Self(Arc::new(Inner { store, clock, process, config, commands: sender, handed, live, tallies }))
    }

    /// Where the runs are kept.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn RunStore> {
        &self.0.store
    }

    /// A run whose beginning is written down when this returns; it has its conversation for itself then.
    ///
    /// # Errors
    /// See [`BeginError`].
    pub async fn begin(&self, run: NewRun) -> Result<OpenRun, BeginError> {
        let open = OpenRun::new(Arc::clone(&self.0), run);
        open.begin().await?;
        Ok(open)
    }

    /// A run whose beginning is written down together with what first happens in it: cheaper, and for runs that have no
    /// conversation. What is only [reported](bylaw_answer::EventSink::report) in it is handed over when it ends.
    #[must_use]
    pub fn hold(&self, run: NewRun) -> OpenRun {
        OpenRun::new(Arc::clone(&self.0), run)
    }

    /// Stops a run of this process that can be [stopped](OpenRun::that_stops_with). Whether there was one.
    #[must_use]
    pub fn stop(&self, run: &RunId) -> bool {
        self.0.live.stop(run)
    }

    /// Watches a run from after the given event on, whether it goes on or is over, here or in another process. The stream
    /// ends with the run. A run that is not kept has nothing to be seen.
    #[must_use]
    pub fn watch(&self, run: RunId, after: u64) -> Watch {
        Watch::new(Arc::clone(&self.0), run, after)
    }

    /// Waits until everything that was handed over before is written, or lost. Whether it was not in vain.
    pub async fn flush(&self) -> bool {
        let (done, waiting) = oneshot::channel();
        self.0.commands.send(Command::Flush(done)).is_ok() && waiting.await.is_ok()
    }

    /// What it has done.
    #[must_use]
    pub fn tallies(&self) -> JournalTallies {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Tallies { commits, events, lost } = &*self.0.tallies;
        JournalTallies { commits: read(commits), events: read(events), lost: read(lost) }
    }

    /// Ends runs whose process is gone, as `failed` with code `run_lost`, and gives their conversations back. How many.
    /// What they were doing when their process died may have happened.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn end_lost(&self, limit: usize) -> Result<usize, RunStoreError> {
        let now = self.0.clock.now();
        let lost = self.0.store.lost(now, limit).await?;
        let ends = lost.iter().flat_map(|record| {
            let message = "the process that it ran in is gone; what it was doing may have happened";
            let event = last_event(&record.run.purpose, StopReason::Failed, LOST, message);
            closing(&record.run, now, event)
        });
        let ends: Vec<RunWrite> = ends.collect();
        if !ends.is_empty() {
            self.0.store.write(ends).await?;
        }
        Ok(lost.len())
    }
}

/// The code of a run whose process is gone.
const LOST: &str = "run_lost";

/// The last writes of a run that did not end by itself.
fn closing(run: &NewRun, at: Timestamp, event: RunEvent) -> Vec<RunWrite> {
    let mut writes = vec![RunWrite::Event { run: run.id.clone(), at, event: Box::new(event) }];
    if run.conversation.is_some() {
        writes.push(RunWrite::GiveBack { run: run.id.clone(), at, conversation: None });
    }
    writes
}

/// The last event of a run that did not end by itself.
fn last_event(purpose: &Purpose, reason: StopReason, code: &str, message: &str) -> RunEvent {
    let (code, message) = (code.to_owned(), message.to_owned());
    match purpose.kind() {
        RunKind::Ask => RunEvent::Failed { stop: Stop { reason, at_step: 0, message: message.clone() }, code, message },
        RunKind::Agent => RunEvent::Loop(LoopEvent::Ended {
            reason,
            code: Some(code),
            message,
            answer: None,
            steps: 0,
            tool_calls: 0,
            usage: TokenUsage::default(),
        }),
    }
}

/// Whether a record says that its run can still change.
fn goes_on(record: Option<&RunRecord>) -> bool {
    record.is_some_and(|record| record.ended.is_none())
}
