//! Everything that is written to the terminal: results to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::failure::Failure;

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs: one JSON value.
    Json,
}

/// Writes a line of a result. A reader that has left (`| head`) is not a failure.
pub(crate) fn line(text: impl AsRef<str>) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{}", text.as_ref());
}

/// Writes a piece of a result at once.
pub(crate) fn piece(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes a large result, which must not be taken for whole if it is not. Whether the reader wants more.
pub(crate) fn bulk(text: &str) -> io::Result<bool> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}

/// Tells the person something beside the result.
pub(crate) fn note(text: impl AsRef<str>) {
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "{}", text.as_ref());
}

/// Writes a result as JSON, indented for a terminal and compact for a pipe.
pub(crate) fn json(value: &impl Serialize) {
    let text =
        if io::stdout().is_terminal() { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    line(text.unwrap_or_default());
}

/// Writes why a command failed.
pub(crate) fn failure(failure: &Failure, format: Format) {
    match format {
        Format::Text => note(failure.to_string()),
        Format::Json => {
            let mut error = serde_json::json!({"code": failure.code, "message": failure.message});
            for (key, value) in [("hint", &failure.hint), ("request_id", &failure.request_id)] {
                if let Some(value) = value {
                    error[key] = value.clone().into();
                }
            }
            json(&serde_json::json!({ "error": error }));
        }
    }
}

/// Makes text from documents safe to show: control characters that could drive a terminal become visible.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            // Bidirectional overrides could make text read as something else.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// Text on one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Shortens text to `width` characters for a list.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    let flat = one_line(text);
    if flat.chars().count() <= width {
        flat
    } else {
        flat.chars().take(width.saturating_sub(1)).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_documents_cannot_drive_the_terminal() {
        assert_eq!(printable("事假\u{1b}[2J\u{202e}x\n"), "事假\u{fffd}[2J\u{fffd}x\n");
    }

    #[test]
    fn lists_are_shortened_by_characters() {
        assert_eq!(shorten("一二三\n四五", 4), "一二三…");
        assert_eq!(shorten("一二", 4), "一二");
    }
}
