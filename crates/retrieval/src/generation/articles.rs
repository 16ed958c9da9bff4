//! The articles of a generation, read from disk when they are wanted and kept for a while.

use std::{fs::File, os::unix::fs::FileExt, path::Path, sync::Arc};

use bylaw_contract::{ArticleId, Span};
use bylaw_corpus::{Article, Heading};
use quick_cache::{Weighter, sync::Cache};
use serde::{Deserialize, Serialize};

use super::{GenerationError, GenerationSource, IndexedArticle, meta};
use crate::highlights::Marks;

/// Bytes of decoded articles that are kept.
const CACHE_BYTES: u64 = 24 << 20;

/// An article as it is stored: what its source does not say already.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredArticle<'a> {
    #[serde(borrow)]
    address: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    title: std::borrow::Cow<'a, str>,
    caption: Option<String>,
    headings: std::borrow::Cow<'a, [Heading]>,
    span: Span,
    #[serde(borrow)]
    text: std::borrow::Cow<'a, str>,
}

impl StoredArticle<'_> {
    /// The line of an article.
    pub(super) fn line(article: &Article, text: &str) -> std::io::Result<Vec<u8>> {
        let stored = StoredArticle {
            address: article.address.as_str().into(),
            title: article.title.as_str().into(),
            caption: article.caption.clone(),
            headings: article.heading_path.as_slice().into(),
            span: article.span,
            text: text.into(),
        };
        let mut line = serde_json::to_vec(&stored)?;
        line.push(b'\n');
        Ok(line)
    }
}

/// An article and the terms in it.
pub(crate) struct ReadArticle {
    pub(crate) article: Arc<IndexedArticle>,
    pub(crate) marks: Marks,
}

/// Reads articles.
pub(super) struct ArticleReader {
    file: Option<File>,
    cache: Cache<u32, Arc<ReadArticle>, BySize>,
}

#[derive(Clone)]
struct BySize;

impl Weighter<u32, Arc<ReadArticle>> for BySize {
    fn weight(&self, _: &u32, read: &Arc<ReadArticle>) -> u64 {
        (read.marks.bytes() + read.article.text.len() + 512) as u64
    }
}

impl ArticleReader {
    pub(super) fn empty() -> Self {
        Self { file: None, cache: Cache::with_weighter(1, CACHE_BYTES, BySize) }
    }

    /// Opens the file, which must have `bytes` bytes and at most `articles` articles.
    pub(super) fn open(folder: &Path, bytes: u64, articles: u32) -> Result<Self, GenerationError> {
        let file = File::open(folder.join(meta::ARTICLES))?;
        if file.metadata()?.len() != bytes {
            return Err(meta::damaged(folder, "articles.jsonl is not what was written"));
        }
        let estimate = articles.min(4096) as usize;
        Ok(Self { file: Some(file), cache: Cache::with_weighter(estimate, CACHE_BYTES, BySize) })
    }

    /// The article between two offsets of the file.
    pub(super) fn read(
        &self,
        ordinal: u32,
        offsets: (u64, u64),
        source: &GenerationSource,
    ) -> Result<Arc<ReadArticle>, GenerationError> {
        if let Some(read) = self.cache.get(&ordinal) {
            return Ok(read);
        }
        let damaged = |problem: String| meta::damaged(Path::new(meta::ARTICLES), problem);
        let Some(file) = &self.file else { return Err(damaged(format!("there is no article {ordinal}"))) };
        let length = usize::try_from(offsets.1.saturating_sub(offsets.0)).unwrap_or(0);
        let mut line = vec![0; length];
        file.read_exact_at(&mut line, offsets.0)?;
        let stored: StoredArticle<'_> =
            serde_json::from_slice(&line).map_err(|error| damaged(format!("article {ordinal}: {error}")))?;
        let address = stored.address.parse().map_err(|error| damaged(format!("article {ordinal}: {error}")))?;
        let beside = source.title.as_deref().into_iter().chain(stored.headings.iter().map(|h| h.text.as_str()));
        let own_title = super::own_title(&stored.title, stored.caption.as_deref());
        let marks = Marks::of(&stored.text, beside.chain([own_title]));
        let article = Arc::new(IndexedArticle {
            id: ArticleId::new(source.name.clone(), address),
            title: stored.title.into_owned(),
            caption: stored.caption,
            heading_path: stored.headings.into_owned(),
            text: stored.text.into_owned(),
            span: stored.span,
            version: source.version.clone(),
            source_title: source.title.clone(),
        });
        let read = Arc::new(ReadArticle { article, marks });
        self.cache.insert(ordinal, Arc::clone(&read));
        Ok(read)
    }
}
