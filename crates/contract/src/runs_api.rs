//! `/runs`: what is sent to start, see, answer and stop runs, and what comes back.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    ask::{FieldError, check_number, check_range},
    ids::{ConversationId, RequestId, RunId},
    loop_event::{QuestionKind, ReplyAction},
    runs::RunSummary,
};

/// Longest message, in characters.
pub const MAX_MESSAGE_CHARS: usize = 20_000;

/// Longest name of an agent, in characters.
const MAX_AGENT_CHARS: usize = 64;

/// Most steps that may be asked for.
const MAX_STEPS: u32 = 200;

/// Most calls of tools that may be asked for.
const MAX_TOOL_CALLS: u32 = 1_000;

/// Longest wall time that may be asked for, in milliseconds.
const MAX_WALL_MS: f64 = 86_400_000.0;

/// Starts a run. Unknown fields are refused by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StartRun {
    /// The agent that is to do it, by its name. May be left out in a conversation that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The conversation that it goes on with; it knows what was said there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub conversation: Option<ConversationId>,
    /// What is to be done, in words: 1–20,000 characters.
    #[schema(min_length = 1, max_length = 20_000)]
    pub message: String,
    /// Tighter limits than the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<AskedLimits>,
}

/// Limits of one run. The agent's own, and those of the service, hold where they are tighter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskedLimits {
    /// At most this many steps, 1–200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 200)]
    pub max_steps: Option<u32>,
    /// At most this many calls of tools, 1–1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1_000)]
    pub max_tool_calls: Option<u32>,
    /// At most this much money, as a decimal string in the currency that the service shows: `"0.5"`. More than 0, at most
    /// six decimals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<String>,
    /// At most this many milliseconds of wall time, more than 0, at most a day. Waiting for a person is not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub max_wall_ms: Option<serde_json::Number>,
}

impl StartRun {
    /// Checks every field's range.
    ///
    /// # Errors
    /// The first field that is out of range.
    pub fn check(&self) -> Result<(), FieldError> {
        self.agent.as_deref().map_or(Ok(()), check_agent)?;
        let problem = |text: &str| Err(FieldError::new("message", text));
        if self.message.len() > 4 * MAX_MESSAGE_CHARS || self.message.chars().count() > MAX_MESSAGE_CHARS {
            return problem("longer than 20000 characters");
        }
        if self.message.trim().is_empty() {
            return problem("empty; say in words what is to be done");
        }
        if self.message.contains('\0') {
            return problem("contains a NUL character");
        }
        self.limits.as_ref().map_or(Ok(()), AskedLimits::check)
    }
}

impl AskedLimits {
    fn check(&self) -> Result<(), FieldError> {
        self.max_steps.map_or(Ok(()), |n| check_range("limits.max_steps", n, 1, MAX_STEPS))?;
        self.max_tool_calls.map_or(Ok(()), |n| check_range("limits.max_tool_calls", n, 1, MAX_TOOL_CALLS))?;
        check_number("limits.max_wall_ms", self.max_wall_ms.as_ref(), MAX_WALL_MS)
    }
}

/// Checks that a text could be the name of an agent.
///
/// # Errors
/// If it is empty or over-long.
pub fn check_agent(name: &str) -> Result<(), FieldError> {
    if name.is_empty() || name.len() > 4 * MAX_AGENT_CHARS || name.chars().count() > MAX_AGENT_CHARS {
        return Err(FieldError::new("agent", "must have 1 to 64 characters"));
    }
    Ok(())
}

/// A run that was started. `GET /runs/{id}/events` tells what happens in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StartedRun {
    /// The run.
    #[schema(value_type = String)]
    pub run_id: RunId,
    /// Its agent.
    pub agent: String,
    /// Its conversation, if it belongs to one.
    #[schema(value_type = Option<String>)]
    pub conversation_id: Option<ConversationId>,
    /// Where its events are.
    pub events: String,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}

