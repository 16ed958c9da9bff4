//! Building a generation.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
};

use bylaw_contract::{ArticleAddress, GenerationNumber, sources::Structure};
use bylaw_corpus::{Article, Document, HeadingKind, ReferenceTarget};

use super::{
    BuildProgress, GenerationError, GenerationSource, Ordinal, SourceInput,
    articles::StoredArticle,
    laws::{self, LawBuilder},
    meta::{self, Meta},
    tables::{Lists, Tables, count},
};
use crate::{analysis, index::IndexWriter};

/// Articles below a heading that are kept for one reference to it (本章, 第八章).
const MAX_BELOW: usize = 50;
/// Articles between two reports of progress.
const REPORT_EVERY: usize = 256;

/// Builds a generation in `folder` (created; must be empty). Sources must come in the order of their names; they make one
/// segment, so that an article's ordinal is its document number.
///
/// `progress` is called now and then and returns whether to go on.
///
/// # Errors
/// [`GenerationError`]; what was written is incomplete and `open` refuses it.
pub fn build(
    folder: &Path,
    number: GenerationNumber,
    sources: &mut dyn Iterator<Item = SourceInput>,
    total_articles: usize,
    progress: &mut dyn FnMut(BuildProgress) -> bool,
) -> Result<(), GenerationError> {
    let index_folder = folder.join(meta::INDEX);
    fs::create_dir_all(folder)?;
    if fs::read_dir(folder)?.next().is_some() {
        return Err(meta::damaged(folder, "a generation is built into an empty folder, and this one is not"));
    }
    fs::create_dir(&index_folder)?;
    let mut builder = Builder {
        index: IndexWriter::create(&index_folder)?,
        lines: BufWriter::new(File::create_new(folder.join(meta::ARTICLES))?),
        tables: Tables::default(),
        laws: LawBuilder::default(),
        sources: Vec::new(),
        names: Vec::new(),
        below: Vec::new(),
        elsewhere: Vec::new(),
        offset: 0,
    };
    let mut done = 0;
    for source in sources {
        if builder.sources.last().is_some_and(|last| last.name >= source.name) {
            return Err(meta::damaged(folder, "sources must come once each, in the order of their names"));
        }
        builder.source(&source, &mut || {
            done += 1;
            let total = total_articles.max(done);
            !done.is_multiple_of(REPORT_EVERY) || progress(BuildProgress { done, total })
        })?;
    }
    if !progress(BuildProgress { done, total: done }) {
        return Err(GenerationError::Cancelled);
    }
    builder.finish(folder, number)
}

struct Builder {
    index: IndexWriter,
    lines: BufWriter<File>,
    tables: Tables,
    laws: LawBuilder,
    sources: Vec<GenerationSource>,
    names: Vec<(u32, u32)>,
    below: Vec<(u32, u32)>,
    elsewhere: Vec<Elsewhere>,
    offset: u64,
}

/// An article of another document, found once all documents are known.
struct Elsewhere {
    from: u32,
    law: String,
    article: ArticleAddress,
}

impl Builder {
    fn source(&mut self, source: &SourceInput, go_on: &mut dyn FnMut() -> bool) -> Result<(), GenerationError> {
        let document = &source.document;
        let first = count(self.tables.chapters.len());
        self.laws.source(count(self.sources.len()), &source.name, document);
        for (ordinal, article) in (first..).zip(&document.articles) {
            self.article(document, article)?;
            if document.structure == Structure::Records {
                self.laws.record(ordinal, article);
            }
            if !go_on() {
                return Err(GenerationError::Cancelled);
            }
        }
        let mut by_address: Vec<u32> = (first..count(self.tables.chapters.len())).collect();
        by_address.sort_unstable_by_key(|&at| document.articles[(at - first) as usize].address.as_str());
        self.tables.by_address.extend(by_address);
        self.references(document, first);
        self.sources.push(GenerationSource {
            name: source.name.clone(),
            title: document.title.clone(),
            version: source.version.clone(),
            ingested_at: source.ingested_at,
            structure: document.structure,
            first: Ordinal(first),
            articles: count(document.articles.len()),
        });
        Ok(())
    }

