//! Places in a text that name an article.

use bylaw_contract::{ArticleAddress, Span};

use crate::{chinese, english, marker::Cursor, numerals};

/// A place in a text that names an article: 「第二十六條之一」, `第26條`, `§ 26`, `Article 26`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleMention {
    /// The words that name it.
    pub span: Span,
    /// The key they stand for.
    pub address: ArticleAddress,
}

/// Every article mention in a question or a body text, in order. Used by the citation parser of retrieval too.
///
/// Lists are taken apart (第三、五及七條; Articles 3, 5 and 7), each number a mention of its own; the ends of a range
/// (第 12 條至第 15 條) are two mentions. An Arabic number right before 條 needs no 第, as people write questions.
#[must_use]
pub fn article_mentions(text: &str) -> Vec<ArticleMention> {
    let mut found = Vec::new();
    let mut at = 0;
    // The word before, if letters: Article and Section are only met at the beginning of a word.
    let mut in_word = false;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let next = match c {
            '第' => chinese_list(text, at, &mut found),
            '§' => english_list(text, at, &mut found),
            'A' | 'a' | 'S' | 's' if !in_word => english_list(text, at, &mut found),
            c if numerals::arabic_digit(c).is_some() => bare_number(text, at, &mut found),
            _ => None,
        };
        in_word = c.is_alphanumeric() && !crate::language::is_chinese(c);
        at = next.unwrap_or(at + c.len_utf8());
    }
    found
}

fn push(found: &mut Vec<ArticleMention>, start: usize, end: usize, numbers: &[u32], separator: &str) {
    let address = numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(separator);
    if let Ok(address) = ArticleAddress::new(address) {
        found.push(ArticleMention { span: Span::new(start, end), address });
    }
}

/// 第三條之一, or 第三、五及七條. Returns where to go on.
fn chinese_list(text: &str, at: usize, found: &mut Vec<ArticleMention>) -> Option<usize> {
    let mut cursor = Cursor::new(text, at);
    if let Some(numbers) = chinese::article_number(&mut cursor) {
        push(found, at, cursor.at(), &numbers, "-");
        return Some(cursor.at());
    }
    // Numbers up to a 條, or nothing.
    let mut cursor = Cursor::new(text, at);
    cursor.eat(|c| c == '第')?;
    let mut numbers = Vec::new();
    let mut start = at;
    loop {
        cursor.skip_space();
        let Some(number) = cursor.number() else { break };
        numbers.push((start, cursor.at(), number));
        cursor.skip_space();
        if let Some(sign) = cursor.eat(|c| matches!(c, '條' | '条')) {
            if numbers.len() > 1 {
                let last = numbers.len() - 1;
                for (index, (start, end, number)) in numbers.into_iter().enumerate() {
                    let end = if index == last { cursor.at() } else { end };
                    push(found, start, end, &[number], "-");
                }
                let _ = sign;
            }
            return Some(cursor.at());
        }
        if cursor.eat(|c| matches!(c, '、' | '及' | '與' | '与' | '和' | '或')).is_none() || numbers.len() > 30 {
            break;
        }
        cursor.skip_space();
        start = cursor.at();
    }
    Some(cursor.at().max(at + '第'.len_utf8()))
}

/// 26條, 26-1條, 26條之1.
fn bare_number(text: &str, at: usize, found: &mut Vec<ArticleMention>) -> Option<usize> {
    let mut cursor = Cursor::new(text, at);
    let skip = |cursor: &mut Cursor<'_>| {
        cursor.skip_while(|c| numerals::arabic_digit(c).is_some());
        Some(cursor.at())
    };
    let Some(number) = cursor.arabic() else { return skip(&mut cursor) };
    if cursor.peek().is_some_and(|c| numerals::arabic_digit(c).is_some()) {
        return skip(&mut cursor);
    }
    let mut numbers = vec![number];
    if cursor.rest().starts_with(['-', '之']) {
        let mut ahead = cursor;
        ahead.eat(|_| true)?;
        if let Some(branch) = ahead.arabic() {
            numbers.push(branch);
            cursor = ahead;
        }
    }
    let resume = cursor.at();
    cursor.skip_space();
    if cursor.eat(|c| matches!(c, '條' | '条')).is_none() {
        return Some(resume);
    }
    // 共 5 條 is a count, and so is 5 條規定.
    let before = text[..at].trim_end().chars().next_back();
    if before.is_some_and(|c| "共計计約约幾几有等逾滿满達达全各".contains(c)) {
        return Some(resume);
    }
    while numbers.len() < 4 {
        let mut ahead = cursor;
        if ahead.eat(|c| matches!(c, '之' | '-')).is_none() {
            break;
        }
        let Some(branch) = ahead.number() else { break };
        numbers.push(branch);
        cursor = ahead;
    }
    push(found, at, cursor.at(), &numbers, "-");
    Some(cursor.at())
}

