//! The preceding Article, this Part, Chapter 3.

use bylaw_contract::Span;

use super::Relation;
use crate::{document::HeadingKind, english, marker::Cursor};

/// Every relative reference of an English body, in order.
pub(super) fn relative(body: &str) -> Vec<(Span, Relation)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < body.len() {
        let rest = &body[at..];
        let word = rest.bytes().take(16).take_while(u8::is_ascii_alphabetic).count();
        if word == 0 || word == 16 {
            let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
            at += letters.max(rest.chars().next().map_or(1, char::len_utf8));
            continue;
        }
        let mut cursor = Cursor::new(body, at);
        if let Some(relation) = read(&mut cursor, &rest[..word]) {
            found.push((Span::new(at, cursor.at()), relation));
            at = cursor.at();
        } else {
            at += word;
        }
    }
    found
}

fn read(cursor: &mut Cursor<'_>, word: &str) -> Option<Relation> {
    const PREVIOUS: [&str; 4] = ["preceding", "previous", "foregoing", "proceeding"];
    const NEXT: [&str; 3] = ["following", "next", "succeeding"];
    let is = |known: &[&str]| known.iter().any(|known| known.eq_ignore_ascii_case(word));
    cursor.eat_word(word);
    if !cursor.skip_space() {
        return None;
    }
    if is(&PREVIOUS) {
        let mut ahead = *cursor;
        if let Some(count) = english::number(&mut ahead).and_then(|numbers| numbers.first().copied())
            && (1..=20).contains(&count)
            && ahead.skip_space()
            && (ahead.eat_word("Articles") || ahead.eat_word("Article"))
        {
            *cursor = ahead;
            return Some(Relation::Previous(count as usize));
        }
        return cursor.eat_word("Article").then_some(Relation::Previous(1));
    }
    if is(&NEXT) {
        return cursor.eat_word("Article").then_some(Relation::Next);
    }
    if is(&["this"]) {
        return capital_kind(cursor).map(Relation::ThisHeading);
    }
    if is(&["Annex", "Appendix", "Schedule"]) {
        return english::number(cursor).filter(|numbers| numbers.len() == 1).map(|numbers| Relation::Annex(numbers[0]));
    }
    // Part 5; the number must follow, and the word be a heading's name.
    let kind = english::heading_kind(word).filter(|_| word.starts_with(|c: char| c.is_ascii_uppercase()))?;
    let number = english::number(cursor)?;
    (number.len() == 1).then(|| Relation::NamedHeading(kind, number[0]))
}

/// Chapter, Part, Section behind "this": with a capital, since "this part" is any part.
fn capital_kind(cursor: &mut Cursor<'_>) -> Option<HeadingKind> {
    let rest = cursor.rest();
    let word = rest.bytes().take(16).take_while(u8::is_ascii_alphabetic).count();
    let word = &rest[..word];
    let kind = english::heading_kind(word).filter(|_| word.starts_with(|c: char| c.is_ascii_uppercase()))?;
    cursor.eat_word(word);
    Some(kind)
}
