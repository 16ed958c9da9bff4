//! Cuts an article's text into the sentences and clauses that can be quoted.

use bylaw_contract::Span;

use crate::{
    extract::{raw_lines, trimmed},
    numerals,
};

/// Splits a text into sentences: at 。！？；? and ';', at the full stop of an English sentence, and at every line (so
/// that list items and table rows stand alone). Never inside 「」『』（）.
///
/// The spans are trimmed, not empty, ascend and do not overlap; together they cover every visible character.
#[must_use]
pub fn sentences(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    for line in raw_lines(text) {
        let line = trimmed(text, line);
        if line.of(text).is_some_and(|words| words.starts_with('|')) {
            push(text, line, &mut found);
        } else {
            split_line(text, line, &mut found);
        }
    }
    found
}

fn push(text: &str, span: Span, found: &mut Vec<Span>) {
    let span = trimmed(text, span);
    if !span.is_empty() {
        found.push(span);
    }
}

fn split_line(text: &str, line: Span, found: &mut Vec<Span>) {
    let words = line.of(text).unwrap_or_default();
    let closes = closing_brackets(words);
    let mut start = 0;
    let mut chars = words.char_indices().peekable();
    let mut inside_until = 0;
    while let Some((at, c)) = chars.next() {
        if at < inside_until {
            continue;
        }
        if let Ok(bracket) = closes.binary_search_by_key(&at, |(open, _)| *open) {
            inside_until = closes[bracket].1;
            continue;
        }
        let end = at + c.len_utf8();
        let ends = match c {
            '。' | '！' | '？' | '；' | '!' | '?' | ';' => true,
            '.' => is_full_stop(words, at),
            _ => false,
        };
        if !ends {
            continue;
        }
        // A run of marks and the quotation mark that closes behind it stay with the sentence.
        let mut end = end;
        while let Some((next, mark)) = chars.next_if(|(_, c)| is_trailing(*c)) {
            end = next + mark.len_utf8();
        }
        push(text, Span::new(line.start + start, line.start + end), found);
        start = end;
    }
    push(text, Span::new(line.start + start, line.end), found);
}

const fn is_trailing(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '!' | '?' | '」' | '』' | '）' | '”' | '’' | '"' | ')')
}

/// Pairs of brackets on a line, outermost only, as (offset of the opening one, offset behind the closing one). A
/// bracket that never closes is no bracket.
fn closing_brackets(words: &str) -> Vec<(usize, usize)> {
    let mut stack: Vec<(usize, char)> = Vec::new();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (at, c) in words.char_indices() {
        match c {
            '「' => stack.push((at, '」')),
            '『' => stack.push((at, '』')),
            '（' | '(' => stack.push((at, '）')),
            '」' | '』' | '）' | ')' => {
                let c = if c == ')' { '）' } else { c };
                // Only the innermost can close: a list mark such as `a)` closes nothing.
                if stack.last().is_some_and(|(_, close)| *close == c)
                    && let Some((open, _)) = stack.pop()
                {
                    while pairs.last().is_some_and(|(inner, _)| *inner > open) {
                        pairs.pop();
                    }
                    pairs.push((open, at + c.len_utf8()));
                }
            }
            _ => {}
        }
    }
    pairs
}

