//! One call of one tool, however often it comes back for more input.

use std::{fmt, sync::Arc, time::Duration};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ElicitResult, InputRequest,
    InputRequiredResult, InputResponses, ServerResult,
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    McpError, ToolOutcome,
    connection::Connection,
    trouble::{Asked, Trouble},
};

/// News of a call that goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How far it is.
    pub done: f64,
    /// Of how much, if that is known.
    pub total: Option<f64>,
    /// In words.
    pub message: Option<String>,
}

/// Who hears of progress. Called between two steps of the call: it must not block.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// How one call is made; by default it is neither cancelled nor watched.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// Ends the call. The server is told, and the caller hears at once.
    pub cancel: CancellationToken,
    /// Hears of its progress.
    pub progress: Option<ProgressSink>,
    /// Instead of the client's `call_timeout`.
    pub timeout: Option<Duration>,
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl Connection {
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        how: &CallOptions,
    ) -> Result<ToolOutcome, Trouble> {
        let asked = Asked { server: &self.server, tool };
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments.clone());
        for round in 0..=self.options.max_rounds {
            let request = CallToolRequest::new(params.clone());
            match self.request(ClientRequest::CallToolRequest(request), asked, how).await? {
                ServerResult::CallToolResult(result) => return Ok(ToolOutcome::of(result)),
                ServerResult::InputRequiredResult(required) => {
                    params.request_state.clone_from(&required.request_state);
                    params.input_responses = self.input(required, round, asked, &how.cancel).await?;
                }
                ServerResult::CreateTaskResult(_) => return Err(unsupported(asked, "to run a task in the background")),
                ServerResult::EmptyResult(_) => return Ok(ToolOutcome::of(CallToolResult::success(vec![]))),
                ServerResult::CustomResult(custom) => {
                    return ToolOutcome::read(&custom.0)
                        .ok_or_else(|| Trouble::Lost("its reply is no result of a tool".to_owned()));
                }
                _ => return Err(Trouble::Lost("its reply belongs to something else".to_owned())),
            }
        }
        let (server, tool) = (self.server.clone(), tool.to_owned());
        Err(Trouble::Final(McpError::TooManyRounds { server, tool, rounds: self.options.max_rounds }))
    }

    /// Collects what a server wants before it goes on. Nothing of this call is running there meanwhile.
    async fn input(
        &self,
        required: InputRequiredResult,
        round: usize,
        asked: Asked<'_>,
        cancel: &CancellationToken,
    ) -> Result<Option<InputResponses>, Trouble> {
        let cancelled =
            || Trouble::Final(McpError::Cancelled { server: asked.server.to_owned(), tool: asked.tool.to_owned() });
        if round == self.options.max_rounds {
            // It is not asked again, so nobody is asked or waited for.
            return Ok(None);
        }
        let Some(requests) = required.input_requests.filter(|requests| !requests.is_empty()) else {
            // It is put off without a question, and asked again a little later each time.
            let doubled = 2u32.saturating_pow(u32::try_from(round).unwrap_or(u32::MAX));
            let wait = self.options.first_backoff.saturating_mul(doubled).min(self.options.max_backoff);
            return tokio::select! {
                () = tokio::time::sleep(wait) => Ok(None),
                () = cancel.cancelled() => Err(cancelled()),
            };
        };
        let mut responses = InputResponses::new();
        for (key, request) in requests {
            let response = match request {
                InputRequest::Elicitation(elicitation) => {
                    let tool = Some(asked.tool.to_owned());
                    let result = self.handler.ask(elicitation.params, tool, cancel).await;
                    let result: ElicitResult = result.map_err(|error| unsupported(asked, &error.message))?;
                    serde_json::to_value(result).unwrap_or_default()
                }
                InputRequest::ListRoots(_) => json!({ "roots": [] }),
                InputRequest::CreateMessage(_) => return Err(unsupported(asked, "a model")),
                _ => return Err(unsupported(asked, "something unknown")),
            };
            responses.insert(key, response);
            if cancel.is_cancelled() {
                return Err(cancelled());
            }
        }
        Ok(Some(responses))
    }
}

fn unsupported(asked: Asked<'_>, what: &str) -> Trouble {
    let (server, tool) = (asked.server.to_owned(), asked.tool.to_owned());
    Trouble::Final(McpError::Unsupported { server, tool, what: what.to_owned() })
}
