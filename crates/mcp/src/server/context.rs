//! What a handler is given with a call.

use std::sync::Arc;

use rmcp::{
    RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::Peer,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{Caller, Confirmation, Question, ToolStop, confirm::Asker};
use crate::client::Progress;

/// One call of a tool.
pub struct CallContext {
    /// Who calls.
    pub caller: Caller,
    /// What with. It satisfies the tool's input schema.
    pub arguments: Map<String, Value>,
    /// Fires when the caller gives up. In the older era a connection that breaks does not fire it, because the client may
    /// come back for the reply.
    pub cancel: CancellationToken,
    /// Where news of a long call goes.
    pub progress: ProgressReporter,
    pub(super) asker: Asker,
}

impl CallContext {
    /// The arguments as a type.
    ///
    /// # Errors
    /// A tool error that says which argument is wrong.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ToolStop> {
        serde_json::from_value(Value::Object(self.arguments.clone())).map_err(|error| {
            ToolStop::refused(format!("The arguments are wrong: {error}. Correct them and call again."))
        })
    }

    /// Whether this client can put a question to its human.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        self.asker.can_ask()
    }

    /// Asks the human, in whichever era, and comes back with the answer. One question per call.
    ///
    /// In the newer era the handler ends here when the question is put, and runs again from its beginning when the answer
    /// comes: do nothing before this line that must not be done twice.
    ///
    /// # Errors
    /// To be passed on with `?`: the question is being put, the call was cancelled, or what the client brings as an answer
    /// is forged, was given to somebody else or for something else, or was used before.
    pub async fn confirm(&self, question: Question) -> Result<Confirmation, ToolStop> {
        self.asker.ask(&self.caller, &self.arguments, &self.cancel, &question).await
    }
}

/// Tells a client how a call goes, if it wants to know.
#[derive(Clone)]
pub struct ProgressReporter(Option<Arc<(Peer<RoleServer>, ProgressToken)>>);

impl ProgressReporter {
    pub(super) fn new(peer: &Peer<RoleServer>, token: Option<ProgressToken>) -> Self {
        Self(token.map(|token| Arc::new((peer.clone(), token))))
    }

    /// Whether anybody wants to know.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Says how far it is. `done` grows with each report.
    pub async fn report(&self, news: Progress) {
        let Some((peer, token)) = self.0.as_deref() else { return };
        let mut params = ProgressNotificationParam::new(token.clone(), news.done);
        params.total = news.total;
        params.message = news.message;
        // Who has gone needs no news.
        let _ = peer.notify_progress(params).await;
    }
}
