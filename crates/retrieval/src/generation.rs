//! An index generation: an immutable folder, and the value that reads it.
//!
//! ```text
//!   meta.json       number, sources, sizes; written last
//!   index/          the lexical index (one tantivy segment)
//!   articles.jsonl  the articles, read one by one by position
//!   tables.bin      addresses, chapters, references, names of laws: in memory, some 40 bytes an article
//! ```

mod articles;
mod build;
mod laws;
mod meta;
mod tables;

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, OnceLock},
};

use bylaw_contract::{
    ArticleAddress, ArticleId, GenerationNumber, SourceName, Span, Timestamp, VersionId, sources::Structure,
};
use bylaw_corpus::{Document, Heading};
use serde::{Deserialize, Serialize};

pub(crate) use self::articles::ReadArticle;
pub use self::build::build;
use self::{articles::ArticleReader, meta::Meta, tables::Tables};
use crate::{
    Vocabulary,
    index::{LexicalIndex, RESIDENT_TOKENS},
    query::{Filter, Found, Query},
    search, terms,
    visible::Visible,
};

/// The place of an article in its generation: 0-based, sources in name order, articles in document order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Ordinal(pub u32);

/// One source to be indexed.
#[derive(Clone, Debug)]
pub struct SourceInput {
    /// Its name.
    pub name: SourceName,
    /// The version that is to answer.
    pub version: VersionId,
    /// When that version was read.
    pub ingested_at: Timestamp,
    /// The document as read.
    pub document: Document,
}

/// One source of a generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerationSource {
    /// Its name.
    pub name: SourceName,
    /// The document's title.
    pub title: Option<String>,
    /// The version that answers.
    pub version: VersionId,
    /// When that version was read.
    pub ingested_at: Timestamp,
    /// What it was cut into.
    pub structure: Structure,
    /// Ordinal of its first article.
    pub first: Ordinal,
    /// Number of its articles.
    pub articles: u32,
}

/// An article as a generation keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedArticle {
    /// `work_rules.md#26-1`.
    pub id: ArticleId,
    /// `第 26 條之 1（遞延）`.
    pub title: String,
    /// `遞延`.
    pub caption: Option<String>,
    /// Headings above it, outermost first.
    pub heading_path: Vec<Heading>,
    /// Its words; `version.text[span] == text`.
    pub text: String,
    /// Where it stands in its version's text.
    pub span: Span,
    /// The version it comes from.
    pub version: VersionId,
    /// The document's title.
    pub source_title: Option<String>,
}

/// How far a build has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildProgress {
    /// Articles indexed.
    pub done: usize,
    /// Articles in all.
    pub total: usize,
}

/// Why a generation cannot be built or read.
#[derive(Debug, thiserror::Error)]
pub enum GenerationError {
    /// The folder is not a generation, or a part of it is missing or damaged.
    #[error("index generation in {folder} is damaged: {problem}")]
    Damaged {
        /// The folder.
        folder: String,
        /// What is wrong.
        problem: String,
    },
    /// The generation was built by another revision of the analysis and must be rebuilt.
    #[error("index generation in {folder} was built by another version of the program")]
    Outdated {
        /// The folder.
        folder: String,
    },
    /// The disk failed.
    #[error("index generation")]
    Io(#[from] std::io::Error),
    /// The search library failed.
    #[error("index generation")]
    Index(#[from] tantivy::TantivyError),
    /// The build was told to stop.
    #[error("building the index was cancelled")]
    Cancelled,
}

/// A generation, opened for reading. Cheap to share; nothing in it changes.
pub struct Generation {
    number: GenerationNumber,
    sources: Vec<GenerationSource>,
    tables: Tables,
    articles: ArticleReader,
    index: LexicalIndex,
    vocabulary: Arc<Vocabulary>,
    /// For each form of the vocabulary, whether the rules use it. Empty where the index is not kept in memory: there the
    /// few forms of a question are looked up when it is asked.
    forms: Vec<bool>,
    /// Tokens of each source, counted when somebody first asks who may not read all of them.
    source_tokens: OnceLock<Vec<u64>>,
}

impl std::fmt::Debug for Generation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Generation")
            .field("number", &self.number)
            .field("sources", &self.sources.len())
            .field("articles", &self.article_count())
            .finish_non_exhaustive()
    }
}

impl Generation {
    /// The generation of an empty collection, number 0.
    #[must_use]
    pub fn empty(vocabulary: Arc<Vocabulary>) -> Self {
        Self {
            number: GenerationNumber(0),
            sources: Vec::new(),
            tables: Tables::default(),
            articles: ArticleReader::empty(),
            index: LexicalIndex::empty(),
            forms: vec![false; vocabulary.forms().len()],
            vocabulary,
            source_tokens: OnceLock::new(),
        }
    }

    /// Opens a finished generation.
    ///
    /// # Errors
    /// [`GenerationError`] if it is damaged, incomplete, or of another analysis revision.
    pub fn open(folder: &Path, vocabulary: Arc<Vocabulary>) -> Result<Self, GenerationError> {
        Self::open_keeping(folder, vocabulary, RESIDENT_TOKENS)
    }

