//! A text as characters and words, and the known words in it.

use std::ops::Range;

use aho_corasick::Input;

use super::Vocabulary;
use crate::analysis::{Analysis, Kind};

/// Around every word that is not CJK, so that 'pet' is not found in 'petition'.
const EDGE: char = '\u{1}';
/// Between units that are not side by side.
const GAP: char = '\u{2}';

/// What a [`Unit`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitKind {
    /// A CJK character.
    Character,
    /// A word or a part of an identifier.
    Word,
    /// A number in digits.
    Number,
}

/// A character or a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    /// Its token in the analysis.
    pub(crate) token: usize,
    /// Its position.
    pub(crate) position: u32,
    /// What it is.
    pub(crate) kind: UnitKind,
}

/// The units of a text, and one string over which known words are found.
#[derive(Debug, Default)]
pub(crate) struct Units {
    pub(crate) units: Vec<Unit>,
    pub(crate) key: String,
    /// For each byte of `key`, the unit that it belongs to; gaps and edges belong to the next one.
    unit_at: Vec<u32>,
}

impl Units {
    /// The units of an analysed text.
    pub(crate) fn of(analysis: &Analysis) -> Self {
        let mut units = Self::default();
        units.key.reserve(analysis.folded.text.len() + 8);
        for (index, token) in analysis.tokens.iter().enumerate() {
            let kind = match token.kind {
                Kind::Character => UnitKind::Character,
                Kind::Word => UnitKind::Word,
                Kind::Number if analysis.folded.text.as_bytes()[token.folded.start].is_ascii_digit() => {
                    UnitKind::Number
                }
                // Bigrams, wholes, measures and Chinese numerals lie over units that have their own tokens.
                Kind::Number | Kind::Bigram | Kind::Whole | Kind::Measure => continue,
            };
            if units.units.last().is_some_and(|last| token.position > last.position + 1) {
                units.push_char(GAP);
            }
            let term = analysis.term(token);
            match kind {
                UnitKind::Character => units.push(term),
                UnitKind::Word | UnitKind::Number => {
                    if !units.key.ends_with(EDGE) {
                        units.push_char(EDGE);
                    }
                    units.push(term);
                    units.push_char(EDGE);
                }
            }
            units.units.push(Unit { token: index, position: token.position, kind });
        }
        units
    }

    fn push_char(&mut self, c: char) {
        self.push(c.encode_utf8(&mut [0; 4]));
    }

    fn push(&mut self, text: &str) {
        self.key.push_str(text);
        let next = u32::try_from(self.units.len()).unwrap_or(u32::MAX);
        self.unit_at.resize(self.key.len(), next);
    }
}

/// A known word in a text.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    pub(super) pattern: usize,
    /// Its units.
    pub(crate) units: Range<usize>,
}

impl Vocabulary {
    /// Known words in a text, leftmost-longest, not overlapping.
    pub(crate) fn matches(&self, units: &Units) -> Vec<Match> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(hit) = self.automaton.find(Input::new(&units.key).range(at..)) {
            if hit.is_empty() {
                break;
            }
            // The edge behind a word is also the edge before the next one.
            let ends_with_edge = units.key.as_bytes()[hit.end() - 1] == EDGE as u8;
            at = if ends_with_edge { hit.end() - 1 } else { hit.end() };
            let inner_end = if ends_with_edge { hit.end() - 2 } else { hit.end() - 1 };
            let starts_with_edge = units.key.as_bytes()[hit.start()] == EDGE as u8;
            let first = units.unit_at[if starts_with_edge { hit.start() + 1 } else { hit.start() }] as usize;
            let last = units.unit_at[inner_end] as usize;
            found.push(Match { pattern: hit.pattern().as_usize(), units: first..last + 1 });
        }
        found
    }

    /// Whether a matched word carries no subject.
    pub(crate) fn is_question_word(&self, found: &Match) -> bool {
        self.patterns[found.pattern].question_word
    }

    /// Whether a matched word is in the glossary.
    pub(crate) fn is_glossary(&self, found: &Match) -> bool {
        let pattern = &self.patterns[found.pattern];
        pattern.group.is_some() || !pattern.hints.is_empty()
    }

    /// Whether a matched word is in the list of topics.
    pub(crate) fn is_topic(&self, found: &Match) -> bool {
        self.patterns[found.pattern].topic
    }

    /// The form of a matched word.
    pub(crate) fn form_of(&self, found: &Match) -> Option<super::FormId> {
        self.patterns[found.pattern].form
    }
}