/// Whether the '.' at this offset ends an English sentence: white space and no small letter follow, and the word before
/// is neither an abbreviation nor the number of a list item.
fn is_full_stop(words: &str, at: usize) -> bool {
    const ABBREVIATIONS: [&str; 27] = [
        "no", "nos", "art", "arts", "sec", "secs", "para", "paras", "ch", "e.g", "i.e", "cf", "vs", "approx", "co",
        "ltd", "inc", "corp", "mr", "mrs", "ms", "dr", "st", "jr", "sr", "fig", "p",
    ];
    let after = &words[at + 1..];
    let after = after.trim_start_matches(['"', '”', '’', ')']);
    let next = after.trim_start();
    if next.is_empty() {
        return true;
    }
    if after.len() == next.len() || next.starts_with(|c: char| c.is_lowercase()) {
        return false;
    }
    let reach = words[..at].char_indices().rev().take(24).take_while(|(_, c)| !c.is_whitespace() && *c != '(').last();
    let word = &words[reach.map_or(at, |(start, _)| start)..at];
    let begins_line = word.len() == words[..at].trim_start().len();
    let is_item = begins_line && word.chars().count() <= 4 && word.chars().all(char::is_alphanumeric);
    let is_initial = word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_number = begins_line && word.chars().all(|c| numerals::is_numeral(c) || c == '.');
    !(word.is_empty()
        || is_item
        || is_initial
        || is_number
        || ABBREVIATIONS.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<_> = sentences(text).into_iter().map(|span| span.of(text).unwrap()).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn sentences_end_where_a_reader_stops() {
        check("甲。乙！丙？丁", &["甲。", "乙！", "丙？", "丁"]);
        check("滿六個月者三日；滿一年者七日。", &["滿六個月者三日；", "滿一年者七日。"]);
        check("他說「甲。乙」後離去。丙。", &["他說「甲。乙」後離去。", "丙。"]);
        check("依規定（含附表。二）辦理。", &["依規定（含附表。二）辦理。"]);
        check("未閉合「甲。乙", &["未閉合「甲。", "乙"]);
        check("『甲「乙。」丙。』丁。", &["『甲「乙。」丙。』丁。"]);
        check("下列文件：\n一、甲。\n（二）乙\n1. 丙\n- 丁", &["下列文件：", "一、甲。", "（二）乙", "1. 丙", "- 丁"]);
        check("一、甲；二、乙；三、丙。", &["一、甲；", "二、乙；", "三、丙。"]);
        check("| 職等 | 日本。 |\n| --- | --- |", &["| 職等 | 日本。 |", "| --- | --- |"]);
        check("One day. Two days? Three; four.", &["One day.", "Two days?", "Three;", "four."]);
        check("See Art. 5 and No. 7 of Acme Co. Ltd. today.", &["See Art. 5 and No. 7 of Acme Co. Ltd. today."]);
        check("See e.g. Section 4.2. It applies.", &["See e.g. Section 4.2.", "It applies."]);
        check("1. First item.", &["1. First item."]);
        check("Pay is 3.5 days. J. Smith agrees.", &["Pay is 3.5 days.", "J. Smith agrees."]);
        check("He said (at work. Or not) so. Done.", &["He said (at work. Or not) so.", "Done."]);
        check("a) 甲。b) 乙。", &["a) 甲。", "b) 乙。"]);
        check("", &[]);
        check(" \n\u{3000}\n", &[]);
        check("。。。", &["。。。"]);
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for text in [
            "「".repeat(300_000),
            "（".repeat(100_000) + &"）".repeat(100_000),
            ". ".repeat(300_000),
            "a.".repeat(300_000),
        ] {
            let _ = sentences(&text);
        }
    }

    pub(crate) fn fragments() -> impl Strategy<Value = String> {
        let fragment = prop_oneof![
            Just("員工".to_owned()),
            Just("。".to_owned()),
            Just("；".to_owned()),
            Just("「".to_owned()),
            Just("」".to_owned()),
            Just("（".to_owned()),
            Just("）".to_owned()),
            Just("(".to_owned()),
            Just(")".to_owned()),
            Just("\n".to_owned()),
            Just(" ".to_owned()),
            Just(". ".to_owned()),
            Just("No.".to_owned()),
            Just("👩‍💻".to_owned()),
            Just("e\u{301}".to_owned()),
            Just("| a |".to_owned()),
            Just("\u{3000}".to_owned()),
            ".{0,4}",
        ];
        prop::collection::vec(fragment, 0..40).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn sentences_are_trimmed_ascending_and_cover_every_visible_character(text in fragments()) {
            let spans = sentences(&text);
            let mut end = 0;
            for span in &spans {
                prop_assert!(span.start >= end && span.end > span.start);
                let words = span.of(&text).expect("on character boundaries");
                prop_assert_eq!(words, words.trim());
                prop_assert!(crate::decode::is_blank(&text[end..span.start]));
                end = span.end;
            }
            prop_assert!(crate::decode::is_blank(&text[end..]));
        }
    }
}
