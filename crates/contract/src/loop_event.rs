//! What happens inside a run that uses tools.
//!
//! What has an effect is told twice: as an intent before, and as a result after. An intent without a result is
//! something that may have happened.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    ids::{ArtifactId, RunId},
    stop::StopReason,
    usage::TokenUsage,
};

/// The version of these events; grows when a reader of older ones would misread them.
pub const LOOP_EVENT_VERSION: u32 = 1;

/// One event of a run that uses tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LoopEvent {
    /// It begins.
    Started {
        /// [`LOOP_EVENT_VERSION`].
        version: u32,
        /// The run.
        #[schema(value_type = String)]
        run_id: RunId,
        /// The agent's name.
        agent: String,
        /// The model that is asked.
        model: String,
        /// What the person said.
        message: String,
    },
    /// A model is about to be asked.
    ModelCall {
        /// Steps that have been completed.
        step: u32,
        /// The tools that it may call, by the names it knows.
        tools: u32,
        /// The last one: it may call no tool any more.
        last: bool,
    },
    /// The model's reply is whole.
    ModelReply {
        /// What it said.
        text: String,
        /// What it thought before, if it tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
        /// What it wants to be called, in its own words.
        calls: Vec<RequestedCall>,
        /// The finish reason.
        finish: String,
        /// As reported.
        usage: Option<TokenUsage>,
    },
    /// The model's reply failed.
    ModelFailed {
        /// One sentence.
        message: String,
    },
    /// A piece of the model's text. Shown, not logged.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// A tool is about to be called.
    ToolCall {
        /// The id of the model's call.
        call_id: String,
        /// The tool's own name.
        tool: String,
        /// The server it belongs to; none for a tool of this process.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// The arguments as they are sent.
        #[schema(value_type = Object)]
        arguments: Map<String, Value>,
        /// Whether it may be made again if nobody knows what became of it.
        may_repeat: bool,
    },
    /// News of a call that goes on. Shown, not logged.
    ToolProgress {
        /// The id of the model's call.
        call_id: String,
        /// In words.
        message: String,
    },
    /// What the model is told of a call; also of those that were not made.
    ToolResult {
        /// The id of the model's call.
        call_id: String,
        /// The tool's name as the model wrote it.
        tool: String,
        /// What became of it.
        status: ToolStatus,
        /// What the model reads.
        text: String,
        /// What was kept aside.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        artifacts: Vec<ArtifactRef>,
    },
    /// A person is about to be asked.
    Question {
        /// Its number in the run, from 1.
        id: u32,
        /// Why.
        kind: QuestionKind,
        /// The server behind it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// The tool behind it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// The arguments that an approval is bound to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<Object>)]
        arguments: Option<Map<String, Value>>,
        /// What is asked. An elicitation's is the text of a stranger.
        message: String,
        /// JSON Schema of the object that answers an elicitation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<Object>)]
        schema: Option<Value>,
    },
    /// The answer, written before anything follows from it.
    Reply {
        /// The question's number.
        id: u32,
        /// What was answered.
        action: ReplyAction,
        /// The object that answers an elicitation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Value>,
        /// Who answered.
        by: ReplyBy,
    },
    /// It is over.
    Ended {
        /// Why.
        reason: StopReason,
        /// A stable code, where something broke.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// One sentence.
        message: String,
        /// The answer; none where there is none.
        answer: Option<String>,
        /// Steps: turns that used tools.
        steps: u32,
        /// Calls of tools that were made.
        tool_calls: u32,
        /// Of all model calls.
        usage: TokenUsage,
    },
}

impl LoopEvent {
    /// Whether it belongs into the log. What does not is only shown to whoever watches.
    #[must_use]
    pub const fn is_logged(&self) -> bool {
        !matches!(self, Self::TextDelta { .. } | Self::ToolProgress { .. })
    }
}

