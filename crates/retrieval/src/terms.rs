//! Terms as keys, and words as terms in their places.

use crate::analysis::{Analysis, Kind};

/// A term as 64 bits (FNV-1a). Comparing keys instead of texts keeps a search free of allocation; among a million terms
/// two share a key with a chance of 1 in 37 million.
pub(crate) type TermKey = u64;

/// The key of a term.
pub(crate) fn key(term: &str) -> TermKey {
    fnv(term.as_bytes())
}

/// FNV-1a, 64 bits.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// For maps whose keys are [`TermKey`]s: they are spread already, up to their low bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyHasher(u64);

impl std::hash::Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 ^= fnv(bytes);
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key ^ (key >> 32);
    }
}

/// A map from terms.
pub(crate) type KeyMap<V> = std::collections::HashMap<TermKey, V, std::hash::BuildHasherDefault<KeyHasher>>;

/// A term of a word, and its place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacedTerm {
    /// The term.
    pub(crate) text: Box<str>,
    /// Its key.
    pub(crate) key: TermKey,
    /// Characters and words between the first term and this one.
    pub(crate) offset: u32,
}

/// The terms that an article must have to contain an analysed word: bigrams, words and numbers in digits, and characters
/// that have no neighbour.
pub(crate) fn placed(analysis: &Analysis) -> Vec<PlacedTerm> {
    let first = analysis.tokens.first().map_or(0, |token| token.position);
    let mut placed = Vec::new();
    let mut covered_until = None;
    let mut tokens = analysis.tokens.iter().peekable();
    while let Some(token) = tokens.next() {
        let wanted = match token.kind {
            Kind::Word => true,
            Kind::Bigram => {
                covered_until = Some(token.position + 1);
                true
            }
            // The bigram that begins with a character comes right after it.
            Kind::Character => {
                covered_until != Some(token.position) && tokens.peek().is_none_or(|next| next.kind != Kind::Bigram)
            }
            Kind::Number => analysis.folded.text.as_bytes()[token.folded.start].is_ascii_digit(),
            Kind::Whole | Kind::Measure => false,
        };
        if wanted {
            let text = analysis.term(token);
            placed.push(PlacedTerm { text: text.into(), key: key(text), offset: token.position - first });
        }
    }
    placed
}
