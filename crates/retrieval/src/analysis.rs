//! Text → terms: NFKC, lower case, Traditional→Simplified folding, CJK characters and bigrams, Latin words stemmed,
//! identifiers whole and in parts, numbers in one spelling.

use bylaw_contract::Span;

/// One term of an analysed text, with the bytes of the original text it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Folded, stemmed text.
    pub term: String,
    /// Where it stands in the original.
    pub span: Span,
}

/// Folded text with a way back: every byte of `text` knows the bytes of the original it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// NFKC, lower case, Traditional→Simplified.
    pub text: String,
    /// For each byte of `text`, the start in the original of the character it came from; one more entry for the end.
    pub origin: Vec<usize>,
}

/// Folds a text and keeps the way back, also where normalisation changes lengths (㎡, ㈠, ﬁ).
#[must_use]
pub fn fold(text: &str) -> Folded {
    let _ = text;
    todo!("written by the retrieval part")
}

/// The terms of a text, as indexed: characters and bigrams of CJK runs, words and their parts.
#[must_use]
pub fn tokens(text: &str) -> Vec<Token> {
    let _ = text;
    todo!("written by the retrieval part")
}