    /// Opens a finished generation, and keeps its index in memory if it has at most `most` tokens.
    pub(crate) fn open_keeping(folder: &Path, vocabulary: Arc<Vocabulary>, most: u64) -> Result<Self, GenerationError> {
        let meta = Meta::read(folder)?;
        let absent = |error: GenerationError| match error {
            GenerationError::Io(error) if error.kind() == std::io::ErrorKind::NotFound => {
                meta::damaged(folder, "a file is missing")
            }
            other => other,
        };
        let path = folder.join(meta::TABLES);
        let tables = Tables::read(&path, meta.tables_bytes, meta.tables_sum, meta.articles as usize).map_err(absent)?;
        let articles = ArticleReader::open(folder, meta.articles_bytes, meta.articles).map_err(absent)?;
        let index = LexicalIndex::open(&folder.join(meta::INDEX), meta.articles, most)
            .map_err(|error| meta::damaged(folder, format!("the lexical index cannot be read: {error}")))?;
        let mut generation = Self {
            number: meta.number,
            sources: meta.sources,
            tables,
            articles,
            index,
            vocabulary,
            forms: Vec::new(),
            source_tokens: OnceLock::new(),
        };
        if generation.index.is_resident() {
            let forms = generation.vocabulary.forms().iter();
            generation.forms = forms.map(|form| generation.has_all_terms(&form.terms)).collect();
        }
        Ok(generation)
    }

    /// Its number.
    #[must_use]
    pub fn number(&self) -> GenerationNumber {
        self.number
    }

    /// Articles in it.
    #[must_use]
    pub fn article_count(&self) -> usize {
        self.tables.chapters.len()
    }

    /// Its sources, by name.
    #[must_use]
    pub fn sources(&self) -> &[GenerationSource] {
        &self.sources
    }

    /// The source of this name.
    #[must_use]
    pub fn source(&self, name: &SourceName) -> Option<&GenerationSource> {
        self.sources.binary_search_by(|source| source.name.cmp(name)).ok().map(|index| &self.sources[index])
    }

    /// Addresses of a source's articles, in order. Kept in memory, so that listing does not read every article.
    pub fn addresses(&self, source: &GenerationSource) -> impl Iterator<Item = ArticleAddress> + '_ {
        let first = source.first.0 as usize;
        let ordinals = first..first + source.articles as usize;
        ordinals.filter_map(|ordinal| ArticleAddress::new(self.tables.addresses.get(ordinal)).ok())
    }

    /// Where an article is.
    #[must_use]
    pub fn find(&self, id: &ArticleId) -> Option<Ordinal> {
        find_in_source(&self.tables, self.source(&id.source)?, &id.article).map(Ordinal)
    }

    /// Where an article is, if a filter lets it through. What it does not let through is not there.
    #[must_use]
    pub fn find_within(&self, id: &ArticleId, filter: &Filter<'_>) -> Option<Ordinal> {
        let ordinal = self.find(id)?;
        let is_readable = filter.readable.is_none_or(|names| names.contains(&id.source));
        let is_of_source = filter.source.is_none_or(|source| *source == id.source);
        (is_readable && is_of_source && search::is_in_chapter(self, ordinal.0, filter.chapter_no)).then_some(ordinal)
    }

    /// Reads an article.
    ///
    /// # Errors
    /// If the disk fails or `ordinal` is not of this generation.
    pub fn article(&self, ordinal: Ordinal) -> Result<Arc<IndexedArticle>, GenerationError> {
        Ok(Arc::clone(&self.read(ordinal)?.article))
    }

    /// Articles that this one names, over all sources; of the articles below a heading that it names, the first fifty.
    #[must_use]
    pub fn refers_to(&self, ordinal: Ordinal) -> Vec<Ordinal> {
        let mut named: Vec<Ordinal> = self.tables.names.of(ordinal.0).iter().copied().map(Ordinal).collect();
        named.extend(self.tables.below.of(ordinal.0).iter().copied().map(Ordinal));
        named.sort_unstable();
        named.dedup();
        named
    }

    /// Articles that name this one.
    #[must_use]
    pub fn referred_by(&self, ordinal: Ordinal) -> Vec<Ordinal> {
        self.tables.named_by.of(ordinal.0).iter().copied().map(Ordinal).collect()
    }

    /// Answers a query.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn search(&self, query: &Query<'_>) -> Result<Found, GenerationError> {
        search::run(self, query)
    }

    /// What somebody who may read only these sources knows of it; `None`: all of it.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn visible(&self, readable: Option<&BTreeSet<SourceName>>) -> Result<Visible<'_>, GenerationError> {
        Visible::of(self, readable)
    }
}

impl Generation {
    pub(crate) fn index(&self) -> &LexicalIndex {
        &self.index
    }

    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Articles that this one names one by one.
    pub(crate) fn names(&self, ordinal: u32) -> &[u32] {
        self.tables.names.of(ordinal)
    }