/// Runs, the latest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunList {
    /// One page of them.
    pub runs: Vec<RunSummary>,
    /// What `before` must be to get the next page; null if this is the last.
    pub next: Option<String>,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunDetail {
    /// It, as lists show it.
    pub run: RunSummary,
    /// Why it ended, in one sentence; null while it goes on.
    pub stop_message: Option<String>,
    /// Its answer, if there is one.
    pub answer: Option<String>,
    /// Steps: turns that used tools.
    pub steps: u32,
    /// Calls of tools that were made.
    pub tool_calls: u32,
    /// What it waits for a person to answer.
    pub questions: Vec<OpenQuestion>,
    /// The number of its last event so far; 0 if it has none.
    pub last_event: u64,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}

/// A question that nobody has answered yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct OpenQuestion {
    /// Its number in the run: `POST /runs/{run}/replies/{id}` answers it.
    pub id: u32,
    /// Why it is asked.
    pub kind: QuestionKind,
    /// The server behind it.
    pub server: Option<String>,
    /// The tool behind it.
    pub tool: Option<String>,
    /// The arguments that an approval is bound to.
    #[schema(value_type = Option<Object>)]
    pub arguments: Option<Map<String, Value>>,
    /// What is asked. An elicitation's is the text of a stranger: show it, do not obey it.
    pub message: String,
    /// JSON Schema of the object that answers an elicitation.
    #[schema(value_type = Option<Object>)]
    pub schema: Option<Value>,
}

/// An answer that was taken. It is written down by now, and the run goes on with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ReplyTaken {
    /// The run.
    #[schema(value_type = String)]
    pub run_id: RunId,
    /// The question's number.
    pub id: u32,
    /// What was answered.
    pub action: ReplyAction,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}

/// A run that was told to stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunCancelled {
    /// The run.
    #[schema(value_type = String)]
    pub run_id: RunId,
    /// Whether it was going on; a run that is over stays as it ended.
    pub cancelled: bool,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}

/// What the model has said so far of the reply that is being written, in place of every piece of it that was shown
/// before. Sent to whoever comes in the middle of it; without a number, like the pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "event", rename = "text_so_far")]
pub struct TextSoFar {
    /// The text.
    pub text: String,
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]
mod tests {
    use super::*;

    fn problem(json: &str) -> String {
        let read: Result<StartRun, _> = serde_json::from_str(json);
        match read {
            Err(error) => error.to_string(),
            Ok(run) => run.check().map_or_else(|error| error.to_string(), |()| "fine".to_owned()),
        }
    }

    #[test]
    fn a_run_that_cannot_be_started_is_refused_by_field() {
        let rows = [
            (r#"{"agent":"hr","message":"a"}"#, "fine"),
            (r#"{"message":"a","limits":{"max_steps":1,"max_tool_calls":1,"max_cost":"1","max_wall_ms":1}}"#, "fine"),
            (r#"{"agent":"hr"}"#, "missing field `message`"),
            (r#"{"agent":"hr","message":" "}"#, "message: empty"),
            (r#"{"agent":"hr","message":"a\u0000"}"#, "message: contains a NUL"),
            (r#"{"agent":"","message":"a"}"#, "agent: must have"),
            (r#"{"message":"a","conversation":"x"}"#, "conversation id"),
            (r#"{"message":"a","stream":true}"#, "unknown field `stream`"),
            (r#"{"message":"a","limits":{"steps":1}}"#, "unknown field `steps`"),
            (r#"{"message":"a","limits":{"max_steps":0}}"#, "limits.max_steps: 0 is outside 1 to 200"),
            (r#"{"message":"a","limits":{"max_tool_calls":1001}}"#, "limits.max_tool_calls: 1001"),
            (r#"{"message":"a","limits":{"max_wall_ms":0}}"#, "limits.max_wall_ms: must be more than 0"),
            (r#"{"message":"a","limits":{"max_wall_ms":86400001}}"#, "limits.max_wall_ms: must be more than 0"),
        ];
        for (json, expected) in rows {
            let problem = problem(json);
            assert!(problem.contains(expected), "{json}: {problem}");
        }
        let long = StartRun { agent: None, conversation: None, message: "假".repeat(20_001), limits: None };
        assert!(long.check().unwrap_err().to_string().contains("20000"));
    }
}
