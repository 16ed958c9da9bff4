//! Headings of Chinese rules: 編 章 節 款 目, 第 N 條 之 M, 附表.

use crate::{
    document::HeadingKind,
    marker::{Cursor, Marker, MarkerKind, Strength, Unit, is_sentence},
};

/// Longest heading without marks, in characters.
const LONGEST_PLAIN_HEADING: usize = 40;
/// Longest caption that follows a number without brackets.
const LONGEST_BARE_CAPTION: usize = 20;

/// What a line announces, if anything. `marked` where the format says that it is a heading.
pub(crate) fn marker(line: &str, marked: bool) -> Option<Marker> {
    let mut cursor = Cursor::new(line, 0);
    cursor.skip_while(|c| matches!(c, '*' | '_'));
    match cursor.peek()? {
        '第' => numbered(cursor, line, marked),
        '附' => annex(cursor, line, marked),
        _ => None,
    }
}

/// The numbers between 第 and 條, and those after 之.
pub(crate) fn article_number(cursor: &mut Cursor<'_>) -> Option<Vec<u32>> {
    cursor.eat(|c| c == '第')?;
    cursor.skip_space();
    let mut numbers = vec![cursor.number()?];
    let mut ahead = *cursor;
    while numbers.len() < 4 {
        ahead.skip_space();
        if ahead.eat(is_branch_sign).is_none() {
            break;
        }
        ahead.skip_space();
        let Some(branch) = ahead.number() else { break };
        numbers.push(branch);
        *cursor = ahead;
    }
    cursor.skip_space();
    cursor.eat(|c| matches!(c, '條' | '条'))?;
    while numbers.len() < 4 {
        let Some(branch) = branch(cursor) else { break };
        numbers.push(branch);
    }
    Some(numbers)
}

const fn is_branch_sign(c: char) -> bool {
    matches!(c, '之' | '-' | '－' | '–' | '‐' | '‑' | '—')
}

/// 之 M after 條; not the 之一 of 之一切 or the 之十日 of 第三條之十日.
fn branch(cursor: &mut Cursor<'_>) -> Option<u32> {
    const NOT_AFTER_A_BRANCH: &str = "切部般致些定併同旦律方半年月日天個个人次倍分小時時时週周元款項项名種种";
    let mut ahead = *cursor;
    ahead.skip_space();
    let sign = ahead.eat(is_branch_sign)?;
    ahead.skip_space();
    let number = ahead.number()?;
    if sign == '之' && ahead.peek().is_some_and(|c| NOT_AFTER_A_BRANCH.contains(c)) {
        return None;
    }
    *cursor = ahead;
    Some(number)
}

fn numbered(start: Cursor<'_>, line: &str, marked: bool) -> Option<Marker> {
    let mut cursor = start;
    if let Some(numbers) = article_number(&mut cursor) {
        return article(cursor, line, marked, numbers);
    }
    division(start, line, marked)
}

fn article(mut cursor: Cursor<'_>, line: &str, marked: bool, numbers: Vec<u32>) -> Option<Marker> {
    let kind = MarkerKind::Article(Unit::Tiao, numbers);
    let number_end = cursor.at();
    let after = |title_end, caption, body, strength| {
        let strength = if marked { Strength::Marked } else { strength };
        Some(Marker { kind: kind.clone(), title_end, caption, body, strength })
    };
    let bold = cursor.skip_while(|c| matches!(c, '*' | '_'));
    let spaced = cursor.skip_space();
    if cursor.is_at_end() {
        return after(number_end, None, None, Strength::Strong);
    }
    if let Some(caption) = cursor.bracketed() {
        let title_end = cursor.at();
        cursor.skip_while(|c| matches!(c, '*' | '_'));
        cursor.skip_while(|c| matches!(c, '：' | ':'));
        cursor.skip_space();
        return match continues_reference(cursor.rest()) {
            true if !marked => None,
            _ if cursor.is_at_end() => after(title_end, Some(caption), None, Strength::Strong),
            _ if marked => after(line.len(), Some(caption), None, Strength::Strong),
            _ => after(title_end, Some(caption), Some(cursor.at()), Strength::Strong),
        };
    }
    let separated = cursor.skip_while(|c| matches!(c, '：' | ':' | '、' | '.' | '．'));
    let separated = cursor.skip_space() || spaced || separated || bold;
    if cursor.is_at_end() {
        return after(number_end, None, None, Strength::Strong);
    }
    let rest = cursor.rest();
    if continues_reference(rest) && !(separated && opens_despite_it(rest)) {
        return None;
    }
    let caption = (cursor.at(), line.len());
    if marked {
        return after(line.len(), Some(trim_marks(line, caption)), None, Strength::Strong);
    }
    let strength = if separated { Strength::Strong } else { Strength::Weak };
    let is_caption = separated && rest.chars().take(LONGEST_BARE_CAPTION + 1).count() <= LONGEST_BARE_CAPTION;
    if is_caption && !is_sentence(rest) {
        // Words of a caption or a body of a few words: the lines that follow decide, see `structure`.
        return after(line.len(), Some(trim_marks(line, caption)), Some(cursor.at()), strength);
    }
    after(number_end, None, Some(cursor.at()), strength)
}

