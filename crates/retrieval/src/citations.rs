//! The citation parser: 「勞基法第 38 條」 is looked up, not searched.
//!
//! A law is named by its full name (the longest that stands there), by a short name from the glossary, or by a short name
//! that fits by rule: its characters stand in this order in the law's name. Without a name, an article number means the
//! article of this number in every document that is asked.

use std::cmp::Reverse;

use bylaw_contract::Span;
use bylaw_corpus::ArticleMention;

use crate::{
    Filter, Visible,
    analysis::{Folded, is_cjk},
};

/// Most laws in which a bare article number is looked up; in a nation's laws every number is in thousands of them.
const MAX_LAWS_FOR_A_BARE_NUMBER: usize = 64;
/// Longest short name, in characters.
const MAX_SHORT_NAME: usize = 24;
/// Most articles that one question names; the rest is ranked.
const MAX_CITATIONS: usize = 32;

/// Endings of names of rules (folded), and whether it is a statute: statutes come before orders.
const KINDS: [(&str, bool); 17] = [
    ("施行细则", false),
    ("注意事项", false),
    ("条例", true),
    ("通则", true),
    ("细则", false),
    ("规则", false),
    ("办法", false),
    ("准则", false),
    ("标准", false),
    ("规程", false),
    ("要点", false),
    ("章程", false),
    ("规章", false),
    ("守则", false),
    ("手册", false),
    ("规范", false),
    ("法", true),
];
/// What stands before such an ending and does not name a rule: 本法, 該規則.
const POINTERS: [&str; 14] =
    ["本", "该", "此", "同", "前", "这个", "那个", "这份", "这本", "公司", "我们", "相关", "有关", "的"];

/// Characters that join a name to what stands before it, and that no name begins with (folded).
const JOINING: [char; 14] = ['依', '按', '据', '照', '与', '及', '和', '或', '跟', '在', '由', '请', '查', '看'];

/// What a question names by number.
#[derive(Debug, Default)]
pub(crate) struct Cited {
    /// Articles that exist, as the question names them. Bare numbers name one in each document, in no order.
    pub(crate) found: Vec<Vec<u32>>,
    /// Articles that do not, in the question's words.
    pub(crate) missing: Vec<String>,
    /// Where the question names them by number, in bytes of the question.
    pub(crate) mentions: Vec<Span>,
}

/// A name of a law in the question, in bytes of the folded question.
struct Name {
    start: usize,
    end: usize,
    laws: Vec<u32>,
}

/// Parses a question.
pub(crate) fn parse(visible: &Visible<'_>, question: &str, folded: &Folded, filter: &Filter<'_>) -> Cited {
    let mut cited = Cited::default();
    if !may_cite(&folded.text) {
        return cited;
    }
    let mut mentions = bylaw_corpus::article_mentions(question);
    mentions.truncate(MAX_CITATIONS);
    if mentions.is_empty() {
        return cited;
    }
    let names = names(visible, &folded.text);
    let folded_at = |byte: usize| folded.origin.partition_point(|&origin| origin < byte).min(folded.text.len());
    let mut previous_end = 0;
    for mention in &mentions {
        let (start, end) = (folded_at(mention.span.start), folded_at(mention.span.end));
        // A law's name may hold an article's number: 依…第四十六條訂定之辦法.
        if names.iter().any(|name| name.start <= start && end <= name.end) {
            continue;
        }
        cited.mentions.push(mention.span);
        let laws = governing(visible, &folded.text, &names, previous_end, start, end);
        previous_end = end;
        let found = match &laws {
            Governing::Laws(laws) => laws.iter().flat_map(|&law| visible.find_in_law(law, &mention.address)).collect(),
            Governing::Unknown(_) => Vec::new(),
            Governing::Nothing => match bare(visible, mention, filter) {
                Some(found) => found,
                None => continue,
            },
        };
        if found.is_empty() {
            let from = match &laws {
                Governing::Unknown(start) => folded.original(*start, end).start,
                Governing::Laws(_) | Governing::Nothing => mention.span.start,
            };
            let words = Span::new(from, mention.span.end).of(question).unwrap_or_default();
            cited.missing.push(words.trim().to_owned());
        } else {
            cited.found.push(found);
        }
    }
    cited
}

/// A cheap test that most questions fail.
fn may_cite(folded: &str) -> bool {
    ["条", "\u{a7}", "art", "sec", "clause", "rule", "para", "附", "annex", "appendix", "schedule"]
        .iter()
        .any(|sign| folded.contains(sign))
}

