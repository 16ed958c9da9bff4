//! What one asker may read of a generation.
//!
//! Everything that a search learns from a generation it learns through a [`Visible`], so that what is not readable does
//! not exist: not as an article, not in a count or an average, not as the name of a law.

use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeSet,
    ops::Range,
};

use bylaw_contract::{ArticleAddress, SourceName};

use crate::{
    Generation, GenerationError, Ordinal,
    generation::GenerationSource,
    highlights::terms_of,
    index::{self, Lengths, LexicalIndex, TermPostings},
    search,
    terms::{self, KeyMap, TermKey},
    vocabulary::{FormId, Vocabulary},
};

/// A generation, or the part of it that one asker may read. Made for one question.
pub struct Visible<'a> {
    generation: &'a Generation,
    /// `None`: all of it.
    part: Option<Part>,
}

/// Some of the sources of a generation.
struct Part {
    /// For each source, whether it is readable.
    sources: Vec<bool>,
    /// Ordinals of the readable articles: ascending, apart from each other.
    ranges: Vec<Range<u32>>,
    /// How many there are.
    documents: u32,
    /// What length counts, with the average over them.
    lengths: Box<Lengths>,
    /// Terms that were looked up already: a question asks for each of its own a few times.
    terms: RefCell<KeyMap<Option<TermPostings>>>,
    /// For each law, whether anything of it is readable. Only questions that name an article ask.
    laws: OnceCell<Vec<bool>>,
}

impl<'a> Visible<'a> {
    pub(crate) fn of(
        generation: &'a Generation,
        readable: Option<&BTreeSet<SourceName>>,
    ) -> Result<Self, GenerationError> {
        let part = match readable {
            None => None,
            Some(readable) => Part::of(generation, readable)?,
        };
        Ok(Self { generation, part })
    }

    /// How much information a folded term carries here (BM25's idf); for a term that no article has, what one that a
    /// single article has would carry, and a little more.
    #[must_use]
    pub fn idf(&self, term: &str) -> f32 {
        let found = self.term(term, terms::key(term)).ok().flatten();
        self.idf_of(found.map_or(0, |found| found.articles))
    }

    /// Whether any article has this folded word: an English stem, or CJK text all of whose bigrams stand side by side in
    /// one article.
    #[must_use]
    pub fn knows(&self, folded: &str) -> bool {
        let whole = terms::key(folded);
        if self.has(folded, whole).unwrap_or(false) {
            return true;
        }
        let terms = terms_of(folded);
        match terms.as_slice() {
            [] => false,
            [only] => self.has(&only.text, only.key).unwrap_or(false),
            several => search::articles_with_all(self, several)
                .unwrap_or_default()
                .into_iter()
                .filter_map(|ordinal| self.generation.read(Ordinal(ordinal)).ok())
                .any(|read| read.marks.has_side_by_side(several)),
        }
    }

