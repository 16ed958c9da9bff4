//! What a run looks like while it goes on.

use std::{
    collections::HashMap,
    io::IsTerminal,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bylaw_contract::{Clock, LoopEvent, loop_event::ToolStatus};
use console::{Style, Term, measure_text_width, truncate_str};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Map, Value};

use super::words::Words;
use crate::terminal::{self, one_line, printable};

/// How wide a line may be where there is no terminal to ask.
const WIDTH: usize = 100;

/// News of a call are shown no more often than this.
const NEWS_EVERY: Duration = Duration::from_secs(1);

/// Where a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A conversation: everything goes to standard output, the model's words as they come.
    Conversation,
    /// One message: only the answer goes to standard output, when it is whole.
    OneMessage,
}

/// Shows runs to a person.
pub(super) struct Screen {
    pub(super) words: Words,
    place: Place,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether the last line that was written has no end yet.
    is_open: bool,
    spinner: Option<ProgressBar>,
    calls: HashMap<String, Begun>,
    news_at: Option<Duration>,
}

struct Begun {
    tool: String,
    server: Option<String>,
    arguments: Map<String, Value>,
    at: Duration,
}

impl Screen {
    pub(super) fn new(words: Words, place: Place, clock: Arc<dyn Clock>) -> Self {
        Self { words, place, clock, state: Mutex::default() }
    }

    /// Shows an event of a run.
    pub(super) fn show(&self, event: &LoopEvent) {
        let mut state = self.state();
        match event {
            LoopEvent::ModelCall { .. } => self.spin(&mut state, self.words.thinking()),
            LoopEvent::TextDelta { text } => {
                if self.place == Place::Conversation {
                    state.still();
                    let text = shown(text);
                    if let Some(last) = text.chars().last() {
                        state.is_open = last != '\n';
                        terminal::piece(&text);
                    }
                }
            }
            LoopEvent::ModelReply { .. } | LoopEvent::ModelFailed { .. } => state.still(),
            LoopEvent::ToolCall { call_id, tool, server, arguments, .. } => {
                let begun = Begun {
                    tool: tool.clone(),
                    server: server.clone(),
                    arguments: arguments.clone(),
                    at: self.clock.elapsed(),
                };
                state.calls.insert(call_id.clone(), begun);
                let server = server.as_deref().map(|server| format!("{server} · ")).unwrap_or_default();
                let arguments = Value::Object(arguments.clone()).to_string();
                self.line(&mut state, &format!("→ {server}{tool} {arguments}"), &Style::new().cyan());
                self.spin(&mut state, tool);
            }
            LoopEvent::ToolProgress { message, .. } => {
                let now = self.clock.elapsed();
                if state.news_at.is_none_or(|at| now.saturating_sub(at) >= NEWS_EVERY) {
                    state.news_at = Some(now);
                    self.line(&mut state, &format!("  … {message}"), &Style::new().dim());
                }
            }
            LoopEvent::ToolResult { call_id, tool, status, text, .. } => {
                let took = state.calls.remove(call_id).map(|begun| self.clock.elapsed().saturating_sub(begun.at));
                let took = took.map(|took| format!(", {}", duration(took))).unwrap_or_default();
                let style = match status {
                    ToolStatus::Succeeded => Style::new().dim(),
                    ToolStatus::Failed
                    | ToolStatus::Invalid
                    | ToolStatus::Declined
                    | ToolStatus::Skipped
                    | ToolStatus::Unknown => Style::new().yellow(),
                };
                let line = format!("← {tool} ({}{took}): {}", self.words.status(*status), one_line(text));
                self.line(&mut state, &line, &style);
            }
            LoopEvent::Ended { .. } => {
                state.calls.clear();
                state.still();
                if std::mem::take(&mut state.is_open) {
                    terminal::line("");
                }
            }
            LoopEvent::Started { .. } | LoopEvent::Question { .. } | LoopEvent::Reply { .. } => {}
        }
    }

