//! Headings of English rules: Chapter, Part, Article 12, Section 4.2, § 4.2, `4.2 Title`, Annex.

use crate::{
    document::HeadingKind,
    marker::{Cursor, Marker, MarkerKind, Strength, Unit},
    numerals,
};

/// Longest heading without marks, in bytes.
const LONGEST_PLAIN_HEADING: usize = 100;
/// Largest whole number that heads a section without a dot behind it; larger ones are years and amounts.
const LARGEST_BARE_NUMBER: u32 = 199;

/// What a line announces, if anything. `marked` where the format says that it is a heading.
pub(crate) fn marker(line: &str, marked: bool) -> Option<Marker> {
    let mut cursor = Cursor::new(line, 0);
    cursor.skip_while(|c| matches!(c, '*' | '_'));
    let first = cursor.peek()?;
    if first == '§' {
        cursor.skip_while(|c| c == '§');
        return unit(cursor, line, marked, Unit::Section);
    }
    if numerals::arabic_digit(first).is_some() {
        return numbered(cursor, line, marked);
    }
    if !first.is_ascii_uppercase() && !marked {
        return None;
    }
    for word in ["Article", "Art.", "Art"] {
        if cursor.eat_word(word) {
            return unit(cursor, line, marked, Unit::Article);
        }
    }
    for word in ["Section", "Sec.", "Sec", "Clause", "Rule"] {
        if cursor.eat_word(word) {
            return unit(cursor, line, marked, Unit::Section);
        }
    }
    division(cursor, line, marked).or_else(|| annex(cursor, line, marked))
}

/// The heading kind that a word stands for.
pub(crate) fn heading_kind(word: &str) -> Option<HeadingKind> {
    const KINDS: [(&str, HeadingKind); 7] = [
        ("Book", HeadingKind::Book),
        ("Title", HeadingKind::Book),
        ("Chapter", HeadingKind::Chapter),
        ("Part", HeadingKind::Chapter),
        ("Section", HeadingKind::Section),
        ("Subsection", HeadingKind::Subsection),
        ("Subparagraph", HeadingKind::Item),
    ];
    KINDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, kind)| *kind)
}

/// A number behind Article, Section and the like: `12`, `26-1`, `4.2`, `XII`, `Four`.
pub(crate) fn number(cursor: &mut Cursor<'_>) -> Option<Vec<u32>> {
    if let Some(first) = cursor.arabic() {
        let mut numbers = vec![first];
        let mut ahead = *cursor;
        while numbers.len() < 4 && ahead.eat(|c| matches!(c, '.' | '-' | '‑' | '–')).is_some() {
            let Some(next) = ahead.arabic() else { break };
            numbers.push(next);
            *cursor = ahead;
        }
        // 4a is no number of ours; neither is the 3 of 3rd.
        return (!cursor.peek().is_some_and(|c| c.is_ascii_alphabetic())).then_some(numbers);
    }
    let rest = cursor.rest();
    let word: usize = rest
        .chars()
        .take(16)
        .take_while(|c| c.is_ascii_alphabetic() || ('Ⅰ'..='Ⅻ').contains(c))
        .map(char::len_utf8)
        .sum();
    let value = roman_or_word(&rest[..word])?;
    cursor.skip_while(|c| c.is_ascii_alphabetic() || ('Ⅰ'..='Ⅻ').contains(&c));
    Some(vec![value])
}

fn roman_or_word(word: &str) -> Option<u32> {
    const WORDS: [&str; 20] = [
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    let spelled = WORDS.iter().zip(1..).find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, value)| value);
    let capital = word.chars().next().is_some_and(|c| !c.is_ascii_lowercase());
    spelled.or_else(|| numerals::parse_roman(word).filter(|_| capital))
}

fn unit(mut cursor: Cursor<'_>, line: &str, marked: bool, unit: Unit) -> Option<Marker> {
    cursor.skip_space();
    let numbers = number(&mut cursor)?;
    finish(cursor, line, marked, MarkerKind::Article(unit, numbers))
}