    /// Numbers of 編 and 章 above an article; 0 for none.
    pub(crate) fn chapters(&self, ordinal: u32) -> (u32, u32) {
        let both = self.tables.chapters.get(ordinal as usize).copied().unwrap_or(0);
        (both >> 16, both & 0xFFFF)
    }

    /// Whether the rules may use a form of the vocabulary: the index has all of its terms.
    pub(crate) fn has_form(&self, form: crate::vocabulary::FormId) -> bool {
        match self.forms.get(form as usize) {
            Some(&known) => known,
            None => self.has_all_terms(&self.vocabulary.form(form).terms),
        }
    }

    fn has_all_terms(&self, terms: &[terms::PlacedTerm]) -> bool {
        !terms.is_empty() && terms.iter().all(|term| self.index.has(&term.text, term.key).unwrap_or(false))
    }

    /// An article with its terms.
    pub(crate) fn read(&self, ordinal: Ordinal) -> Result<Arc<ReadArticle>, GenerationError> {
        let at = ordinal.0 as usize;
        let source = self.sources.partition_point(|source| source.first <= ordinal);
        match (self.tables.offsets.get(at..at + 2), source.checked_sub(1).and_then(|at| self.sources.get(at))) {
            (Some(&[start, end]), Some(source)) => self.articles.read(ordinal.0, (start, end), source),
            _ => Err(meta::damaged(Path::new("memory"), format!("there is no article {}", ordinal.0))),
        }
    }

    /// Tokens of each source.
    pub(crate) fn source_tokens(&self) -> Result<&[u64], GenerationError> {
        if let Some(known) = self.source_tokens.get() {
            return Ok(known);
        }
        let of_articles = self.index.tokens()?;
        let of_source = |source: &GenerationSource| {
            let first = source.first.0 as usize;
            of_articles.iter().skip(first).take(source.articles as usize).sum()
        };
        Ok(self.source_tokens.get_or_init(|| self.sources.iter().map(of_source).collect()))
    }

    /// For each law, whether it is one of these sources or one of these articles is its.
    pub(crate) fn laws_of(&self, sources: &[bool], has: impl Fn(u32) -> bool) -> Vec<bool> {
        laws::some(&self.tables, sources, has)
    }

    /// Number of laws and documents that can be named.
    pub(crate) fn law_count(&self) -> usize {
        self.tables.laws.len()
    }

    /// A law's folded name.
    pub(crate) fn law_name(&self, law: u32) -> &str {
        self.tables.laws.get(law as usize)
    }

    /// Laws of exactly this folded name.
    pub(crate) fn laws_named<'a>(&'a self, folded: &'a str) -> impl Iterator<Item = u32> + 'a {
        laws::named(&self.tables, folded)
    }

    /// Bytes of the longest law name that a folded text begins with.
    pub(crate) fn law_prefix(&self, folded: &str) -> Option<usize> {
        laws::longest_prefix(&self.tables.laws, folded)
    }

    /// The articles of this address in a law.
    pub(crate) fn find_in_law(&self, law: u32, article: &ArticleAddress) -> Vec<u32> {
        find_in_law(&self.tables, &self.sources, law, article)
    }

    /// The article of this address in a source.
    pub(crate) fn find_in_source(&self, source: &GenerationSource, article: &ArticleAddress) -> Option<u32> {
        find_in_source(&self.tables, source, article)
    }
}

fn find_in_source(tables: &Tables, source: &GenerationSource, article: &ArticleAddress) -> Option<u32> {
    let first = source.first.0 as usize;
    let sorted = tables.by_address.get(first..first + source.articles as usize)?;
    let found = sorted.binary_search_by(|&at| tables.addresses.get(at as usize).cmp(article.as_str())).ok()?;
    Some(sorted[found])
}

fn find_in_law(tables: &Tables, sources: &[GenerationSource], law: u32, article: &ArticleAddress) -> Vec<u32> {
    let Some(&source) = tables.law_sources.get(law as usize) else { return Vec::new() };
    if source != tables::RECORDS {
        let source = sources.get(source as usize);
        return source.and_then(|source| find_in_source(tables, source, article)).into_iter().collect();
    }
    let Some(key) = laws::article_key(law, article.as_str()) else { return Vec::new() };
    let first = tables.law_articles.partition_point(|&other| other < key);
    let found = tables.law_articles[first..].iter().take_while(|&&other| other == key).count();
    tables.law_ordinals.get(first..first + found).unwrap_or_default().to_vec()
}

/// What a title says beside the article's number: its caption, or the law's name before 第 38 條.
fn own_title<'a>(title: &'a str, caption: Option<&'a str>) -> &'a str {
    if let Some(caption) = caption {
        return caption;
    }
    if let Some((before, _)) = laws::split_title(title) {
        return before;
    }
    let first = bylaw_corpus::article_mentions(title).into_iter().next();
    match first.filter(|mention| mention.span.start == 0) {
        Some(mention) => title[mention.span.end..].trim(),
        None => title,
    }
}

#[cfg(test)]
mod tests;
