//! Batches: reading what they touch, deciding, writing what has changed.
//!
//! Each step is one statement for the whole batch, with its many values as one JSON array, as in the ledger's batches.

use std::collections::{BTreeSet, HashMap};

use bylaw_agent::{Conversation, Ended, GivenReply, NewRun, Owner, Purpose, Replied, RunWrite, Written};
use bylaw_contract::{ConversationId, LoopEvent, OwnerId, RunEvent, RunId, Timestamp};
use serde::Serialize;
use sqlx::{Row, SqliteConnection};

use super::values::{optional_purpose, owner, owner_text};
use crate::sqlite::{
    columns::{Failure, from_integer, from_optional_json, from_optional_text, from_text, word},
    damage::corrupt,
};

/// What has to be known of a run to write about it.
struct Run {
    place: i64,
    owner: Owner,
    purpose: Purpose,
    conversation: Option<ConversationId>,
    /// The number of its last event.
    last: u64,
    is_over: bool,
}

/// What has to be known of a conversation.
struct Talk {
    owner: Owner,
    busy: Option<RunId>,
    updated_at: Timestamp,
    /// What was said, if it is new.
    said: Option<Box<Conversation>>,
    has_changed: bool,
}

/// A batch on its way: what is known, and what is to be written.
#[derive(Default)]
struct Batch {
    runs: HashMap<RunId, Run>,
    talks: HashMap<ConversationId, Talk>,
    last_place: i64,
    begun: Vec<Begun>,
    /// Run, number, time and text of events.
    events: Vec<(i64, u64, i64, String)>,
    /// Run, number and text of questions.
    asked: Vec<(i64, u32, String)>,
    /// Run, number and answer of questions that are not answered yet.
    answered: Vec<(i64, u32, String)>,
    ended: Vec<(i64, Ended)>,
}

/// A run's row.
#[derive(Serialize)]
struct Begun {
    place: i64,
    id: RunId,
    owner: String,
    kind: String,
    mode: Option<String>,
    agent: Option<String>,
    model: Option<String>,
    conversation: Option<ConversationId>,
    message: String,
    request: String,
    process: OwnerId,
    started_at: i64,
}

/// Writes a batch, within a transaction that may write.
pub(super) async fn write(connection: &mut SqliteConnection, writes: Vec<RunWrite>) -> Result<Vec<Written>, Failure> {
    let mut batch = Batch::load(connection, &writes).await?;
    let written = writes.into_iter().map(|write| batch.apply(write)).collect::<Result<_, Failure>>()?;
    batch.save(connection).await?;
    Ok(written)
}

impl Batch {
    async fn load(connection: &mut SqliteConnection, writes: &[RunWrite]) -> Result<Self, Failure> {
        let mut batch = Self::default();
        let runs: BTreeSet<&RunId> = writes.iter().map(RunWrite::run).collect();
        let known = sqlx::query(
            "SELECT place, id, owner, kind, mode, conversation, ended_at IS NOT NULL AS is_over,
               (SELECT coalesce(max(number), 0) FROM run_events WHERE run = place) AS last
             FROM runs WHERE id IN (SELECT value FROM json_each(?))",
        );
        for row in known.bind(serde_json::to_string(&runs)?).fetch_all(&mut *connection).await? {
            let read = || {
                Ok(Run {
                    place: row.try_get("place")?,
                    owner: owner(&row)?,
                    purpose: optional_purpose(&row)?,
                    conversation: from_optional_text(&row, "conversation")?,
                    last: from_integer(&row, "last")?,
                    is_over: row.try_get("is_over")?,
                })
            };
            let id: RunId = from_text(&row, "id")?;
            let run = read().map_err(|error: Failure| corrupt(&format!("the run {id}"), &error))?;
            batch.runs.insert(id, run);
        }
        let begins =
            || writes.iter().filter_map(|write| if let RunWrite::Begin(new, _) = write { Some(new) } else { None });
        if begins().next().is_some() {
            let row =
                sqlx::query("SELECT coalesce(max(place), 0) AS place FROM runs").fetch_one(&mut *connection).await?;
            batch.last_place = row.try_get("place")?;
        }
        let talks: BTreeSet<&ConversationId> = begins()
            .filter_map(|new| new.conversation.as_ref())
            .chain(batch.runs.values().filter_map(|run| run.conversation.as_ref()))
            .collect();
        if talks.is_empty() {
            return Ok(batch);
        }
        let known = sqlx::query(
            "SELECT id, owner, busy, updated_at FROM conversations WHERE id IN (SELECT value FROM json_each(?))",
        );
        let mut loaded = HashMap::new();
        for row in known.bind(serde_json::to_string(&talks)?).fetch_all(connection).await? {
            let talk = Talk {
                owner: owner(&row)?,
                busy: from_optional_text(&row, "busy")?,
                updated_at: Timestamp(row.try_get("updated_at")?),
                said: None,
                has_changed: false,
            };
            loaded.insert(from_text(&row, "id")?, talk);
        }
        batch.talks = loaded;
        Ok(batch)
    }

