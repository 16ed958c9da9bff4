//! Making one call: timed, cancellable, and with a result whatever happens.

use std::{sync::Arc, time::Duration};

use bylaw_contract::{ArtifactId, LoopEvent, loop_event::ToolStatus};
use bylaw_mcp::{CallOptions, McpClient, McpError, Progress, ToolAnnotations, ToolOutcome};
use bylaw_model::ToolCallRequest;
use serde_json::{Map, Value};

use crate::{
    arguments::{self, Validation},
    artifacts,
    desk::identity,
    end::Ending,
    repair,
    results::{Presented, Presenter},
    state::Run,
    tool::{Tool, ToolContext, ToolInfo},
    toolbox::{Entry, Owner, Shelf, canonical},
};

/// How long a call that was cancelled may take to say goodbye.
const GOODBYE: Duration = Duration::from_millis(100);

/// A call that may be made.
pub(crate) struct Call {
    what: What,
    pub(crate) arguments: Map<String, Value>,
    /// The tool and its arguments, in one form.
    pub(crate) key: String,
}

enum What {
    Tool(Arc<Entry>),
    /// Reading on in one of these.
    Reader(Box<(ToolInfo, Vec<ArtifactId>)>),
}

/// A call that was made.
pub(crate) struct Made {
    pub(crate) text: String,
    pub(crate) artifacts: Vec<ArtifactId>,
    /// Whether it changed something, as far as anybody knows.
    pub(crate) changed: bool,
    /// Whether a person refused what the server asked.
    pub(crate) declined: bool,
    /// Whether its result is in the log.
    pub(crate) written: Result<(), Ending>,
}

/// What came of it, before it is put into words.
enum Came {
    Outcome(ToolOutcome),
    Text(String),
    Failed(ToolStatus, String),
}

impl Call {
    /// Reads a call; else what the model should fix.
    pub(crate) fn prepare(tools: &Shelf, request: &ToolCallRequest, how: Validation) -> Result<Self, String> {
        let entry = tools.get(&request.name).ok_or_else(|| repair::unknown_tool(&request.name, tools))?;
        let invalid = |problems: &[String]| repair::invalid(request, entry, problems);
        let arguments = arguments::parse(request).map_err(|problem| invalid(&[problem]))?;
        let arguments = match entry.validator() {
            Some(validator) => arguments::satisfy(validator, arguments, how).map_err(|problems| invalid(&problems))?,
            None => arguments,
        };
        let key = format!("{}{}", request.name, canonical(&arguments));
        Ok(Self { what: What::Tool(Arc::clone(entry)), arguments, key })
    }

    pub(crate) fn reader(request: &ToolCallRequest, known: &[ArtifactId]) -> Result<Self, String> {
        let arguments = arguments::parse(request)?;
        let key = format!("{}{}", request.name, canonical(&arguments));
        Ok(Self { what: What::Reader(Box::new((artifacts::reader_info(), known.to_vec()))), arguments, key })
    }

    /// The tool; none for the one that reads artifacts.
    pub(crate) fn entry(&self) -> Option<&Arc<Entry>> {
        match &self.what {
            What::Tool(entry) => Some(entry),
            What::Reader(_) => None,
        }
    }

    fn info(&self) -> &ToolInfo {
        match &self.what {
            What::Tool(entry) => &entry.info,
            What::Reader(reader) => &reader.0,
        }
    }

    pub(crate) fn annotations(&self) -> ToolAnnotations {
        self.info().annotations
    }

    pub(crate) fn polls(&self) -> bool {
        self.info().polls
    }

    pub(crate) fn intent(&self, call_id: &str) -> LoopEvent {
        LoopEvent::ToolCall {
            call_id: call_id.to_owned(),
            tool: self.info().name.clone(),
            server: self.entry().and_then(|entry| entry.server()).map(str::to_owned),
            arguments: self.arguments.clone(),
            may_repeat: self.info().annotations.may_repeat(),
        }
    }
}

