//! The sentences of the rules that answer, verbatim, chosen without any model.

use std::{collections::HashSet, sync::Arc};

use bylaw_contract::{
    ArticleId, Outcome, Span,
    ask::{Extract, ExtractSentence},
};
use bylaw_retrieval::{Filter, Found, Generation, GenerationError, Hit, Known, Ordinal, Query, Visible, analysis};

use crate::{
    asked::Asked,
    complete,
    outcome::{self, PartReading},
    parts::{self, Part},
    quantities::{self, Quantity},
    units,
    view::{self, ArticleView, Wanted, Weighed},
    words::{self, Stretch, Word},
};

/// Most sentences of an extract.
pub(crate) const MAX_SENTENCES: usize = 4;
/// How deep the extract reads into the ranking, whatever `k` is.
pub(crate) const READING_DEPTH: usize = 8;
/// Longest list, in characters, that is quoted whole.
const MAX_LIST_CHARS: usize = 360;

/// What a sentence gains whose article answers what was asked before.
const SAME_MATTER: f32 = 0.08;
/// Least fit of a sentence whose article the next part of a question stays with.
const STAYS: f32 = 0.7;

/// What the rules say to a question.
#[derive(Debug)]
pub(crate) struct Reading {
    /// How the question ends if nobody else answers it.
    pub(crate) outcome: Outcome,
    /// The sentences, best article first.
    pub(crate) extract: Extract,
    /// Articles that were found for a part of the question alone and are quoted.
    pub(crate) extra: Vec<Hit>,
}

/// Reads the rules for a question.
pub(crate) fn read(
    generation: &Generation,
    question: &str,
    found: &Found,
    filter: Filter<'_>,
) -> Result<Reading, GenerationError> {
    let visible = generation.visible(filter.readable)?;
    let folded = analysis::fold(question);
    let mut words = words::words(&found.question.words);
    let apart = take_apart(generation, filter, &mut words)?;
    let parts = parts::parts(&folded.text);
    let mut hits = candidates(generation, question, found, filter, &folded, &parts, &words)?;
    for hit in apart {
        if !hits.iter().any(|(known, _)| known.ordinal == hit.ordinal) {
            hits.push((hit, 0.7));
        }
    }
    let best_score = found.hits.iter().map(|hit| hit.score).fold(0.0, f32::max);
    let views: Vec<ArticleView> = hits
        .iter()
        .map(|(hit, worth)| ArticleView::new(hit, worth * view::prior(hit, best_score.max(hit.score))))
        .collect();

    let whole = Asked::of(&folded.text);
    let mut chosen: Vec<Choice> = Vec::new();
    let mut readings: Vec<PartReading> = Vec::new();
    let mut answered_by: Vec<usize> = Vec::new();
    let room = MAX_SENTENCES / parts.len().max(1);
    for (number, part) in parts.iter().enumerate() {
        let text = &folded.text[part.range.clone()];
        // What was stated before still holds: 到職五個月就生小孩，產假有多長，工資給多少.
        let stated: Vec<Quantity> = quantities::stated(&folded.text[..part.range.end]);
        let wanted = wanted(part, number, &parts, text, &words, &folded.origin, &stated, &whole);
        let mut weighed = weigh(&views, &wanted);
        stay_with(&answered_by, &mut weighed);
        answered_by.extend(weighed.first().filter(|best| best.fit >= STAYS).map(|best| best.view));
        readings.push(outcome::read_part(&views, &wanted, &weighed));
        let subjects = subjects(text, &wanted, &folded.origin, part);
        if subjects.is_empty() {
            choose(&visible, &views, &wanted, &weighed, room, &mut chosen);
        } else {
            for subject in subjects {
                let wanted = wanted.about(subject);
                let weighed = weigh(&views, &wanted);
                choose(&visible, &views, &wanted, &weighed, (room / 2).max(1), &mut chosen);
            }
        }
    }
    let stated = quantities::stated(&folded.text);
    let everything = Wanted {
        folded: &folded.text,
        asked: &whole,
        words: words.iter().map(|word| (word, word.weight)).collect(),
        is_chinese: view::is_chinese(&folded.text),
        stated: &stated,
    };
    complete::complete(&views, &everything, &mut chosen);
    let outcome = outcome::decide(found, &words, &views, &readings, &chosen);
    // A question that the rules leave to another document is answered by the sentence that says so.
    if outcome == Outcome::RuledElsewhere {
        let deferring = readings.iter().filter_map(|reading| reading.deferral);
        let mut first: Vec<Choice> = deferring.map(|w| Choice::of(&views, w.view, w.unit)).collect();
        first.dedup();
        chosen = first;
    }
    chosen.truncate(MAX_SENTENCES);
    let known: HashSet<Ordinal> = found.hits.iter().chain(&found.referenced).map(|hit| hit.ordinal).collect();
    let extra = hits
        .iter()
        .map(|(hit, _)| hit)
        .filter(|hit| {
            !known.contains(&hit.ordinal) && chosen.iter().any(|choice| views[choice.view].ordinal == hit.ordinal)
        })
        .cloned()
        .collect();
    Ok(Reading { outcome, extract: Extract { sentences: sentences(&views, &chosen) }, extra })
}

