//! Which of the lines that look like headings are headings: by what the format marks, by how the document calls its
//! articles, and by whether the numbers go up.

use std::collections::HashMap;

use crate::{
    document::HeadingKind,
    extract::{Line, Mark},
    marker::{Marker, MarkerKind, Strength, Unit},
};

/// A line that looks like a heading.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// Its line.
    pub(crate) line: usize,
    /// What it seems to announce.
    pub(crate) marker: Marker,
}

/// Numbers that may be missing between two articles of plain text whose body begins on the heading's line.
const LARGEST_GAP: u32 = 30;

/// Keeps the candidates that are headings, in order.
pub(crate) fn select(lines: &[Line], candidates: Vec<Candidate>) -> Vec<Candidate> {
    let Some(family) = family(lines, &candidates) else { return Vec::new() };
    let accepted = accepted_articles(&candidates, &family);
    let any_marked = candidates
        .iter()
        .zip(&accepted)
        .any(|(candidate, accepted)| *accepted && candidate.marker.strength == Strength::Marked);
    let last_article = accepted.iter().rposition(|accepted| *accepted);
    let mut selected = Vec::new();
    for (at, mut candidate) in candidates.into_iter().enumerate() {
        let marked = candidate.marker.strength == Strength::Marked;
        let keep = match &candidate.marker.kind {
            MarkerKind::Article(unit, numbers) if !family.contains(unit) => {
                // Section headings above articles, or articles above sections; numbered lines are neither.
                let kind = match unit {
                    Unit::Section => HeadingKind::Section,
                    Unit::Article | Unit::Tiao => HeadingKind::Chapter,
                    Unit::Numbered => continue,
                };
                let whole = candidate.marker.body.is_none();
                candidate.marker.kind = MarkerKind::Division(kind, numbers.first().copied());
                marked || (whole && !any_marked)
            }
            MarkerKind::Article(..) => accepted[at],
            MarkerKind::Division(..) => marked || !any_marked,
            MarkerKind::Annex(_) => marked || last_article.is_some_and(|last| at > last),
        };
        if keep {
            selected.push(candidate);
        }
    }
    settle_captions(lines, &mut selected);
    selected
}

/// How this document calls its articles.
fn family(lines: &[Line], candidates: &[Candidate]) -> Option<Vec<Unit>> {
    let count = |units: &[Unit], least: Strength| {
        candidates
            .iter()
            .filter(|candidate| {
                candidate.marker.strength >= least
                    && matches!(&candidate.marker.kind, MarkerKind::Article(unit, _) if units.contains(unit))
            })
            .count()
    };
    let starts_at_one = |units: &[Unit]| {
        candidates.iter().any(|candidate| {
            matches!(&candidate.marker.kind, MarkerKind::Article(unit, numbers) if units.contains(unit) && numbers[0] == 1)
        })
    };
    // One article alone, with which the document opens (an excerpt): 「第五條（薪資帶）…」.
    let opens_with = |units: &[Unit]| {
        candidates.first().is_some_and(|first| {
            first.line == 0
                && first.marker.strength >= Strength::Strong
                && matches!(&first.marker.kind, MarkerKind::Article(unit, _) if units.contains(unit))
        })
    };
    let is_family = |units: &[Unit]| {
        opens_with(units)
            || count(units, Strength::Marked) >= 1
            || count(units, Strength::Strong) >= 2
            || (count(units, Strength::Weak) >= 1 && starts_at_one(units))
    };
    let articles = [Unit::Tiao, Unit::Article];
    if is_family(&articles) {
        let sections = count(&[Unit::Section], Strength::Strong);
        let only_above =
            count(&[Unit::Tiao], Strength::Strong) == 0 && sections > 0 && articles_stand_above(lines, candidates);
        return Some(if only_above { vec![Unit::Section] } else { articles.to_vec() });
    }
    if count(&[Unit::Section], Strength::Marked) >= 1 || count(&[Unit::Section], Strength::Strong) >= 2 {
        return Some(vec![Unit::Section]);
    }
    let headings = lines.iter().skip(1).filter(|line| matches!(line.mark, Mark::Heading(_))).count();
    let numbered = count(&[Unit::Numbered], Strength::Marked);
    let enough = if headings > 0 {
        numbered >= 2 && numbered * 2 >= headings
    } else {
        count(&[Unit::Numbered], Strength::Weak) >= 3
    };
    enough.then(|| vec![Unit::Numbered])
}

