//! A server as a child process, spoken to over its pipes: one JSON message a line.
//!
//! A transport of our own, because rmcp's would wait for ever for a reply whose line is too long, and would not tell
//! why a child died or what it wrote instead of messages.

use std::{collections::BTreeMap, io, process::Stdio, sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::Mutex,
    task::JoinHandle,
};

use super::{
    lenient::read_message,
    trouble::{LastWords, too_large},
};

/// What a child needs of this process's environment to run at all. Keys and other secrets are not among it.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMFILES",
    "USERPROFILE",
    "PATHEXT",
    "COMSPEC",
];

/// So many lines in a row that are no messages, and it is none of ours.
const MAX_JUNK_LINES: usize = 1_000;

/// The pipes of a child process.
pub(super) struct Pipes {
    child: Child,
    input: Arc<Mutex<Option<ChildStdin>>>,
    lines: Lines<ChildStdout>,
    words: Arc<LastWords>,
    errors: Option<JoinHandle<()>>,
    junk_lines: usize,
    close_timeout: Duration,
}

impl Pipes {
    /// Starts the child.
    pub(super) fn start(
        command: &str,
        args: &[String],
        env: &BTreeMap<String, String>,
        limits: (usize, Duration),
        words: Arc<LastWords>,
    ) -> io::Result<Self> {
        let (max_line, close_timeout) = limits;
        let inherited = INHERITED.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
        let mut command = Command::new(command);
        command
            .args(args)
            .env_clear()
            .envs(inherited)
            .envs(env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // A group of its own: the Ctrl-C that cancels a step on a terminal must not end the server.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let piped = || io::Error::other("its pipes are missing");
        let input = child.stdin.take().ok_or_else(piped)?;
        let output = child.stdout.take().ok_or_else(piped)?;
        let errors = child.stderr.take().map(|errors| {
            let words = Arc::clone(&words);
            tokio::spawn(async move {
                let mut lines = Lines::new(errors, 64 << 10);
                while let Some(line) = lines.next().await {
                    if let Line::Whole(line) = line {
                        let line = String::from_utf8_lossy(&line).into_owned();
                        tracing::debug!(line, "a server wrote to its error output");
                        words.error_line(&line);
                    }
                }
            })
        });
        let input = Arc::new(Mutex::new(Some(input)));
        Ok(Self { child, input, lines: Lines::new(output, max_line), words, errors, junk_lines: 0, close_timeout })
    }

    async fn note_end(&mut self) {
        let how = match tokio::time::timeout(self.close_timeout, self.child.wait()).await {
            Ok(Ok(status)) => format!("its process ended with {status}"),
            Ok(Err(error)) => format!("its process is lost: {error}"),
            Err(_) => "it closed its output".to_owned(),
        };
        if let Some(errors) = self.errors.take() {
            // What it said last may still be in the pipe; a grandchild may hold the pipe open for ever.
            let _ = tokio::time::timeout(self.close_timeout, errors).await;
        }
        self.words.ended(how);
    }
}

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn send(&mut self, item: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let input = Arc::clone(&self.input);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let mut input = input.lock().await;
            let input = input.as_mut().ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))?;
            input.write_all(&line).await?;
            input.flush().await
        }
    }

    /// Loses nothing when it is dropped: what was read of a line stays in `lines`.
    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        while self.junk_lines < MAX_JUNK_LINES {
            let Some(line) = self.lines.next().await else {
                self.note_end().await;
                return None;
            };
            match line {
                Line::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => {}
                Line::Whole(line) => {
                    if let Ok(message) = read_message(&String::from_utf8_lossy(&line)) {
                        self.junk_lines = 0;
                        return Some(message);
                    }
                    self.junk_lines += 1;
                    self.words.junk(&line);
                }
                Line::TooLong { id: Some(id) } => return Some(too_large(id, self.lines.limit)),
                Line::TooLong { id: None } => {
                    self.words.ended(format!("it wrote a line of more than {} bytes", self.lines.limit));
                    return None;
                }
            }
        }
        self.words.ended("it writes nothing that is MCP".to_owned());
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.input.lock().await.take();
        if tokio::time::timeout(self.close_timeout, self.child.wait()).await.is_err() {
            self.child.kill().await?;
        }
        Ok(())
    }
}

/// One line of a pipe.
#[derive(Debug, PartialEq)]
enum Line {
    Whole(Vec<u8>),
    /// It was thrown away as it came, but for the id of the request it answers.
    TooLong {
        id: Option<RequestId>,
    },
}

/// The lines of a pipe, none of them held beyond `limit` bytes.
struct Lines<R> {
    pipe: BufReader<R>,
    line: Vec<u8>,
    skipping: bool,
    limit: usize,
}

/// Bytes of the ends of a line that is too long, where its id is looked for.
const ID_WITHIN: usize = 256;

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(pipe: R, limit: usize) -> Self {
        Self { pipe: BufReader::with_capacity(64 << 10, pipe), line: Vec::new(), skipping: false, limit }
    }

    async fn next(&mut self) -> Option<Line> {
        loop {
            let available = self.pipe.fill_buf().await.ok()?;
            if available.is_empty() {
                return None;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(available.len());
            self.line.extend_from_slice(&available[..taken]);
            self.pipe.consume(end.map_or(taken, |end| end + 1));
            if self.line.len() > self.limit || self.skipping {
                self.skipping = true;
                // Keeps the two ends.
                if self.line.len() > 2 * ID_WITHIN {
                    self.line.drain(ID_WITHIN..self.line.len() - ID_WITHIN);
                }
            }
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                return Some(if std::mem::take(&mut self.skipping) {
                    Line::TooLong { id: id_of(&line) }
                } else {
                    Line::Whole(line)
                });
            }
        }
    }
}

/// The number after the first or last `"id":` outside of the result, by which our requests are told apart.
fn id_of(ends: &[u8]) -> Option<RequestId> {
    let head = String::from_utf8_lossy(&ends[..ends.len().min(ID_WITHIN)]).into_owned();
    let head = head.split("\"result\"").next().unwrap_or_default();
    let tail = String::from_utf8_lossy(&ends[ends.len().saturating_sub(ID_WITHIN)..]).into_owned();
    let number = |text: &str| {
        let digits = text.trim_start().split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<i64>().ok().map(RequestId::Number)
    };
    let first = head.split_once("\"id\":").and_then(|(_, rest)| number(rest));
    first.or_else(|| tail.rsplit_once("\"id\":").and_then(|(_, rest)| number(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8], limit: usize) -> Vec<Line> {
        let mut lines = Lines::new(text, limit);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await {
            all.push(line);
        }
        all
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_leaves_its_id_and_the_next_line_is_whole() {
        let check = async |long: String, id: Option<i64>| {
            let expected = [Line::TooLong { id: id.map(RequestId::Number) }, Line::Whole(b"{}".to_vec())];
            assert_eq!(lines(format!("{long}\n{{}}\n").as_bytes(), 1_000).await, expected);
        };
        let long = "x".repeat(200_000);
        check(format!(r#"{{"jsonrpc":"2.0","id":3,"result":"{long}"}}"#), Some(3)).await;
        check(format!(r#"{{"jsonrpc":"2.0","result":{{"id": 9, "text":"{long}"}},"id": 41}}"#), Some(41)).await;
        check(long, None).await;
    }

    #[tokio::test]
    async fn a_line_of_the_limit_is_whole_and_half_a_line_is_none() {
        assert_eq!(lines(b"12345\nabc", 5).await, [Line::Whole(b"12345".to_vec())]);
    }
}
