//! An article as the extract sees it, and how well each of its sentences answers one part of a question.

use std::{ops::Range, sync::Arc};

use bylaw_retrieval::{Hit, HitKind, IndexedArticle, Ordinal, analysis};

use crate::{
    asked::Asked,
    contrast, deferral,
    facts::Fact,
    pattern::patterns,
    period,
    quantities::{Measure, Quantity},
    units::{self, Unit},
    words::{Stretch, Word},
};

patterns! {
    CLAUSE_END = r"[,;。:]|\band\b";
    // Whoever asks what comes beyond a limit names the case of going beyond it.
    EXCEEDING = r"超過|超出|逾|過期|期限過|\b(?:exceed|over the|beyond|past the|too late)";
    EXCEEDED = r"^(?:逾|超過)[^,。;]{0,30}者,";
    // A sentence for a special case: whoever asks about it names it.
    SPECIAL_CASE = r"^(?:因|逾|未|如|遇|但|惟|經|連續|為)[^,。;]{2,30}者,";
}

/// A candidate article, prepared once and weighed for every part of the question.
#[derive(Debug)]
pub(crate) struct ArticleView {
    /// Its place in the generation.
    pub(crate) ordinal: Ordinal,
    /// The article.
    pub(crate) article: Arc<IndexedArticle>,
    /// What the search thinks of it, 0 to 1.
    pub(crate) prior: f32,
    /// Its sentences.
    pub(crate) units: Vec<Unit>,
    /// Its own title.
    pub(crate) title: Stretch,
    /// Its caption, folded, if it has one.
    pub(crate) caption: Option<String>,
    /// All of its text.
    pub(crate) whole: Stretch,
    is_chinese: bool,
    /// The clauses of each sentence, as bytes of its folded text.
    clauses: Vec<Vec<(Range<usize>, Stretch)>>,
    stretches: Vec<Stretch>,
    headings: Stretch,
    first_of_paragraph: Vec<usize>,
}

/// What one part of a question asks, ready for weighing.
#[derive(Clone, Debug)]
pub(crate) struct Wanted<'a> {
    /// The part, folded.
    pub(crate) folded: &'a str,
    /// What it asks for.
    pub(crate) asked: &'a Asked,
    /// Its words with the weight they have in this part.
    pub(crate) words: Vec<(&'a Word, f32)>,
    /// Whether it is asked in Chinese.
    pub(crate) is_chinese: bool,
    /// The circumstances it states as amounts.
    pub(crate) stated: &'a [Quantity],
}

/// One sentence, weighed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weighed {
    /// Which article, as a place in the list of views.
    pub(crate) view: usize,
    /// Which sentence.
    pub(crate) unit: usize,
    /// All in all.
    pub(crate) score: f32,
    /// Share of the question's information in the sentence and in what it hangs on.
    pub(crate) coverage: f32,
    /// The same in the sentence alone.
    pub(crate) own: f32,
    /// How well its facts are of the asked kind.
    pub(crate) fit: f32,
    /// Whether it speaks of another case than the question.
    pub(crate) is_other_case: bool,
}

// How much a word counts that stands not in the sentence itself, but in what the sentence hangs on.
const IN_HEAD: f32 = 0.95;
const IN_FIRST_CLAUSE: f32 = 0.85;
const IN_TITLE: f32 = 0.8;
const IN_WHAT_IT_POINTS_TO: f32 = 0.7;
const IN_SENTENCE_BEFORE: f32 = 0.5;
const IN_FIRST_PARAGRAPH: f32 = 0.5;
const IN_HEADINGS: f32 = 0.35;
const ELSEWHERE_IN_ARTICLE: f32 = 0.3;

impl ArticleView {
    /// Prepares a hit. `prior` is what the search thinks of it.
    pub(crate) fn new(hit: &Hit, prior: f32) -> Self {
        let article = Arc::clone(&hit.article);
        let units = units::units(&article.text);
        let stretches =
            units.iter().map(|unit| Stretch::new(unit.span.of(&article.text).unwrap_or_default())).collect();
        let mut first_of_paragraph: Vec<usize> = Vec::new();
        for (index, unit) in units.iter().enumerate() {
            if first_of_paragraph.len() <= unit.paragraph {
                first_of_paragraph.resize(unit.paragraph + 1, index);
            }
        }
        let headings: Vec<&str> = article.heading_path.iter().map(|heading| heading.text.as_str()).collect();
        Self {
            ordinal: hit.ordinal,
            prior,
            title: Stretch::new(&article.title),
            caption: article.caption.as_deref().map(|caption| analysis::fold(caption).text),
            headings: Stretch::new(&headings.join("\n")),
            whole: Stretch::new(&article.text),
            stretches,
            is_chinese: is_chinese(&article.text),
            clauses: units.iter().map(|unit| clauses(&unit.folded)).collect(),
            first_of_paragraph,
            units,
            article,
        }
    }