/// One quoted stretch: a sentence, or a list with the sentence that introduces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) view: usize,
    pub(crate) span: Span,
}

impl Choice {
    fn of(views: &[ArticleView], view: usize, unit: usize) -> Self {
        Self { view, span: views[view].units[unit].span }
    }

    /// Its words.
    pub(crate) fn stretch(&self, views: &[ArticleView]) -> Stretch {
        Stretch::new(self.span.of(&views[self.view].article.text).unwrap_or_default())
    }
}

/// Whether a sentence is quoted already.
pub(crate) fn inside(views: &[ArticleView], chosen: &[Choice], view: usize, unit: usize) -> bool {
    chosen.iter().any(|choice| choice.view == view && choice.span.contains(views[view].units[unit].span))
}

/// A sentence, or the list around it where the question does not choose among its items.
pub(crate) fn stretch_around(views: &[ArticleView], best: &Weighed, weighed: &[Weighed]) -> Choice {
    match list_around(&views[best.view], best, weighed) {
        Some(span) => Choice { view: best.view, span },
        None => Choice::of(views, best.view, best.unit),
    }
}

/// Looks up the parts of words that the rules do not use as a whole (加班上限), and gives the articles found for them.
fn take_apart(generation: &Generation, filter: Filter<'_>, words: &mut [Word]) -> Result<Vec<Hit>, GenerationError> {
    let mut hits = Vec::new();
    for word in words.iter_mut() {
        if let Some(question) = word.taken_apart() {
            let query = Query { question: &question, k: 3, filter, follow_references: false };
            let found = generation.search(&query)?;
            word.learn(&found.question.words);
            if word.known == Known::Corpus {
                hits.extend(found.hits);
            }
        }
    }
    Ok(hits)
}

/// The articles that are read: those found for the whole question, then those found for a part of it alone.
fn candidates(
    generation: &Generation,
    question: &str,
    found: &Found,
    filter: Filter<'_>,
    folded: &analysis::Folded,
    parts: &[Part],
    words: &[Word],
) -> Result<Vec<(Hit, f32)>, GenerationError> {
    let mut hits: Vec<(Hit, f32)> = found.hits.iter().chain(&found.referenced).map(|hit| (hit.clone(), 1.0)).collect();
    if parts.len() > 1 {
        let at = |index: usize| folded.origin.get(index).copied().unwrap_or(question.len());
        for part in parts {
            let range = at(part.range.start)..at(part.range.end);
            let Some(text) = question.get(range.clone()) else { continue };
            let text = with_subject(question, text, &range, words);
            let query = Query { question: &text, k: 4, filter, follow_references: false };
            for (rank, hit) in generation.search(&query)?.hits.into_iter().enumerate() {
                // Leading a part is worth as much as leading the whole question, which dilutes each part.
                let worth = if rank == 0 { 1.0 } else { 0.8 };
                match hits.iter_mut().find(|(known, _)| known.ordinal == hit.ordinal) {
                    Some((known, _)) if rank == 0 => known.score = known.score.max(hit.score),
                    Some(_) => {}
                    None => hits.push((hit, worth)),
                }
            }
        }
    }
    Ok(hits)
}