    fn article(&mut self, document: &Document, article: &Article) -> Result<(), GenerationError> {
        let text = document.text_of(article);
        let headings = article.heading_path.iter().map(|heading| heading.text.as_str());
        let own_title = super::own_title(&article.title, article.caption.as_deref());
        let texts = document.title.as_deref().into_iter().chain(headings).chain([own_title, text]);
        self.index.add(texts)?;
        let line = StoredArticle::line(article, text)?;
        self.lines.write_all(&line)?;
        self.tables.offsets.push(self.offset);
        self.offset += line.len() as u64;
        self.tables.addresses.push(article.address.as_str());
        self.tables.chapters.push(chapters(article));
        Ok(())
    }

    fn references(&mut self, document: &Document, first: u32) {
        let place: HashMap<&ArticleAddress, u32> =
            (first..).zip(&document.articles).map(|(ordinal, article)| (&article.address, ordinal)).collect();
        let mut headings: BTreeMap<(HeadingKind, u32), Vec<u32>> = BTreeMap::new();
        for (ordinal, article) in (first..).zip(&document.articles) {
            for heading in &article.heading_path {
                let Some(number) = heading.number else { continue };
                let below = headings.entry((heading.kind, number)).or_default();
                if below.len() < MAX_BELOW {
                    below.push(ordinal);
                }
            }
        }
        for (from, article) in (first..).zip(&document.articles) {
            for reference in &article.references {
                match &reference.target {
                    ReferenceTarget::Articles { articles } => {
                        self.names.extend(articles.iter().filter_map(|to| Some((from, *place.get(to)?))));
                    }
                    ReferenceTarget::Heading { heading, number } => {
                        let below = headings.get(&(*heading, *number)).map(Vec::as_slice).unwrap_or_default();
                        self.below.extend(below.iter().map(|&to| (from, to)));
                    }
                    ReferenceTarget::OtherDocument { name, article: Some(article) } => {
                        let law = laws::fold_name(name);
                        self.elsewhere.push(Elsewhere { from, law, article: article.clone() });
                    }
                    ReferenceTarget::OtherDocument { article: None, .. } | ReferenceTarget::Missing { .. } => {}
                }
            }
        }
    }

    fn finish(mut self, folder: &Path, number: GenerationNumber) -> Result<(), GenerationError> {
        let articles = count(self.tables.chapters.len());
        self.index.finish()?;
        let lines = self.lines.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        lines.sync_all()?;
        self.tables.offsets.push(self.offset);
        self.laws.finish(&mut self.tables);
        for elsewhere in self.elsewhere {
            for law in laws::named(&self.tables, &elsewhere.law) {
                let found = super::find_in_law(&self.tables, &self.sources, law, &elsewhere.article);
                self.names.extend(found.into_iter().map(|to| (elsewhere.from, to)));
            }
        }
        let tidy = |pairs: &mut Vec<(u32, u32)>| {
            pairs.retain(|pair| pair.0 != pair.1);
            pairs.sort_unstable();
            pairs.dedup();
        };
        tidy(&mut self.names);
        tidy(&mut self.below);
        let mut named_by: Vec<(u32, u32)> =
            self.names.iter().chain(&self.below).map(|&(from, to)| (to, from)).collect();
        tidy(&mut named_by);
        self.tables.names = Lists::from_pairs(&self.names, articles);
        self.tables.below = Lists::from_pairs(&self.below, articles);
        self.tables.named_by = Lists::from_pairs(&named_by, articles);
        let (tables_bytes, tables_sum) = self.tables.write(&folder.join(meta::TABLES))?;
        Meta {
            number,
            analysis: analysis::REVISION,
            articles,
            articles_bytes: self.offset,
            tables_bytes,
            tables_sum,
            sources: self.sources,
        }
        .write(folder)
    }
}

fn chapters(article: &Article) -> u32 {
    let number = |kind: HeadingKind| {
        let headings = article.heading_path.iter().filter(|heading| heading.kind == kind);
        headings.filter_map(|heading| u16::try_from(heading.number?).ok()).next_back().unwrap_or(0)
    };
    u32::from(number(HeadingKind::Book)) << 16 | u32::from(number(HeadingKind::Chapter))
}
