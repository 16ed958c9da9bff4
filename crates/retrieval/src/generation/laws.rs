//! Which documents and which records are laws, and under what name.

use std::{cmp::Ordering, collections::BTreeMap};

use bylaw_contract::{ArticleAddress, SourceName, sources::Structure};
use bylaw_corpus::{Article, Document};

use super::tables::{RECORDS, Tables, Texts};
use crate::analysis;

/// Stands in the place of a main number for records of a law whose address is no such number (第 2 條之 300): they
/// are not looked up, and yet the law is there.
const OTHER_MAIN_NUMBER: u32 = (1 << 24) - 1;

/// An article of a law as one number: law, main number, two branches. `None` for addresses that are no such number.
pub(super) fn article_key(law: u32, address: &str) -> Option<u64> {
    if law >= 1 << 24 {
        return None;
    }
    let mut parts = address.split('-').map(str::parse::<u32>);
    let main = parts.next()?.ok()?;
    let branch = parts.next().unwrap_or(Ok(0)).ok()?;
    let second = parts.next().unwrap_or(Ok(0)).ok()?;
    let fits = parts.next().is_none() && main < OTHER_MAIN_NUMBER && branch < 1 << 8 && second < 1 << 8;
    fits.then(|| u64::from(law) << 40 | u64::from(main) << 16 | u64::from(branch) << 8 | u64::from(second))
}

/// The same for a record of a law, whatever its address is.
fn record_key(law: u32, address: &str) -> Option<u64> {
    let other = || (law < 1 << 24).then(|| u64::from(law) << 40 | u64::from(OTHER_MAIN_NUMBER) << 16);
    article_key(law, address).or_else(other)
}

/// Collects names while a generation is built.
#[derive(Default)]
pub(super) struct LawBuilder {
    /// Folded name → what it names.
    laws: BTreeMap<String, Law>,
}

#[derive(Default)]
struct Law {
    sources: Vec<u32>,
    records: Vec<(String, u32)>,
}

impl LawBuilder {
    /// A document is a law under its title and under its file name.
    pub(super) fn source(&mut self, index: u32, name: &SourceName, document: &Document) {
        if document.structure == Structure::Records {
            return;
        }
        let file = name.as_str().rsplit('/').next().unwrap_or_default();
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        for name in document.title.as_deref().into_iter().chain([stem]) {
            let folded = fold_name(name);
            // A name of one character, or only of digits, would be found in questions that do not mean it.
            if folded.chars().count() >= 2 && !folded.chars().all(|c| c.is_ascii_digit()) {
                let law = self.laws.entry(folded).or_default();
                if !law.sources.contains(&index) {
                    law.sources.push(index);
                }
            }
        }
    }

    /// A record is an article of the law that its title names: 勞動基準法 第 38 條.
    pub(super) fn record(&mut self, ordinal: u32, article: &Article) {
        let Some((name, address)) = split_title(&article.title) else { return };
        let name = fold_name(name);
        if name.chars().count() >= 2 {
            self.laws.entry(name).or_default().records.push((address.as_str().to_owned(), ordinal));
        }
    }

    /// Fills the tables.
    pub(super) fn finish(self, tables: &mut Tables) {
        let mut articles = Vec::new();
        for (name, law) in self.laws {
            for source in law.sources {
                tables.laws.push(&name);
                tables.law_sources.push(source);
            }
            if !law.records.is_empty() {
                let index = super::tables::count(tables.laws.len());
                tables.laws.push(&name);
                tables.law_sources.push(RECORDS);
                let keys = law.records.into_iter();
                articles.extend(keys.filter_map(|(address, at)| Some((record_key(index, &address)?, at))));
            }
        }
        articles.sort_unstable();
        (tables.law_articles, tables.law_ordinals) = articles.into_iter().unzip();
    }
}

/// A name as it is compared: folded, without spaces around CJK characters.
pub(crate) fn fold_name(name: &str) -> String {
    analysis::fold(name.trim()).text
}

/// A record's title as law and article: the last mention of an article, if the title ends with it.
pub(super) fn split_title(title: &str) -> Option<(&str, ArticleAddress)> {
    let title = title.trim_end();
    let last = bylaw_corpus::article_mentions(title).pop()?;
    (last.span.end == title.len()).then(|| (title[..last.span.start].trim_end(), last.address))
}

/// For each law, whether it is one of these sources, or one of these articles is its.
pub(super) fn some(tables: &Tables, sources: &[bool], has: impl Fn(u32) -> bool) -> Vec<bool> {
    let is_source = |&source: &u32| sources.get(source as usize).copied().unwrap_or(false);
    let mut laws: Vec<bool> = tables.law_sources.iter().map(is_source).collect();
    for (&key, &ordinal) in tables.law_articles.iter().zip(&tables.law_ordinals) {
        let law = usize::try_from(key >> 40).ok().and_then(|law| laws.get_mut(law));
        if let Some(law) = law.filter(|law| !**law) {
            *law = has(ordinal);
        }
    }
    laws
}

/// Laws whose folded name is exactly this, as indices.
pub(super) fn named<'a>(tables: &'a Tables, folded: &'a str) -> impl Iterator<Item = u32> + 'a {
    let first = lower_bound(&tables.laws, |law| law < folded);
    (first..tables.laws.len()).take_while(move |&law| tables.laws.get(law) == folded).map(super::tables::count)
}

/// The longest name that `rest` begins with: its first index and its length.
pub(super) fn longest_prefix(laws: &Texts, rest: &str) -> Option<usize> {
    // Names that `rest` begins with are not after it in the order, and the longest is the nearest of them. Between it and
    // `rest` may stand names that share only a beginning with `rest`: no longer match than that beginning is possible.
    let mut bound = rest.len();
    while bound > 0 {
        let limit = &rest[..bound];
        let after = lower_bound(laws, |law| law.cmp(limit) != Ordering::Greater);
        let candidate = laws.get(after.checked_sub(1)?);
        if !candidate.is_empty() && limit.starts_with(candidate) {
            return Some(candidate.len());
        }
        let common = limit.bytes().zip(candidate.bytes()).take_while(|(a, b)| a == b).count();
        bound = rest.floor_char_boundary(common.min(bound - 1));
    }
    None
}

fn lower_bound(texts: &Texts, before: impl Fn(&str) -> bool) -> usize {
    let (mut low, mut high) = (0, texts.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        if before(texts.get(middle)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
