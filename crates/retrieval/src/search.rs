//! One query: understand, look up, rank, follow references, highlight.

use std::cell::RefCell;

use crate::{
    Filter, Found, Generation, GenerationError, Hit, HitKind, Ordinal, Query, QuestionAnalysis,
    analysis::Analysis,
    citations,
    index::Posting,
    language::language_of,
    question::{self, Understood},
    terms::PlacedTerm,
    visible::Visible,
};

/// Best hits whose references are followed.
const FOLLOWED_HITS: usize = 3;
/// Most articles that references add.
const MAX_REFERENCED: usize = 5;

/// Buffers of a thread, kept from one search to the next.
#[derive(Default)]
struct Scratch {
    analysis: Analysis,
    /// Score of each article; 0 everywhere between searches.
    scores: Vec<f32>,
    /// Articles whose score is not 0.
    touched: Vec<u32>,
    /// Best form of a word in each article; 0 everywhere between words.
    best: Vec<f32>,
    best_touched: Vec<u32>,
    with_all: Vec<(u32, f32)>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Answers a query.
pub(crate) fn run(generation: &Generation, query: &Query<'_>) -> Result<Found, GenerationError> {
    SCRATCH.with_borrow_mut(|scratch| {
        let result = run_in(generation, query, scratch);
        // Also after a failure: the next search must find the arrays empty.
        for ordinal in scratch.touched.drain(..) {
            scratch.scores[ordinal as usize] = 0.0;
        }
        for ordinal in scratch.best_touched.drain(..) {
            scratch.best[ordinal as usize] = 0.0;
        }
        result
    })
}

fn run_in(generation: &Generation, query: &Query<'_>, scratch: &mut Scratch) -> Result<Found, GenerationError> {
    let mut analysis = std::mem::take(&mut scratch.analysis);
    analysis.run(query.question);
    let found = answer(generation, query, &analysis, scratch);
    scratch.analysis = analysis;
    found
}

fn answer(
    generation: &Generation,
    query: &Query<'_>,
    analysis: &Analysis,
    scratch: &mut Scratch,
) -> Result<Found, GenerationError> {
    let language = language_of(query.question);
    let visible = generation.visible(query.filter.readable)?;
    let cited = citations::parse(&visible, query.question, &analysis.folded, &query.filter);
    let understood = question::understand(&visible, analysis, language, &cited.mentions)?;
    let admission = Admission::of(&visible, &query.filter);
    score(&visible, &understood, &admission, scratch)?;

    let mut hits: Vec<(u32, f32, HitKind)> = Vec::new();
    for mut articles in cited.found {
        articles.retain(|&ordinal| admission.admits(generation, ordinal));
        articles.sort_by(|&a, &b| by_score((scratch.scores[a as usize], a), (scratch.scores[b as usize], b)));
        for ordinal in articles {
            if hits.len() < query.k && !hits.iter().any(|hit| hit.0 == ordinal) {
                hits.push((ordinal, 0.0, HitKind::LookedUp));
            }
        }
    }
    let looked_up = hits.len();
    for (ordinal, score) in best(&scratch.touched, &scratch.scores, query.k) {
        if hits.len() < query.k && !hits[..looked_up].iter().any(|hit| hit.0 == ordinal) {
            hits.push((ordinal, score, HitKind::Ranked));
        }
    }
    let mut referenced: Vec<(u32, f32, HitKind)> = Vec::new();
    if query.follow_references {
        for &(from, ..) in hits.iter().take(FOLLOWED_HITS) {
            for to in visible.names(from) {
                let is_new = !hits.iter().chain(&referenced).any(|hit| hit.0 == to);
                if is_new && referenced.len() < MAX_REFERENCED && admission.admits(generation, to) {
                    referenced.push((to, 0.0, HitKind::Referenced { from: Ordinal(from) }));
                }
            }
        }
    }
    let information: f32 = understood.groups.iter().map(weight).sum();
    let hit = |(ordinal, score, kind): (u32, f32, HitKind)| -> Result<Hit, GenerationError> {
        let read = generation.read(Ordinal(ordinal))?;
        Ok(Hit {
            ordinal: Ordinal(ordinal),
            article: std::sync::Arc::clone(&read.article),
            score,
            coverage: coverage(generation, &understood, information, &read),
            kind,
            highlights: read.marks.highlights(&understood.wanted),
        })
    };
    Ok(Found {
        hits: hits.into_iter().map(hit).collect::<Result<_, _>>()?,
        referenced: referenced.into_iter().map(hit).collect::<Result<_, _>>()?,
        question: QuestionAnalysis {
            language,
            missing_citations: cited.missing,
            names_an_article: !cited.mentions.is_empty(),
            words: understood.words,
        },
    })
}

/// What a filter lets through of the articles that its asker may read.
struct Admission {
    start: u32,
    end: u32,
    chapter: Option<u32>,
}

impl Admission {
    fn of(visible: &Visible<'_>, filter: &Filter<'_>) -> Self {
        let (start, end) = match filter.source.map(|name| visible.source(name)) {
            None => (0, u32::MAX),
            Some(None) => (0, 0),
            Some(Some(source)) => (source.first.0, source.first.0 + source.articles),
        };
        Self { start, end, chapter: filter.chapter_no }
    }

