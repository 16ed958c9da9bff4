//! Brings a server's question to the run whose call is behind it.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use bylaw_mcp::{Elicit, ElicitReply, Elicitation};
use serde_json::{Map, Value};

use crate::desk::Desk;

/// Give it to the clients (`Host::elicit`) before they connect, and to each run. A question goes to the run whose call
/// is behind it. Two runs that call the same tool of the same client at once cannot be told apart: then nobody is
/// asked, and the server hears `cancel`. So let people share no client.
#[derive(Clone, Default)]
pub struct Elicitations {
    calls: Arc<Mutex<Vec<Call>>>,
}

struct Call {
    number: u64,
    server: String,
    tool: String,
    identity: String,
    arguments: Map<String, Value>,
    desk: Arc<Desk>,
}

/// A call while it is being made.
pub(crate) struct InFlight {
    calls: Arc<Mutex<Vec<Call>>>,
    number: u64,
}

impl Elicitations {
    pub(crate) fn begin(
        &self,
        desk: &Arc<Desk>,
        (server, tool, identity): (&str, &str, String),
        arguments: &Map<String, Value>,
    ) -> InFlight {
        let mut calls = lock(&self.calls);
        let number = calls.last().map_or(0, |call| call.number + 1);
        let (server, tool, desk) = (server.to_owned(), tool.to_owned(), Arc::clone(desk));
        calls.push(Call { number, server, tool, identity, arguments: arguments.clone(), desk });
        InFlight { calls: Arc::clone(&self.calls), number }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        lock(&self.calls).retain(|call| call.number != self.number);
    }
}

#[async_trait]
impl Elicit for Elicitations {
    async fn elicit(&self, request: Elicitation) -> ElicitReply {
        let found = {
            let calls = lock(&self.calls);
            let is_behind = |call: &&Call| {
                call.server == request.server && request.tool.as_ref().is_none_or(|tool| *tool == call.tool)
            };
            let behind: Vec<&Call> = calls.iter().filter(is_behind).collect();
            let of_one_run = behind.windows(2).all(|two| Arc::ptr_eq(&two[0].desk, &two[1].desk));
            behind.first().filter(|_| of_one_run).map(|call| {
                let only = (behind.len() == 1).then(|| (call.identity.clone(), call.arguments.clone()));
                (Arc::clone(&call.desk), only)
            })
        };
        let Some((desk, call)) = found else {
            tracing::warn!(server = request.server, "a question cannot be brought to any one run");
            return ElicitReply::Cancel;
        };
        let call = call.as_ref().map(|(tool, arguments)| (tool.as_str(), arguments));
        match desk.elicit(request, call).await {
            Ok(reply) => reply,
            Err(error) => {
                tracing::error!(%error, "a question is put away");
                ElicitReply::Cancel
            }
        }
    }
}

impl fmt::Debug for Elicitations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elicitations").finish_non_exhaustive()
    }
}

fn lock(calls: &Mutex<Vec<Call>>) -> MutexGuard<'_, Vec<Call>> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}