/// A call as a model asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RequestedCall {
    /// Its id.
    pub call_id: String,
    /// The tool's name as the model wrote it.
    pub tool: String,
    /// The arguments as the model wrote them; no JSON, perhaps.
    pub arguments: String,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It was made, and succeeded.
    Succeeded,
    /// It was made, and failed.
    Failed,
    /// It was not made: no such tool, or the arguments were wrong.
    Invalid,
    /// It was not made: a person, or a policy, said no.
    Declined,
    /// It was not made: cut off, repeated, or beyond a limit.
    Skipped,
    /// Nobody knows whether it happened.
    Unknown,
}

/// Where a part of a result is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ArtifactRef {
    /// Its id.
    #[schema(value_type = String)]
    pub id: ArtifactId,
    /// Its media type.
    pub mime: String,
    /// How long it is.
    pub size_bytes: u64,
}

/// Why a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// Whether a call may be made.
    Approval,
    /// A server wants to know something.
    Elicitation,
}

/// What a person answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyAction {
    /// Yes.
    Accept,
    /// No, and it is final.
    Decline,
    /// Neither.
    Cancel,
}

/// Who answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyBy {
    /// A person.
    Person,
    /// Nobody could be asked, so the policy did.
    Policy,
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::RunEvent;

    fn events() -> Vec<LoopEvent> {
        let run_id = RunId::new("run_000000000000000000000001").unwrap();
        let arguments: Map<String, Value> = [("leave_id".to_owned(), json!("LV-1"))].into_iter().collect();
        let (call_id, tool) = ("c1".to_owned(), "cancel".to_owned());
        let artifact = ArtifactRef {
            id: ArtifactId::new("art_000000000000000000000001").unwrap(),
            mime: "image/png".to_owned(),
            size_bytes: 7,
        };
        let asked = RequestedCall { call_id: call_id.clone(), tool: tool.clone(), arguments: "{".to_owned() };
        vec![
            LoopEvent::Started {
                version: LOOP_EVENT_VERSION,
                run_id,
                agent: "leave".to_owned(),
                model: "small".to_owned(),
                message: "請假".to_owned(),
            },
            LoopEvent::ModelCall { step: 0, tools: 2, last: false },
            LoopEvent::TextDelta { text: "I ".to_owned() },
            LoopEvent::ModelReply {
                text: "I look.".to_owned(),
                reasoning: Some("hm".to_owned()),
                calls: vec![asked],
                finish: "tool_calls".to_owned(),
                usage: None,
            },
            LoopEvent::ModelFailed { message: "gone".to_owned() },
            LoopEvent::Question {
                id: 1,
                kind: QuestionKind::Approval,
                server: Some("hr".to_owned()),
                tool: Some(tool.clone()),
                arguments: Some(arguments.clone()),
                message: "May it?".to_owned(),
                schema: None,
            },
            LoopEvent::Reply { id: 1, action: ReplyAction::Decline, content: None, by: ReplyBy::Person },
            LoopEvent::ToolCall {
                call_id: call_id.clone(),
                tool: tool.clone(),
                server: Some("hr".to_owned()),
                arguments,
                may_repeat: false,
            },
            LoopEvent::ToolProgress { call_id: call_id.clone(), message: "1 of 2".to_owned() },
            LoopEvent::ToolResult {
                call_id,
                tool,
                status: ToolStatus::Succeeded,
                text: "done".to_owned(),
                artifacts: vec![artifact],
            },
            LoopEvent::Ended {
                reason: StopReason::Completed,
                code: None,
                message: "the model answered".to_owned(),
                answer: Some("Done.".to_owned()),
                steps: 1,
                tool_calls: 1,
                usage: TokenUsage::default(),
            },
        ]
    }

    #[test]
    fn each_event_is_one_flat_object_and_is_read_back() {
        let mut lines = String::new();
        for event in events() {
            let json = serde_json::to_string(&RunEvent::Loop(event.clone())).unwrap();
            assert_eq!(serde_json::from_str::<RunEvent>(&json).unwrap(), RunEvent::Loop(event));
            lines.push_str(&json);
            lines.push('\n');
        }
        insta::assert_snapshot!(lines);
    }
}
