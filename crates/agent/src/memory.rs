//! Runs that are kept in memory: for tests, for measuring, and as the plainest reading of the port.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use bylaw_contract::{ArtifactId, ConversationId, LoopEvent, OwnerId, RunEvent, RunId, Timestamp, runs::NumberedEvent};

use crate::{
    artifacts::Artifact,
    conversation::Conversation,
    store::{
        ArtifactPut, ConversationQuery, ConversationRecord, Deleted, GivenReply, KeptArtifact, KeptQuestion, NewRun,
        Replied, RunQuery, RunRecord, RunStore, RunStoreError, RunWrite, Written,
    },
};

/// Keeps runs in memory. Nothing is durable, and only what is pruned or deleted is ever forgotten.
#[derive(Debug, Default)]
pub struct MemoryRuns(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    /// By the order in which they were kept.
    runs: BTreeMap<u64, Kept>,
    places: HashMap<RunId, u64>,
    conversations: BTreeMap<u64, (ConversationRecord, Conversation)>,
    processes: HashMap<OwnerId, Timestamp>,
    artifacts: HashMap<ArtifactId, (RunId, Artifact)>,
    next: u64,
}

#[derive(Debug)]
struct Kept {
    record: RunRecord,
    events: Vec<NumberedEvent>,
    questions: Vec<KeptQuestion>,
}