enum Governing {
    Laws(Vec<u32>),
    /// A law that is not here; where its name begins.
    Unknown(usize),
    Nothing,
}

/// The law whose article is meant.
fn governing(
    visible: &Visible<'_>,
    text: &str,
    names: &[Name],
    previous_end: usize,
    start: usize,
    end: usize,
) -> Governing {
    let before = text[..start].trim_end_matches([' ', '」', '』', '》', '〉', ')', '"', '的', '之', ',']);
    let full = names.iter().rev().find(|name| name.end <= start);
    if let Some(name) = full {
        if name.end >= before.len() {
            return governed_by(visible, name, text);
        }
        // 勞動基準法 stands in 勞動基準法細則, which is another law.
        let longer = &before[name.start..];
        if longer[name.end - name.start..].chars().all(is_cjk)
            && KINDS.iter().any(|(kind, _)| longer.ends_with(kind))
            && let Some((law, fits)) = best_fit(visible, longer)
            && fits == longer.chars().count()
        {
            return Governing::Laws(vec![law]);
        }
    }
    // Article 38 of the Labor Standards Act.
    let after = text[end..].trim_start();
    let after = after.strip_prefix("of ").map(|rest| rest.trim_start().trim_start_matches("the ").trim_start());
    if let Some(rest) = after {
        let at = text.len() - rest.len();
        if let Some(name) = names.iter().find(|name| name.start == at) {
            return Governing::Laws(name.laws.clone());
        }
    }
    let from = full.map_or(previous_end, |name| name.end.max(previous_end)).min(before.len());
    let run = short_run(&before[from..]);
    match short_name(visible, run) {
        ShortName::Law(law) => Governing::Laws(vec![law]),
        ShortName::Unknown(bytes) => Governing::Unknown(before.len() - bytes),
        ShortName::None => full.map_or(Governing::Nothing, |name| Governing::Laws(name.laws.clone())),
    }
}

/// The laws of a name that stands right before the article. An alias of a law that is not here may still fit one that is.
fn governed_by(visible: &Visible<'_>, name: &Name, text: &str) -> Governing {
    if !name.laws.is_empty() {
        return Governing::Laws(name.laws.clone());
    }
    let alias = &text[name.start..name.end];
    match best_fit(visible, alias) {
        Some((law, fits)) if fits >= 2 && fits == alias.chars().count() => Governing::Laws(vec![law]),
        Some(_) | None => Governing::Unknown(name.start),
    }
}

/// The last characters of `text` that may be a name.
fn short_run(text: &str) -> &str {
    let start = text.char_indices().rev().take(MAX_SHORT_NAME).take_while(|&(_, c)| is_cjk(c)).last();
    start.map_or("", |(start, _)| &text[start..])
}

enum ShortName {
    Law(u32),
    /// It ends like a law's name but is none that is here; its length in bytes.
    Unknown(usize),
    None,
}

/// The law that a run of characters ends with a short name of.
fn short_name(visible: &Visible<'_>, run: &str) -> ShortName {
    let kind = KINDS.iter().find(|(kind, _)| run.ends_with(kind));
    // The part of the run that must say more than the kind: 規則 alone is no name, nor is 本規則.
    let own = kind.map_or(run, |(kind, _)| &run[..run.len() - kind.len()]);
    if own.is_empty() || POINTERS.iter().any(|pointer| own.ends_with(pointer)) {
        return ShortName::None;
    }
    let least = kind.map_or(2, |(kind, _)| kind.chars().count() + 1).max(2);
    let name = without_question_words(visible, run);
    // What stands before a short name is not always known as such (依照健保法, 參照民訴); but one character and 法 that
    // happen to fit are no name.
    let enough = |fits: usize| fits >= least && (kind.is_none() || fits > least || fits == name.chars().count());
    match (best_fit(visible, name).filter(|&(_, fits)| enough(fits)), kind) {
        (Some((law, _)), _) => ShortName::Law(law),
        (None, Some(_)) => ShortName::Unknown(name.len()),
        (None, None) => ShortName::None,
    }
}

