//! One run that is being written down.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering},
};

use async_trait::async_trait;
use bylaw_answer::EventSink;
use bylaw_contract::{ArtifactId, LoopEvent, RunEvent, RunId, StopReason, ask::Mode, chain};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{Answer, BeginError, Command, Inner, closing, last_event};
use crate::{
    artifacts::{Artifact, ArtifactError, ArtifactStore},
    conversation::Conversation,
    log::{RunLog, RunLogError},
    store::{ArtifactPut, NewRun, Purpose, RunWrite, Written},
};

/// One run that is being written down: the [`RunLog`] of the loop, and the [`EventSink`] of a question.
///
/// As a log it waits for what has an effect to be durable. As a sink it never waits. The events of an extract, which has
/// no effect, are one write when it is over. A pipeline's are handed over as they come, and that nobody waits for them
/// loses nothing: before a model is asked, the gate has made the intent durable, as a reservation with this run's id, its
/// model and its purpose, and a second commit beside that one would say the same again.
///
/// A run that is dropped before its last event was cancelled, and is written down as that; a conversation that it has not
/// given back is given back as it was.
pub struct OpenRun {
    journal: Arc<Inner>,
    run: NewRun,
    /// Whether what is reported waits until the run is over.
    holds: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Its beginning is on its way, or written.
    has_begun: bool,
    /// Its last event is on its way, or written.
    has_ended: bool,
    /// Its conversation is on its way back.
    gave_back: bool,
    /// Nothing of it is to be kept: somebody else's answer was given.
    is_void: bool,
    /// What waits for more.
    held: Vec<RunWrite>,
}

impl fmt::Debug for OpenRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenRun").field("run", &self.run.id).finish_non_exhaustive()
    }
}

impl OpenRun {
    pub(super) fn new(journal: Arc<Inner>, run: NewRun) -> Self {
        journal.live.begin(&run.id);
        let holds = matches!(run.purpose, Purpose::Ask(Mode::Auto | Mode::Extract));
        Self { journal, run, holds, state: Mutex::default() }
    }

    /// The same, of which nothing is handed over before it has ended: its answer may yet turn out to be another run's, and
    /// then it is no run of its own.
    #[must_use]
    pub fn that_may_repeat(mut self) -> Self {
        self.holds = true;
        self
    }

    /// The same, which [`Journal::stop`](super::Journal::stop) stops by cancelling the token.
    #[must_use]
    pub fn that_stops_with(self, token: CancellationToken) -> Self {
        self.journal.live.stops_with(&self.run.id, token);
        self
    }

    /// Whether it was [stopped](super::Journal::stop).
    #[must_use]
    pub fn was_stopped(&self) -> bool {
        self.journal.live.was_stopped(&self.run.id)
    }

    /// How it began.
    #[must_use]
    pub const fn run(&self) -> &NewRun {
        &self.run
    }

    /// Where its artifacts are kept.
    #[must_use]
    pub fn artifacts(&self) -> RunArtifacts {
        RunArtifacts { journal: Arc::clone(&self.journal), run: self.run.clone() }
    }

    pub(super) async fn begin(&self) -> Result<(), BeginError> {
        let begun = self.send(Vec::new()).ok_or(BeginError::Closed)?;
        let written = begun.await.map_err(|_| BeginError::Closed)??;
        let refused = match written.into_iter().next() {
            Some(Written::Busy(run)) => BeginError::Busy(run),
            Some(Written::NoSuchConversation) => BeginError::NoSuchConversation,
            Some(
                Written::Done
                | Written::Event(_)
                | Written::Exists
                | Written::NoSuchRun
                | Written::Over
                | Written::NotHeld,
            )
            | None => return Ok(()),
        };
        // There is no such run, so nothing is to be said of its end.
        self.state().is_void = true;
        Err(refused)
    }

