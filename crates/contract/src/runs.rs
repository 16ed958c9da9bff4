//! Runs and conversations as they are kept and shown.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ask::Mode,
    event::RunEvent,
    ids::{ConversationId, KeyId, RequestId, RunId},
    loop_event::ReplyAction,
    money::MicroUsd,
    stop::StopReason,
    time::Timestamp,
    usage::TokenUsage,
};

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It goes on.
    Running,
    /// It waits for a person: at least one question is open.
    Waiting,
    /// It is over.
    Ended,
}

/// What a run was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// A question: `POST /ask`.
    Ask,
    /// Something to be done by an agent: `POST /runs`.
    Agent,
}

/// One run, as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunSummary {
    /// The run's id.
    #[schema(value_type = String)]
    pub run_id: RunId,
    /// What it is doing.
    pub status: RunStatus,
    /// What it was asked for.
    pub kind: RunKind,
    /// The mode that was asked for; null for an agent's run.
    pub mode: Option<Mode>,
    /// The agent; null for a question.
    pub agent: Option<String>,
    /// The model; null where none is asked, or none can be known yet.
    pub model: Option<String>,
    /// The conversation it belongs to.
    #[schema(value_type = Option<String>)]
    pub conversation_id: Option<ConversationId>,
    /// The question, or what the person said.
    pub message: String,
    /// The key that pays; null for the local door.
    #[schema(value_type = Option<String>)]
    pub key: Option<KeyId>,
    /// The label of the request that began it.
    #[schema(value_type = String)]
    pub request_id: RequestId,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    pub stop: Option<StopReason>,
    /// A stable code, where something broke.
    pub code: Option<String>,
    /// Tokens of all its model calls, once it has ended.
    pub usage: Option<TokenUsage>,
    /// What it cost, in millionths of a US dollar, where its end says so. The ledger always knows.
    pub cost_micro_usd: Option<MicroUsd>,
}

/// One event of a run, as it is kept: `{"number", "at", "event", …}`, flat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumberedEvent {
    /// Its place in the run: from 1, without gaps.
    pub number: u64,
    /// When it was reported.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: RunEvent,
}

/// A person's answer to a question of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunReply {
    /// What is answered.
    pub action: ReplyAction,
    /// The object that answers an elicitation; only with `accept`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
}

/// One conversation, as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ConversationSummary {
    /// The conversation's id.
    #[schema(value_type = String)]
    pub conversation_id: ConversationId,
    /// What it is called.
    pub title: String,
    /// The agent that it is held with.
    pub agent: Option<String>,
    /// The key it belongs to; null for the local door.
    #[schema(value_type = Option<String>)]
    pub key: Option<KeyId>,
    /// When it began.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The run that is under way in it.
    #[schema(value_type = Option<String>)]
    pub busy: Option<RunId>,
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{LoopEvent, loop_event::ReplyBy};

    #[test]
    fn runs_and_conversations_are_shown_with_every_field() {
        let run_id = RunId::new("run_000000000000000000000001").unwrap();
        let conversation_id = ConversationId::new("cnv_000000000000000000000001").unwrap();
        let key = KeyId::new("key_000000000000000000000001").ok();
        let run = RunSummary {
            run_id: run_id.clone(),
            status: RunStatus::Ended,
            kind: RunKind::Agent,
            mode: None,
            agent: Some("leave".to_owned()),
            model: Some("small".to_owned()),
            conversation_id: Some(conversation_id.clone()),
            message: "請假".to_owned(),
            key: key.clone(),
            request_id: RequestId::new("r").unwrap(),
            started_at: Timestamp(1),
            ended_at: Some(Timestamp(2)),
            stop: Some(StopReason::Completed),
            code: None,
            usage: Some(TokenUsage::default()),
            cost_micro_usd: None,
        };
        let conversation = ConversationSummary {
            conversation_id,
            title: "請假".to_owned(),
            agent: None,
            key,
            created_at: Timestamp(1),
            updated_at: Timestamp(2),
            busy: Some(run_id),
        };
        insta::assert_snapshot!(format!(
            "{}\n{}",
            serde_json::to_string(&run).unwrap(),
            serde_json::to_string(&conversation).unwrap()
        ));
    }

    #[test]
    fn a_kept_event_is_one_flat_object_and_is_read_back() {
        let reply = LoopEvent::Reply {
            id: 7,
            action: ReplyAction::Accept,
            content: Some(json!({ "number": 9 })),
            by: ReplyBy::Person,
        };
        for event in [RunEvent::Loop(reply), RunEvent::Citations { citations: Vec::new() }] {
            let kept = NumberedEvent { number: u64::MAX, at: Timestamp(-5), event };
            let text = serde_json::to_string(&kept).unwrap();
            assert!(text.starts_with(r#"{"number":18446744073709551615,"at":-5,"event":""#), "{text}");
            assert_eq!(serde_json::from_str::<NumberedEvent>(&text).unwrap(), kept);
        }
    }

    #[test]
    fn a_reply_is_read_strictly() {
        let check = |text: &str, is_valid: bool| {
            assert_eq!(serde_json::from_str::<RunReply>(text).is_ok(), is_valid, "{text}");
        };
        check(r#"{"action":"decline"}"#, true);
        check(r#"{"action":"accept","content":{"day":"1"}}"#, true);
        check(r#"{"action":"maybe"}"#, false);
        check(r#"{"action":"accept","contents":{}}"#, false);
        check("{}", false);
    }
}