    /// Whether the article, its title or its text, speaks of a word.
    pub(crate) fn holds(&self, word: &Word) -> bool {
        word.is_in(&self.title) || word.is_in(&self.whole)
    }

    /// The sentence that says most nearly the same as a sentence of another article, of those with any such likeness.
    pub(crate) fn likest(&self, other: &Self, unit: usize, idf: &dyn Fn(&str) -> f32) -> Option<usize> {
        let like = |candidate: usize| self.stretches[candidate].share_in(&other.stretches[unit], idf);
        let best = (0..self.units.len()).max_by(|a, b| like(*a).total_cmp(&like(*b)))?;
        (like(best) >= 0.4).then_some(best)
    }

    /// How much of a word a sentence holds, or what introduces it, or the article's title.
    pub(crate) fn share_nearby(&self, word: &Word, unit: usize) -> f32 {
        self.share_inside(word, unit).max(word.share_in(&self.title))
    }

    /// How much of a word a sentence holds, or what introduces it.
    pub(crate) fn share_inside(&self, word: &Word, unit: usize) -> f32 {
        let head = self.units[unit].head.map_or(0.0, |head| word.share_in(&self.stretches[head]));
        word.share_in(&self.stretches[unit]).max(head)
    }

    fn share(&self, word: &Word, unit: usize) -> (f32, f32) {
        let own = word.share_in(&self.stretches[unit]);
        let mut best = own;
        let mut consider = |share: f32| best = best.max(share);
        let here = &self.units[unit];
        let mut head = here.head;
        let mut worth = IN_HEAD;
        while let Some(above) = head {
            consider(worth * word.share_in(&self.stretches[above]));
            head = self.units[above].head;
            worth *= IN_HEAD;
        }
        if let Some(first) = here.clause_of {
            consider(IN_FIRST_CLAUSE * word.share_in(&self.stretches[first]));
        }
        if let Some(before) = here.before {
            let worth = if here.is_exception || here.points_back { IN_WHAT_IT_POINTS_TO } else { IN_SENTENCE_BEFORE };
            consider(worth * word.share_in(&self.stretches[before]));
        }
        if here.points_back && here.paragraph > 0 {
            let first = self.first_of_paragraph[here.paragraph - 1];
            consider(IN_WHAT_IT_POINTS_TO * word.share_in(&self.stretches[first]));
        }
        if here.paragraph > 0 {
            consider(IN_FIRST_PARAGRAPH * word.share_in(&self.stretches[0]));
        }
        consider(IN_TITLE * word.share_in(&self.title));
        consider(IN_HEADINGS * word.share_in(&self.headings));
        consider(ELSEWHERE_IN_ARTICLE * word.share_in(&self.whole));
        (own, best)
    }

    /// Weighs every sentence.
    pub(crate) fn weigh(&self, view: usize, wanted: &Wanted<'_>) -> Vec<Weighed> {
        let question = Stretch::new(wanted.folded);
        let total: f32 = wanted.words.iter().map(|(_, weight)| weight).sum();
        let verdicts: Vec<Option<bool>> = (0..self.units.len()).map(|unit| self.verdict(unit, wanted.stated)).collect();
        (0..self.units.len())
            .map(|unit| {
                let here = &self.units[unit];
                let (mut own, mut coverage) = (0.0, 0.0);
                for (word, weight) in &wanted.words {
                    let (direct, best) = self.share(word, unit);
                    own += weight * direct;
                    coverage += weight * best;
                }
                if total > 0.0 {
                    own /= total;
                    coverage /= total;
                }
                let speaks: Vec<bool> = self.clauses[unit].iter().map(|(_, clause)| wanted.speaks_of(clause)).collect();
                let mut fit = wanted.asked.fit(&here.facts, &|fact| self.nearness(unit, &speaks, fact));
                // A sentence that leaves the matter to another document says where the fact is, not what it is.
                if deferral::defers(&here.folded) {
                    fit = fit.min(0.5);
                }
                // How long something lasts does not say by when it must be asked for.
                let shared_bounds = wanted.asked.shared_bounds(&here.folded);
                if wanted.asked.needs_a_moment() && shared_bounds == 0 && !here.facts.iter().any(Fact::is_moment) {
                    fit = fit.min(0.6);
                }
                let with_head =
                    here.head.map_or_else(String::new, |head| self.units[head].folded.clone()) + &here.folded;
                let is_other_case = contrast::is_other_case(wanted.folded, &with_head);
                let mut score = coverage + 0.2 * own + 0.7 * fit + 0.3 * self.prior;
                if self.is_chinese != wanted.is_chinese {
                    score -= 0.2;
                }
                score += 0.12 * f32::from(shared_bounds);
                score += 0.12 * f32::from(period::agreement(wanted.folded, &here.folded));
                score += 0.25 * f32::from(contrast::negation(wanted.folded, &here.folded));
                if is_other_case {
                    score -= 0.35;
                } else if contrast::is_same_case(wanted.folded, &here.folded) {
                    score += 0.3;
                }
                let is_unasked = |(_, case): &(Range<usize>, Stretch)| case.share_in(&question, &|_| 1.0) < 0.34;
                if EXCEEDING.is_match(wanted.folded) && EXCEEDED.is_match(&here.folded) {
                    score += 0.3;
                } else if SPECIAL_CASE.is_match(&here.folded) && self.clauses[unit].first().is_some_and(is_unasked) {
                    score -= 0.2;
                }
                match verdicts[unit] {
                    Some(true) => {
                        score += if here.bounds.iter().any(super::quantities::Bounds::is_closed) { 0.35 } else { 0.25 };
                    }
                    // Another range of the same list holds it: this one is about somebody else.
                    Some(false) => {
                        let elsewhere = (0..self.units.len()).any(|other| {
                            verdicts[other] == Some(true) && units::are_siblings(&self.units, unit, other)
                        });
                        score -= if elsewhere { 0.5 } else { 0.15 };
                    }
                    None => {}
                }
                // What introduces a list answers nothing by itself.
                if here.is_head && !here.is_row {
                    score -= 0.1;
                }
                Weighed { view, unit, score, coverage, own, fit, is_other_case }
            })
            .collect()
    }

