//! Where in an article's text the question's words stand.

use bylaw_contract::Span;

use crate::{
    analysis::Analysis,
    terms::{self, PlacedTerm, TermKey},
    vocabulary::Form,
};

/// The terms of one article, sorted, so that a question's few terms are looked up in its many.
pub(crate) struct Marks {
    /// Terms of the text, by key, then position.
    marks: Box<[Mark]>,
    /// Terms of titles and headings.
    beside: Box<[TermKey]>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    key: TermKey,
    position: u32,
    start: u32,
    end: u32,
}

/// What of a question is highlighted.
#[derive(Debug, Default)]
pub(crate) struct Wanted<'a> {
    /// Terms that are highlighted wherever they stand.
    pub(crate) terms: Vec<TermKey>,
    /// Words that are highlighted where all of their terms stand side by side.
    pub(crate) forms: Vec<&'a Form>,
}

impl Marks {
    /// Analyses an article.
    pub(crate) fn of<'a>(text: &str, beside: impl Iterator<Item = &'a str>) -> Self {
        let mut analysis = Analysis::default();
        analysis.run(text);
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let mut marks: Vec<Mark> = analysis
            .tokens
            .iter()
            .map(|token| Mark {
                key: terms::key(analysis.term(token)),
                position: token.position,
                start: offset(token.span.start),
                end: offset(token.span.end),
            })
            .collect();
        marks.sort_unstable();
        let mut keys = Vec::new();
        for text in beside {
            analysis.run(text);
            keys.extend(analysis.tokens.iter().map(|token| terms::key(analysis.term(token))));
        }
        keys.sort_unstable();
        keys.dedup();
        Self { marks: marks.into(), beside: keys.into() }
    }

    /// Memory that they take.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.marks) + size_of_val(&*self.beside)
    }

    /// Whether the article has a term, in its text or above it.
    pub(crate) fn has(&self, key: TermKey) -> bool {
        !self.with_key(key).is_empty() || self.beside.binary_search(&key).is_ok()
    }

    /// Whether the text has a word: all of its terms side by side.
    pub(crate) fn has_side_by_side(&self, terms: &[PlacedTerm]) -> bool {
        self.occurrences(terms).next().is_some()
    }

    fn with_key(&self, key: TermKey) -> &[Mark] {
        let start = self.marks.partition_point(|mark| mark.key < key);
        let length = self.marks[start..].iter().take_while(|mark| mark.key == key).count();
        &self.marks[start..start + length]
    }

    fn at(&self, key: TermKey, position: u32) -> Option<&Mark> {
        let start = self.marks.partition_point(|mark| (mark.key, mark.position) < (key, position));
        self.marks.get(start).filter(|mark| (mark.key, mark.position) == (key, position))
    }

    /// Where all terms stand at their distances from the first.
    fn occurrences<'a>(&'a self, terms: &'a [PlacedTerm]) -> impl Iterator<Item = Span> + 'a {
        let (first, rest) = match terms.split_first() {
            Some((first, rest)) => (self.with_key(first.key), rest),
            None => (&[][..], &[][..]),
        };
        first.iter().filter_map(move |mark| {
            let mut end = mark.end;
            for term in rest {
                end = end.max(self.at(term.key, mark.position + term.offset)?.end);
            }
            Some(Span::new(mark.start as usize, end as usize))
        })
    }

    /// The parts of the text that a question's words match: ascending, merged.
    pub(crate) fn highlights(&self, wanted: &Wanted<'_>) -> Vec<Span> {
        let span = |mark: &Mark| Span::new(mark.start as usize, mark.end as usize);
        let mut spans: Vec<Span> = Vec::new();
        for &key in &wanted.terms {
            spans.extend(self.with_key(key).iter().map(span));
        }
        for form in &wanted.forms {
            spans.extend(self.occurrences(&form.terms));
        }
        merge(spans)
    }
}

fn merge(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// The terms that a folded text must have to be found: bigrams and words, or the character if it is only one.
pub(crate) fn terms_of(text: &str) -> Vec<PlacedTerm> {
    let mut analysis = Analysis::default();
    analysis.run(text);
    terms::placed(&analysis)
}
