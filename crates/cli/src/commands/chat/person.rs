//! The person at the terminal: approvals and questions of servers, put so that what will happen is seen before.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use bylaw_agent::{Ask, Question};
use bylaw_contract::loop_event::QuestionKind;
use bylaw_mcp::ElicitReply;
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::{
    form::{self, Field, Kind, narrow},
    lines::{Heard, Line, Lines},
    screen::{Screen, shown},
    words::Words,
};

/// What is shown of arguments and of a server's words at first; the rest when it is asked for.
const MAX_SHOWN: usize = 4_000;

/// Most choices that are listed.
const MAX_CHOICES: usize = 100;

/// Answers the questions of one run.
pub(super) struct Person {
    pub(super) lines: Arc<Lines>,
    pub(super) screen: Arc<Screen>,
    /// Ends the run when the person presses Ctrl-C at a question.
    pub(super) cancel: CancellationToken,
    /// Set when the person leaves in the middle of a question.
    pub(super) leaves: Arc<AtomicBool>,
    /// One question at a time.
    pub(super) turn: Mutex<()>,
}

/// What a person does with a question.
enum Chosen {
    Accept,
    Reply(ElicitReply),
}

#[async_trait]
impl Ask for Person {
    async fn ask(&self, question: Question) -> ElicitReply {
        let _turn = self.turn.lock().await;
        let mut put_away = PutAway { person: self, is_open: true };
        let reply = self.put(&question).await;
        put_away.is_open = false;
        reply
    }
}

/// Tells the person that nobody waits any more, if the question is dropped.
struct PutAway<'a> {
    person: &'a Person,
    is_open: bool,
}

impl Drop for PutAway<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.person.lines.say_above(self.person.words().withdrawn());
        }
    }
}

impl Person {
    fn words(&self) -> Words {
        self.screen.words
    }

    async fn put(&self, question: &Question) -> ElicitReply {
        let words = self.words();
        match question.kind {
            QuestionKind::Approval => {
                let tool = question.tool.as_deref().unwrap_or_default();
                self.screen.warn(&format!("? {}", words.approval(tool, question.server.as_deref())));
                let arguments = self.arguments(question.arguments.as_ref());
                match self.choose(&arguments, true).await {
                    Chosen::Accept => ElicitReply::Accept(Value::Object(Map::new())),
                    Chosen::Reply(reply) => reply,
                }
            }
            QuestionKind::Elicitation => {
                let server = question.server.as_deref().unwrap_or_default();
                self.screen.warn(&format!("? {}", words.asks(server, question.tool.as_deref())));
                let mut told = quoted(&question.message);
                let behind =
                    question.tool.as_deref().and_then(|tool| self.screen.arguments(question.server.as_deref(), tool));
                if let Some(arguments) = behind {
                    told = format!("{told}\n{}", self.arguments(Some(&arguments)));
                }
                let fields = form::fields(question.schema.as_ref().unwrap_or(&Value::Null));
                if let Err(field) = &fields {
                    self.screen.say(&words.cannot_fill(&shown(field)));
                }
                match self.choose(&told, fields.is_ok()).await {
                    Chosen::Accept => self.fill(&fields.unwrap_or_default()).await,
                    Chosen::Reply(reply) => reply,
                }
            }
        }
    }

    /// Shows what it is about, and lets the person choose.
    async fn choose(&self, about: &str, can_accept: bool) -> Chosen {
        let words = self.words();
        let hidden = about.chars().count().saturating_sub(MAX_SHOWN);
        if hidden > 0 {
            let beginning: String = about.chars().take(MAX_SHOWN).collect();
            self.screen.say(&format!("{beginning}\n  {}", words.more_characters(hidden)));
        } else {
            self.screen.say(about);
        }
        loop {
            self.screen.say(&format!("  {}", words.choices(can_accept, hidden > 0)));
            let line = match self.lines.read("? ", Line::Answer).await {
                Heard::Line(line) => line,
                Heard::Interrupted => return Chosen::Reply(self.interrupted()),
                Heard::Left => return Chosen::Reply(self.left()),
            };
            match narrow(line.trim()).to_lowercase().as_str() {
                "a" | "accept" | "y" | "yes" | "1" | "同意" if can_accept => return Chosen::Accept,
                "d" | "decline" | "n" | "no" | "2" | "拒絕" | "拒绝" => return Chosen::Reply(ElicitReply::Decline),
                "c" | "cancel" | "3" | "取消" => return Chosen::Reply(ElicitReply::Cancel),
                "s" | "show" | "全部" if hidden > 0 => self.screen.say(about),
                _ => self.screen.warn(words.choose_again(can_accept)),
            }
        }
    }

    /// Lets the person fill the fields in, each until it is right.
    async fn fill(&self, fields: &[Field]) -> ElicitReply {
        let words = self.words();
        let mut filled = Vec::new();
        for field in fields {
            self.present(field);
            loop {
                let line = match self.lines.read("  > ", Line::Answer).await {
                    Heard::Line(line) => line,
                    Heard::Interrupted => return self.interrupted(),
                    Heard::Left => return self.left(),
                };
                match field.read(&line) {
                    Ok(value) => {
                        filled.extend(value.map(|value| (field.name.clone(), value)));
                        break;
                    }
                    Err(wrong) => self.screen.warn(&format!("  {}", words.wrong(&wrong))),
                }
            }
        }
        ElicitReply::Accept(form::object(filled))
    }

    fn present(&self, field: &Field) {
        let label = flat(field.label());
        let wants = shown(&self.words().wants(field));
        let wants = if wants.is_empty() { String::new() } else { format!(" ({wants})") };
        let description = field.description.as_deref().map(|text| format!(" — {}", flat(text))).unwrap_or_default();
        self.screen.say(&format!("  {label}{wants}{description}"));
        let choices = match &field.kind {
            Kind::One(choices) | Kind::Some { of: choices, .. } => choices.as_slice(),
            Kind::Text { .. } | Kind::Number { .. } | Kind::YesOrNo => &[],
        };
        for (at, choice) in choices.iter().take(MAX_CHOICES).enumerate() {
            let title = choice.title.as_deref().filter(|title| *title != choice.value);
            let title = title.map(|title| format!(" — {}", flat(title))).unwrap_or_default();
            self.screen.say(&format!("    {}) {}{title}", at + 1, flat(&choice.value)));
        }
    }

    fn arguments(&self, arguments: Option<&Map<String, Value>>) -> String {
        let lines: Vec<String> = arguments
            .into_iter()
            .flatten()
            // As JSON, so that a text cannot pretend to be another argument.
            .map(|(name, value)| format!("    {}: {}", flat(name), shown(&value.to_string())))
            .collect();
        if lines.is_empty() { format!("    {}", self.words().no_arguments()) } else { lines.join("\n") }
    }

    /// Ctrl-C ends the run, not only the question.
    fn interrupted(&self) -> ElicitReply {
        self.cancel.cancel();
        ElicitReply::Cancel
    }

    fn left(&self) -> ElicitReply {
        self.leaves.store(true, Ordering::SeqCst);
        self.interrupted()
    }
}

/// The words of a stranger, each line marked as such.
fn quoted(text: &str) -> String {
    shown(text).lines().map(|line| format!("  │ {line}")).collect::<Vec<_>>().join("\n")
}

fn flat(text: &str) -> String {
    shown(text).replace(['\n', '\t'], " ")
}
