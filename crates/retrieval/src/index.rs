//! The lexical index of a generation: one tantivy segment, one field, document number = ordinal.
//!
//! # Why not tantivy's own queries
//!
//! The segment, its postings and field norms are tantivy's; the scoring is ours, a term at a time into one array.
//! - k1 and b are constants in tantivy, and 1.2 / 0.75 is not the best pair for characters and bigrams.
//! - A word and its synonyms are one unit here: an article gets the best of them, not their sum, or a group of twelve
//!   would outweigh the rest of the question. A union of term scorers cannot say that.
//! - A filter restricts before anything is scored; coverage is wanted for every hit.
//! - A question of thirty characters has sixty terms. Sixty scorers in a heap cost more than one pass over their postings,
//!   and each of them allocates its decoding buffers.
//!
//! A small index is decoded once and kept: its postings are slices, and a search allocates nothing for them.

mod write;

use std::{ops::Range, path::Path, sync::Arc};

use tantivy::{
    Index, InvertedIndexReader, TantivyError, directory::MmapDirectory, fieldnorm::FieldNormReader, postings::TermInfo,
    schema::IndexRecordOption, tokenizer::TokenizerManager,
};

use crate::terms::{self, KeyMap, TermKey};

pub(crate) use write::IndexWriter;

/// Saturation of term frequency. With [`B`] the field's usual pair: on the development questions and the public
/// collections it is as good as `0.9/0.6` or better; long clauses of mixed rules are known to prefer the latter.
const K1: f32 = 1.2;
/// How much length counts.
const B: f32 = 0.75;

/// Most tokens of an index that is kept decoded (each is at most one posting of 8 bytes).
pub(crate) const RESIDENT_TOKENS: u64 = 1_000_000;

/// An opened lexical index.
pub(crate) struct LexicalIndex {
    storage: Storage,
    documents: u32,
    norms: Vec<u8>,
    length: Box<Lengths>,
}

/// For each length, as a field norm, what it counts beside the average.
pub(crate) type Lengths = [f32; 256];

enum Storage {
    Resident { terms: KeyMap<Range<u32>>, postings: Vec<Posting> },
    Disk(Arc<InvertedIndexReader>),
}

/// An article that has a term, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) ordinal: u32,
    pub(crate) count: u32,
}

/// Where the postings of a term are.
#[derive(Clone, Debug)]
pub(crate) struct TermPostings {
    /// Articles that have the term.
    pub(crate) articles: u32,
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    Resident(Range<u32>),
    Disk(TermInfo),
    /// Those of some articles only.
    Part(Arc<[Posting]>),
}

impl LexicalIndex {
    /// An index of nothing.
    pub(crate) fn empty() -> Self {
        Self {
            storage: Storage::Resident { terms: KeyMap::default(), postings: Vec::new() },
            documents: 0,
            norms: Vec::new(),
            length: Box::new([0.0; 256]),
        }
    }

    /// Opens the index in `folder`, which must hold one segment of `documents` articles. Up to `most` tokens are kept
    /// decoded.
    pub(crate) fn open(folder: &Path, documents: u32, most: u64) -> Result<Self, TantivyError> {
        let corrupt = |what: &str| TantivyError::InternalError(what.to_owned());
        if documents == 0 {
            return Ok(Self::empty());
        }
        let index = Index::open(MmapDirectory::open(folder)?)?;
        let segments = index.searchable_segments()?;
        let [segment] = segments.as_slice() else { return Err(corrupt("the index has not exactly one segment")) };
        let segment = tantivy::SegmentReader::open(segment)?;
        if segment.max_doc() != documents {
            return Err(corrupt("the index and the articles differ in number"));
        }
        let field = index.schema().get_field(write::FIELD)?;
        let inverted = segment.inverted_index(field)?;
        let norm_reader = segment.get_fieldnorms_reader(field)?;
        let norms = (0..documents).map(|ordinal| norm_reader.fieldnorm_id(ordinal)).collect();
        let tokens = inverted.total_num_tokens();
        let length = lengths(tokens, documents);
        let storage = if tokens <= most { decode(&inverted)? } else { Storage::Disk(inverted) };
        Ok(Self { storage, documents, norms, length })
    }

