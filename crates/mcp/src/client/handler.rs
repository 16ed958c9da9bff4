//! What a server may send of its own accord: questions, progress, news of its tools.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    ClientHandler,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
        ErrorData, FormElicitationCapability, Implementation, ProgressNotificationParam, ProgressToken,
        ProtocolVersion, RequestId,
    },
    service::{InboundStreamOrigin, NotificationContext, RequestContext, RoleClient},
};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::{Elicit, ElicitReply, Elicitation, call::Progress};

/// A call in flight, as its server may refer to it.
#[derive(Clone)]
struct Open {
    request: RequestId,
    tool: String,
    progress: mpsc::Sender<Progress>,
    over: CancellationToken,
}

/// Receives for one connection.
pub(super) struct Handler {
    pub(super) server: String,
    pub(super) elicit: Option<Arc<dyn Elicit>>,
    pub(super) elicit_timeout: Duration,
    /// How many questions are before the human.
    pub(super) asking: watch::Sender<usize>,
    /// Counts the news of changed tools.
    pub(super) changes: watch::Sender<u64>,
    open: Mutex<HashMap<ProgressToken, Open>>,
    /// Held while a call is sent and entered above, so that nothing that answers it can be faster.
    pub(super) entering: tokio::sync::Mutex<()>,
}

impl Handler {
    pub(super) fn new(
        server: String,
        elicit: Option<Arc<dyn Elicit>>,
        elicit_timeout: Duration,
        changes: watch::Sender<u64>,
    ) -> Self {
        let asking = watch::Sender::new(0);
        let (open, entering) = Default::default();
        Self { server, elicit, elicit_timeout, asking, changes, open, entering }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a call; `over` ends the questions it asks.
    pub(super) fn enter(
        &self,
        token: ProgressToken,
        request: RequestId,
        tool: &str,
        over: CancellationToken,
    ) -> mpsc::Receiver<Progress> {
        // News that nobody fetches is dropped: the next says more.
        let (progress, receiver) = mpsc::channel(16);
        self.open().insert(token, Open { request, tool: tool.to_owned(), progress, over });
        receiver
    }

    pub(super) fn leave(&self, token: &ProgressToken) {
        if let Some(open) = self.open().remove(token) {
            open.over.cancel();
        }
    }

    /// The call behind a question: the one whose reply it came in, or the only one there is.
    fn call_behind(&self, context: &RequestContext<RoleClient>) -> Option<Open> {
        let open = self.open();
        match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => open.values().find(|call| call.request == *id).cloned(),
            _ if open.len() == 1 => open.values().next().cloned(),
            _ => None,
        }
    }

    /// Asks the human, for either era.
    pub(super) async fn ask(
        &self,
        params: ElicitRequestParams,
        tool: Option<String>,
        over: &CancellationToken,
    ) -> Result<ElicitResult, ErrorData> {
        let Some(elicit) = &self.elicit else {
            return Err(ErrorData::invalid_request("there is nobody to ask", None));
        };
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = params else {
            return Err(ErrorData::invalid_params("only forms can be shown", None));
        };
        let schema = serde_json::to_value(requested_schema)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let question = Elicitation { server: self.server.clone(), tool, message, schema };
        self.asking.send_modify(|asking| *asking += 1);
        let _done = Done(&self.asking);
        let reply = tokio::select! {
            reply = tokio::time::timeout(self.elicit_timeout, elicit.elicit(question)) => {
                reply.unwrap_or(ElicitReply::Cancel)
            }
            () = over.cancelled() => ElicitReply::Cancel,
        };
        Ok(match reply {
            ElicitReply::Accept(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
            ElicitReply::Decline => ElicitResult::new(ElicitationAction::Decline),
            ElicitReply::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        })
    }
}

/// Counts a question down, also when its future is dropped.
struct Done<'a>(&'a watch::Sender<usize>);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|asking| *asking -= 1);
    }
}

/// A handler that connection and service share.
pub(super) struct Shared(pub(super) Arc<Handler>);

impl ClientHandler for Shared {
    fn get_info(&self) -> ClientConfig {
        // Offered only if there is somebody to ask: a server must be able to tell, and refuse by itself.
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = self
            .0
            .elicit
            .as_ref()
            .map(|_| ElicitationCapability::new().with_form(FormElicitationCapability::default()));
        let mut config = ClientConfig::new(capabilities, Implementation::new("bylaw", env!("CARGO_PKG_VERSION")));
        // What an older server is greeted with; newer ones are told with each request.
        config.protocol_version = ProtocolVersion::V_2025_11_25;
        config
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        drop(self.0.entering.lock().await);
        let call = self.0.call_behind(&context);
        let (tool, over) = call.map_or_else(Default::default, |call| (Some(call.tool), call.over));
        tokio::select! {
            result = self.0.ask(request, tool, &over) => result,
            // The server takes its question back.
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        drop(self.0.entering.lock().await);
        let sender = self.0.open().get(&params.progress_token).map(|call| call.progress.clone());
        if let Some(sender) = sender {
            let news = Progress { done: params.progress, total: params.total, message: params.message };
            let _ = sender.try_send(news);
        }
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.changes.send_modify(|changes| *changes += 1);
    }
}
