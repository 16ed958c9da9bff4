//! Found articles as citations.

use std::collections::HashMap;

use bylaw_contract::{
    ArticleId, Citation,
    ask::{ExtractSentence, Sentence},
    citation::Quote,
};
use bylaw_retrieval::{Found, Generation, Hit, HitKind, IndexedArticle};

/// Search results as citations: ranked ones first, then referenced ones, none of them `used`.
#[must_use]
pub fn citations_of(found: &Found) -> Vec<Citation> {
    found.hits.iter().chain(&found.referenced).map(citation_of).collect()
}

/// One hit as a citation.
pub(crate) fn citation_of(hit: &Hit) -> Citation {
    let referenced = matches!(hit.kind, HitKind::Referenced { .. });
    Citation {
        score: hit.score,
        retrieved: !referenced,
        referenced,
        highlights: hit.highlights.clone(),
        ..citation_of_article(&hit.article)
    }
}

/// An article that nobody searched for, as a citation: neither `retrieved` nor `referenced` nor `used`.
#[must_use]
pub fn citation_of_article(article: &IndexedArticle) -> Citation {
    Citation {
        id: article.id.clone(),
        source: article.id.source.clone(),
        article: article.id.article.clone(),
        article_no: article.id.article.main_number().unwrap_or(0),
        title: article.title.clone(),
        heading_path: article.heading_path.iter().map(|heading| heading.text.clone()).collect(),
        text: article.text.clone(),
        similarity: 0.0,
        score: 0.0,
        retrieved: false,
        referenced: false,
        used: false,
        highlights: Vec::new(),
        quotes: Vec::new(),
        source_version: article.version.clone(),
    }
}

/// How many of the best hits lend their references; the same number as the search's.
const REFERRING: usize = 3;

/// The first `k` hits. What was ranked behind them stays only where one of the best names it.
pub(crate) fn first_hits(found: &Found, k: usize, generation: &Generation) -> Found {
    let mut kept = found.clone();
    let dropped = kept.hits.split_off(k.min(kept.hits.len()));
    let mut named = HashMap::new();
    for hit in kept.hits.iter().take(REFERRING) {
        for target in generation.refers_to(hit.ordinal) {
            named.entry(target).or_insert(hit.ordinal);
        }
    }
    for hit in dropped {
        if let Some(from) = named.get(&hit.ordinal) {
            kept.referenced.push(Hit { kind: HitKind::Referenced { from: *from }, score: 0.0, ..hit });
        }
    }
    kept
}

/// Marks the articles that an extract quotes, and what it quotes of them.
pub(crate) fn quote(citations: &mut [Citation], sentences: &[ExtractSentence]) {
    for citation in citations {
        let quotes = sentences.iter().filter(|sentence| sentence.id == citation.id);
        citation.quotes = quotes.map(|sentence| Quote { span: sentence.span, text: sentence.text.clone() }).collect();
        citation.used = !citation.quotes.is_empty();
    }
}

/// Marks the articles that a model's sentences cite.
pub(crate) fn mark_used(citations: &mut [Citation], sentences: &[Sentence]) {
    let is_cited = |id: &ArticleId| sentences.iter().any(|sentence| sentence.citations.contains(id));
    for citation in citations {
        citation.used = is_cited(&citation.id);
    }
}
