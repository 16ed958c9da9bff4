//! 前條, 次條, 本章, 第八章.

use bylaw_contract::Span;

use super::Relation;
use crate::{document::HeadingKind, marker::Cursor};

/// Largest N of 前 N 條.
const MOST_PREVIOUS: u32 = 20;

/// Every relative reference of a Chinese body, in order.
pub(super) fn relative(body: &str) -> Vec<(Span, Relation)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = body.get(at..).and_then(|rest| rest.find(['前', '次', '後', '后', '下', '本', '第', '附']))
    {
        let start = at + offset;
        let mut cursor = Cursor::new(body, start);
        let relation = read(&mut cursor);
        let first = body[start..].chars().next().map_or(1, char::len_utf8);
        at = cursor.at().max(start + first);
        if let Some(relation) = relation {
            found.push((Span::new(start, at), relation));
        }
    }
    found
}

fn read(cursor: &mut Cursor<'_>) -> Option<Relation> {
    let sign = cursor.eat(|_| true)?;
    cursor.skip_space();
    match sign {
        '附' => {
            cursor.eat(|c| "表件錄录圖图".contains(c))?;
            cursor.skip_space();
            cursor.number().map(Relation::Annex)
        }
        '第' => {
            let number = cursor.number()?;
            cursor.skip_space();
            let kind = heading_kind(cursor, false)?;
            Some(Relation::NamedHeading(kind, number))
        }
        '本' => heading_kind(cursor, true).map(Relation::ThisHeading),
        '前' => {
            let before = *cursor;
            if let Some(count) = cursor.number() {
                cursor.skip_space();
                let fits = (1..=MOST_PREVIOUS).contains(&count);
                return (fits && eat_article(cursor)).then_some(Relation::Previous(count as usize));
            }
            *cursor = before;
            if eat_article(cursor) {
                return Some(Relation::Previous(1));
            }
            heading_kind(cursor, true).map(|kind| Relation::BesideHeading(kind, -1))
        }
        '下' | '後' | '后' | '次' => {
            if eat_article(cursor) {
                return Some(Relation::Next);
            }
            // 後章 is written, 下節 and 次目 mostly mean other things.
            (sign == '次').then(|| heading_kind(cursor, true)).flatten().map(|kind| Relation::BesideHeading(kind, 1))
        }
        _ => None,
    }
}

/// 條, but not that of 條件, 條例 or 條款.
fn eat_article(cursor: &mut Cursor<'_>) -> bool {
    if cursor.eat(|c| matches!(c, '條' | '条')).is_none() {
        return false;
    }
    !cursor.peek().is_some_and(|c| "件例款理約约目".contains(c))
}

/// A heading's kind. 款 and 目 mostly mean parts of an article, so `relative` leaves them out.
fn heading_kind(cursor: &mut Cursor<'_>, relative: bool) -> Option<HeadingKind> {
    let kind = match cursor.peek()? {
        '編' | '编' | '篇' => HeadingKind::Book,
        '章' => HeadingKind::Chapter,
        '節' | '节' => HeadingKind::Section,
        _ => return None,
    };
    let mut ahead = *cursor;
    ahead.eat(|_| true)?;
    // 本章程 and 本節目 are other words.
    if relative && ahead.peek().is_some_and(|c| "程目日約约育".contains(c)) {
        return None;
    }
    *cursor = ahead;
    Some(kind)
}
