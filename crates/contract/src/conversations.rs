//! `/conversations`: many runs in a row, and what was said in them.

use serde::{Deserialize, Serialize};

use crate::{
    ask::FieldError,
    ids::{ArtifactId, ConversationId, RequestId},
    loop_event::RequestedCall,
    runs::{ConversationSummary, RunSummary},
    runs_api::check_agent,
};

/// Longest title, in characters.
const MAX_TITLE_CHARS: usize = 200;

/// Begins a conversation. Unknown fields are refused by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BeginConversation {
    /// The agent that one speaks with; a run may name another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What people call it, at most 200 characters; nothing if it is left out.
    #[serde(default)]
    #[schema(max_length = 200)]
    pub title: String,
}

impl BeginConversation {
    /// Checks every field's range.
    ///
    /// # Errors
    /// The first field that is out of range.
    pub fn check(&self) -> Result<(), FieldError> {
        self.agent.as_deref().map_or(Ok(()), check_agent)?;
        let title = &self.title;
        if title.len() > 4 * MAX_TITLE_CHARS || title.chars().count() > MAX_TITLE_CHARS {
            return Err(FieldError::new("title", "longer than 200 characters"));
        }
        if title.chars().any(char::is_control) {
            return Err(FieldError::new("title", "contains a control character"));
        }
        Ok(())
    }
}

/// A conversation that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ConversationBegun {
    /// It.
    pub conversation: ConversationSummary,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}

/// Conversations, the latest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ConversationList {
    /// One page of them.
    pub conversations: Vec<ConversationSummary>,
    /// What `before` must be to get the next page; null if this is the last.
    pub next: Option<String>,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}

/// A conversation with all that was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ConversationDetail {
    /// It, as lists show it.
    pub conversation: ConversationSummary,
    /// Its runs, the latest first; at most 200.
    pub runs: Vec<RunSummary>,
    /// What was said in those that are over.
    pub messages: Vec<ConversationMessage>,
    /// What was kept aside.
    #[schema(value_type = Vec<String>)]
    pub artifacts: Vec<ArtifactId>,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ConversationMessage {
    /// Who said it.
    pub role: Speaker,
    /// What was said.
    pub text: String,
    /// What a model wanted to be called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<RequestedCall>,
    /// The call that a tool answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

/// A conversation that was deleted, with its runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ConversationDeleted {
    /// It.
    #[schema(value_type = String)]
    pub conversation_id: ConversationId,
    /// The request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
}