/// Article 12, Articles 3, 5 and 7, Section 4.2, § 26, §§ 3-5.
fn english_list(text: &str, at: usize, found: &mut Vec<ArticleMention>) -> Option<usize> {
    const WORDS: [(&str, &str); 10] = [
        ("Articles", "-"),
        ("Article", "-"),
        ("Arts.", "-"),
        ("Art.", "-"),
        ("Sections", "."),
        ("Section", "."),
        ("Secs.", "."),
        ("Sec.", "."),
        ("§§", "."),
        ("§", "."),
    ];
    let mut cursor = Cursor::new(text, at);
    let (word, separator) = WORDS.iter().find(|(word, _)| cursor.eat_word(word))?;
    let plural = word.trim_end_matches('.').ends_with('s') || *word == "§§";
    cursor.skip_space();
    let mut resume = None;
    let mut start = at;
    for count in 0..30 {
        let begin = cursor;
        let number = if plural { single(&mut cursor) } else { english::number(&mut cursor) };
        // After Article 3 and, only digits go on: Article 3 and I am no list.
        let is_digits = begin.peek().is_some_and(|c| c.is_ascii_digit());
        let Some(numbers) = number.filter(|_| count == 0 || is_digits) else { break };
        push(found, start, cursor.at(), &numbers, separator);
        resume = Some(cursor.at());
        if !plural {
            break;
        }
        let joined = cursor.eat(|c| matches!(c, ',' | '-' | '–')).is_some();
        cursor.skip_space();
        let word = ["and", "or", "to", "through"].iter().any(|word| cursor.eat_word(word));
        if !(joined || word) {
            break;
        }
        cursor.skip_space();
        start = cursor.at();
    }
    resume
}

/// A number whose hyphen means "to", as after a plural; dots still join parts.
fn single(cursor: &mut Cursor<'_>) -> Option<Vec<u32>> {
    if !cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
        return english::number(cursor);
    }
    let mut numbers = vec![cursor.arabic()?];
    let mut ahead = *cursor;
    while numbers.len() < 4 && ahead.eat(|c| c == '.').is_some() {
        let Some(next) = ahead.arabic() else { break };
        numbers.push(next);
        *cursor = ahead;
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let found: Vec<_> = article_mentions(text)
            .into_iter()
            .map(|mention| (mention.span.of(text).unwrap().to_owned(), mention.address.to_string()))
            .collect();
        let expected: Vec<_> = expected.iter().map(|(words, key)| ((*words).to_owned(), (*key).to_owned())).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn articles_are_found_however_they_are_written() {
        check("第二十六條之一怎麼說", &[("第二十六條之一", "26-1")]);
        check("請問第 26 條之 1", &[("第 26 條之 1", "26-1")]);
        check("第26-1條", &[("第26-1條", "26-1")]);
        check("第２６条", &[("第２６条", "26")]);
        check("勞基法38條", &[("38條", "38")]);
        check("勞基法 84 條之1", &[("84 條之1", "84-1")]);
        check("第三、五及七條", &[("第三", "3"), ("五", "5"), ("七條", "7")]);
        check("第 12 條至第 15 條", &[("第 12 條", "12"), ("第 15 條", "15")]);
        check("第三條之一切規定", &[("第三條", "3")]);
        check("第三條之十日內", &[("第三條", "3")]);
        check("共 5 條、第二項、第三章、十條", &[]);
        check("Article 12 and Section 4.2", &[("Article 12", "12"), ("Section 4.2", "4.2")]);
        check("articles 3, 5 and 7", &[("articles 3", "3"), ("5", "5"), ("7", "7")]);
        check("Articles 3-5", &[("Articles 3", "3"), ("5", "5")]);
        check("Article 26-1, Article XII, Art. 5", &[("Article 26-1", "26-1"), ("Article XII", "12"), ("Art. 5", "5")]);
        check("§ 26 and §§ 3-4", &[("§ 26", "26"), ("§§ 3", "3"), ("4", "4")]);
        check("an article in 3 particles, Section of 5", &[]);
        check("第一十一十條 第 條 第99999999999條", &[]);
    }

    proptest! {
        #[test]
        fn mentions_ascend_and_lie_on_character_boundaries(text in "(第|條|之|[0-9二十]|Articles? |§|, | and |.){0,60}") {
            let mut end = 0;
            for mention in article_mentions(&text) {
                prop_assert!(mention.span.start >= end && mention.span.of(&text).is_some_and(|words| !words.is_empty()));
                end = mention.span.end;
            }
        }
    }
}
