//! What every extractor hands to [`structure`](crate::structure): the text, and what it knows of each line.

use bylaw_contract::Span;

/// A text with its lines.
#[derive(Debug, Default)]
pub(crate) struct Extracted {
    /// The title, where the format has a place for one.
    pub(crate) title: Option<String>,
    /// The text that spans point into.
    pub(crate) text: String,
    /// Lines with words on them, in order.
    pub(crate) lines: Vec<Line>,
    /// Name and revision of the extractor.
    pub(crate) extractor: &'static str,
}

/// A line with words on it. Offsets are 32 bits wide, since a document may have millions of lines and is never longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    start: u32,
    end: u32,
    /// What the format says it is.
    pub(crate) mark: Mark,
    /// Whether a blank line (or nothing) stands before it.
    pub(crate) after_blank: bool,
}

/// What the format says a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A heading of this level, 1 to 6.
    Heading(u8),
    /// A line that is bold from end to end, which people use as a heading.
    Bold,
    /// Nothing special.
    Text,
    /// A quotation, a table row or code: never a heading.
    Inert,
}

/// Level of a bold line among headings: below all real ones.
pub(crate) const BOLD_LEVEL: u8 = 7;
/// Level of an unmarked line that structure takes for a heading.
pub(crate) const PLAIN_LEVEL: u8 = 8;

impl Line {
    /// A line over the words at `span`.
    pub(crate) fn new(span: Span, mark: Mark, after_blank: bool) -> Self {
        let narrow = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: narrow(span.start), end: narrow(span.end), mark, after_blank }
    }

    /// Where its words are, without the marks of the format at their edges.
    pub(crate) const fn span(&self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }

    /// Its words.
    pub(crate) fn of<'text>(&self, text: &'text str) -> &'text str {
        self.span().of(text).unwrap_or_default()
    }

    /// Its level among headings.
    pub(crate) const fn level(&self) -> u8 {
        match self.mark {
            Mark::Heading(level) => level,
            Mark::Bold => BOLD_LEVEL,
            Mark::Text | Mark::Inert => PLAIN_LEVEL,
        }
    }
}

/// The part of `text[span]` without white space at its ends.
pub(crate) fn trimmed(text: &str, span: Span) -> Span {
    let part = span.of(text).unwrap_or_default();
    let start = span.start + (part.len() - part.trim_start_matches(crate::decode::is_unseen).len());
    Span::new(start, start + part.trim_matches(crate::decode::is_unseen).len())
}

/// Spans of all lines of a text, without their line ends.
pub(crate) fn raw_lines(text: &str) -> impl Iterator<Item = Span> + '_ {
    let mut start = 0;
    text.split('\n').map(move |line| {
        let span = Span::new(start, start + line.len());
        start = span.end + 1;
        span
    })
}
