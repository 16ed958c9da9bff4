//! Lines that a person writes at the terminal, with editing and a history.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError, mpsc},
    thread,
};

use rustyline::{Config, DefaultEditor, ExternalPrinter, error::ReadlineError};
use tokio::sync::oneshot;

/// Most lines of the history.
const MAX_HISTORY: usize = 1_000;

/// What came of waiting for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// A line.
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the terminal is gone.
    Left,
}

/// What a line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Something to do. It goes into the history, and may have been typed ahead.
    Message,
    /// The answer to a question. What was typed before the question was seen is thrown away.
    Answer,
}

struct Wanted {
    prompt: String,
    line: Line,
    heard: oneshot::Sender<Heard>,
}

type Printer = Box<dyn ExternalPrinter + Send>;

/// The thread that reads lines: waiting for a person blocks it.
pub(super) struct Lines {
    wanted: mpsc::Sender<Wanted>,
    printer: Mutex<Option<Printer>>,
}

impl Lines {
    /// Starts it; `history` is where earlier lines are kept.
    pub(super) fn start(history: PathBuf) -> std::io::Result<Self> {
        let (wanted, wants) = mpsc::channel::<Wanted>();
        let (give, take) = mpsc::channel();
        thread::Builder::new().name("lines".to_owned()).spawn(move || {
            let config = Config::builder().max_history_size(MAX_HISTORY).map(|config| config.auto_add_history(false));
            let mut editor = match config.map(rustyline::config::Builder::build).and_then(DefaultEditor::with_config) {
                Ok(editor) => editor,
                Err(error) => {
                    let _ = give.send(Err(std::io::Error::other(error.to_string())));
                    return;
                }
            };
            // None there is no reason not to talk.
            let _ = editor.load_history(&history);
            let printer = editor.create_external_printer().ok().map(|printer| Box::new(printer) as Printer);
            let _ = give.send(Ok(printer));
            for Wanted { prompt, line, heard } in wants {
                if line == Line::Answer {
                    forget_typed();
                }
                let told = match editor.readline(&prompt) {
                    Ok(text) => {
                        if line == Line::Message
                            && !text.trim().is_empty()
                            && editor.add_history_entry(text.as_str()).unwrap_or(false)
                        {
                            let _ = editor.append_history(&history);
                        }
                        Heard::Line(text)
                    }
                    Err(ReadlineError::Interrupted) => Heard::Interrupted,
                    Err(_) => Heard::Left,
                };
                // Nobody waits for the answer to a question that was put away.
                let _ = heard.send(told);
            }
        })?;
        let printer = take.recv().map_err(std::io::Error::other)??;
        Ok(Self { wanted, printer: Mutex::new(printer) })
    }

    /// Waits for a line.
    pub(super) async fn read(&self, prompt: &str, line: Line) -> Heard {
        let (heard, hear) = oneshot::channel();
        let _ = self.wanted.send(Wanted { prompt: prompt.to_owned(), line, heard });
        hear.await.unwrap_or(Heard::Left)
    }

    /// Says something above the line that is being written.
    pub(super) fn say_above(&self, text: &str) {
        if let Some(printer) = &mut *self.printer.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = printer.print(format!("{text}\n"));
        }
    }
}

/// An Enter that was pressed before a question came must not answer it.
fn forget_typed() {
    #[cfg(unix)]
    {
        let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
    }
}
