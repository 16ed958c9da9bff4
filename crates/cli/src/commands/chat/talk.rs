//! A conversation: an agent that is connected, a model behind the gate, and what was said so far. Each message is a run
//! that is written down.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bylaw_agent::{
    Ask, ConnectedAgent, Conversation, ConversationQuery, ConversationRecord, NewRun, Owner, Purpose, RunEnd, RunLog,
    RunWith,
};
use bylaw_answer::Tab;
use bylaw_contract::{ConversationId, ErrorCode, MicroUsd, RequestId, RunId};
use bylaw_gate::{Principal, Spender};
use bylaw_model::Connection;
use tokio_util::sync::CancellationToken;

use super::logs::{Watched, Watcher};
use crate::{assemble::Paying, failure::Failure, terminal::shorten};

/// How long the title of a conversation may be: the beginning of its first message.
const TITLE_CHARS: usize = 60;

/// Runs of processes that are gone and are ended before a conversation is taken up.
const LOST_AT_ONCE: usize = 100;

/// A conversation that is taken up again.
#[derive(Clone, Debug)]
pub(super) struct TakenUp {
    pub(super) id: ConversationId,
    /// The agent that it was held with.
    pub(super) agent: Option<String>,
    pub(super) said: Conversation,
}

/// A conversation of one person.
pub(super) struct Talk {
    pub(super) connected: ConnectedAgent,
    pub(super) paying: Paying,
    pub(super) model: Connection,
    /// The most that one message may cost, as asked for.
    pub(super) max_cost: Option<MicroUsd>,
    /// None before the first message.
    pub(super) id: Option<ConversationId>,
    said: Conversation,
}

/// What became of a message.
pub(super) struct Turn {
    pub(super) end: RunEnd,
    pub(super) request_id: RequestId,
    pub(super) tab: Tab,
    pub(super) took: Duration,
}

/// How a run is watched and ended.
pub(super) struct Around {
    pub(super) watcher: Watcher,
    pub(super) ask: Option<Arc<dyn Ask>>,
    pub(super) cancel: CancellationToken,
}

/// Finds the conversation of this id, or the last one.
pub(super) async fn take_up(paying: &Paying, id: Option<&str>) -> Result<TakenUp, Failure> {
    let store = paying.journal.store();
    // A process that was killed may still have it.
    paying.journal.end_lost(LOST_AT_ONCE).await?;
    let id = match id {
        Some(text) => ConversationId::new(text)
            .map_err(|error| Failure::new(ErrorCode::InvalidRequest, format!("--conversation: {error}")))?,
        None => {
            let last = ConversationQuery { owner: Some(Owner::LocalDoor), limit: 1, ..ConversationQuery::default() };
            let last = store.conversations(&last).await?.into_iter().next();
            last.ok_or_else(|| {
                Failure::new(ErrorCode::NotFound, "there is no conversation in this data directory yet")
                    .hint("bylaw chat begins one")
            })?
            .id
        }
    };
    let found = store.conversation(&id).await?.filter(|(record, _)| record.owner == Owner::LocalDoor);
    let (record, said) =
        found.ok_or_else(|| Failure::new(ErrorCode::NotFound, format!("there is no conversation {id}")))?;
    Ok(TakenUp { id, agent: record.agent, said })
}

impl Talk {
    pub(super) fn new(
        connected: ConnectedAgent,
        paying: Paying,
        model: Connection,
        max_cost: Option<MicroUsd>,
        taken_up: Option<TakenUp>,
    ) -> Self {
        let (id, said) = taken_up.map_or((None, Conversation::default()), |taken| (Some(taken.id), taken.said));
        Self { connected, paying, model, max_cost, id, said }
    }

    /// Begins a conversation of its own with the next message.
    pub(super) fn begin_anew(&mut self) {
        self.id = None;
        self.said = Conversation::default();
    }

    /// How many messages there are.
    pub(super) fn length(&self) -> usize {
        self.said.messages().len()
    }

    /// Does what a message asks for, until it is done, or Ctrl-C, or the token of `around`.
    pub(super) async fn turn(&mut self, message: &str, around: Around) -> Result<Turn, Failure> {
        let began = Instant::now();
        let conversation = self.conversation(message).await?;
        let random = &self.paying.random;
        let (request_id, run_id) = (RequestId::mint(&**random), RunId::mint(&**random));
        let run = NewRun {
            id: run_id.clone(),
            owner: Owner::LocalDoor,
            purpose: Purpose::Agent(self.connected.agent.name.clone()),
            model: Some(self.model.name().to_owned()),
            conversation: Some(conversation),
            message: message.to_owned(),
            request_id: request_id.clone(),
            started_at: self.paying.clock.now(),
        };
        let open = Arc::new(self.paying.journal.begin(run).await?);
        let spender = Spender {
            principal: Principal::LocalDoor,
            request_id: request_id.clone(),
            run_id: run_id.clone(),
            mode: None,
            max_cost: self.max_cost,
        };
        let (meter, tab) = self.paying.purse.tab(spender);
        let Around { watcher, ask, cancel } = around;
        let with = RunWith {
            run_id,
            log: Arc::new(Watched { kept: Arc::clone(&open) as Arc<dyn RunLog>, watcher }),
            ask,
            elicitations: Some(self.connected.elicitations.clone()),
            artifacts: Arc::new(open.artifacts()),
            cancel: cancel.clone(),
            ..RunWith::new(self.model.metered(meter), Arc::clone(random))
        };
        let end = {
            let run = self.connected.agent.run(&mut self.said, message, with);
            tokio::pin!(run);
            tokio::select! {
                end = &mut run => end,
                _ = tokio::signal::ctrl_c() => {
                    cancel.cancel();
                    run.await
                }
            }
        };
        open.give_back(&self.said).await.map_err(|error| {
            Failure::new(ErrorCode::StorageFailed, format!("the conversation is not kept: {error}"))
        })?;
        Ok(Turn { end, request_id, tab, took: began.elapsed() })
    }

    /// Its id, which it has from its first message on.
    async fn conversation(&mut self, message: &str) -> Result<ConversationId, Failure> {
        if let Some(id) = &self.id {
            return Ok(id.clone());
        }
        let now = self.paying.clock.now();
        let id = ConversationId::mint(&*self.paying.random);
        let record = ConversationRecord {
            id: id.clone(),
            owner: Owner::LocalDoor,
            title: shorten(message, TITLE_CHARS),
            agent: Some(self.connected.agent.name.clone()),
            created_at: now,
            updated_at: now,
            busy: None,
        };
        self.paying.journal.store().create_conversation(&record).await?;
        self.id = Some(id.clone());
        Ok(id)
    }

    /// Ends the sessions of servers, and writes what was spent.
    pub(super) async fn close(&self) {
        self.connected.close().await;
        self.paying.close().await;
    }
}
