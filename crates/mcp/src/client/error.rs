//! How speaking with a server can fail; each in one line that says what to do.

use std::time::Duration;

use thiserror::Error;

/// Why a server, or one call of it, failed. What was said by a server is cut to a line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what each variant and field is")]
pub enum McpError {
    #[error("{server}: `{url}` is no http:// or https:// address; correct it")]
    BadAddress { server: String, url: String },
    #[error("{server}: this machine cannot speak TLS: {why}; install CA certificates")]
    NoTls { server: String, why: String },
    #[error("{server} cannot be reached: {why}; start it or correct its address")]
    Absent { server: String, why: String },
    #[error("{server}: `{command}` cannot be started: {why}; install it or correct the command")]
    NotStarted { server: String, command: String, why: String },
    #[error("{server} ended before it was ready: {why}; run its command by hand to see why")]
    Ended { server: String, why: String },
    #[error("{server} did not introduce itself within {after:?}; check that it speaks MCP, or raise connect_timeout")]
    Silent { server: String, after: Duration },
    #[error("{server} does not speak MCP: {why}; check its address or command")]
    NotMcp { server: String, why: String },
    #[error("{server} speaks none of our versions of MCP (it offers {offered}); update it")]
    NoVersion { server: String, offered: String },
    #[error("{server} refused the key (HTTP {status}); give it a valid bearer token")]
    Unauthorized { server: String, status: u16 },
    #[error("{server} answered HTTP {status}: {why}; look into its log, or try again later")]
    Status { server: String, status: u16, why: String },
    #[error("{server} is not tried again for {wait:?}; the last attempt failed: {why}")]
    Waiting { server: String, wait: Duration, why: String },
    #[error("{server} was closed; connect it again")]
    Closed { server: String },

    #[error("{server} lists more than {limit} tools; offer fewer, or raise max_tools")]
    TooManyTools { server: String, limit: usize },
    #[error("{server} describes its tools in more than {limit} bytes; shorten them, or raise max_list_bytes")]
    ListTooLarge { server: String, limit: usize },
    #[error("{server} lists its tools without end: {why}; its paging must be repaired")]
    EndlessList { server: String, why: String },

    #[error("{server} refused {tool}: {message} ({code}); correct the call")]
    Refused { server: String, tool: String, code: i32, message: String },
    #[error("{server} wants {what} for {tool}, which this client does not offer; use another tool")]
    Unsupported { server: String, tool: String, what: String },
    #[error("{server} asked for more input {rounds} times in one call of {tool}; it was given up")]
    TooManyRounds { server: String, tool: String, rounds: usize },
    #[error(
        "{tool} of {server} ran, but its result is longer than {limit} bytes and was not kept; ask for less at a time"
    )]
    TooLarge { server: String, tool: String, limit: usize },
    #[error(
        "{tool} of {server} said nothing for {after:?} and was cancelled; it may have happened: look before calling again"
    )]
    TimedOut { server: String, tool: String, after: Duration },
    #[error("{tool} of {server} was cancelled; it may have happened: look before calling again")]
    Cancelled { server: String, tool: String },
    #[error("nobody knows whether {tool} of {server} happened ({why}); look before calling again")]
    Unknown { server: String, tool: String, why: String },
}

impl McpError {
    /// Whether the tool may have run: such a call must not simply be made again.
    #[must_use]
    pub fn may_have_happened(&self) -> bool {
        match self {
            Self::TooLarge { .. }
            | Self::TooManyRounds { .. }
            | Self::Unsupported { .. }
            | Self::TimedOut { .. }
            | Self::Cancelled { .. }
            | Self::Unknown { .. } => true,
            Self::BadAddress { .. }
            | Self::NoTls { .. }
            | Self::Absent { .. }
            | Self::NotStarted { .. }
            | Self::Ended { .. }
            | Self::Silent { .. }
            | Self::NotMcp { .. }
            | Self::NoVersion { .. }
            | Self::Unauthorized { .. }
            | Self::Status { .. }
            | Self::Waiting { .. }
            | Self::Closed { .. }
            | Self::TooManyTools { .. }
            | Self::ListTooLarge { .. }
            | Self::EndlessList { .. }
            | Self::Refused { .. } => false,
        }
    }
}

/// The first line of what a stranger said, at most 200 characters.
pub(super) fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    match line.char_indices().nth(200) {
        Some((cut, _)) => line[..cut].chars().map(clean).chain(['…']).collect(),
        None => line.chars().map(clean).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_stranger_said_is_cut_to_a_line() {
        let check = |said: &str, expected: &str| assert_eq!(one_line(said), expected);
        check("", "");
        check("\n  <html>\n<body>", "<html>");
        check("a\u{1b}[31mb", "a [31mb");
        check(&"假".repeat(300), &format!("{}…", "假".repeat(200)));
    }
}