    /// 1 where a fact stands in a clause with a word of the question, less where the sentence speaks of something else
    /// there. In Chinese, the circumstances come in the clause before.
    fn nearness(&self, unit: usize, speaks: &[bool], fact: &Fact) -> f32 {
        let Some(clause) = self.clauses[unit].iter().position(|(range, _)| fact.start < range.end) else { return 1.0 };
        let before = self.is_chinese && clause > 0 && speaks[clause - 1];
        if speaks[clause] || before { 1.0 } else { 0.85 }
    }

    /// Whether what the question states falls into a range of this sentence; `None` where they do not compare.
    pub(crate) fn verdict(&self, unit: usize, stated: &[Quantity]) -> Option<bool> {
        let bounds = &self.units[unit].bounds;
        let mut verdict = None;
        for quantity in stated {
            // A range of days says nothing about somebody's years of service, and the other way round.
            let comparable = bounds.iter().filter(|range| {
                quantity.measure != Measure::Time || {
                    let scale = if range.low > 0.0 { range.low } else { range.high };
                    quantity.value / scale < 25.0 && scale / quantity.value < 25.0
                }
            });
            for holds in comparable.filter_map(|range| range.holds(quantity)) {
                verdict = Some(verdict.unwrap_or(false) || holds);
            }
        }
        verdict
    }
}

/// The clauses of a folded sentence; none for a sentence in one clause.
fn clauses(sentence: &str) -> Vec<(Range<usize>, Stretch)> {
    let mut found = Vec::new();
    let mut start = 0;
    for mark in CLAUSE_END.find_iter(sentence) {
        found.push((start..mark.end(), Stretch::new(&sentence[start..mark.end()])));
        start = mark.end();
    }
    if start < sentence.len() {
        found.push((start..sentence.len(), Stretch::new(&sentence[start..])));
    }
    if found.len() < 2 { Vec::new() } else { found }
}

impl<'a> Wanted<'a> {
    /// The same question about other words.
    pub(crate) fn about(&self, words: Vec<(&'a Word, f32)>) -> Self {
        Wanted { words, ..self.clone() }
    }

    /// The same question asking for something else.
    pub(crate) fn asking<'b>(&'b self, asked: &'b Asked) -> Wanted<'b> {
        Wanted { asked, ..self.clone() }
    }
}

impl Wanted<'_> {
    /// Whether a stretch holds a telling word of the question.
    fn speaks_of(&self, stretch: &Stretch) -> bool {
        self.words.iter().any(|(word, _)| !word.is_generic && word.is_in(stretch))
    }
}

/// Whether a text is written in Chinese.
pub(crate) fn is_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

/// What the search thinks of each hit, 0 to 1: its score beside the best, a looked-up article like the best.
pub(crate) fn prior(hit: &Hit, best_score: f32) -> f32 {
    match hit.kind {
        HitKind::LookedUp => 1.0,
        HitKind::Referenced { .. } => 0.25,
        HitKind::Ranked if best_score > 0.0 => hit.score / best_score,
        HitKind::Ranked => 0.5,
    }
}