    fn apply(&mut self, write: RunWrite) -> Result<Written, Failure> {
        match write {
            RunWrite::Begin(run, process) => self.begin(*run, process),
            RunWrite::Event { run, at, event } => self.event(&run, at, &event),
            RunWrite::GiveBack { run, at, conversation } => Ok(self.give_back(&run, at, conversation)),
        }
    }

    fn begin(&mut self, run: NewRun, process: OwnerId) -> Result<Written, Failure> {
        if self.runs.contains_key(&run.id) {
            return Ok(Written::Exists);
        }
        if let Some(id) = &run.conversation {
            let Some(talk) = self.talks.get_mut(id).filter(|talk| talk.owner == run.owner) else {
                return Ok(Written::NoSuchConversation);
            };
            if let Some(busy) = &talk.busy {
                return Ok(Written::Busy(busy.clone()));
            }
            talk.busy = Some(run.id.clone());
            talk.updated_at = talk.updated_at.max(run.started_at);
            talk.has_changed = true;
        }
        self.last_place += 1;
        let (mode, agent) = match &run.purpose {
            Purpose::Ask(mode) => (Some(word(mode)?), None),
            Purpose::Agent(name) => (None, Some(name.clone())),
        };
        self.begun.push(Begun {
            place: self.last_place,
            id: run.id.clone(),
            owner: owner_text(&run.owner).to_owned(),
            kind: word(&run.purpose.kind())?,
            mode,
            agent,
            model: run.model,
            conversation: run.conversation.clone(),
            message: run.message,
            request: run.request_id.to_string(),
            process,
            started_at: run.started_at.0,
        });
        let NewRun { id, owner, purpose, conversation, .. } = run;
        let place = self.last_place;
        self.runs.insert(id, Run { place, owner, purpose, conversation, last: 0, is_over: false });
        Ok(Written::Done)
    }

    fn event(&mut self, id: &RunId, at: Timestamp, event: &RunEvent) -> Result<Written, Failure> {
        let Some(run) = self.runs.get_mut(id) else { return Ok(Written::NoSuchRun) };
        if run.is_over {
            return Ok(Written::Over);
        }
        run.last += 1;
        let text = serde_json::to_string(event)?;
        match event {
            RunEvent::Loop(LoopEvent::Question { id, .. }) => self.asked.push((run.place, *id, text.clone())),
            RunEvent::Loop(reply @ LoopEvent::Reply { id, .. }) => {
                if let Some(given) = GivenReply::told(reply, &run.owner, at) {
                    self.answered.push((run.place, *id, serde_json::to_string(&given)?));
                }
            }
            RunEvent::Loop(_)
            | RunEvent::Citations { .. }
            | RunEvent::Step(_)
            | RunEvent::Token { .. }
            | RunEvent::Done { .. }
            | RunEvent::Failed { .. } => {}
        }
        if let Some(ended) = run.purpose.end(event, at) {
            run.is_over = true;
            self.ended.push((run.place, ended));
        }
        self.events.push((run.place, run.last, at.0, text));
        Ok(Written::Event(run.last))
    }

    fn give_back(&mut self, id: &RunId, at: Timestamp, said: Option<Box<Conversation>>) -> Written {
        let Some(run) = self.runs.get(id) else { return Written::NoSuchRun };
        let talk = run.conversation.as_ref().and_then(|id| self.talks.get_mut(id));
        let Some(talk) = talk.filter(|talk| talk.busy.as_ref() == Some(id)) else { return Written::NotHeld };
        talk.busy = None;
        talk.updated_at = talk.updated_at.max(at);
        talk.said = said.or(talk.said.take());
        talk.has_changed = true;
        Written::Done
    }