impl Memory {
    fn place(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn kept(&self, id: &RunId) -> Option<&Kept> {
        self.runs.get(self.places.get(id)?)
    }

    fn kept_mut(&mut self, id: &RunId) -> Option<&mut Kept> {
        self.runs.get_mut(self.places.get(id)?)
    }

    fn conversation(&mut self, id: &ConversationId) -> Option<&mut (ConversationRecord, Conversation)> {
        self.conversations.values_mut().find(|(record, _)| record.id == *id)
    }

    fn write(&mut self, write: RunWrite) -> Written {
        match write {
            RunWrite::Begin(run, process) => self.begin(*run, process),
            RunWrite::Event { run, at, event } => self.event(&run, at, *event),
            RunWrite::GiveBack { run, at, conversation } => self.give_back(&run, at, conversation),
        }
    }

    fn begin(&mut self, run: NewRun, process: OwnerId) -> Written {
        if self.places.contains_key(&run.id) {
            return Written::Exists;
        }
        if let Some(id) = &run.conversation {
            let Some((record, _)) = self.conversation(id).filter(|(record, _)| record.owner == run.owner) else {
                return Written::NoSuchConversation;
            };
            if let Some(busy) = &record.busy {
                return Written::Busy(busy.clone());
            }
            record.busy = Some(run.id.clone());
            record.updated_at = record.updated_at.max(run.started_at);
        }
        let place = self.place();
        self.places.insert(run.id.clone(), place);
        let record = RunRecord { run, process, waits: false, ended: None };
        self.runs.insert(place, Kept { record, events: Vec::new(), questions: Vec::new() });
        Written::Done
    }

    fn event(&mut self, run: &RunId, at: Timestamp, event: RunEvent) -> Written {
        let Some(kept) = self.kept_mut(run) else { return Written::NoSuchRun };
        if kept.record.ended.is_some() {
            return Written::Over;
        }
        match &event {
            RunEvent::Loop(question @ LoopEvent::Question { id, .. }) => {
                if kept.questions.iter().all(|known| known.number != *id) {
                    kept.questions.push(KeptQuestion { number: *id, question: question.clone(), given: None });
                }
            }
            RunEvent::Loop(reply @ LoopEvent::Reply { id, .. }) => {
                if let Some(question) = kept.questions.iter_mut().find(|question| question.number == *id) {
                    question.given =
                        question.given.take().or_else(|| GivenReply::told(reply, &kept.record.run.owner, at));
                }
            }
            RunEvent::Loop(_)
            | RunEvent::Citations { .. }
            | RunEvent::Step(_)
            | RunEvent::Token { .. }
            | RunEvent::Done { .. }
            | RunEvent::Failed { .. } => {}
        }
        kept.record.ended = kept.record.run.purpose.end(&event, at);
        kept.looked_after();
        let number = kept.events.len() as u64 + 1;
        kept.events.push(NumberedEvent { number, at, event });
        Written::Event(number)
    }

    fn give_back(&mut self, run: &RunId, at: Timestamp, said: Option<Box<Conversation>>) -> Written {
        let Some(kept) = self.kept(run) else { return Written::NoSuchRun };
        let Some(id) = kept.record.run.conversation.clone() else { return Written::NotHeld };
        let Some((record, conversation)) = self.conversation(&id) else { return Written::NotHeld };
        if record.busy.as_ref() != Some(run) {
            return Written::NotHeld;
        }
        record.busy = None;
        record.updated_at = record.updated_at.max(at);
        if let Some(said) = said {
            *conversation = *said;
        }
        Written::Done
    }

    fn forget(&mut self, place: u64) {
        if let Some(kept) = self.runs.remove(&place) {
            let id = kept.record.run.id;
            self.artifacts.retain(|_, (run, _)| *run != id);
            self.places.remove(&id);
        }
    }

    /// Forgets the runs of a conversation, and says how many.
    fn forget_runs_of(&mut self, id: &ConversationId) -> usize {
        let of = |kept: &Kept| kept.record.run.conversation.as_ref() == Some(id);
        let places: Vec<u64> = self.runs.iter().filter(|(_, kept)| of(kept)).map(|(place, _)| *place).collect();
        places.iter().for_each(|place| self.forget(*place));
        places.len()
    }
}

impl Kept {
    /// A run that is over waits for nobody.
    fn looked_after(&mut self) {
        let is_open = self.questions.iter().any(|question| question.given.is_none());
        self.record.waits = is_open && self.record.ended.is_none();
    }
}

#[async_trait]
impl RunStore for MemoryRuns {
    async fn write(&self, batch: Vec<RunWrite>) -> Result<Vec<Written>, RunStoreError> {
        let mut memory = self.lock();
        Ok(batch.into_iter().map(|write| memory.write(write)).collect())
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRecord>, RunStoreError> {
        Ok(self.lock().kept(id).map(|kept| kept.record.clone()))
    }

    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunRecord>, RunStoreError> {
        let memory = self.lock();
        let end = match &query.before {
            None => u64::MAX,
            Some(id) => memory.places.get(id).copied().unwrap_or_default(),
        };
        let records = memory.runs.range(..end).rev().map(|(_, kept)| &kept.record);
        Ok(records.filter(|record| query.accepts(record)).take(query.limit).cloned().collect())
    }

    async fn events(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<NumberedEvent>, RunStoreError> {
        let memory = self.lock();
        let events = memory.kept(run).map(|kept| kept.events.iter()).into_iter().flatten();
        Ok(events.filter(|event| event.number > after).take(limit).cloned().collect())
    }

    async fn questions(&self, run: &RunId) -> Result<Vec<KeptQuestion>, RunStoreError> {
        Ok(self.lock().kept(run).map(|kept| kept.questions.clone()).unwrap_or_default())
    }

    async fn reply(&self, run: &RunId, question: u32, given: &GivenReply) -> Result<Replied, RunStoreError> {
        let mut memory = self.lock();
        let Some(kept) = memory.kept_mut(run) else { return Ok(Replied::NoSuchQuestion) };
        let is_over = kept.record.ended.is_some();
        let Some(asked) = kept.questions.iter_mut().find(|asked| asked.number == question) else {
            return Ok(Replied::NoSuchQuestion);
        };
        if let Some(first) = &asked.given {
            return Ok(Replied::AlreadyAnswered(first.clone()));
        }
        if is_over {
            return Ok(Replied::Over);
        }
        asked.given = Some(given.clone());
        kept.looked_after();
        Ok(Replied::Taken)
    }

    async fn keep_process(&self, process: &OwnerId, until: Timestamp) -> Result<(), RunStoreError> {
        self.lock().processes.insert(process.clone(), until);
        Ok(())
    }

    async fn lost(&self, now: Timestamp, limit: usize) -> Result<Vec<RunRecord>, RunStoreError> {
        let memory = self.lock();
        let lives = |record: &RunRecord| memory.processes.get(&record.process).is_some_and(|until| *until >= now);
        let records = memory.runs.values().map(|kept| &kept.record);
        Ok(records.filter(|record| record.ended.is_none() && !lives(record)).take(limit).cloned().collect())
    }

    async fn create_conversation(&self, record: &ConversationRecord) -> Result<bool, RunStoreError> {
        let mut memory = self.lock();
        if memory.conversation(&record.id).is_some() {
            return Ok(false);
        }
        let place = memory.place();
        memory.conversations.insert(place, (record.clone(), Conversation::default()));
        Ok(true)
    }

    async fn conversation(
        &self,
        id: &ConversationId,
    ) -> Result<Option<(ConversationRecord, Conversation)>, RunStoreError> {
        Ok(self.lock().conversation(id).cloned())
    }

    async fn conversations(&self, query: &ConversationQuery) -> Result<Vec<ConversationRecord>, RunStoreError> {
        let memory = self.lock();
        let all = memory.conversations.iter();
        let end = match &query.before {
            None => u64::MAX,
            Some(id) => all.clone().find(|(_, (record, _))| record.id == *id).map_or(0, |(place, _)| *place),
        };
        let records = all.rev().filter(|(place, _)| **place < end).map(|(_, (record, _))| record);
        let of = |record: &&ConversationRecord| query.owner.as_ref().is_none_or(|owner| *owner == record.owner);
        Ok(records.filter(of).take(query.limit).cloned().collect())
    }

    async fn delete_conversation(&self, id: &ConversationId) -> Result<Deleted, RunStoreError> {
        let mut memory = self.lock();
        let Some((record, _)) = memory.conversation(id) else { return Ok(Deleted::NoSuchConversation) };
        if let Some(run) = &record.busy {
            return Ok(Deleted::Busy(run.clone()));
        }
        memory.conversations.retain(|_, (record, _)| record.id != *id);
        memory.forget_runs_of(id);
        Ok(Deleted::Done)
    }

    async fn put_artifact(
        &self,
        run: &RunId,
        artifact: &Artifact,
        most_bytes: u64,
    ) -> Result<ArtifactPut, RunStoreError> {
        let mut memory = self.lock();
        if memory.kept(run).is_none() {
            return Ok(ArtifactPut::NoSuchRun);
        }
        let of_run = memory.artifacts.values().filter(|(of, _)| of == run);
        let size = of_run.map(|(_, kept)| kept.bytes.len() as u64).sum::<u64>() + artifact.bytes.len() as u64;
        if size > most_bytes {
            return Ok(ArtifactPut::Full);
        }
        memory.artifacts.entry(artifact.id.clone()).or_insert_with(|| (run.clone(), artifact.clone()));
        Ok(ArtifactPut::Kept)
    }

    async fn artifact(&self, id: &ArtifactId) -> Result<Option<KeptArtifact>, RunStoreError> {
        let memory = self.lock();
        Ok(memory.artifacts.get(id).and_then(|(run, artifact)| {
            let owner = memory.kept(run)?.record.run.owner.clone();
            Some(KeptArtifact { run: run.clone(), owner, artifact: artifact.clone() })
        }))
    }

    async fn prune(&self, before: Timestamp, limit: usize) -> Result<usize, RunStoreError> {
        let mut memory = self.lock();
        let is_old = |kept: &Kept| {
            kept.record.run.conversation.is_none() && kept.record.ended.as_ref().is_some_and(|end| end.at < before)
        };
        let old = memory.runs.iter().filter(|(_, kept)| is_old(kept)).map(|(place, _)| *place);
        let old: Vec<u64> = old.take(limit).collect();
        old.iter().for_each(|place| memory.forget(*place));
        let mut forgotten = old.len();
        while forgotten < limit {
            let stale = |record: &ConversationRecord| record.updated_at < before && record.busy.is_none();
            let found = memory.conversations.values().find(|(record, _)| stale(record));
            let Some(id) = found.map(|(record, _)| record.id.clone()) else { break };
            memory.conversations.retain(|_, (record, _)| record.id != id);
            forgotten += 1 + memory.forget_runs_of(&id);
        }
        Ok(forgotten)
    }
}

impl MemoryRuns {
    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
