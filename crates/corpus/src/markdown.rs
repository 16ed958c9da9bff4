//! Markdown: the source text stays as it is; headings, quotations, tables and code are told apart by line.

use bylaw_contract::Span;

use crate::extract::{Extracted, Line, Mark, raw_lines, trimmed};

/// Reads Markdown.
pub(crate) fn extract(text: String) -> Extracted {
    let mut reader = Reader { lines: Vec::new(), after_blank: true, fence: None, front: Front::Possible, title: None };
    for raw in raw_lines(&text) {
        reader.line(&text, raw);
    }
    let (title, lines) = (reader.title, reader.lines);
    Extracted { title, text, lines, extractor: "markdown/1" }
}

/// A block of `key: value` lines between two `---`, only at the very top.
#[derive(PartialEq)]
enum Front {
    Possible,
    Inside,
    Over,
}

struct Reader {
    lines: Vec<Line>,
    after_blank: bool,
    /// The mark and length of an open code fence.
    fence: Option<(u8, usize)>,
    front: Front,
    title: Option<String>,
}

impl Reader {
    fn line(&mut self, text: &str, raw: Span) {
        let words = trimmed(text, raw);
        let line = words.of(text).unwrap_or_default();
        if self.in_front_matter(line) {
            return;
        }
        if line.is_empty() {
            self.after_blank = true;
            return;
        }
        if self.in_code(line) {
            return self.push(words, Mark::Inert);
        }
        if let Some(level) = underline(line) {
            // A line of = or - under a line of text makes that a heading; alone it is a rule across the page.
            let under = self.lines.last_mut().filter(|last| !self.after_blank && last.after_blank);
            if let Some(last) = under.filter(|last| matches!(last.mark, Mark::Text | Mark::Bold)) {
                last.mark = Mark::Heading(level);
            }
            self.after_blank = true;
            return;
        }
        if is_rule(line) || (line.starts_with("<!--") && line.ends_with("-->")) {
            self.after_blank = true;
            return;
        }
        let (words, mark) = classify(text, words, line);
        if !words.is_empty() {
            self.push(words, mark);
        }
        if matches!(mark, Mark::Heading(_)) {
            self.after_blank = true;
        }
    }

    fn push(&mut self, words: Span, mark: Mark) {
        self.lines.push(Line::new(words, mark, std::mem::take(&mut self.after_blank)));
    }

    fn in_front_matter(&mut self, line: &str) -> bool {
        match self.front {
            Front::Possible => {
                self.front = if line == "---" { Front::Inside } else { Front::Over };
                self.front == Front::Inside
            }
            Front::Inside if line == "---" || line == "..." => {
                self.front = Front::Over;
                true
            }
            Front::Inside if line.is_empty() || line.starts_with(['#', '-']) || line.contains(':') => {
                if let Some(title) = line.strip_prefix("title:") {
                    let title = title.trim().trim_matches(['"', '\'']);
                    self.title = (!title.is_empty()).then(|| title.to_owned());
                }
                true
            }
            // Not key and value: it was a rule across the page after all.
            Front::Inside => {
                self.front = Front::Over;
                false
            }
            Front::Over => false,
        }
    }

    fn in_code(&mut self, line: &str) -> bool {
        let mark = line.as_bytes()[0];
        let length = line.bytes().take_while(|byte| *byte == mark).count();
        let is_fence = matches!(mark, b'`' | b'~') && length >= 3;
        match self.fence {
            Some((open, least)) => {
                if is_fence && mark == open && length >= least && line.len() == length {
                    self.fence = None;
                }
                true
            }
            None if is_fence && !line[length..].contains('`') => {
                self.fence = Some((mark, length));
                true
            }
            None => false,
        }
    }
}

fn classify(text: &str, words: Span, line: &str) -> (Span, Mark) {
    let level = line.bytes().take(7).take_while(|byte| *byte == b'#').count();
    let after = &line[level..];
    if (1..=6).contains(&level) && (after.is_empty() || after.starts_with(|c: char| c.is_whitespace())) {
        let closed = after.trim_end().trim_end_matches('#');
        // Closing marks count only after a space: `# C#` keeps its sign.
        let kept = if closed.is_empty() || closed.ends_with(char::is_whitespace) { closed } else { after };
        let start = words.start + level;
        let heading = trimmed(text, Span::new(start, start + kept.len()));
        let level = u8::try_from(level).unwrap_or(6);
        return (unbold(text, heading).unwrap_or(heading), Mark::Heading(level));
    }
    if line.starts_with('>') || line.starts_with('|') || line.starts_with('<') {
        return (words, Mark::Inert);
    }
    unbold(text, words).map_or((words, Mark::Text), |inner| (inner, Mark::Bold))
}

