//! Text → terms: NFKC, lower case, Traditional→Simplified folding, CJK characters and bigrams, Latin words stemmed,
//! identifiers whole and in parts, numbers in one spelling.
//!
//! ```text
//!   text ─ fold ─► folded text + way back ─ scan ─► CJK runs   每, 日, 每日
//!                                             ├───► words      PPR-9087 → ppr-9087, ppr, #9087
//!                                             └───► numbers    ２，４００元 = 兩千四百元 → #2400, #2400元
//! ```
//!
//! There is no dictionary of words: on every large collection measured, characters and bigrams in one field rank better
//! than dictionary segmentation, and nothing is lost to a wrong cut (簡單 inside 安裝簡單).

mod folding;
mod numbers;
mod scan;
mod stem;

use bylaw_contract::Span;

pub(crate) use folding::{Script, is_cjk, script_of};
pub(crate) use scan::{Analysis, Kind, RawToken};
pub(crate) use stem::stem;

/// Grows whenever the terms of some text change: indexes of another revision are rebuilt, never searched.
pub(crate) const REVISION: u32 = 1;

/// One term of an analysed text, with the bytes of the original text it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Folded, stemmed text.
    pub term: String,
    /// Where it stands in the original.
    pub span: Span,
}

/// Folded text with a way back: every byte of `text` knows the bytes of the original it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// NFKC, lower case, Traditional→Simplified.
    pub text: String,
    /// For each byte of `text`, the start in the original of the character it came from; one more entry for the end.
    pub origin: Vec<usize>,
}

impl Folded {
    /// The bytes of the original that `start..end` of the folded text came from. A character that folding widened
    /// (㎡ → m2) is never cut: the span covers it whole.
    #[must_use]
    pub fn original(&self, start: usize, end: usize) -> Span {
        let last = self.origin.len().saturating_sub(1);
        let at = |index: usize| self.origin.get(index.min(last)).copied().unwrap_or(0);
        if end <= start {
            return Span::new(at(start), at(start));
        }
        let inside = at(end - 1);
        // Bounded: folding never joins more than a short group into one origin.
        let mut after = end;
        while after < last && at(after) == inside {
            after += 1;
        }
        Span::new(at(start), at(after))
    }
}

/// Folds a text and keeps the way back, also where normalisation changes lengths (㎡, ㈠, ﬁ).
#[must_use]
pub fn fold(text: &str) -> Folded {
    let mut folded = Folded::default();
    folding::fold_into(text, &mut folded);
    folded
}

/// The terms of a text, as indexed: characters and bigrams of CJK runs, words and their parts.
#[must_use]
pub fn tokens(text: &str) -> Vec<Token> {
    let mut analysis = Analysis::default();
    analysis.run(text);
    analysis.tokens.iter().map(|token| Token { term: analysis.term(token).to_owned(), span: token.span }).collect()
}

#[cfg(test)]
mod tests;
