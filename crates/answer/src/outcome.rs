//! Whether the chosen sentences answer, and if not, why.

use bylaw_contract::Outcome;
use bylaw_retrieval::{Found, HitKind, Known};

use crate::{
    deferral,
    extract::Choice,
    view::{ArticleView, Wanted, Weighed},
    words::Word,
};

/// What was found for one part of a question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartReading {
    /// The best sentence.
    pub(crate) best: Option<Weighed>,
    /// The sentence that leaves the asked matter to another document, if one covers the question as well as the best.
    pub(crate) deferral: Option<Weighed>,
    /// How much of the part's information is in none of the articles found, 0 to 1.
    pub(crate) absent: f32,
    /// The same for words of a known topic or glossary entry that the rules do not use at all.
    pub(crate) silent: f32,
    /// The same for words of a known topic alone.
    pub(crate) off_topic: f32,
    /// How much of the part's information the title of the best article holds.
    pub(crate) in_title: f32,
    /// Whether only a certain kind of fact answers.
    pub(crate) is_specific: bool,
    /// Whether what the question states selects the best sentence.
    pub(crate) is_selected: bool,
    /// Whether the best article does not speak of what a yes-or-no question turns on.
    pub(crate) lacks_focus: bool,
}

/// Least share of a question's information that an answering sentence and what it hangs on must hold.
const MIN_COVERAGE: f32 = 0.3;
/// The same where a stated circumstance selects the sentence.
const MIN_SELECTED_COVERAGE: f32 = 0.2;
/// Least share of a question's information that the quoted sentences must hold together instead.
const MIN_TOGETHER: f32 = 0.5;
/// Least fit of an answering sentence's facts.
const MIN_FIT: f32 = 0.3;
/// The same where only a certain kind of fact answers.
const MIN_SPECIFIC_FIT: f32 = 0.65;

/// Judges what was found for a part.
pub(crate) fn read_part(views: &[ArticleView], wanted: &Wanted<'_>, weighed: &[Weighed]) -> PartReading {
    let telling: Vec<(&Word, f32)> = wanted.words.iter().filter(|(word, _)| !word.is_generic).copied().collect();
    let total: f32 = telling.iter().map(|(_, weight)| weight).sum();
    let share = |keep: &dyn Fn(&Word) -> bool| {
        let kept: f32 = telling.iter().filter(|(word, _)| keep(word)).map(|(_, weight)| weight).sum();
        if total > 0.0 { kept / total } else { 0.0 }
    };
    let best = weighed.first().copied();
    let in_title = best.map_or(0.0, |best| share(&|word| word.is_in(&views[best.view].title)));
    PartReading {
        best,
        deferral: deferring(views, weighed),
        absent: share(&|word| !views.iter().take(5).any(|view| view.holds(word))),
        silent: share(&|word| {
            matches!(word.known, Known::Topic | Known::Glossary) && !views.iter().take(5).any(|view| view.holds(word))
        }),
        off_topic: share(&|word| word.known == Known::Topic && !views.iter().take(5).any(|view| view.holds(word))),
        in_title,
        is_specific: wanted.asked.is_specific(),
        is_selected: best.is_some_and(|best| views[best.view].verdict(best.unit, wanted.stated) == Some(true)),
        lacks_focus: best.is_some_and(|best| lacks_focus(&views[best.view], wanted, &telling, best.unit)),
    }
}

/// Any rule permits or forbids something, so a yes-or-no question is answered only by an article that speaks of what is
/// asked about, and not of its circumstances alone: the last telling word, and at least half of all of them.
fn lacks_focus(view: &ArticleView, wanted: &Wanted<'_>, telling: &[(&Word, f32)], unit: usize) -> bool {
    // A stated circumstance that selects the sentence says more than words.
    if wanted.asked.is_specific() || view.verdict(unit, wanted.stated) == Some(true) {
        return false;
    }
    // Words of an earlier part weigh less here than by themselves; what they ask is judged there.
    let own = telling.iter().filter(|(word, weight)| word.idf >= 2.0 && *weight >= word.weight);
    let heavy: Vec<&Word> = own.map(|(word, _)| *word).collect();
    let total: f32 = heavy.iter().map(|word| word.idf).sum();
    let missing: f32 = heavy.iter().filter(|word| !view.holds(word)).map(|word| word.idf).sum();
    let ends_unheard = heavy.last().is_some_and(|word| !view.holds(word) && word.end > word.start + 3);
    ends_unheard || missing > 0.5 * total
}

