//! NFKC, lower case and character folding, with the way back.

use std::{collections::HashMap, sync::LazyLock};

use unicode_normalization::{
    IsNormalized, UnicodeNormalization,
    char::{canonical_combining_class, decompose_compatible},
    is_nfkc_quick,
};

use super::Folded;

/// Which script a Chinese character gives away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Script {
    /// Written in both.
    Either,
    /// 們, 車.
    Traditional,
    /// 们, 车.
    Simplified,
}

/// The block that most text lies in gets a flat table: one load a character.
const FLAT: std::ops::RangeInclusive<u32> = 0x3400..=0x9FFF;

/// Longest group of characters that normalisation may join. Real text has a letter and one to three marks; the bound
/// keeps a letter with a hundred thousand accents from becoming one huge group.
const MAX_GROUP_CHARS: usize = 16;

struct Table {
    flat: Vec<u16>,
    rest: HashMap<char, char>,
    script: HashMap<char, Script>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| parse(include_str!("../../data/folding.tsv")));

fn parse(data: &str) -> Table {
    let flat = FLAT.map(|code| u16::try_from(code).unwrap_or(0)).collect();
    let mut table = Table { flat, rest: HashMap::new(), script: HashMap::new() };
    for line in data.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('\t');
        let Some(target) = columns.next().and_then(|column| column.chars().next()) else { continue };
        for member in columns.next().unwrap_or_default().chars() {
            match (flat_index(member), u16::try_from(u32::from(target))) {
                (Some(index), Ok(code)) => table.flat[index] = code,
                _ => _ = table.rest.insert(member, target),
            }
        }
        for (script, members) in [Script::Simplified, Script::Traditional].into_iter().zip(columns) {
            table.script.extend(members.chars().map(|member| (member, script)));
        }
    }
    table
}

fn flat_index(c: char) -> Option<usize> {
    let code = u32::from(c);
    FLAT.contains(&code).then(|| (code - FLAT.start()) as usize)
}

/// Folds one character of normalised, lower-case text.
fn fold_char(c: char) -> char {
    if u32::from(c) < *FLAT.start() {
        return c;
    }
    let table = &*TABLE;
    match flat_index(c) {
        Some(index) => match table.flat[index] {
            code if u32::from(code) == u32::from(c) => table.rest.get(&c).copied().unwrap_or(c),
            code => char::from_u32(u32::from(code)).unwrap_or(c),
        },
        None => table.rest.get(&c).copied().unwrap_or(c),
    }
}

/// The script that a character gives away.
pub(crate) fn script_of(c: char) -> Script {
    if is_cjk(c) { TABLE.script.get(&c).copied().unwrap_or(Script::Either) } else { Script::Either }
}

/// Scripts that are written without spaces: cut into characters and bigrams.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x3005..=0x3007          // 々 〆 〇
        | 0x3040..=0x30FF        // kana
        | 0x3105..=0x312F        // bopomofo
        | 0x31A0..=0x31FF
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xAC00..=0xD7A3        // hangul
        | 0xF900..=0xFAFF
        | 0x20000..=0x323AF)
        && !matches!(c, '\u{30FB}' | '\u{3099}'..='\u{309C}')
}

/// Characters that NFKC leaves alone whatever stands beside them, and that lower-case to themselves or by ASCII rules.
/// A quick test for nearly all text; the exact answer is [`starts_group`].
fn is_plain(c: char) -> bool {
    c.is_ascii() || matches!(u32::from(c), 0x3001..=0x3029 | 0x4E00..=0x9FFF | 0x3400..=0x4DBF)
}

/// Whether normalisation can never join `c` to what stands before it.
fn starts_group(c: char) -> bool {
    if is_plain(c) {
        return true;
    }
    let mut first = None;
    decompose_compatible(c, |d| first = first.or(Some(d)));
    first.is_none_or(|d| canonical_combining_class(d) == 0 && is_nfkc_quick(std::iter::once(d)) == IsNormalized::Yes)
}

/// Appends the folded form of `text` to `out`, which must be empty.
pub(super) fn fold_into(text: &str, out: &mut Folded) {
    out.text.reserve(text.len());
    out.origin.reserve(text.len() + 1);
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let alone = chars.peek().is_none_or(|&(_, next)| starts_group(next));
        if alone && is_plain(c) {
            push(out, fold_char(c.to_ascii_lowercase()), start);
            continue;
        }
        let mut end = start + c.len_utf8();
        let mut length = 1;
        while let Some(&(at, next)) = chars.peek() {
            if length == MAX_GROUP_CHARS || starts_group(next) {
                break;
            }
            end = at + next.len_utf8();
            length += 1;
            chars.next();
        }
        for normal in text[start..end].nfkc() {
            for lower in normal.to_lowercase() {
                push(out, fold_char(lower), start);
            }
        }
    }
    out.origin.push(text.len());
}

fn push(out: &mut Folded, c: char, origin: usize) {
    out.text.push(c);
    out.origin.resize(out.text.len(), origin);
}