/// The law that most characters at the end of a short name fit; statutes before orders, then the shortest name.
fn best_fit(visible: &Visible<'_>, short: &str) -> Option<(u32, usize)> {
    let rank = |law: u32| {
        let name = visible.law_name(law);
        let statute = KINDS.iter().find(|(kind, _)| name.ends_with(kind)).is_some_and(|&(_, statute)| statute);
        (common_subsequence_from_end(short, name), statute, Reverse(name.len()), Reverse(law))
    };
    let (fits, .., Reverse(law)) = visible.laws().map(rank).max()?;
    Some((law, fits))
}

/// The part of a run that may be a name: what comes after the last question word in it.
fn without_question_words<'a>(visible: &Visible<'_>, run: &'a str) -> &'a str {
    let mut analysis = crate::analysis::Analysis::default();
    analysis.run(run);
    let units = crate::vocabulary::Units::of(&analysis);
    let matches = visible.vocabulary().matches(&units);
    let last = matches.iter().rfind(|found| visible.vocabulary().is_question_word(found));
    let from = last.map_or(0, |found| analysis.tokens[units.units[found.units.end - 1].token].folded.end);
    run[from..].trim_start_matches(JOINING)
}

/// How many characters at the end of `short` stand in this order in `name`.
fn common_subsequence_from_end(short: &str, name: &str) -> usize {
    let mut wanted = short.chars().rev();
    let Some(mut next) = wanted.next() else { return 0 };
    let mut found = 0;
    for c in name.chars().rev() {
        if c == next {
            found += 1;
            match wanted.next() {
                Some(c) => next = c,
                None => break,
            }
        }
    }
    found
}

/// The article of this number in every document that is asked; `None` where that would say nothing.
fn bare(visible: &Visible<'_>, mention: &ArticleMention, filter: &Filter<'_>) -> Option<Vec<u32>> {
    if let Some(source) = filter.source {
        let source = visible.source(source)?;
        if let Some(found) = visible.generation().find_in_source(source, &mention.address) {
            return Some(vec![found]);
        }
        if source.structure != bylaw_contract::sources::Structure::Records {
            return Some(Vec::new());
        }
    }
    if visible.laws().nth(MAX_LAWS_FOR_A_BARE_NUMBER).is_some() {
        return None;
    }
    let mut found: Vec<u32> = visible.laws().flat_map(|law| visible.find_in_law(law, &mention.address)).collect();
    let in_source = |source| visible.generation().find_in_source(source, &mention.address);
    found.extend(visible.sources().filter_map(in_source));
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// All names of laws in a folded question, from left to right, the longest at each place.
fn names(visible: &Visible<'_>, text: &str) -> Vec<Name> {
    let aliases = visible.vocabulary().law_aliases();
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let full = visible.law_prefix(rest).filter(|&length| ends_word(text, at, at + length)).unwrap_or(0);
        let alias = longest_alias(aliases, rest).filter(|alias| ends_word(text, at, at + alias.len()));
        let alias_laws = |alias: &str| -> Vec<u32> {
            let first = aliases.partition_point(|(other, _)| &**other < alias);
            let same = aliases[first..].iter().take_while(|(other, _)| &**other == alias);
            same.flat_map(|(_, name)| visible.laws_named(name)).collect()
        };
        let (length, laws) = match alias {
            Some(alias) if alias.len() > full => (alias.len(), alias_laws(alias)),
            _ => (full, visible.laws_named(&rest[..full]).collect()),
        };
        if length == 0 {
            at += c.len_utf8();
        } else {
            names.push(Name { start: at, end: at + length, laws });
            at += length;
        }
    }
    names
}

fn longest_alias<'a>(aliases: &'a [(Box<str>, Box<str>)], rest: &str) -> Option<&'a str> {
    let first = rest.chars().next()?;
    let begin = aliases.partition_point(|(alias, _)| alias.chars().next() < Some(first));
    let same = aliases[begin..].iter().take_while(|(alias, _)| alias.starts_with(first));
    same.filter(|(alias, _)| rest.starts_with(&**alias)).map(|(alias, _)| &**alias).max_by_key(|alias| alias.len())
}

/// Whether `start..end` cuts no Latin word: LSA is not in 'also'.
fn ends_word(text: &str, start: usize, end: usize) -> bool {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let (before, after) = (text[..start].chars().next_back(), text[end..].chars().next());
    let (first, last) = (text[start..].chars().next(), text[..end].chars().next_back());
    let cut = (word(before) && word(first)) || (word(last) && word(after));
    !cut
}

#[cfg(test)]
mod tests;
