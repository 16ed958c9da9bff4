//! Prompts: ready-made openings of a conversation.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::{Caller, Words};
use crate::client::Content;

/// What a server says of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptSpec {
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    pub title: Option<Words>,
    /// What it is for.
    pub description: Option<Words>,
    /// What it takes.
    pub arguments: Vec<PromptArgument>,
}

/// What a prompt takes: a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<Words>,
    /// Whether it cannot be left out.
    pub required: bool,
}

/// Who speaks in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptRole {
    /// The human.
    User,
    /// The model.
    Assistant,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptMessage {
    /// Who speaks.
    pub role: PromptRole,
    /// What is said.
    pub content: Content,
}

/// A prompt: what is said of it, and its words.
#[async_trait]
pub trait ServerPrompt: Send + Sync {
    /// What is said of it. Asked once, when the server is built.
    fn spec(&self) -> PromptSpec;

    /// Its messages. Required arguments are there.
    ///
    /// # Errors
    /// A sentence for the caller.
    async fn render(&self, caller: &Caller, arguments: &BTreeMap<String, String>)
    -> Result<Vec<PromptMessage>, String>;
}
