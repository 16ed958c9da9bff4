//! Folded text → tokens. One pass, linear, into buffers that are kept from one text to the next.

use std::ops::Range;

use bylaw_contract::Span;

use super::{
    Folded, folding, is_cjk,
    numbers::{self, canonical_digits, times_powers, unit_of},
    stem,
};

/// Longest term in bytes; a longer word is cut, on both sides alike.
const MAX_TERM_BYTES: usize = 120;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One character of a CJK run.
    Character,
    /// Two neighbours of a CJK run.
    Bigram,
    /// A word, or a part of an identifier.
    Word,
    /// An identifier as a whole: `ppr-9087`.
    Whole,
    /// A number: `#2400`.
    Number,
    /// A number and its unit: `#2400元`.
    Measure,
}

/// A token whose term lies in [`Analysis::terms`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawToken {
    term: Range<usize>,
    /// Where it stands in the original.
    pub(crate) span: Span,
    /// Where it stands in the folded text.
    pub(crate) folded: Range<usize>,
    /// Count of characters and words before it; neighbours differ by one.
    pub(crate) position: u32,
    /// What it is.
    pub(crate) kind: Kind,
}

/// A text and its tokens.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    /// The folded text.
    pub(crate) folded: Folded,
    terms: String,
    /// In the order of the text; tokens at one place: character, bigram, number, measure.
    pub(crate) tokens: Vec<RawToken>,
}

impl Analysis {
    /// The token's term.
    pub(crate) fn term(&self, token: &RawToken) -> &str {
        &self.terms[token.term.clone()]
    }

    /// Analyses another text.
    pub(crate) fn run(&mut self, text: &str) {
        self.folded.text.clear();
        self.folded.origin.clear();
        self.terms.clear();
        self.tokens.clear();
        folding::fold_into(text, &mut self.folded);
        // Borrowed out and back in, so that tokens can be pushed while the text is read.
        let folded = std::mem::take(&mut self.folded);
        Scanner { original: text, folded: &folded, out: self, position: 0 }.scan();
        self.folded = folded;
    }
}

struct Scanner<'a> {
    original: &'a str,
    folded: &'a Folded,
    out: &'a mut Analysis,
    position: u32,
}