impl Run<'_> {
    /// Makes a call and writes its result down.
    pub(crate) async fn make(&self, call: &Call, request: &ToolCallRequest) -> Made {
        let (came, declined) = match &call.what {
            What::Reader(reader) => (self.read(call, &reader.1).await, false),
            What::Tool(entry) => {
                let was_declined = |run: &Self| run.desk.declined().is_refused(&identity(entry), &call.arguments);
                let came = self.call_tool(entry, call, request).await;
                // It would not have been made if this had been refused before.
                (came, was_declined(self))
            }
        };
        let presenter = Presenter {
            store: &*self.with.artifacts,
            randomness: &*self.with.randomness,
            limit_bytes: self.agent.limits.result_bytes,
        };
        let (status, mut presented) = match came {
            Came::Outcome(outcome) => {
                let is_error = outcome.is_error;
                let mut presented = presenter.outcome(outcome).await;
                if is_error {
                    presented.text.insert_str(0, "The tool failed: ");
                }
                (if is_error { ToolStatus::Failed } else { ToolStatus::Succeeded }, presented)
            }
            // Cut to size where it was read.
            Came::Text(text) => (ToolStatus::Succeeded, Presented { text, artifacts: Vec::new() }),
            Came::Failed(status, message) => (status, presenter.text(message).await),
        };
        if declined {
            presented.text.push_str(repair::REFUSED_IN_CALL);
        }
        let Presented { text, artifacts } = presented;
        let kept = artifacts.iter().map(|artifact| artifact.id.clone()).collect();
        let (call_id, tool) = (request.id.clone(), request.name.clone());
        let written =
            self.log(vec![LoopEvent::ToolResult { call_id, tool, status, text: text.clone(), artifacts }]).await;
        let may_have_changed = matches!(status, ToolStatus::Succeeded | ToolStatus::Unknown);
        let changed = may_have_changed && !call.info().annotations.read_only;
        Made { text, artifacts: kept, changed, declined, written }
    }

    async fn read(&self, call: &Call, known: &[ArtifactId]) -> Came {
        let limit = self.agent.limits.result_bytes;
        match artifacts::read(&*self.with.artifacts, known, call.arguments.clone(), limit).await {
            Ok(text) => Came::Text(text),
            Err(problem) => Came::Failed(ToolStatus::Failed, problem),
        }
    }

    /// Waits for a call, but no longer than anybody wants its result.
    async fn call_tool(&self, entry: &Entry, call: &Call, request: &ToolCallRequest) -> Came {
        let cancel = self.with.cancel.child_token();
        let watcher = (Arc::clone(&self.with.log), request.id.clone());
        let progress = move |message| {
            watcher.0.show(LoopEvent::ToolProgress { call_id: watcher.1.clone(), message });
        };
        let made = async {
            match &entry.owner {
                Owner::Process(tool) => {
                    let context = ToolContext {
                        cancel: cancel.clone(),
                        progress: Arc::new(progress),
                        answer: Arc::clone(&self.answer),
                    };
                    in_process(&**tool, entry, call.arguments.clone(), context).await
                }
                Owner::Server(client) => {
                    let _in_flight = self.with.elicitations.as_ref().map(|elicitations| {
                        let who = (client.name(), entry.info.name.as_str(), identity(entry));
                        elicitations.begin(&self.desk, who, &call.arguments)
                    });
                    let how = CallOptions {
                        cancel: cancel.clone(),
                        progress: Some(Arc::new(move |news: Progress| progress(in_words(&news)))),
                        timeout: entry.info.timeout,
                    };
                    at_server(client, entry, &call.arguments, how).await
                }
            }
        };
        tokio::pin!(made);
        let why = tokio::select! {
            biased;
            came = &mut made => return came,
            () = self.with.cancel.cancelled() => "it was cancelled",
            () = self.deadline.passed() => "the time of this run was up",
        };
        cancel.cancel();
        // So that the server is told.
        if let Ok(came @ (Came::Outcome(_) | Came::Text(_))) = tokio::time::timeout(GOODBYE, made).await {
            return came;
        }
        let message = match call.info().annotations.read_only {
            true => format!("This call was not finished: {why}."),
            false => {
                format!("The outcome of this call is unknown: {why}. It may have happened; look before you call again.")
            }
        };
        Came::Failed(ToolStatus::Unknown, message)
    }
}

async fn in_process(tool: &dyn Tool, entry: &Entry, arguments: Map<String, Value>, context: ToolContext) -> Came {
    let made = tool.call(arguments, context);
    let made = match entry.info.timeout {
        Some(timeout) => match tokio::time::timeout(timeout, made).await {
            Ok(made) => made,
            Err(_) => {
                let message = format!("{} did not end within {timeout:?}; its outcome is unknown.", entry.shown);
                return Came::Failed(ToolStatus::Unknown, message);
            }
        },
        None => made.await,
    };
    match made {
        Ok(outcome) => Came::Outcome(outcome),
        Err(message) => Came::Failed(ToolStatus::Failed, message),
    }
}

async fn at_server(client: &McpClient, entry: &Entry, arguments: &Map<String, Value>, how: CallOptions) -> Came {
    match client.call(&entry.info.name, arguments, how).await {
        Ok(outcome) => Came::Outcome(outcome),
        Err(error) => {
            let status = if is_unknown(&error) { ToolStatus::Unknown } else { ToolStatus::Failed };
            Came::Failed(status, format!("The call failed: {error}."))
        }
    }
}

fn is_unknown(error: &McpError) -> bool {
    error.may_have_happened() && !matches!(error, McpError::TooLarge { .. })
}

fn in_words(news: &Progress) -> String {
    let far = match news.total {
        Some(total) => format!("{} of {total}", news.done),
        None => news.done.to_string(),
    };
    match &news.message {
        Some(message) => format!("{far}: {message}"),
        None => far,
    }
}