    /// Gives the conversation back with what was said in it, durable when it returns. Another run may have it then.
    ///
    /// # Errors
    /// If it cannot be written down, or the run did not have the conversation any more.
    pub async fn give_back(&self, conversation: &Conversation) -> Result<(), RunLogError> {
        let give_back = RunWrite::GiveBack {
            run: self.run.id.clone(),
            at: self.journal.clock.now(),
            conversation: Some(Box::new(conversation.clone())),
        };
        let waiting = self.send(vec![give_back]).ok_or_else(closed)?;
        settled(waiting.await.map_err(|_| closed())?)?;
        self.state().gave_back = true;
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn event(&self, event: RunEvent) -> RunWrite {
        RunWrite::Event { run: self.run.id.clone(), at: self.journal.clock.now(), event: Box::new(event) }
    }

    fn beginning(&self) -> RunWrite {
        RunWrite::Begin(Box::new(self.run.clone()), self.journal.process.clone())
    }

    /// Sends writes after everything before them; they are answered when they are durable. None if nobody writes.
    fn send(&self, writes: Vec<RunWrite>) -> Option<oneshot::Receiver<Answer>> {
        let (answer, waiting) = oneshot::channel();
        // Sent under the lock: what is sent by two stays in the order of their turns.
        let mut state = self.state();
        let mut all = std::mem::take(&mut state.held);
        if !std::mem::replace(&mut state.has_begun, true) {
            all.insert(0, self.beginning());
        }
        all.extend(writes);
        state.has_ended |= all.iter().any(|write| self.is_last(write));
        self.journal.commands.send(Command::Write(all, Some(answer))).ok()?;
        Some(waiting)
    }

    fn is_last(&self, write: &RunWrite) -> bool {
        match write {
            RunWrite::Event { at, event, .. } => self.run.purpose.end(event, *at).is_some(),
            RunWrite::Begin(..) | RunWrite::GiveBack { .. } => false,
        }
    }

    /// Hands over what is held.
    fn hand_over(&self, state: &mut State) {
        let mut all = std::mem::take(&mut state.held);
        if all.is_empty() {
            return;
        }
        if !state.has_begun {
            all.insert(0, self.beginning());
        }
        let count = all.len();
        let Inner { handed, tallies, config, commands, .. } = &*self.journal;
        if handed.fetch_add(count, Ordering::Relaxed) + count > config.queue {
            handed.fetch_sub(count, Ordering::Relaxed);
            tallies.lost.fetch_add(count as u64, Ordering::Relaxed);
            tracing::warn!(run_id = %self.run.id, "more runs than can be written down; events of this one are lost");
            return;
        }
        state.has_begun = true;
        if commands.send(Command::Write(all, None)).is_err() {
            handed.fetch_sub(count, Ordering::Relaxed);
            tallies.lost.fetch_add(count as u64, Ordering::Relaxed);
        }
    }

    /// Sends the last writes of a run that has begun.
    fn owe(&self, writes: Vec<RunWrite>) {
        let count = writes.len();
        if self.journal.commands.send(Command::Owe(writes)).is_err() {
            self.journal.tallies.lost.fetch_add(count as u64, Ordering::Relaxed);
        }
    }
}

fn closed() -> RunLogError {
    RunLogError("the journal is closed".to_owned())
}

/// What a run is told of its writes.
fn settled(answer: Answer) -> Result<(), RunLogError> {
    let written = answer.map_err(|error| RunLogError(chain(&*error)))?;
    let refused = written.iter().find_map(|written| match written {
        Written::Done | Written::Event(_) => None,
        Written::Exists => Some("there is such a run already"),
        Written::NoSuchRun => Some("the run was deleted"),
        Written::Over => Some("the run is over"),
        Written::NoSuchConversation => Some("there is no such conversation"),
        Written::Busy(_) => Some("another run has the conversation"),
        Written::NotHeld => Some("the run does not have the conversation any more"),
    });
    refused.map_or(Ok(()), |why| Err(RunLogError(why.to_owned())))
}

#[async_trait]
impl RunLog for OpenRun {
    async fn write(&self, events: Vec<LoopEvent>) -> Result<(), RunLogError> {
        let writes = events.into_iter().map(|event| self.event(RunEvent::Loop(event))).collect();
        let waiting = self.send(writes).ok_or_else(closed)?;
        settled(waiting.await.map_err(|_| closed())?)
    }

    fn show(&self, event: LoopEvent) {
        self.journal.live.shown(&self.run.id, RunEvent::Loop(event));
    }
}

impl EventSink for OpenRun {
    fn report(&self, event: RunEvent) {
        if !event.is_logged() {
            self.journal.live.shown(&self.run.id, event);
            return;
        }
        let mut state = self.state();
        if let RunEvent::Done { answer } = &event
            && answer.run_id != self.run.id
            && !state.has_begun
        {
            // The answer of another run, which is the one that was paid for.
            state.is_void = true;
            state.held.clear();
            return;
        }
        let write = self.event(event);
        let is_last = self.is_last(&write);
        state.has_ended |= is_last;
        if is_last && state.has_begun {
            self.owe(vec![write]);
            return;
        }
        state.held.push(write);
        if is_last || !self.holds || state.has_begun {
            self.hand_over(&mut state);
        }
    }
}

impl Drop for OpenRun {
    fn drop(&mut self) {
        let mut state = std::mem::take(self.state.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !state.is_void {
            let mut last = Vec::new();
            if !state.has_ended {
                let message = "whoever asked for it left";
                let event = last_event(&self.run.purpose, StopReason::Cancelled, "cancelled", message);
                last = closing(&self.run, self.journal.clock.now(), event);
            } else if self.run.conversation.is_some() && !state.gave_back {
                let (run, at) = (self.run.id.clone(), self.journal.clock.now());
                last.push(RunWrite::GiveBack { run, at, conversation: None });
            }
            if last.is_empty() || !state.has_begun {
                state.held.extend(last);
                self.hand_over(&mut state);
            } else {
                self.owe(last);
            }
        }
        // Those who watch are told when the last of it is written.
        if self.journal.commands.send(Command::Close(self.run.id.clone())).is_err() {
            self.journal.live.end(&self.run.id);
        }
    }
}

/// Keeps the artifacts of one run, and shows those of its owner.
#[derive(Clone)]
pub struct RunArtifacts {
    journal: Arc<Inner>,
    run: NewRun,
}

impl RunArtifacts {
    /// The run that they come from.
    #[must_use]
    pub const fn run(&self) -> &RunId {
        &self.run.id
    }
}

impl fmt::Debug for RunArtifacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunArtifacts").field("run", &self.run.id).finish_non_exhaustive()
    }
}

#[async_trait]
impl ArtifactStore for RunArtifacts {
    async fn put(&self, artifact: Artifact) -> Result<(), ArtifactError> {
        let most = self.journal.config.artifact_bytes;
        let put = self.journal.store.put_artifact(&self.run.id, &artifact, most).await;
        match put.map_err(|error| ArtifactError(error.to_string()))? {
            ArtifactPut::Kept => Ok(()),
            ArtifactPut::Full => Err(ArtifactError(format!("this run has more than {most} bytes of them"))),
            ArtifactPut::NoSuchRun => Err(ArtifactError("the run was deleted".to_owned())),
        }
    }

    /// Of this run and of those before it in its conversation: of others of the same owner the loop knows no ids.
    async fn get(&self, id: &ArtifactId) -> Result<Option<Artifact>, ArtifactError> {
        let kept = self.journal.store.artifact(id).await.map_err(|error| ArtifactError(error.to_string()))?;
        Ok(kept.filter(|kept| kept.owner == self.run.owner).map(|kept| kept.artifact))
    }
}
