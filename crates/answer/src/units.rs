//! An article cut into the sentences that can be quoted, each knowing the sentences it hangs on.

use bylaw_contract::Span;
use bylaw_retrieval::analysis;

use crate::{
    facts::{self, Fact},
    pattern::patterns,
    quantities::{self, Bounds},
};

/// Most sentences of one article that are weighed. Rules have a dozen; a whole document that could not be cut into
/// articles may have thousands, and only its beginning is weighed then.
const MAX_UNITS: usize = 600;

/// One sentence that can be quoted.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// Bytes in the article's text.
    pub(crate) span: Span,
    /// The sentence, folded.
    pub(crate) folded: String,
    /// What it holds.
    pub(crate) facts: Vec<Fact>,
    /// The ranges it speaks of: 滿三年未滿五年.
    pub(crate) bounds: Vec<Bounds>,
    /// The sentence that introduces the list it is an item of (主句), as a place in the same list of units.
    pub(crate) head: Option<usize>,
    /// The first clause of the sentence it is a later clause of (…；…。).
    pub(crate) clause_of: Option<usize>,
    /// The sentence before it in the same paragraph.
    pub(crate) before: Option<usize>,
    /// The paragraph (項) it belongs to, counted from 0; items count with the paragraph that introduces them.
    pub(crate) paragraph: usize,
    /// Whether it speaks of what the paragraph before it said (前項…).
    pub(crate) points_back: bool,
    /// Whether it limits the sentence before it (但…, 惟…, However…).
    pub(crate) is_exception: bool,
    /// Whether it introduces items.
    pub(crate) is_head: bool,
    /// Whether it is a row of a table.
    pub(crate) is_row: bool,
}

patterns! {
    LEVEL_ONE = r"^[一二三四五六七八九十]{1,4}、|^[壹貳參肆伍陸柒捌玖拾]+、";
    LEVEL_TWO = r"^\([一二三四五六七八九十]{1,3}\)|^\([0-9a-z]{1,3}\)";
    LEVEL_THREE = r"^[0-9]{1,2}[.、)] ?[^0-9]|^[-*•] ";
    POINTS_BACK = r"前[一二三四五]?項|前段|前款|第[一二三四五]項|上開|前述|\bpreceding paragraph\b|\bparagraph [0-9]|^(?:this|these|such|that) |^the payment |^it ";
    EXCEPTION = r"^(?:但|惟|逾期|未依|不在此限)|^(?:however|but|except|unless|provided)\b";
    INTRODUCES = r"[:]$|如下[:。]?$|下列[^。]{0,30}[:]?$";
}

/// Cuts an article's text.
pub(crate) fn units(text: &str) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    // The open list: (level, unit) of the item or paragraph that each level hangs on.
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut paragraph = 0;
    let mut previous_end = 0;
    for span in bylaw_corpus::sentences(text).into_iter().take(MAX_UNITS) {
        let Some(words) = span.of(text) else { continue };
        let index = units.len();
        let begins_line = index == 0 || text[previous_end..span.start].contains('\n');
        previous_end = span.end;
        if !words.chars().any(char::is_alphanumeric) {
            continue;
        }
        let folded = analysis::fold(words).text;
        let is_row = words.starts_with('|');
        let level = level_of(&folded);
        let item = level > 0 && (begins_line || !open.is_empty());
        let mut head = None;
        if item {
            open.retain(|(above, _)| *above < level);
            head = open.last().map(|(_, unit)| *unit);
            open.push((level, index));
        } else if begins_line && !is_row {
            if index > 0 {
                paragraph += 1;
            }
            open = vec![(0, index)];
        } else if is_row {
            // A row hangs on the first row of its table, which names the columns.
            head = units.iter().rposition(|unit| !unit.is_row).map(|above| above + 1).filter(|first| *first < index);
        } else if let Some((_, current)) = open.last() {
            // A later sentence of an item hangs on what the item hangs on.
            head = units[*current].head;
        }
        // A head stands in its own paragraph: a later sentence there may be the one that introduces the items.
        if !item && !is_row && INTRODUCES.is_match(folded.trim_end()) {
            open = vec![(0, index)];
        }
        let before = (!begins_line && index > 0).then(|| index - 1);
        let clause_of = before
            .filter(|before| units[*before].folded.ends_with(';'))
            .map(|before| units[before].clause_of.unwrap_or(before));
        units.push(Unit {
            span,
            facts: if is_row { facts::row_facts(&folded) } else { facts::facts(&folded) },
            bounds: quantities::bounds(&folded),
            head,
            clause_of,
            before,
            paragraph,
            points_back: POINTS_BACK.is_match(&folded),
            is_exception: EXCEPTION.is_match(&folded),
            is_head: false,
            is_row,
            folded,
        });
    }
    for index in 0..units.len() {
        if let Some(head) = units[index].head {
            units[head].is_head = true;
        }
    }
    units
}

fn level_of(folded: &str) -> u8 {
    if LEVEL_ONE.is_match(folded) {
        1
    } else if LEVEL_TWO.is_match(folded) {
        2
    } else if LEVEL_THREE.is_match(folded) {
        3
    } else {
        0
    }
}

/// Whether two units stand beside each other as alternatives: items of one list, or clauses of one sentence.
pub(crate) fn are_siblings(units: &[Unit], a: usize, b: usize) -> bool {
    if a == b {
        return false;
    }
    let same_list = units[a].head.is_some() && units[a].head == units[b].head;
    same_list || are_clauses(units, a, b)
}

/// Whether two units are clauses of one sentence.
pub(crate) fn are_clauses(units: &[Unit], a: usize, b: usize) -> bool {
    let first = |unit: usize| units[unit].clause_of.unwrap_or(unit);
    a != b && first(a) == first(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heads(text: &str) -> Vec<Option<usize>> {
        units(text).into_iter().map(|unit| unit.head).collect()
    }

    #[test]
    fn items_hang_on_the_sentence_that_introduces_them() {
        assert_eq!(
            heads(
                "費用如下：\n\n一、高鐵，區分如下：\n\n（一）職員：標準。\n\n（二）協理：商務。\n\n二、客運：實支。\n\n國外另計。"
            ),
            [None, Some(0), Some(1), Some(1), Some(0), None]
        );
        // On one line, the first item is part of the sentence that introduces the list.
        assert_eq!(heads("用詞定義如下：一、主管：指甲。二、工作日：指乙。"), [None, Some(0)]);
        assert_eq!(heads("In this Handbook:\n\n(1) \"A\" means a.\n\n(2) \"B\" means b."), [None, Some(0), Some(0)]);
    }

    #[test]
    fn clauses_of_one_sentence_are_siblings_and_paragraphs_are_not() {
        let found = units("滿一年者，七日；滿二年者，十日。\n\n前項假期工資照給。但停職者不給。");
        assert!(are_siblings(&found, 0, 1));
        assert!(!are_siblings(&found, 1, 2));
        assert!(found[2].points_back && found[3].is_exception);
        assert_eq!(found.iter().map(|unit| unit.paragraph).collect::<Vec<_>>(), [0, 0, 1, 1]);
    }
}
