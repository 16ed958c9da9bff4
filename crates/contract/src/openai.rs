//! `/v1`: questions and answers in the shapes of OpenAI's chat completions, with ours beside them in `bylaw`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    ask::Answer,
    error::ErrorCode,
    ids::{RequestId, RunId},
};

/// `GET /v1/models`: the modes that can be asked, as models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ModelList {
    /// Always `list`.
    pub object: String,
    /// The models.
    pub data: Vec<ModelEntry>,
}

/// A mode, as a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ModelEntry {
    /// `bylaw-auto`, `bylaw-extract`, `bylaw-pipeline` or `bylaw-agent`.
    pub id: String,
    /// Always `model`.
    pub object: String,
    /// Always 0: modes were not made at some time.
    pub created: i64,
    /// Always `bylaw`.
    pub owned_by: String,
}

/// A question in OpenAI's shape. Fields that are not named here are ignored.
#[derive(Clone, Debug, PartialEq, Deserialize, utoipa::ToSchema)]
pub struct ChatRequest {
    /// A model of `GET /v1/models`.
    pub model: String,
    /// The last one of the user is the question; the others are not used.
    #[schema(value_type = Vec<ChatMessage>)]
    pub messages: Vec<Map<String, Value>>,
    /// Answer as Server-Sent Events.
    #[serde(default)]
    pub stream: Option<bool>,
    /// What a stream holds.
    #[serde(default)]
    pub stream_options: Option<StreamOptions>,
    /// Answers that are wanted: 1.
    #[serde(default)]
    #[schema(value_type = Option<u32>)]
    pub n: Option<Value>,
    /// Refused, unless it is empty: the rules are all that is asked.
    #[serde(default)]
    pub tools: Option<Value>,
    /// Refused likewise.
    #[serde(default)]
    pub functions: Option<Value>,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChatMessage {
    /// `user`, or anything else.
    pub role: String,
    /// Text, or parts of the type `text`.
    pub content: Value,
}

/// What a stream holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
pub struct StreamOptions {
    /// The last piece has `usage`.
    #[serde(default)]
    pub include_usage: Option<bool>,
}

/// An answer in OpenAI's shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChatCompletion {
    /// `chatcmpl-` and the run's id.
    pub id: String,
    /// Always `chat.completion`.
    pub object: String,
    /// When the question arrived, in seconds since 1970.
    pub created: i64,
    /// The model that was asked for.
    pub model: String,
    /// One.
    pub choices: Vec<ChatChoice>,
    /// Tokens; all zero where no model was called.
    pub usage: ChatUsage,
    /// What OpenAI's shape has no place for.
    pub bylaw: Beside,
}

/// The one answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChatChoice {
    /// Always 0.
    pub index: u32,
    /// What is said.
    pub message: ChatReply,
    /// `stop`, or `length` where a limit or a fault ended the work before its time.
    pub finish_reason: FinishReason,
    /// Always null.
    pub logprobs: Option<()>,
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChatReply {
    /// Always `assistant`.
    pub role: String,
    /// The answer, the sentence of a stop or of silence, and the articles as numbered links, in Markdown.
    pub content: String,
    /// Always null.
    pub refusal: Option<()>,
}

/// Why an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It is whole.
    Stop,
    /// A limit or a fault ended the work before its time; `bylaw.stop` says which.
    Length,
}

/// Tokens, in OpenAI's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChatUsage {
    /// Tokens of the prompts.
    pub prompt_tokens: u64,
    /// Tokens that the model wrote.
    pub completion_tokens: u64,
    /// Both.
    pub total_tokens: u64,
    /// Of the prompts.
    pub prompt_tokens_details: PromptTokensDetails,
    /// Of what was written.
    pub completion_tokens_details: CompletionTokensDetails,
}

/// A part of the tokens of the prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PromptTokensDetails {
    /// From the provider's cache.
    pub cached_tokens: u64,
}

/// A part of the tokens that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CompletionTokensDetails {
    /// Reasoning.
    pub reasoning_tokens: u64,
}

/// What OpenAI's shape has no place for: the answer as `/ask` gives it, and what of the request was not used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Beside {
    /// How many messages beside the question there were.
    pub messages_not_used: usize,
    /// What of a conversation is used, as one sentence in the question's language.
    pub notice: String,
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
}

/// A piece of a streamed answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChatChunk {
    /// As in [`ChatCompletion`], and the same in every piece.
    pub id: String,
    /// Always `chat.completion.chunk`.
    pub object: String,
    /// Likewise.
    pub created: i64,
    /// Likewise.
    pub model: String,
    /// One; none in the piece that holds `usage`.
    pub choices: Vec<ChunkChoice>,
    /// If it was asked for: null, and in the last piece the tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ChatUsage>)]
    pub usage: Option<Option<ChatUsage>>,
    /// In the piece that holds `finish_reason`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bylaw: Option<Box<Beside>>,
}

impl ChatChunk {
    /// A piece without anything in it.
    #[must_use]
    pub fn new(run: &RunId, created: i64, model: &str) -> Self {
        Self {
            id: completion_id(run),
            object: "chat.completion.chunk".to_owned(),
            created,
            model: model.to_owned(),
            choices: Vec::new(),
            usage: None,
            bylaw: None,
        }
    }
}

/// The id of a completion.
#[must_use]
pub fn completion_id(run: &RunId) -> String {
    format!("chatcmpl-{run}")
}

/// A piece of the one answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChunkChoice {
    /// Always 0.
    pub index: u32,
    /// What is added.
    pub delta: Delta,
    /// Null until the last piece.
    pub finish_reason: Option<FinishReason>,
    /// Always null.
    pub logprobs: Option<()>,
}

/// What a piece adds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Delta {
    /// `assistant`, in the first piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// The body of every reply below `/v1` that is not 2xx.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChatErrorResponse {
    /// What went wrong.
    pub error: ChatError,
}

/// What went wrong, in OpenAI's shape and in ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChatError {
    /// For people: what is wrong, and what to do about it.
    pub message: String,
    /// OpenAI's kind of error: `invalid_request_error`, `authentication_error`, `permission_error` or `server_error`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The field that is wrong, if it is one.
    pub param: Option<String>,
    /// For programs.
    pub code: ErrorCode,
    /// For support: the request's label.
    #[schema(value_type = String)]
    pub request_id: RequestId,
    /// What to try, where something helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