/// A later part of a question, led by the most telling word before it where it has no telling word of its own:
/// 「加班要幾點前申請，一個月又最多能加幾小時」.
fn with_subject(question: &str, part: &str, range: &std::ops::Range<usize>, words: &[Word]) -> String {
    let most = |words: &mut dyn Iterator<Item = &Word>| -> Option<(f32, std::ops::Range<usize>)> {
        words
            .filter(|word| !word.is_generic && word.known == Known::Corpus)
            .map(|word| (word.weight, word.start..word.end))
            .max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let own = most(&mut words.iter().filter(|word| range.contains(&word.start))).map_or(0.0, |(weight, _)| weight);
    let before = most(&mut words.iter().filter(|word| word.start < range.start));
    match before {
        Some((weight, word)) if own < 0.6 * weight => format!("{} {part}", question.get(word).unwrap_or_default()),
        _ => part.to_owned(),
    }
}

#[expect(clippy::too_many_arguments, reason = "one call site; the values have nothing else in common")]
fn wanted<'a>(
    part: &'a Part,
    number: usize,
    parts: &[Part],
    text: &'a str,
    words: &'a [Word],
    origin: &[usize],
    stated: &'a [Quantity],
    whole: &'a Asked,
) -> Wanted<'a> {
    let at = |index: usize| origin.get(index).copied().unwrap_or(usize::MAX);
    let range = at(part.range.start)..at(part.range.end);
    let first = at(parts[0].range.start);
    let weights = words
        .iter()
        .filter_map(|word| {
            if parts.len() == 1 || range.contains(&word.start) {
                Some((word, word.weight))
            } else if number > 0 && (first..range.start).contains(&word.start) {
                // What was spoken of before is still the subject, if nothing else is.
                Some((word, 0.35 * word.weight))
            } else {
                None
            }
        })
        .collect();
    let asked = if part.asked.is_empty() { whole } else { &part.asked };
    Wanted { folded: text, asked, words: weights, is_chinese: view::is_chinese(text), stated }
}

/// For 事假和病假各幾天: the words of each subject with those that both share. Empty for a part with one subject.
fn subjects<'a>(text: &str, wanted: &Wanted<'a>, origin: &[usize], part: &Part) -> Vec<Vec<(&'a Word, f32)>> {
    let Some((a, b)) = parts::two_subjects(text) else { return Vec::new() };
    let at = |index: usize| origin.get(part.range.start + index).copied().unwrap_or(usize::MAX);
    let without = |other: &std::ops::Range<usize>| {
        let other = at(other.start)..at(other.end);
        wanted.words.iter().filter(|(word, _)| !other.contains(&word.start)).copied().collect()
    };
    vec![without(&b), without(&a)]
}

/// Every sentence of every article, best first.
pub(crate) fn weigh(views: &[ArticleView], wanted: &Wanted<'_>) -> Vec<Weighed> {
    let mut weighed: Vec<Weighed> =
        views.iter().enumerate().flat_map(|(index, view)| view.weigh(index, wanted)).collect();
    sort(&mut weighed);
    weighed
}

/// Two things asked in one breath are mostly about one matter: the articles that answered what was asked before are
/// looked into first.
fn stay_with(answered_by: &[usize], weighed: &mut [Weighed]) {
    for sentence in weighed.iter_mut().filter(|sentence| answered_by.contains(&sentence.view)) {
        sentence.score += SAME_MATTER;
    }
    sort(weighed);
}

fn sort(weighed: &mut [Weighed]) {
    weighed.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.view.cmp(&b.view)).then(a.unit.cmp(&b.unit)));
}