impl Scanner<'_> {
    fn scan(&mut self) {
        let text = self.folded.text.as_str();
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let end = if is_cjk(c) {
                let end = run_end(text, at, is_cjk);
                self.cjk_run(at, end);
                end
            } else if is_word_char(c) {
                let end = chunk_end(text, at);
                self.chunk(at, end);
                end
            } else {
                // A gap: what stands on its two sides is not side by side.
                if !c.is_whitespace() {
                    self.position += 1;
                }
                at + c.len_utf8()
            };
            at = end;
        }
    }

    fn push(&mut self, kind: Kind, position: u32, start: usize, end: usize, term: &[&str]) {
        let from = self.out.terms.len();
        for part in term {
            self.out.terms.push_str(part);
        }
        let mut to = self.out.terms.len();
        if to - from > MAX_TERM_BYTES {
            to = self.out.terms.floor_char_boundary(from + MAX_TERM_BYTES);
            self.out.terms.truncate(to);
        }
        let span = self.folded.original(start, end);
        self.out.tokens.push(RawToken { term: from..to, span, folded: start..end, position, kind });
    }

    fn cjk_run(&mut self, start: usize, end: usize) {
        let text = self.folded.text.as_str();
        let mut numerals_until = start;
        let mut at = start;
        while at < end {
            let Some(c) = text[at..end].chars().next() else { break };
            let next = at + c.len_utf8();
            self.push(Kind::Character, self.position, at, next, &[&text[at..next]]);
            if let Some(second) = text[next..end].chars().next() {
                let both = next + second.len_utf8();
                self.push(Kind::Bigram, self.position, at, both, &[&text[at..both]]);
            }
            if at >= numerals_until && numbers::is_numeral(c) {
                numerals_until = run_end(&text[..end], at, numbers::is_numeral);
                self.numeral(start, at, numerals_until);
            }
            self.position += 1;
            at = next;
        }
    }

    /// A run of Chinese numerals inside a CJK run that began at `run`.
    fn numeral(&mut self, run: usize, start: usize, end: usize) {
        let text = self.folded.text.as_str();
        let numerals = &text[start..end];
        let unit = text[end..].chars().next().filter(|&c| unit_of(c).is_some());
        let single = numerals.chars().nth(1).is_none();
        if single && (unit.is_none() || text[start..].starts_with("百分之")) {
            return;
        }
        if !single && !numbers::is_number(numerals) {
            return;
        }
        let Some(value) = self.folded.original(start, end).of(self.original).and_then(bylaw_corpus::parse_number)
        else {
            return;
        };
        let percent = text[run..start].ends_with("百分之");
        self.number(start, end, &value.to_string(), percent);
    }

    fn number(&mut self, start: usize, end: usize, value: &str, percent: bool) {
        let text = self.folded.text.as_str();
        self.push(Kind::Number, self.position, start, end, &["#", value]);
        if percent {
            self.push(Kind::Measure, self.position, start, end, &["#", value, "%"]);
            return;
        }
        let rest = &text[end..];
        let gap = rest.len() - rest.trim_start_matches(' ').len();
        if gap > 1 {
            return;
        }
        if let Some((c, unit)) = rest[gap..].chars().next().and_then(|c| unit_of(c).map(|unit| (c, unit))) {
            let mut buffer = [0; 4];
            let unit = unit.encode_utf8(&mut buffer);
            self.push(Kind::Measure, self.position, start, end + gap + c.len_utf8(), &["#", value, unit]);
        }
    }

    /// Word characters and single joiners between them.
    fn chunk(&mut self, start: usize, end: usize) {
        let text = self.folded.text.as_str();
        let chunk = &text[start..end];
        if !chunk.contains(',') || canonical_digits(chunk).is_some() {
            return self.piece(start, end);
        }
        let mut at = start;
        for piece in chunk.split(',') {
            self.piece(at, at + piece.len());
            at += piece.len() + 1;
        }
    }

    fn piece(&mut self, start: usize, end: usize) {
        let text = self.folded.text.as_str();
        let piece = &text[start..end];
        if let Some(value) = canonical_digits(piece) {
            match times_powers(&value, &text[end..]) {
                Some((product, used)) => self.number(start, end + used, &product, false),
                None => self.number(start, end, &value, false),
            }
            self.position += 1;
            return;
        }
        let is_joiner = |c: char| matches!(c, '-' | '_' | '.' | '\u{2010}');
        if piece.contains(is_joiner) {
            let whole = piece.replace('\u{2010}', "-");
            self.push(Kind::Whole, self.position, start, end, &[&whole]);
        }
        let mut at = start;
        for part in piece.split(is_joiner) {
            let part_end = at + part.len();
            if let Some(value) = canonical_digits(part) {
                self.push(Kind::Number, self.position, at, part_end, &["#", &value]);
            } else if part.contains('\u{2019}') {
                self.push(Kind::Word, self.position, at, part_end, &[&stem(&part.replace('\u{2019}', "'"))]);
            } else {
                self.push(Kind::Word, self.position, at, part_end, &[&stem(part)]);
            }
            self.position += 1;
            // Every joiner but U+2010 is one byte; step over whatever it is.
            at = part_end + text[part_end..].chars().next().map_or(0, char::len_utf8);
        }
    }
}

fn run_end(text: &str, start: usize, belongs: impl Fn(char) -> bool) -> usize {
    text[start..].char_indices().find(|&(_, c)| !belongs(c)).map_or(text.len(), |(offset, _)| start + offset)
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() && !is_cjk(c)
}

fn chunk_end(text: &str, start: usize) -> usize {
    let mut chars = text[start..].char_indices().peekable();
    let mut previous = ' ';
    while let Some((offset, c)) = chars.next() {
        let joins = match c {
            '-' | '_' | '.' | '\'' | '\u{2010}' | '\u{2019}' => {
                chars.peek().is_some_and(|&(_, next)| is_word_char(next))
            }
            ',' => previous.is_ascii_digit() && chars.peek().is_some_and(|&(_, next)| next.is_ascii_digit()),
            _ => is_word_char(c),
        };
        if !joins {
            return start + offset;
        }
        previous = c;
    }
    text.len()
}