    #[inline]
    fn admits(&self, generation: &Generation, ordinal: u32) -> bool {
        (self.start..self.end).contains(&ordinal) && is_in_chapter(generation, ordinal, self.chapter)
    }
}

/// Whether an article is below a chapter of this number; all are, if none is wanted.
#[inline]
pub(crate) fn is_in_chapter(generation: &Generation, ordinal: u32, wanted: Option<u32>) -> bool {
    wanted.is_none_or(|number| {
        let (book, chapter) = generation.chapters(ordinal);
        number != 0 && (book == number || chapter == number)
    })
}

/// Adds up every term's postings, then for every word the best of its other forms.
fn score(
    visible: &Visible<'_>,
    understood: &Understood<'_>,
    admission: &Admission,
    scratch: &mut Scratch,
) -> Result<(), GenerationError> {
    let generation = visible.generation();
    let index = generation.index();
    let lengths = visible.lengths();
    let articles = generation.article_count();
    let Scratch { scores, touched, best, best_touched, with_all, .. } = scratch;
    if scores.len() < articles {
        scores.resize(articles, 0.0);
        best.resize(articles, 0.0);
    }
    for term in &understood.terms {
        index.each(&term.postings, |posting| {
            if admission.admits(generation, posting.ordinal) {
                add(scores, touched, posting.ordinal, term.weight * index.saturation(lengths, posting));
            }
        })?;
    }
    for group in &understood.groups {
        for &(form, weight) in &group.forms {
            with_all.clear();
            intersect(visible, &generation.vocabulary().form(form).terms, with_all)?;
            for &(ordinal, value) in &*with_all {
                if admission.admits(generation, ordinal) {
                    let slot = &mut best[ordinal as usize];
                    if *slot == 0.0 {
                        best_touched.push(ordinal);
                    }
                    *slot = slot.max(weight * value);
                }
            }
        }
        for ordinal in best_touched.drain(..) {
            add(scores, touched, ordinal, std::mem::take(&mut best[ordinal as usize]));
        }
    }
    Ok(())
}

#[inline]
fn add(scores: &mut [f32], touched: &mut Vec<u32>, ordinal: u32, value: f32) {
    let slot = &mut scores[ordinal as usize];
    if *slot == 0.0 {
        touched.push(ordinal);
    }
    *slot += value;
}

/// Articles that have all of these terms, and the sum of the terms' scores there.
fn intersect(visible: &Visible<'_>, terms: &[PlacedTerm], out: &mut Vec<(u32, f32)>) -> std::io::Result<()> {
    let (index, lengths) = (visible.generation().index(), visible.lengths());
    let mut postings = Vec::with_capacity(terms.len());
    for term in terms {
        match visible.term(&term.text, term.key)? {
            Some(found) => postings.push(found),
            None => return Ok(()),
        }
    }
    // The rarest first: what it leaves is short.
    postings.sort_by_key(|postings| postings.articles);
    for (round, term) in postings.iter().enumerate() {
        let idf = visible.idf_of(term.articles);
        let value = |posting: Posting| idf * index.saturation(lengths, posting);
        if round == 0 {
            index.each(term, |posting| out.push((posting.ordinal, value(posting))))?;
            continue;
        }
        let (mut read, mut kept) = (0, 0);
        index.each(term, |posting| {
            while out.get(read).is_some_and(|entry| entry.0 < posting.ordinal) {
                read += 1;
            }
            if let Some(&(ordinal, before)) = out.get(read).filter(|entry| entry.0 == posting.ordinal) {
                out[kept] = (ordinal, before + value(posting));
                kept += 1;
                read += 1;
            }
        })?;
        out.truncate(kept);
    }
    Ok(())
}

/// Articles that have all of these terms, in order.
pub(crate) fn articles_with_all(visible: &Visible<'_>, terms: &[PlacedTerm]) -> std::io::Result<Vec<u32>> {
    let mut found = Vec::new();
    intersect(visible, terms, &mut found)?;
    Ok(found.into_iter().map(|(ordinal, _)| ordinal).collect())
}

fn by_score(a: (f32, u32), b: (f32, u32)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

/// The `k` best of the touched articles, best first; equal scores in the order of the articles.
fn best(touched: &[u32], scores: &[f32], k: usize) -> Vec<(u32, f32)> {
    let mut candidates: Vec<(f32, u32)> = touched.iter().map(|&ordinal| (scores[ordinal as usize], ordinal)).collect();
    if k < candidates.len() {
        candidates.select_nth_unstable_by(k, |a, b| by_score(*a, *b));
        candidates.truncate(k);
    }
    candidates.sort_unstable_by(|a, b| by_score(*a, *b));
    candidates.into_iter().map(|(score, ordinal)| (ordinal, score)).collect()
}

fn weight(group: &question::WordTerms) -> f32 {
    group.own.iter().map(|&(_, idf)| idf).sum()
}

/// Share of the question's information that an article has: a word counts as far as its terms are there, and in full
/// where another form of it is.
fn coverage(
    generation: &Generation,
    understood: &Understood<'_>,
    information: f32,
    read: &crate::generation::ReadArticle,
) -> f32 {
    if information <= 0.0 {
        return 0.0;
    }
    let covered = understood.groups.iter().map(|group| {
        let own: f32 = group.own.iter().filter(|&&(key, _)| read.marks.has(key)).map(|&(_, idf)| idf).sum();
        let whole = weight(group);
        let has_form = || {
            let forms = group.forms.iter().map(|&(form, _)| generation.vocabulary().form(form));
            forms.into_iter().any(|form| form.terms.iter().all(|term| read.marks.has(term.key)))
        };
        if own < whole && has_form() { whole } else { own }
    });
    // The sum of nothing is -0.0.
    (covered.sum::<f32>() / information).clamp(0.0, 1.0) + 0.0
}

#[cfg(test)]
mod tests;
