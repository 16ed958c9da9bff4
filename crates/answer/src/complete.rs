//! Adds what a question speaks of and the chosen sentences do not: people ask two things in one breath, and the rules
//! answer them in two places.

use bylaw_retrieval::Known;

use crate::{
    extract::{Choice, MAX_SENTENCES, inside, stretch_around, weigh},
    view::{ArticleView, Wanted, Weighed},
    words::{Stretch, Word},
};

/// Most articles that are quoted.
const MAX_ARTICLES: usize = 3;
/// Least share of the question's information that must be missing for another sentence to be looked for.
const LEAST_GAP: f32 = 0.12;
/// How much of a missing word a sentence or the title of its article must hold to speak of it.
const SPEAKS: f32 = 0.6;
/// Least fit of another sentence's facts.
const LEAST_FIT: f32 = 0.3;
/// Least share of the question's information in a sentence that adds a kind of fact.
const LEAST_COVERAGE: f32 = 0.3;
/// Least fit that answers an asked kind of fact.
const ANSWERS: f32 = 0.75;

/// Fills the room that is left, gap by gap.
pub(crate) fn complete(views: &[ArticleView], whole: &Wanted<'_>, chosen: &mut Vec<Choice>) {
    if chosen.is_empty() {
        return;
    }
    while chosen.len() < MAX_SENTENCES {
        let Some(next) = for_missing_words(views, whole, chosen).or_else(|| for_missing_kind(views, whole, chosen))
        else {
            return;
        };
        // Beside what stands in the same article, in its order.
        let place = chosen.iter().rposition(|choice| choice.view == next.view).map_or(chosen.len(), |last| last + 1);
        chosen.insert(place, next);
    }
}

/// The best sentence for the words that no chosen sentence, nor its article's title, speaks of.
fn for_missing_words(views: &[ArticleView], whole: &Wanted<'_>, chosen: &[Choice]) -> Option<Choice> {
    let quoted: Vec<Stretch> = chosen.iter().map(|choice| choice.stretch(views)).collect();
    let telling = || whole.words.iter().filter(|(word, _)| !word.is_generic && word.known == Known::Corpus);
    let is_spoken_of = |word: &Word| match subject(views, word) {
        Some(article) => chosen.iter().any(|choice| choice.view == article),
        None => {
            quoted.iter().any(|stretch| word.is_in(stretch)) || chosen.iter().any(|c| word.is_in(&views[c.view].title))
        }
    };
    let missing: Vec<(&Word, f32)> = telling().filter(|(word, _)| !is_spoken_of(word)).copied().collect();
    let weight = |words: &[(&Word, f32)]| -> f32 { words.iter().map(|(_, weight)| weight).sum() };
    let total: f32 = telling().map(|(_, weight)| weight).sum();
    if total <= 0.0 || weight(&missing) < LEAST_GAP * total {
        return None;
    }
    let speaks = |w: &Weighed, near: bool| {
        let view = &views[w.view];
        let share = |word: &Word| match subject(views, word) {
            Some(article) if article != w.view => 0.0,
            Some(_) => 1.0,
            None if near => view.share_nearby(word, w.unit),
            None => view.share_inside(word, w.unit),
        };
        let spoken = missing.iter().filter(|(word, _)| share(word) >= SPEAKS);
        spoken.map(|(_, weight)| weight).sum::<f32>() >= LEAST_GAP * total
    };
    let weighed = weigh(views, &whole.about(missing.clone()));
    // Where the articles that answer speak of it in so many words, no other one is needed.
    let is_here = |w: &Weighed| chosen.iter().any(|choice| choice.view == w.view);
    if let Some(here) = best(views, &weighed, chosen, &|w| is_here(w) && w.fit >= LEAST_FIT && speaks(w, false)) {
        return Some(here);
    }
    // A fact of the asked kind, else whatever the rules say of it in so many words.
    best(views, &weighed, chosen, &|w| w.fit >= LEAST_FIT && speaks(w, true))
        .or_else(|| best(views, &weighed, chosen, &|w| speaks(w, false)))
}

/// The article whose caption is this very word, if one was found: 產假 is the subject of 第 29 條（產假）, not of 陪產假.
fn subject(views: &[ArticleView], word: &Word) -> Option<usize> {
    views.iter().position(|view| view.caption.as_ref().is_some_and(|caption| word.is(caption)))
}

/// The best sentence of the chosen articles for a kind of fact that is asked for and that no chosen sentence holds.
fn for_missing_kind(views: &[ArticleView], whole: &Wanted<'_>, chosen: &[Choice]) -> Option<Choice> {
    whole.asked.one_by_one().into_iter().find_map(|kind| {
        let weighed = weigh(views, &whole.asking(&kind));
        if weighed.iter().any(|w| w.fit >= ANSWERS && inside(views, chosen, w.view, w.unit)) {
            return None;
        }
        let fits = |w: &Weighed| {
            w.fit >= ANSWERS && w.coverage >= LEAST_COVERAGE && chosen.iter().any(|choice| choice.view == w.view)
        };
        best(views, &weighed, chosen, &fits)
    })
}

fn best(
    views: &[ArticleView],
    weighed: &[Weighed],
    chosen: &[Choice],
    fits: &dyn Fn(&Weighed) -> bool,
) -> Option<Choice> {
    let mut articles: Vec<usize> = chosen.iter().map(|choice| choice.view).collect();
    articles.dedup();
    let found = weighed.iter().find(|w| {
        let has_room = articles.len() < MAX_ARTICLES || articles.contains(&w.view);
        has_room && !w.is_other_case && fits(w) && !inside(views, chosen, w.view, w.unit)
    })?;
    Some(stretch_around(views, found, weighed))
}
