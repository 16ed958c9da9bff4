//! What was said, in one run or in several.

use bylaw_contract::{
    ArtifactId,
    conversations::{ConversationMessage, Speaker},
    loop_event::RequestedCall,
};
use bylaw_model::{ChatMessage, ChatRequest, Role};
use serde::{Deserialize, Serialize};

/// What the model is told of a call whose run ended before its result was there.
const CANCELLED: &str =
    "This call was cancelled and its outcome is unknown: it may have happened. Look before you make it again.";

/// What the model is told of a run that ended without an answer.
const NO_ANSWER: &str = "(The work on this was stopped before there was an answer.)";

/// The messages of several runs in a row, without the prompt. Valid for a strict provider at the start of every run,
/// whatever became of the one before, also if its future was dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    messages: Vec<ChatMessage>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<ArtifactId>,
}

impl Conversation {
    /// What was said.
    #[must_use]
    pub fn messages(&self) -> &[ChatMessage] {
        &self.messages
    }

    /// What was said, as it is shown to people.
    #[must_use]
    pub fn shown(&self) -> Vec<ConversationMessage> {
        self.messages.iter().map(shown).collect()
    }

    /// What was kept aside, and may be read on.
    #[must_use]
    pub fn artifacts(&self) -> &[ArtifactId] {
        &self.artifacts
    }

    /// Answers the calls that have no result.
    fn close_open_calls(&mut self) {
        let Some(at) = self.messages.iter().rposition(|message| !message.tool_calls().is_empty()) else { return };
        let answered: Vec<&str> = self.messages[at + 1..]
            .iter()
            .filter_map(
                |message| if let ChatMessage::Tool { call_id, .. } = message { Some(call_id.as_str()) } else { None },
            )
            .collect();
        let open: Vec<ChatMessage> = self.messages[at]
            .tool_calls()
            .iter()
            .filter(|call| !answered.contains(&call.id.as_str()))
            .map(|call| ChatMessage::tool(&call.id, CANCELLED))
            .collect();
        self.messages.extend(open);
    }
}

/// The conversation while a run has it: the messages of its next request. They go back when it is dropped.
pub(crate) struct History<'a> {
    conversation: &'a mut Conversation,
    pub(crate) request: ChatRequest,
    /// How many messages of the request are the prompt.
    prompt: usize,
    /// Where this run begins.
    from: usize,
    /// Bytes of all messages, roughly.
    size_bytes: usize,
}

impl<'a> History<'a> {
    pub(crate) fn begin(
        conversation: &'a mut Conversation,
        prompt: &str,
        message: &str,
        mut request: ChatRequest,
    ) -> Self {
        let has_prompt = !prompt.trim().is_empty();
        request.messages = Vec::with_capacity(conversation.messages.len() + 8);
        request.messages.extend(has_prompt.then(|| ChatMessage::system(prompt)));
        request.messages.append(&mut conversation.messages);
        if request.messages.last().is_some_and(|last| matches!(last.role(), Role::User | Role::Tool)) {
            request.messages.push(ChatMessage::assistant(NO_ANSWER));
        }
        let size_bytes = request.messages.iter().map(size).sum();
        let from = request.messages.len();
        let mut history = Self { conversation, request, prompt: usize::from(has_prompt), from, size_bytes };
        if !message.trim().is_empty() {
            history.push(ChatMessage::user(message));
        }
        history
    }

    pub(crate) fn push(&mut self, message: ChatMessage) {
        self.size_bytes += size(&message);
        self.request.messages.push(message);
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    pub(crate) fn artifacts(&self) -> &[ArtifactId] {
        &self.conversation.artifacts
    }

    pub(crate) fn keep(&mut self, artifacts: impl IntoIterator<Item = ArtifactId>) {
        self.conversation.artifacts.extend(artifacts);
    }

    /// The messages of this run.
    pub(crate) fn transcript(&self) -> Vec<ChatMessage> {
        self.request.messages[self.from..].to_vec()
    }
}

impl Drop for History<'_> {
    fn drop(&mut self) {
        let mut messages = std::mem::take(&mut self.request.messages);
        self.conversation.messages = messages.split_off(self.prompt);
        self.conversation.close_open_calls();
    }
}

fn shown(message: &ChatMessage) -> ConversationMessage {
    let (role, call_id) = match message {
        // A prompt is no part of a conversation.
        ChatMessage::System { .. } | ChatMessage::User { .. } => (Speaker::User, None),
        ChatMessage::Assistant { .. } => (Speaker::Assistant, None),
        ChatMessage::Tool { call_id, .. } => (Speaker::Tool, Some(call_id.clone())),
    };
    let calls = message.tool_calls().iter().map(|call| RequestedCall {
        call_id: call.id.clone(),
        tool: call.name.clone(),
        arguments: call.arguments.clone(),
    });
    ConversationMessage { role, text: message.content().to_owned(), calls: calls.collect(), call_id }
}

fn size(message: &ChatMessage) -> usize {
    let calls: usize = message.tool_calls().iter().map(|call| call.name.len() + call.arguments.len() + 64).sum();
    message.content().len() + calls + 32
}
