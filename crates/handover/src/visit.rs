//! One call of a tool as a visit at the door: under a label, within a limit, and given up with its caller.

use std::{sync::Arc, time::Duration};

use bylaw_contract::{Randomness, RequestId};
use bylaw_mcp::{Caller, ToolStop};
use tokio_util::sync::CancellationToken;

use crate::{DoorError, FrontDoor, HandoverSettings, Visit, error_text};

/// How long anything but an answer may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What every tool stands on.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) door: Arc<dyn FrontDoor>,
    pub(crate) settings: Arc<HandoverSettings>,
    pub(crate) random: Arc<dyn Randomness>,
}

impl Desk {
    pub(crate) fn visit(&self, caller: &Caller, cancel: &CancellationToken) -> Visit {
        Visit {
            principal: caller.principal.clone(),
            request_id: RequestId::mint(&*self.random),
            cancel: cancel.clone(),
        }
    }

    /// What is said of arguments that a tool's schema refuses, before there is a visit.
    pub(crate) fn wrong(&self, caller: &Caller, problems: &str) -> ToolStop {
        error_text::wrong(problems, &RequestId::mint(&*self.random), caller.language)
    }
}

/// What comes of a request within a limit. One that is over, or not wanted any more, is dropped.
pub(crate) async fn within<T>(
    visit: &Visit,
    limit: Duration,
    request: impl Future<Output = Result<T, DoorError>>,
) -> Result<T, DoorError> {
    tokio::select! {
        () = visit.cancel.cancelled() => Err(DoorError::Cancelled),
        ended = tokio::time::timeout(limit, request) => ended.unwrap_or(Err(DoorError::Late(limit))),
    }
}
