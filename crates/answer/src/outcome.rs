//! Whether the chosen sentences answer, and if not, why.

use bylaw_contract::Outcome;
use bylaw_retrieval::{Found, HitKind, Known};

use crate::{
    deferral,
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
}

/// Least share of a question's information that an answering sentence and what it hangs on must hold.
const MIN_COVERAGE: f32 = 0.3;
/// Least fit of an answering sentence's facts.
const MIN_FIT: f32 = 0.3;

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
        deferral: deferring(views, wanted, weighed),
        absent: share(&|word| !views.iter().take(5).any(|view| view.holds(word))),
        silent: share(&|word| {
            matches!(word.known, Known::Topic | Known::Glossary) && !views.iter().take(5).any(|view| view.holds(word))
        }),
        off_topic: share(&|word| word.known == Known::Topic && !views.iter().take(5).any(|view| view.holds(word))),
        in_title,
    }
}

/// The sentence that leaves the asked matter to another document.
fn deferring(views: &[ArticleView], wanted: &Wanted<'_>, weighed: &[Weighed]) -> Option<Weighed> {
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
    let _ = wanted;
    (covers && better).then_some(*deferring)
}

/// How the question ends.
pub(crate) fn decide(found: &Found, words: &[Word], views: &[ArticleView], parts: &[PartReading]) -> Outcome {
    let looked_up = found.hits.iter().any(|hit| hit.kind == HitKind::LookedUp);
    if !found.question.missing_citations.is_empty() && !looked_up {
        return Outcome::NotInRules;
    }
    let nobody_knows = words.iter().all(|word| word.known == Known::Nobody);
    if nobody_knows && !looked_up {
        return Outcome::NotUnderstood;
    }
    if views.is_empty() {
        return Outcome::NotInRules;
    }
    let outcomes: Vec<Outcome> = parts.iter().map(|part| of_part(part, looked_up)).collect();
    // A question with several parts is as good as its best part: the extract shows what there is.
    [Outcome::Answered, Outcome::RuledElsewhere, Outcome::Insufficient]
        .into_iter()
        .find(|outcome| outcomes.contains(outcome))
        .unwrap_or(Outcome::NotInRules)
}

fn of_part(part: &PartReading, looked_up: bool) -> Outcome {
    let Some(best) = part.best else { return Outcome::NotInRules };
    if part.deferral.is_some() {
        return Outcome::RuledElsewhere;
    }
    let is_subject_of_article = part.in_title >= 0.25;
    if (part.off_topic >= 0.4 || part.silent >= 0.75) && !looked_up {
        return if is_subject_of_article { Outcome::Insufficient } else { Outcome::NotInRules };
    }
    if part.absent >= 0.75 && !is_subject_of_article && !looked_up {
        return Outcome::NotInRules;
    }
    if best.fit >= MIN_FIT && best.coverage >= MIN_COVERAGE && !best.is_other_case {
        Outcome::Answered
    } else {
        Outcome::Insufficient
    }
}