/// The sentence that leaves the asked matter to another document.
fn deferring(views: &[ArticleView], weighed: &[Weighed]) -> Option<Weighed> {
    let answering = weighed
        .iter()
        .find(|w| w.fit >= MIN_FIT && !w.is_other_case && !deferral::defers(&views[w.view].units[w.unit].folded));
    let deferring = weighed
        .iter()
        .filter(|w| deferral::defers(&views[w.view].units[w.unit].folded))
        .max_by(|a, b| a.own.total_cmp(&b.own).then(b.view.cmp(&a.view)))?;
    let covers = deferring.own >= 0.25 && deferring.coverage >= 0.35;
    let better =
        answering.is_none_or(|answer| deferring.own > answer.own + 0.02 && deferring.coverage >= answer.coverage);
    (covers && better).then_some(*deferring)
}

/// How the question ends.
pub(crate) fn decide(
    found: &Found,
    words: &[Word],
    views: &[ArticleView],
    parts: &[PartReading],
    chosen: &[Choice],
) -> Outcome {
    let looked_up = found.hits.iter().any(|hit| hit.kind == HitKind::LookedUp);
    if !found.question.missing_citations.is_empty() && !looked_up {
        return Outcome::NotInRules;
    }
    let is_covered = are_covered_together(words, views, chosen);
    let outcomes: Vec<Outcome> = parts.iter().map(|part| of_part(part, looked_up, is_covered)).collect();
    let nobody_knows = words.iter().all(|word| word.known == Known::Nobody);
    if nobody_knows && !looked_up && !outcomes.contains(&Outcome::Answered) {
        return Outcome::NotUnderstood;
    }
    if views.is_empty() {
        return Outcome::NotInRules;
    }
    // A question with several parts is as good as its best part: the extract shows what there is.
    [Outcome::Answered, Outcome::RuledElsewhere, Outcome::Insufficient]
        .into_iter()
        .find(|outcome| outcomes.contains(outcome))
        .unwrap_or(Outcome::NotInRules)
}

/// Whether the sentences of two articles hold together what neither of them holds whole, and are silent about nothing
/// that the rules do not use as a word.
fn are_covered_together(words: &[Word], views: &[ArticleView], chosen: &[Choice]) -> bool {
    if chosen.iter().all(|choice| choice.view == chosen[0].view) {
        return false;
    }
    let quoted: Vec<_> = chosen.iter().map(|choice| (choice.stretch(views), &views[choice.view].title)).collect();
    let (mut covered, mut total) = (0.0, 0.0);
    for word in words.iter().filter(|word| !word.is_generic) {
        let shares = quoted.iter().map(|(stretch, title)| word.share_in(stretch).max(word.share_in(title)));
        let share = shares.fold(0.0, f32::max);
        if share < 0.35 && word.idf >= 2.0 && word.known != Known::Corpus {
            return false;
        }
        total += word.weight;
        covered += word.weight * share;
    }
    covered >= MIN_TOGETHER * total
}

fn of_part(part: &PartReading, looked_up: bool, is_covered: bool) -> Outcome {
    let Some(best) = part.best else { return Outcome::NotInRules };
    if part.deferral.is_some() {
        return Outcome::RuledElsewhere;
    }
    let is_subject_of_article = part.in_title >= 0.25;
    let is_silent = part.off_topic >= 0.3;
    if is_silent && !looked_up {
        let is_beside_it = is_subject_of_article && part.off_topic < 0.5;
        return if is_beside_it { Outcome::Insufficient } else { Outcome::NotInRules };
    }
    let min_fit = if part.is_specific { MIN_SPECIFIC_FIT } else { MIN_FIT };
    let min_coverage = if part.is_selected { MIN_SELECTED_COVERAGE } else { MIN_COVERAGE };
    let speaks_of_it = is_covered || best.coverage >= min_coverage && !part.lacks_focus;
    if best.fit >= min_fit && speaks_of_it && !best.is_other_case {
        return Outcome::Answered;
    }
    // Words of the glossary may stand for something that the rules say in yet other words; only where nearly all of the
    // question is silent do they mean that the rules are.
    let is_unheard = part.absent >= 0.8 && part.silent < 0.2 || part.silent >= 0.7 && best.coverage < 0.2;
    if is_unheard && !is_subject_of_article && !looked_up { Outcome::NotInRules } else { Outcome::Insufficient }
}