    /// Shows a line as it is, however long.
    pub(super) fn say(&self, text: &str) {
        let mut state = self.state();
        state.still();
        self.write(&mut state, &printable(text), &Style::new());
    }

    /// The same, quietly.
    pub(super) fn whisper(&self, text: &str) {
        let mut state = self.state();
        state.still();
        self.write(&mut state, &printable(text), &Style::new().dim());
    }

    /// The same, so that it is seen.
    pub(super) fn warn(&self, text: &str) {
        let mut state = self.state();
        state.still();
        self.write(&mut state, &printable(text), &Style::new().yellow());
    }

    /// Says that something takes its time; the next line ends it.
    pub(super) fn wait(&self, what: &str) {
        let mut state = self.state();
        self.spin(&mut state, what);
    }

    /// The arguments of the call of this tool that is being made, if there is just one.
    pub(super) fn arguments(&self, server: Option<&str>, tool: &str) -> Option<Map<String, Value>> {
        let state = self.state();
        let mut calls = state.calls.values().filter(|call| call.tool == tool && call.server.as_deref() == server);
        match (calls.next(), calls.next()) {
            (Some(call), None) => Some(call.arguments.clone()),
            _ => None,
        }
    }

    fn line(&self, state: &mut State, text: &str, style: &Style) {
        state.still();
        self.write(state, &clip(&one_line(&printable(text)), width()), style);
    }

    fn write(&self, state: &mut State, text: &str, style: &Style) {
        if std::mem::take(&mut state.is_open) {
            terminal::line("");
        }
        match self.place {
            Place::Conversation => terminal::line(style.apply_to(text).to_string()),
            Place::OneMessage => terminal::note(style.clone().for_stderr().apply_to(text).to_string()),
        }
    }

    fn spin(&self, state: &mut State, what: &str) {
        state.still();
        if state.is_open || !std::io::stderr().is_terminal() {
            return;
        }
        let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        spinner.set_style(
            ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        spinner.set_message(clip(&one_line(&printable(what)), 40));
        spinner.enable_steady_tick(Duration::from_millis(120));
        state.spinner = Some(spinner);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn still(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
    }
}

/// Text of strangers, safe to show. A carriage return would let them write over what stands there.
pub(super) fn shown(text: &str) -> String {
    printable(&text.replace('\r', ""))
}

/// Cut to so many columns; wide characters take two.
pub(super) fn clip(text: &str, columns: usize) -> String {
    if measure_text_width(text) <= columns { text.to_owned() } else { truncate_str(text, columns, "…").into_owned() }
}

fn width() -> usize {
    let (_, columns) = Term::stdout().size_checked().unwrap_or((0, 0));
    // A full line would wrap on some terminals.
    if columns < 20 { WIDTH } else { usize::from(columns) - 1 }
}

fn duration(took: Duration) -> String {
    match took.as_millis() {
        milliseconds @ 0..1_000 => format!("{milliseconds} ms"),
        _ => format!("{:.1} s", took.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_by_columns_and_wide_characters_take_two() {
        let check = |text: &str, columns: usize, expected: &str| assert_eq!(clip(text, columns), expected);
        check("abc", 3, "abc");
        check("abcd", 3, "ab…");
        check("家庭照顧", 8, "家庭照顧");
        check("家庭照顧", 7, "家庭照…");
        check("家庭照顧", 6, "家庭…");
    }

    #[test]
    fn strangers_cannot_drive_the_terminal() {
        assert_eq!(shown("a\u{1b}[2J\u{9b}31mb\r\nc\u{7}\u{202e}"), "a\u{fffd}[2J\u{fffd}31mb\nc\u{fffd}\u{fffd}");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(
            (duration(Duration::from_millis(999)), duration(Duration::from_millis(1_250))),
            ("999 ms".to_owned(), "1.2 s".to_owned())
        );
    }
}