/// Adds the sentences that answer one part, at most `room` of them, in the order of the article.
fn choose(
    visible: &Visible<'_>,
    views: &[ArticleView],
    wanted: &Wanted<'_>,
    weighed: &[Weighed],
    room: usize,
    chosen: &mut Vec<Choice>,
) {
    let Some(best) = weighed.first() else { return };
    let view = &views[best.view];
    let mut picked: Vec<Choice> = Vec::new();
    let list = list_around(view, best, weighed);
    if let Some(span) = list {
        picked.push(Choice { view: best.view, span });
    } else {
        picked.push(Choice::of(views, best.view, best.unit));
    }
    // What is quoted already for another part takes no room.
    let is_quoted = chosen.iter().any(|known| known.view == best.view && known.span.contains(picked[0].span));
    let mut new = usize::from(!is_quoted);
    let mut add = |view: usize, unit: usize| {
        let choice = Choice::of(views, view, unit);
        let inside = picked.iter().any(|known| known.view == view && known.span.contains(choice.span));
        let is_new = !chosen.iter().any(|known| known.view == view && known.span.contains(choice.span));
        if is_new && new < room && !inside {
            new += 1;
            picked.push(choice);
        }
    };
    let here = &view.units[best.unit];
    // What the sentence hangs on, where the subject stands there.
    if list.is_none() {
        for above in [here.head, here.clause_of].into_iter().flatten() {
            let of_head = weighed.iter().find(|w| w.view == best.view && w.unit == above);
            if of_head.is_some_and(|head| head.own > 0.0 && !head.is_other_case) {
                add(best.view, above);
            }
        }
    }
    // What it points to (依第 41 條規定懲處), where that says most nearly the same.
    let idf = |term: &str| visible.idf(term);
    for mention in bylaw_corpus::article_mentions(here.span.of(&view.article.text).unwrap_or_default()) {
        let target = views.iter().position(|other| {
            other.article.id.source == view.article.id.source && other.article.id.article == mention.address
        });
        if let Some(target) = target
            && let Some(unit) = views[target].likest(view, best.unit, &idf)
        {
            if let Some(head) = views[target].units[unit].head {
                add(target, head);
            }
            add(target, unit);
        }
    }
    // What limits it.
    if let Some(next) = view.units.get(best.unit + 1)
        && next.is_exception
        && next.paragraph == here.paragraph
    {
        add(best.view, best.unit + 1);
    }
    // What answers nearly as well, unless one sentence holds it all.
    let is_whole = best.own >= 0.7 && best.fit >= 0.95;
    for other in weighed.iter().skip(1).filter(|_| !is_whole) {
        let same_article = other.view == best.view;
        let answers = other.fit >= 0.8 * best.fit || !wanted.asked.is_specific();
        // The clauses of one sentence say one thing together.
        let is_clause = same_article && units::are_clauses(&view.units, best.unit, other.unit);
        let near = match (is_clause, same_article) {
            (true, _) => 0.25,
            // A part whose best sentence was quoted for another part asks for more of the same article.
            (false, true) if is_quoted => 0.35,
            // How something is done, and what applies, takes more than one sentence to say.
            (false, true) if !wanted.asked.is_specific() => 0.25,
            (false, true) => 0.2,
            (false, false) => 0.03,
        };
        // A sentence that takes its subject from the one it points back to holds few words of its own.
        let in_context = same_article && other.coverage >= 0.9 * best.coverage;
        let speaks = is_clause || in_context || other.own >= 0.75 * best.own;
        if other.score >= best.score - near && answers && speaks && !other.is_other_case {
            add(other.view, other.unit);
        }
    }
    picked.sort_by_key(|choice| (choice.view != best.view, choice.view, choice.span.start));
    for choice in picked {
        if !chosen.iter().any(|known| known.view == choice.view && known.span.contains(choice.span)) {
            chosen.push(choice);
        }
    }
}

/// The whole list around the best sentence, where the question does not choose among its items: the sentence that
/// introduces it with all items, as the rules write it.
fn list_around(view: &ArticleView, best: &Weighed, weighed: &[Weighed]) -> Option<Span> {
    let here = &view.units[best.unit];
    let head = if here.is_head { best.unit } else { here.head? };
    if view.units[head].is_row {
        return None;
    }
    let items: Vec<usize> = (0..view.units.len()).filter(|unit| view.units[*unit].head == Some(head)).collect();
    let last = *items.last()?;
    if items.len() < 2 {
        return None;
    }
    if !here.is_head {
        let mut scores: Vec<f32> =
            weighed.iter().filter(|w| w.view == best.view && items.contains(&w.unit)).map(|w| w.score).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        let spread = scores.first()? - scores.get(scores.len() / 2)?;
        if spread > 0.03 {
            return None;
        }
    }
    let span = Span::new(view.units[head].span.start, view.units[last].span.end);
    let text = span.of(&view.article.text)?;
    (text.chars().count() <= MAX_LIST_CHARS).then_some(span)
}

fn sentences(views: &[ArticleView], chosen: &[Choice]) -> Vec<ExtractSentence> {
    chosen
        .iter()
        .filter_map(|choice| {
            let article = Arc::clone(&views[choice.view].article);
            let id: ArticleId = article.id.clone();
            choice.span.of(&article.text).map(|text| ExtractSentence { id, span: choice.span, text: text.to_owned() })
        })
        .collect()
}

#[cfg(test)]
mod tests;