    pub(crate) fn generation(&self) -> &'a Generation {
        self.generation
    }

    pub(crate) fn vocabulary(&self) -> &'a Vocabulary {
        self.generation.vocabulary()
    }

    fn index(&self) -> &'a LexicalIndex {
        self.generation.index()
    }

    /// The postings of a term in the readable articles; `None` where none of them has it. `key` is its key.
    pub(crate) fn term(&self, text: &str, key: TermKey) -> std::io::Result<Option<TermPostings>> {
        let Some(part) = &self.part else { return self.index().term(text, key) };
        if let Some(known) = part.terms.borrow().get(&key) {
            return Ok(known.clone());
        }
        let found = self.index().term_within(text, key, &part.ranges)?;
        part.terms.borrow_mut().insert(key, found.clone());
        Ok(found)
    }

    /// Whether a readable article has a term.
    pub(crate) fn has(&self, text: &str, key: TermKey) -> std::io::Result<bool> {
        match &self.part {
            None => self.index().has(text, key),
            Some(part) => self.index().has_within(text, key, &part.ranges),
        }
    }

    /// Whether the rules may use a form of the vocabulary: readable articles have all of its terms.
    pub(crate) fn has_form(&self, form: FormId) -> bool {
        if self.part.is_none() {
            return self.generation.has_form(form);
        }
        let terms = &self.vocabulary().form(form).terms;
        !terms.is_empty() && terms.iter().all(|term| self.has(&term.text, term.key).unwrap_or(false))
    }

    /// Information of a term that `articles` readable articles have.
    pub(crate) fn idf_of(&self, articles: u32) -> f32 {
        match &self.part {
            None => self.index().idf(articles),
            Some(part) => index::idf(part.documents, articles),
        }
    }

    /// What the length of an article counts.
    pub(crate) fn lengths(&self) -> &Lengths {
        self.part.as_ref().map_or_else(|| self.index().lengths(), |part| &part.lengths)
    }

    /// Whether an article is readable.
    pub(crate) fn shows(&self, ordinal: u32) -> bool {
        self.part.as_ref().is_none_or(|part| part.shows(ordinal))
    }

    /// The readable source of this name.
    pub(crate) fn source(&self, name: &SourceName) -> Option<&'a GenerationSource> {
        self.generation.source(name).filter(|source| self.part.is_none() || self.shows_source(source))
    }

    /// The readable sources, by name.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &'a GenerationSource> + '_ {
        let is_readable = |at: usize| self.part.as_ref().is_none_or(|part| part.sources[at]);
        self.generation.sources().iter().enumerate().filter(move |&(at, _)| is_readable(at)).map(|(_, source)| source)
    }

    fn shows_source(&self, source: &GenerationSource) -> bool {
        self.sources().any(|other| std::ptr::eq(other, source))
    }

    /// Readable articles that this one names one by one.
    pub(crate) fn names(&self, ordinal: u32) -> impl Iterator<Item = u32> + '_ {
        self.generation.names(ordinal).iter().copied().filter(|&to| self.shows(to))
    }

    /// The laws and documents that can be named.
    pub(crate) fn laws(&self) -> impl Iterator<Item = u32> + '_ {
        (0..u32::try_from(self.generation.law_count()).unwrap_or(0)).filter(|&law| self.shows_law(law))
    }

    /// A law's folded name.
    pub(crate) fn law_name(&self, law: u32) -> &'a str {
        self.generation.law_name(law)
    }

    /// Laws of exactly this folded name.
    pub(crate) fn laws_named<'b>(&'b self, folded: &'b str) -> impl Iterator<Item = u32> + 'b {
        self.generation.laws_named(folded).filter(|&law| self.shows_law(law))
    }

    /// Bytes of the longest law name that a folded text begins with.
    pub(crate) fn law_prefix(&self, folded: &str) -> Option<usize> {
        let mut rest = folded;
        loop {
            let length = self.generation.law_prefix(rest)?;
            if self.part.is_none() || self.laws_named(&folded[..length]).next().is_some() {
                return Some(length);
            }
            // Nothing readable has that name; a shorter one may.
            rest = &folded[..folded.floor_char_boundary(length - 1)];
        }
    }

    /// The readable articles of this address in a law.
    pub(crate) fn find_in_law(&self, law: u32, article: &ArticleAddress) -> Vec<u32> {
        let mut found = self.generation.find_in_law(law, article);
        found.retain(|&ordinal| self.shows(ordinal));
        found
    }

    fn shows_law(&self, law: u32) -> bool {
        let Some(part) = &self.part else { return true };
        let laws = part.laws.get_or_init(|| self.generation.laws_of(&part.sources, |ordinal| part.shows(ordinal)));
        laws.get(law as usize).copied().unwrap_or(false)
    }
}

impl Part {
    /// `None` if everything is readable.
    fn of(generation: &Generation, readable: &BTreeSet<SourceName>) -> Result<Option<Self>, GenerationError> {
        let sources: Vec<bool> = generation.sources().iter().map(|source| readable.contains(&source.name)).collect();
        if sources.iter().all(|&readable| readable) {
            return Ok(None);
        }
        let source_tokens = generation.source_tokens()?;
        let mut ranges: Vec<Range<u32>> = Vec::new();
        let (mut documents, mut tokens) = (0, 0);
        let readable = generation.sources().iter().zip(source_tokens).zip(&sources).filter(|&(_, &readable)| readable);
        for ((source, of_source), _) in readable {
            let range = source.first.0..source.first.0 + source.articles;
            documents += source.articles;
            tokens += of_source;
            match ranges.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ if range.is_empty() => {}
                _ => ranges.push(range),
            }
        }
        Ok(Some(Self {
            sources,
            ranges,
            documents,
            lengths: index::lengths(tokens, documents),
            terms: RefCell::default(),
            laws: OnceCell::new(),
        }))
    }

    fn shows(&self, ordinal: u32) -> bool {
        let at = self.ranges.partition_point(|range| range.end <= ordinal);
        self.ranges.get(at).is_some_and(|range| range.start <= ordinal)
    }
}

#[cfg(test)]
mod tests;