/// Reads what follows a number: nothing, a caption, or the first words of the body.
fn finish(mut cursor: Cursor<'_>, line: &str, marked: bool, kind: MarkerKind) -> Option<Marker> {
    let number_end = cursor.at();
    let strength = |strength| if marked { Strength::Marked } else { strength };
    cursor.skip_while(|c| matches!(c, '*' | '_'));
    let spaced = cursor.skip_space();
    if cursor.is_at_end() {
        return Some(Marker {
            kind,
            title_end: number_end,
            caption: None,
            body: None,
            strength: strength(Strength::Strong),
        });
    }
    if let Some((start, end)) = cursor.bracketed() {
        let title_end = cursor.at();
        cursor.skip_while(|c| matches!(c, '*' | '_' | '.' | ':') || c.is_whitespace());
        // (1) and (a) are parts of an article that a sentence names.
        let is_part = line[start..end].chars().count() <= 3;
        let body = (!cursor.is_at_end() && !marked).then_some(cursor.at());
        let title_end = if marked { line.len() } else { title_end };
        let goes_on = cursor.rest().starts_with(|c: char| c.is_ascii_lowercase());
        return (marked || !(is_part || goes_on)).then_some(Marker {
            kind,
            title_end,
            caption: Some((start, end)),
            body,
            strength: strength(Strength::Strong),
        });
    }
    let separated = cursor.skip_while(|c| matches!(c, '.' | ':' | '-' | '–' | '—' | '*'));
    let gap = cursor.skip_space();
    if cursor.is_at_end() {
        return Some(Marker {
            kind,
            title_end: number_end,
            caption: None,
            body: None,
            strength: strength(Strength::Strong),
        });
    }
    if !(spaced || gap || separated) {
        return None;
    }
    let rest = cursor.rest();
    let caption = (cursor.at(), cursor.at() + rest.trim_end_matches(['*', '_', ' ']).len());
    if marked {
        let strength = Strength::Marked;
        return Some(Marker { kind, title_end: line.len(), caption: Some(caption), body: None, strength });
    }
    if rest.starts_with(|c: char| c.is_ascii_lowercase() || matches!(c, ',' | ';' | ')')) {
        return None;
    }
    if is_title(rest) {
        let strength = if separated { Strength::Strong } else { Strength::Weak };
        return Some(Marker { kind, title_end: line.len(), caption: Some(caption), body: Some(cursor.at()), strength });
    }
    Some(Marker {
        kind,
        title_end: number_end,
        caption: None,
        body: Some(cursor.at()),
        strength: if separated { Strength::Strong } else { Strength::Weak },
    })
}

/// Whether words can be a title: short, and without the full stop of a sentence.
fn is_title(words: &str) -> bool {
    words.len() <= LONGEST_PLAIN_HEADING && !words.trim_end().ends_with(['.', ';', ',', ':', '。', '；', '，', '：'])
}

/// `4.2 Title`, `4. Title`: in a marked heading, or a short line of plain text whose number has two parts.
fn numbered(mut cursor: Cursor<'_>, line: &str, marked: bool) -> Option<Marker> {
    let mut numbers = vec![cursor.arabic()?];
    let mut dotted = false;
    let mut ahead = cursor;
    while ahead.eat(|c| matches!(c, '.' | '．')).is_some() {
        dotted = true;
        cursor = ahead;
        let Some(next) = ahead.arabic() else { break };
        if numbers.len() == 5 {
            return None;
        }
        numbers.push(next);
        cursor = ahead;
    }
    let number_end = cursor.at();
    dotted |= cursor.skip_while(|c| matches!(c, ')' | '、'));
    let spaced = cursor.skip_space();
    let rest = cursor.rest();
    let fits = if marked {
        (dotted && (numbers.len() > 1 || !rest.is_empty())) || spaced && numbers[0] <= LARGEST_BARE_NUMBER
    } else {
        numbers.len() > 1 && spaced && is_title(rest) && rest.starts_with(char::is_alphabetic)
    };
    if !fits || numbers.contains(&u32::MAX) {
        return None;
    }
    let kind = MarkerKind::Article(Unit::Numbered, numbers);
    let caption = (!rest.is_empty()).then(|| (cursor.at(), cursor.at() + rest.trim_end_matches(['*', '_', ' ']).len()));
    let title_end = if rest.is_empty() { number_end } else { line.len() };
    let strength = if marked { Strength::Marked } else { Strength::Weak };
    Some(Marker { kind, title_end, caption, body: None, strength })
}

fn division(mut cursor: Cursor<'_>, line: &str, marked: bool) -> Option<Marker> {
    let word: usize = cursor.rest().bytes().take(16).take_while(u8::is_ascii_alphabetic).count();
    let kind = heading_kind(&cursor.rest()[..word])?;
    cursor.skip_while(|c| c.is_ascii_alphabetic());
    if !cursor.skip_space() {
        return None;
    }
    let numbers = number(&mut cursor)?;
    let marker = finish(cursor, line, marked, MarkerKind::Division(kind, numbers.first().copied()))?;
    let whole = marked || (marker.title_end == line.len() && is_title(line));
    whole.then_some(Marker { title_end: line.len(), body: None, ..marker })
}

fn annex(mut cursor: Cursor<'_>, line: &str, marked: bool) -> Option<Marker> {
    const NAMES: [&str; 5] = ["Annex", "Appendix", "Schedule", "Exhibit", "Attachment"];
    if !NAMES.iter().any(|name| cursor.eat_word(name)) {
        return None;
    }
    cursor.skip_space();
    let mut ahead = cursor;
    let letter = ahead.eat(|c| c.is_ascii_uppercase()).filter(|_| !ahead.peek().is_some_and(char::is_alphanumeric));
    let label = match letter {
        // A to Z are letters here, even I and V: an Annex C would stand beside them.
        Some(letter) if !matches!(letter, 'I' | 'V' | 'X') => {
            cursor = ahead;
            Some(letter.to_ascii_lowercase().to_string())
        }
        _ => {
            ahead = cursor;
            number(&mut ahead).map(|numbers| {
                cursor = ahead;
                numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
            })
        }
    };
    if label.is_none() && !marked && !cursor.rest().trim_start().is_empty() && !cursor.rest().starts_with(':') {
        return None;
    }
    let marker = finish(cursor, line, marked, MarkerKind::Annex(label))?;
    let whole = marked || (marker.title_end == line.len() && is_title(line));
    whole.then_some(Marker { title_end: line.len(), body: None, ..marker })
}