    async fn save(self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        if !self.begun.is_empty() {
            sqlx::query(
                "INSERT INTO runs (place, id, owner, kind, mode, agent, model, conversation, message, request, process,
                   started_at)
                 SELECT value ->> 'place', value ->> 'id', value ->> 'owner', value ->> 'kind', value ->> 'mode',
                   value ->> 'agent', value ->> 'model', value ->> 'conversation', value ->> 'message',
                   value ->> 'request', value ->> 'process', value ->> 'started_at' FROM json_each(?)",
            )
            .bind(serde_json::to_string(&self.begun)?)
            .execute(&mut *connection)
            .await?;
        }
        if !self.events.is_empty() {
            sqlx::query(
                "INSERT INTO run_events (run, number, at, text)
                 SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)",
            )
            .bind(serde_json::to_string(&self.events)?)
            .execute(&mut *connection)
            .await?;
        }
        if !self.asked.is_empty() {
            sqlx::query(
                "INSERT INTO run_questions (run, number, text)
                 SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true ON CONFLICT DO NOTHING",
            )
            .bind(serde_json::to_string(&self.asked)?)
            .execute(&mut *connection)
            .await?;
        }
        for (run, number, given) in self.answered {
            sqlx::query("UPDATE run_questions SET given = ? WHERE run = ? AND number = ? AND given IS NULL")
                .bind(given)
                .bind(run)
                .bind(number)
                .execute(&mut *connection)
                .await?;
        }
        save_ends(connection, &self.ended).await?;
        for (id, talk) in self.talks.into_iter().filter(|(_, talk)| talk.has_changed) {
            let said = talk.said.map(|said| serde_json::to_string(&said)).transpose()?;
            sqlx::query("UPDATE conversations SET busy = ?, updated_at = ?, said = coalesce(?, said) WHERE id = ?")
                .bind(talk.busy.as_ref().map(RunId::as_str))
                .bind(talk.updated_at.0)
                .bind(said)
                .bind(id.as_str())
                .execute(&mut *connection)
                .await?;
        }
        Ok(())
    }
}

async fn save_ends(connection: &mut SqliteConnection, ended: &[(i64, Ended)]) -> Result<(), Failure> {
    if ended.is_empty() {
        return Ok(());
    }
    let rows = ended.iter().map(|(place, Ended { at, reason, code, usage, cost })| {
        // As a string, since the database would write an object anew.
        let usage = usage.map(|usage| serde_json::to_string(&usage)).transpose()?;
        Ok((place, at, word(reason)?, code, usage, cost))
    });
    let rows = rows.collect::<Result<Vec<_>, Failure>>()?;
    sqlx::query(
        "UPDATE runs SET ended_at = ended.value ->> 1, stop = ended.value ->> 2, code = ended.value ->> 3,
           usage = ended.value ->> 4, cost = ended.value ->> 5
         FROM json_each(?) AS ended WHERE place = ended.value ->> 0",
    )
    .bind(serde_json::to_string(&rows)?)
    .execute(connection)
    .await?;
    Ok(())
}

/// Answers a question, unless it is answered.
pub(super) async fn reply(
    connection: &mut SqliteConnection,
    run: &RunId,
    question: u32,
    given: &GivenReply,
) -> Result<Replied, Failure> {
    let query = sqlx::query(
        "SELECT place, ended_at IS NOT NULL AS is_over, given FROM runs JOIN run_questions ON run = place
         WHERE id = ? AND number = ?",
    );
    let Some(row) = query.bind(run.as_str()).bind(question).fetch_optional(&mut *connection).await? else {
        return Ok(Replied::NoSuchQuestion);
    };
    let first = from_optional_json(&row, "given");
    if let Some(first) = first.map_err(|error| corrupt(&format!("question {question} of {run}"), &error))? {
        return Ok(Replied::AlreadyAnswered(first));
    }
    if row.try_get("is_over")? {
        return Ok(Replied::Over);
    }
    sqlx::query("UPDATE run_questions SET given = ? WHERE run = ? AND number = ?")
        .bind(serde_json::to_string(given)?)
        .bind(row.try_get::<i64, _>("place")?)
        .bind(question)
        .execute(connection)
        .await?;
    Ok(Replied::Taken)
}

/// Says until when the runs of a process are its own.
pub(super) async fn keep_process(
    connection: &mut SqliteConnection,
    process: &OwnerId,
    until: Timestamp,
) -> Result<(), Failure> {
    sqlx::query(
        "INSERT INTO run_processes (id, until) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET until = excluded.until",
    )
    .bind(process.as_str())
    .bind(until.0)
    .execute(connection)
    .await?;
    Ok(())
}