/// The words of a line that is bold from end to end.
fn unbold(text: &str, words: Span) -> Option<Span> {
    let line = words.of(text)?;
    for mark in ["**", "__"] {
        if let Some(inner) = line.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark)) {
            let inner_span = trimmed(text, Span::new(words.start + 2, words.end - 2));
            return (!inner.contains(mark) && !inner_span.is_empty()).then_some(inner_span);
        }
    }
    None
}

fn underline(line: &str) -> Option<u8> {
    let all = |mark: u8| line.len() >= 2 && line.bytes().all(|byte| byte == mark);
    if all(b'=') { Some(1) } else { all(b'-').then_some(2) }
}

fn is_rule(line: &str) -> bool {
    ['*', '_', '-'].iter().any(|mark| {
        line.chars().all(|c| c == *mark || c == ' ') && line.bytes().filter(|byte| *byte != b' ').count() >= 3
    })
}

/// A heading's words without inline marks: emphasis, code, links.
pub(crate) fn without_marks(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.trim();
    while let Some(c) = rest.chars().next() {
        match c {
            '*' | '`' => rest = &rest[1..],
            '\\' if rest[1..].starts_with(|next: char| next.is_ascii_punctuation()) => {
                clean.push_str(&rest[1..2]);
                rest = &rest[2..];
            }
            '[' => match link(rest) {
                Some((label, after)) => {
                    clean.push_str(label);
                    rest = after;
                }
                None => {
                    clean.push('[');
                    rest = &rest[1..];
                }
            },
            c => {
                clean.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    clean.trim().to_owned()
}

/// The label of `[label](target)` at the start of a text, and what follows it. Looks a bounded way ahead.
fn link(text: &str) -> Option<(&str, &str)> {
    const REACH: usize = 400;
    let near = |text: &str, sign: char| text.char_indices().take(REACH).find(|(_, c)| *c == sign).map(|(at, _)| at);
    let close = near(text, ']')?;
    let target = text[close + 1..].strip_prefix('(')?;
    let end = near(target, ')')?;
    Some((&text[1..close], &target[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, Mark)]) {
        let extracted = extract(text.to_owned());
        let lines: Vec<_> = extracted.lines.iter().map(|line| (line.of(&extracted.text), line.mark)).collect();
        assert_eq!(lines, expected, "{text:?}");
    }

    #[test]
    fn lines_are_told_apart() {
        check("# 規則\n\n本文\n", &[("規則", Mark::Heading(1)), ("本文", Mark::Text)]);
        check("###### 六 ######", &[("六", Mark::Heading(6))]);
        check("####### 七", &[("####### 七", Mark::Text)]);
        check("#無空格", &[("#無空格", Mark::Text)]);
        check("# C#", &[("C#", Mark::Heading(1))]);
        check("## **第一章**", &[("第一章", Mark::Heading(2))]);
        check("**第一條**", &[("第一條", Mark::Bold)]);
        check("**甲**與**乙**", &[("**甲**與**乙**", Mark::Text)]);
        check("> 引言", &[("> 引言", Mark::Inert)]);
        check("| a | b |\n| --- | --- |", &[("| a | b |", Mark::Inert), ("| --- | --- |", Mark::Inert)]);
        check("```\n# 不是標題\n```", &[("```", Mark::Inert), ("# 不是標題", Mark::Inert), ("```", Mark::Inert)]);
        check("標題\n===\n\n小標\n---", &[("標題", Mark::Heading(1)), ("小標", Mark::Heading(2))]);
        check("甲\n\n---\n\n***\n乙", &[("甲", Mark::Text), ("乙", Mark::Text)]);
        check("---\ntitle: x\n---\n# 甲", &[("甲", Mark::Heading(1))]);
        check("<!-- 註 -->\n甲", &[("甲", Mark::Text)]);
        check(&"#".repeat(1_000_000), &[(&"#".repeat(1_000_000), Mark::Text)]);
    }

    #[test]
    fn inline_marks_are_no_part_of_a_title() {
        for (text, expected) in [
            ("**第一條** （目的）", "第一條 （目的）"),
            ("`code` and [link](http://a.example/b)", "code and link"),
            ("[不是連結", "[不是連結"),
            ("snake_case", "snake_case"),
            (r"1\. x", "1. x"),
        ] {
            assert_eq!(without_marks(text), expected);
        }
    }
}