/// Whether most articles have nothing of their own between their heading and the first section below it.
fn articles_stand_above(lines: &[Line], candidates: &[Candidate]) -> bool {
    let (mut articles, mut above) = (0_usize, 0_usize);
    for (at, candidate) in candidates.iter().enumerate() {
        if !matches!(candidate.marker.kind, MarkerKind::Article(Unit::Article, _)) {
            continue;
        }
        articles += 1;
        let below = candidates.get(at + 1).filter(|next| next.line == candidate.line + 1 && next.line < lines.len());
        above +=
            usize::from(below.is_some_and(|next| matches!(next.marker.kind, MarkerKind::Article(Unit::Section, _))));
    }
    above * 2 > articles
}

/// For each candidate, whether it begins an article.
fn accepted_articles(candidates: &[Candidate], family: &[Unit]) -> Vec<bool> {
    let members: Vec<(usize, &Marker, &[u32])> = candidates
        .iter()
        .enumerate()
        .filter_map(|(at, candidate)| match &candidate.marker.kind {
            MarkerKind::Article(unit, numbers) if family.contains(unit) => Some((at, &candidate.marker, &numbers[..])),
            _ => None,
        })
        .collect();
    let marked = members.iter().filter(|(_, marker, _)| marker.strength == Strength::Marked).count();
    let strong = members.iter().filter(|(_, marker, _)| marker.strength == Strength::Strong).count();
    // Where the format marks articles, an unmarked line can only fill a gap between two of them.
    let fills_gaps_only = marked > 0 && marked * 2 >= strong;
    let mut next_marked: Vec<Option<&[u32]>> = vec![None; members.len()];
    let mut following = None;
    let mut strong_at: HashMap<&[u32], usize> = HashMap::new();
    for (index, (_, marker, numbers)) in members.iter().enumerate().rev() {
        next_marked[index] = following;
        if marker.strength == Strength::Marked {
            following = Some(*numbers);
        }
        if marker.strength >= Strength::Strong {
            strong_at.entry(numbers).or_insert(index);
        }
    }
    let mut accepted = vec![false; candidates.len()];
    let mut previous: Option<&[u32]> = None;
    for (index, (at, marker, numbers)) in members.iter().enumerate() {
        let following = members.get(index + 1).map(|(_, _, numbers)| *numbers);
        let accept = match marker.strength {
            Strength::Marked => true,
            _ if fills_gaps_only => {
                marker.strength == Strength::Strong
                    && previous.is_some_and(|previous| succeeds(previous, numbers))
                    && next_marked[index].is_none_or(|next| *numbers < next)
            }
            Strength::Weak => {
                let better_later = strong_at.get(numbers).is_some_and(|later| *later > index);
                !better_later && previous.map_or(numbers[0] == 1, |previous| succeeds(previous, numbers))
            }
            Strength::Strong => previous.is_none_or(|previous| is_plausible(previous, marker, numbers, following)),
        };
        if accept {
            accepted[*at] = true;
            previous = Some(numbers);
        }
    }
    accepted
}

/// Whether a number can come right after another: the next integer, or a branch of the same one.
fn succeeds(previous: &[u32], numbers: &[u32]) -> bool {
    numbers > previous && numbers[0] <= previous[0].saturating_add(1)
}

/// Whether a line of plain text that looks like a heading fits between its neighbours.
fn is_plausible(previous: &[u32], marker: &Marker, numbers: &[u32], following: Option<&[u32]>) -> bool {
    if succeeds(previous, numbers) {
        return true;
    }
    if numbers > previous {
        let leaps_over = following.is_some_and(|following| following > previous && following < numbers);
        let near = marker.body.is_none() || numbers[0] - previous[0] <= LARGEST_GAP;
        return near && !leaps_over;
    }
    // A second set of rules in one file begins again at 1.
    numbers[0] == 1 && previous[0] > 1 && following.is_none_or(|following| succeeds(numbers, following))
}

/// Decides for 「第一條 目的」, short words behind a number, whether they are its caption (words follow on the next line)
/// or all the body there is.
fn settle_captions(lines: &[Line], selected: &mut [Candidate]) {
    for at in 0..selected.len() {
        let next_line = selected[at].line + 1;
        let followed = next_line < lines.len() && selected.get(at + 1).is_none_or(|next| next.line != next_line);
        let marker = &mut selected[at].marker;
        if let (Some(_), Some(body)) = (marker.caption, marker.body)
            && marker.title_end > body
        {
            if followed {
                marker.body = None;
            } else {
                marker.caption = None;
                marker.title_end = body;
            }
        }
    }
}
