//! What the beginning of a line can announce, and the cursor that both languages read it with.

use crate::{document::HeadingKind, numerals};

/// The announcement of an article, a division or an annex at the beginning of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    /// What begins here.
    pub(crate) kind: MarkerKind,
    /// End of the heading's words, in bytes of the line.
    pub(crate) title_end: usize,
    /// The caption, in bytes of the line.
    pub(crate) caption: Option<(usize, usize)>,
    /// Where words of the body follow on the same line.
    pub(crate) body: Option<usize>,
    /// How sure the line itself makes it.
    pub(crate) strength: Strength,
}

/// What begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MarkerKind {
    /// An article, with its numbers, outermost first.
    Article(Unit, Vec<u32>),
    /// A chapter or the like.
    Division(HeadingKind, Option<u32>),
    /// An annex, with its number or letter.
    Annex(Option<String>),
}

/// How the articles of a document are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// 第 N 條.
    Tiao,
    /// Article N.
    Article,
    /// Section 4.2, § 4.2.
    Section,
    /// `4.2 Title`.
    Numbered,
}

/// How sure a line makes it that it is a heading and no sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// It reads like a heading with a body behind it, or like a sentence; the numbers around it decide.
    Weak,
    /// The number is followed by a caption, a space or nothing.
    Strong,
    /// The format says it is a heading.
    Marked,
}

/// Reads a line from left to right. Copying it is a bookmark.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'line> {
    line: &'line str,
    at: usize,
}

/// Longest run of numerals that is read as one number; no article has a longer one.
const LONGEST_NUMBER: usize = 24;

impl<'line> Cursor<'line> {
    pub(crate) const fn new(line: &'line str, at: usize) -> Self {
        Self { line, at }
    }

    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn rest(&self) -> &'line str {
        self.line.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// Skips white space; says whether there was any.
    pub(crate) fn skip_space(&mut self) -> bool {
        self.skip_while(char::is_whitespace)
    }

    pub(crate) fn skip_while(&mut self, test: impl Fn(char) -> bool) -> bool {
        let rest = self.rest();
        let skipped = rest.len() - rest.trim_start_matches(test).len();
        self.at += skipped;
        skipped > 0
    }

    pub(crate) fn eat(&mut self, test: impl Fn(char) -> bool) -> Option<char> {
        let c = self.peek().filter(|c| test(*c))?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(crate) fn eat_text(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Eats an ASCII word whatever its case, if the word ends there.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let rest = self.rest();
        let found = rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
            && !rest[word.len()..].starts_with(|c: char| c.is_ascii_alphanumeric());
        if found {
            self.at += word.len();
        }
        found
    }

    /// Reads a number in Chinese or Arabic numerals, whose characters may stand apart (第 十 二 條).
    pub(crate) fn number(&mut self) -> Option<u32> {
        let (start, mut end, mut count) = (self.at, self.at, 0);
        for (offset, c) in self.rest().char_indices() {
            if numerals::is_numeral(c) {
                end = start + offset + c.len_utf8();
                count += 1;
            } else if !(count > 0 && matches!(c, ' ' | '\u{3000}')) {
                break;
            }
            if count > LONGEST_NUMBER {
                return None;
            }
        }
        let written = &self.line[start..end];
        let value = if written.contains([' ', '\u{3000}']) {
            // Arabic digits that stand apart are two numbers.
            if written.contains(|c| numerals::arabic_digit(c).is_some()) {
                return self.arabic();
            }
            numerals::parse_number(&written.replace([' ', '\u{3000}'], ""))?
        } else {
            numerals::parse_number(written)?
        };
        self.at = end;
        Some(value)
    }

    /// Reads a number in Arabic digits.
    pub(crate) fn arabic(&mut self) -> Option<u32> {
        let rest = self.rest();
        let length: usize = rest
            .chars()
            .take(LONGEST_NUMBER)
            .take_while(|c| numerals::arabic_digit(*c).is_some())
            .map(char::len_utf8)
            .sum();
        let value = numerals::parse_number(&rest[..length])?;
        self.at += length;
        Some(value)
    }

    /// The words in brackets that open here, if they close within a caption's length, and moves behind them.
    pub(crate) fn bracketed(&mut self) -> Option<(usize, usize)> {
        const LONGEST_CAPTION: usize = 120;
        let open = self.peek()?;
        let close = closing(open)?;
        let start = self.at + open.len_utf8();
        let mut depth = 0_usize;
        for (offset, c) in self.line[start..].char_indices().take(LONGEST_CAPTION) {
            if c == open {
                depth += 1;
            } else if c == close || (c == mixed(close)) {
                if depth == 0 {
                    self.at = start + offset + c.len_utf8();
                    return Some((start, start + offset));
                }
                depth -= 1;
            }
        }
        None
    }
}

const fn closing(open: char) -> Option<char> {
    Some(match open {
        '（' => '）',
        '(' => ')',
        '【' => '】',
        '〔' => '〕',
        '［' => '］',
        '[' => ']',
        '〈' => '〉',
        '《' => '》',
        _ => return None,
    })
}

/// People open with a full-width bracket and close with a half-width one.
const fn mixed(close: char) -> char {
    match close {
        '）' => ')',
        ')' => '）',
        other => other,
    }
}

/// Whether a text has the punctuation of a sentence, which headings do without.
pub(crate) fn is_sentence(text: &str) -> bool {
    text.contains(['。', '；', '，', ';', '！', '？']) || text.ends_with(['：', ':', ','])
}