fn trim_marks(line: &str, (start, end): (usize, usize)) -> (usize, usize) {
    (start, start + line[start..end].trim_end_matches(['*', '_', ' ']).len())
}

/// Whether what follows a number makes it a cross-reference: 第三條所定…, 第五條第一項…, 第 3 條至第 5 條….
fn continues_reference(rest: &str) -> bool {
    const WORDS: [&str; 20] = [
        "之", "所", "規定", "规定", "及", "與", "与", "和", "或", "至", "到", "、", "，", "。", "；", "但書", "前段",
        "後段", "后段", "暨",
    ];
    const JOINS: [char; 6] = ['~', '～', '-', '－', '」', '』'];
    if WORDS.iter().any(|word| rest.starts_with(word)) || rest.starts_with(JOINS) {
        return true;
    }
    let mut cursor = Cursor::new(rest, 0);
    if cursor.eat(|c| c == '第').is_some() {
        cursor.skip_space();
        return cursor.number().is_some();
    }
    // 第三條各款, 第三條等規定.
    ["各款", "各項", "等規定", "等规定", "有關", "有关", "準用", "准用", "情形", "序文", "附表", "修正", "條文"]
        .iter()
        .any(|word| rest.starts_with(word))
}

/// Words that continue a reference when they touch the number, but can also open a body behind a space: 所有, 及格.
fn opens_despite_it(rest: &str) -> bool {
    const OPENINGS: [&str; 16] = [
        "所有", "所屬", "所属", "所得", "及格", "與會", "或有", "和解", "到職", "到职", "到勤", "至少", "至遲", "有關",
        "有关", "情形",
    ];
    OPENINGS.iter().any(|word| rest.starts_with(word))
}

fn division(mut cursor: Cursor<'_>, line: &str, marked: bool) -> Option<Marker> {
    cursor.eat(|c| c == '第')?;
    cursor.skip_space();
    let number = cursor.number()?;
    cursor.skip_space();
    let kind = match cursor.eat(|_| true)? {
        '編' | '编' | '篇' => HeadingKind::Book,
        '章' => HeadingKind::Chapter,
        '節' | '节' => HeadingKind::Section,
        '款' => HeadingKind::Subsection,
        '目' => HeadingKind::Item,
        _ => return None,
    };
    let _ = branch(&mut cursor);
    let spaced = cursor.skip_space();
    let rest = cursor.rest();
    if !marked {
        let short = line.chars().take(LONGEST_PLAIN_HEADING + 1).count() <= LONGEST_PLAIN_HEADING;
        // 款 and 目 are mostly parts of an article; as headings they stand apart from their words.
        let apart = spaced || rest.is_empty() || kind < HeadingKind::Subsection;
        if !short || !apart || is_sentence(line) || (continues_reference(rest) && !(spaced && opens_despite_it(rest))) {
            return None;
        }
    }
    let caption = (!rest.is_empty()).then(|| trim_marks(line, (cursor.at(), line.len())));
    let strength = if marked { Strength::Marked } else { Strength::Strong };
    Some(Marker {
        kind: MarkerKind::Division(kind, Some(number)),
        title_end: line.len(),
        caption,
        body: None,
        strength,
    })
}

fn annex(mut cursor: Cursor<'_>, line: &str, marked: bool) -> Option<Marker> {
    const NAMES: [&str; 8] = ["附表", "附件", "附錄", "附录", "附圖", "附图", "附則表", "附则表"];
    if !NAMES.iter().any(|name| cursor.eat_text(name)) {
        return None;
    }
    let _ = cursor.skip_space();
    let mut ahead = cursor;
    let mut label = ahead.number().map(|number| number.to_string());
    if let Some(first) = label.as_mut() {
        cursor = ahead;
        if let Some(part) = branch(&mut cursor) {
            first.push_str(&format!("-{part}"));
        }
    }
    let number_end = cursor.at();
    let separated = cursor.skip_while(|c| c.is_whitespace() || matches!(c, '：' | ':' | '、' | '.' | '*' | '_'));
    let rest = cursor.rest();
    if !marked {
        let short = line.chars().take(LONGEST_PLAIN_HEADING + 1).count() <= LONGEST_PLAIN_HEADING;
        let opened = rest.starts_with(['（', '(', '【', '《', '「']);
        if !short || is_sentence(line) || !(rest.is_empty() || separated || opened) {
            return None;
        }
        if continues_reference(rest) {
            return None;
        }
    }
    let bracketed = cursor.bracketed();
    let caption = match bracketed {
        Some(caption) if cursor.is_at_end() => Some(caption),
        _ => (!rest.is_empty()).then(|| trim_marks(line, (line.len() - rest.len(), line.len()))),
    };
    let title_end = if rest.is_empty() { number_end } else { line.len() };
    let strength = if marked { Strength::Marked } else { Strength::Strong };
    Some(Marker { kind: MarkerKind::Annex(label), title_end, caption, body: None, strength })
}