    /// The postings of a term; `key` is its key.
    pub(crate) fn term(&self, text: &str, key: TermKey) -> std::io::Result<Option<TermPostings>> {
        Ok(match &self.storage {
            Storage::Resident { terms, .. } => terms
                .get(&key)
                .map(|range| TermPostings { articles: range.end - range.start, place: Place::Resident(range.clone()) }),
            Storage::Disk(inverted) => inverted
                .terms()
                .get(text.as_bytes())?
                .map(|info| TermPostings { articles: info.doc_freq, place: Place::Disk(info) }),
        })
    }

    /// Whether the index has a term.
    pub(crate) fn has(&self, text: &str, key: TermKey) -> std::io::Result<bool> {
        match &self.storage {
            Storage::Resident { terms, .. } => Ok(terms.contains_key(&key)),
            Storage::Disk(_) => Ok(self.term(text, key)?.is_some()),
        }
    }

    /// The postings of a term in the articles of these ranges; `None` where none of them has it.
    pub(crate) fn term_within(
        &self,
        text: &str,
        key: TermKey,
        ranges: &[Range<u32>],
    ) -> std::io::Result<Option<TermPostings>> {
        let Some(everywhere) = self.term(text, key)? else { return Ok(None) };
        let mut part = Vec::new();
        match (&self.storage, &everywhere.place) {
            (Storage::Resident { postings, .. }, Place::Resident(range)) => {
                let postings = &postings[range.start as usize..range.end as usize];
                within(postings, ranges).for_each(|some| part.extend_from_slice(some));
            }
            (Storage::Disk(_), _) | (Storage::Resident { .. }, Place::Disk(_) | Place::Part(_)) => {
                let mut all = Vec::with_capacity(everywhere.articles as usize);
                self.each(&everywhere, |posting| all.push(posting))?;
                within(&all, ranges).for_each(|some| part.extend_from_slice(some));
            }
        }
        let articles = u32::try_from(part.len()).unwrap_or(u32::MAX);
        Ok((articles > 0).then(|| TermPostings { articles, place: Place::Part(part.into()) }))
    }

    /// Whether any article of these ranges has a term.
    pub(crate) fn has_within(&self, text: &str, key: TermKey, ranges: &[Range<u32>]) -> std::io::Result<bool> {
        let Some(everywhere) = self.term(text, key)? else { return Ok(false) };
        match (&self.storage, &everywhere.place) {
            (Storage::Resident { postings, .. }, Place::Resident(range)) => {
                Ok(within(&postings[range.start as usize..range.end as usize], ranges).next().is_some())
            }
            (Storage::Disk(inverted), Place::Disk(info)) => {
                let mut block = inverted.read_block_postings_from_terminfo(info, IndexRecordOption::Basic)?;
                let is_inside = |&ordinal: &u32| {
                    let at = ranges.partition_point(|range| range.end <= ordinal);
                    ranges.get(at).is_some_and(|range| range.start <= ordinal)
                };
                while block.block_len() > 0 {
                    if block.docs().iter().any(is_inside) {
                        return Ok(true);
                    }
                    block.advance();
                }
                Ok(false)
            }
            // `term` gives places of its own storage.
            (Storage::Resident { .. } | Storage::Disk(_), _) => Ok(false),
        }
    }

    /// The exact number of tokens of each article: the norms are rounded. Reads all postings.
    pub(crate) fn tokens(&self) -> std::io::Result<Vec<u64>> {
        let mut tokens = vec![0; self.documents as usize];
        match &self.storage {
            Storage::Resident { postings, .. } => {
                for posting in postings {
                    tokens[posting.ordinal as usize] += u64::from(posting.count);
                }
            }
            Storage::Disk(inverted) => {
                let mut stream = inverted.terms().stream()?;
                while let Some((_, info)) = stream.next() {
                    let term = TermPostings { articles: info.doc_freq, place: Place::Disk(info.clone()) };
                    self.each(&term, |posting| tokens[posting.ordinal as usize] += u64::from(posting.count))?;
                }
            }
        }
        Ok(tokens)
    }

    /// Whether terms are kept in memory, so that asking for all words of a vocabulary is cheap.
    pub(crate) fn is_resident(&self) -> bool {
        matches!(self.storage, Storage::Resident { .. })
    }

