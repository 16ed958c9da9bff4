//! Plain text: every line is only a line.

use crate::extract::{Extracted, Line, Mark, raw_lines, trimmed};

/// Reads plain text.
pub(crate) fn extract(text: String) -> Extracted {
    let mut lines = Vec::new();
    let mut after_blank = true;
    for raw in raw_lines(&text) {
        let words = trimmed(&text, raw);
        if words.is_empty() {
            after_blank = true;
        } else {
            lines.push(Line::new(words, Mark::Text, std::mem::take(&mut after_blank)));
        }
    }
    Extracted { title: None, text, lines, extractor: "text/1" }
}
