//! A conversation: an agent that is connected, a model behind the gate, and what was said so far.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bylaw_agent::{Ask, ConnectedAgent, Conversation, MemoryArtifacts, RunEnd, RunLog, RunWith};
use bylaw_answer::Tab;
use bylaw_contract::{MicroUsd, RequestId, RunId};
use bylaw_gate::{Principal, Spender};
use bylaw_model::Connection;
use tokio_util::sync::CancellationToken;

use crate::assemble::Paying;

/// A conversation of one person.
pub(super) struct Talk {
    pub(super) connected: ConnectedAgent,
    pub(super) paying: Paying,
    pub(super) model: Connection,
    /// The most that one message may cost, as asked for.
    pub(super) max_cost: Option<MicroUsd>,
    said: Conversation,
    artifacts: Arc<MemoryArtifacts>,
}

/// What became of a message.
pub(super) struct Turn {
    pub(super) end: RunEnd,
    pub(super) request_id: RequestId,
    pub(super) tab: Tab,
    pub(super) took: Duration,
}

impl Talk {
    pub(super) fn new(
        connected: ConnectedAgent,
        paying: Paying,
        model: Connection,
        max_cost: Option<MicroUsd>,
    ) -> Self {
        Self { connected, paying, model, max_cost, said: Conversation::default(), artifacts: Arc::default() }
    }

    /// Forgets what was said.
    pub(super) fn begin_anew(&mut self) {
        self.said = Conversation::default();
        self.artifacts = Arc::default();
    }

    /// Does what a message asks for. Ctrl-C ends it; so does `cancel`.
    pub(super) async fn turn(
        &mut self,
        message: &str,
        log: Arc<dyn RunLog>,
        ask: Option<Arc<dyn Ask>>,
        cancel: CancellationToken,
    ) -> Turn {
        let began = Instant::now();
        let random = &self.paying.random;
        let (request_id, run_id) = (RequestId::mint(&**random), RunId::mint(&**random));
        let spender = Spender {
            principal: Principal::LocalDoor,
            request_id: request_id.clone(),
            run_id: run_id.clone(),
            mode: None,
            max_cost: self.max_cost,
        };
        let (meter, tab) = self.paying.purse.tab(spender);
        let with = RunWith {
            run_id,
            log,
            ask,
            elicitations: Some(self.connected.elicitations.clone()),
            artifacts: Arc::clone(&self.artifacts) as _,
            cancel: cancel.clone(),
            ..RunWith::new(self.model.metered(meter), Arc::clone(random))
        };
        let run = self.connected.agent.run(&mut self.said, message, with);
        tokio::pin!(run);
        let end = tokio::select! {
            end = &mut run => end,
            _ = tokio::signal::ctrl_c() => {
                cancel.cancel();
                run.await
            }
        };
        Turn { end, request_id, tab, took: began.elapsed() }
    }

    /// Ends the sessions of servers, and writes what was spent.
    pub(super) async fn close(&self) {
        self.connected.close().await;
        self.paying.close().await;
    }
}