    /// Calls `each` with the postings of a term, by ordinal.
    #[inline]
    pub(crate) fn each(&self, term: &TermPostings, mut each: impl FnMut(Posting)) -> std::io::Result<()> {
        match (&self.storage, &term.place) {
            (_, Place::Part(postings)) => {
                for posting in &**postings {
                    each(*posting);
                }
            }
            (Storage::Resident { postings, .. }, Place::Resident(range)) => {
                for posting in &postings[range.start as usize..range.end as usize] {
                    each(*posting);
                }
            }
            (Storage::Disk(inverted), Place::Disk(info)) => {
                let mut block = inverted.read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
                while block.block_len() > 0 {
                    for (&ordinal, &count) in block.docs().iter().zip(block.freqs()) {
                        each(Posting { ordinal, count });
                    }
                    block.advance();
                }
            }
            // A place comes from this index's own `term`.
            (Storage::Resident { .. }, Place::Disk(_)) | (Storage::Disk(_), Place::Resident(_)) => {}
        }
        Ok(())
    }

    /// What the length of an article counts, with the average over all of them.
    pub(crate) fn lengths(&self) -> &Lengths {
        &self.length
    }

    /// The BM25 weight of one posting, without the term's idf.
    #[inline]
    pub(crate) fn saturation(&self, lengths: &Lengths, posting: Posting) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "counts are small")]
        let count = posting.count as f32;
        count * (1.0 + K1) / (count + lengths[usize::from(self.norms[posting.ordinal as usize])])
    }

    /// Information of a term that `articles` articles have.
    pub(crate) fn idf(&self, articles: u32) -> f32 {
        idf(self.documents, articles)
    }
}

/// Information of a term that `articles` of `documents` articles have.
pub(crate) fn idf(documents: u32, articles: u32) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a logarithm is taken")]
    let (documents, articles) = (documents as f32, articles as f32);
    (1.0 + (documents - articles + 0.5) / (articles + 0.5)).ln()
}

/// What length counts where `documents` articles have so many tokens together.
pub(crate) fn lengths(tokens: u64, documents: u32) -> Box<Lengths> {
    #[expect(clippy::cast_precision_loss, reason = "an average")]
    let average = tokens as f32 / documents as f32;
    let mut lengths = Box::new([0.0; 256]);
    for (id, slot) in (0..=u8::MAX).zip(lengths.iter_mut()) {
        #[expect(clippy::cast_precision_loss, reason = "a norm is approximate anyway")]
        let tokens = FieldNormReader::id_to_fieldnorm(id) as f32;
        *slot = K1 * (1.0 - B + B * tokens / average.max(1.0));
    }
    lengths
}

/// The stretches of a list of postings that fall into these ranges; both ascend.
fn within<'a>(mut postings: &'a [Posting], mut ranges: &'a [Range<u32>]) -> impl Iterator<Item = &'a [Posting]> {
    std::iter::from_fn(move || {
        loop {
            let first = postings.first()?.ordinal;
            ranges = &ranges[ranges.partition_point(|range| range.end <= first)..];
            let range = ranges.first()?;
            let start = postings.partition_point(|posting| posting.ordinal < range.start);
            let (some, rest) = postings[start..].split_at(postings[start..].partition_point(|p| p.ordinal < range.end));
            postings = rest;
            if !some.is_empty() {
                return Some(some);
            }
        }
    })
}

fn decode(inverted: &InvertedIndexReader) -> Result<Storage, TantivyError> {
    let mut terms = KeyMap::default();
    let mut postings = Vec::new();
    let mut stream = inverted.terms().stream()?;
    let index_of = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    while let Some((term, info)) = stream.next() {
        let start = index_of(postings.len());
        let mut block = inverted.read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
        while block.block_len() > 0 {
            let block_postings = block.docs().iter().zip(block.freqs());
            postings.extend(block_postings.map(|(&ordinal, &count)| Posting { ordinal, count }));
            block.advance();
        }
        terms.insert(terms::fnv(term), start..index_of(postings.len()));
    }
    terms.shrink_to_fit();
    postings.shrink_to_fit();
    Ok(Storage::Resident { terms, postings })
}

/// Tokenizers of a new index.
fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::new();
    manager.register(write::TOKENIZER, write::Terms::default());
    manager
}

#[cfg(test)]
mod tests;
