//! Lets a model's text through piece by piece, and article ids only where they exist.
//!
//! A marker that names an article that was given comes out in its one spelling, `[work_rules.md#26]`; one that names
//! anything else never comes out. Since a marker may arrive in pieces, what may still become one is held back.

use bylaw_contract::ArticleId;
use bylaw_retrieval::analysis;

use crate::{pattern::patterns, prompts::NOT_IN_RULES};

/// Longest text that is held back as a possible marker, in bytes. Source names have at most 200 characters.
const MAX_HELD: usize = 900;

/// Marks that may stand before a reply's first word. Held back until it is clear that the reply is an answer.
const DECORATION: &[char] = &['*', '_', '`', '>', '"', '「', '“', '-'];

patterns! {
    LOOKS_LIKE_ID = r"^(?:[^\s#]+|[^#]+\.[a-z]{2,8})?#[a-z0-9][a-z0-9._-]*$";
    LOOKS_LIKE_POSITION = r"^[0-9]{1,3}$|^(?:\^|ref|source|來源|條文) ?[0-9]{1,3}$";
    LABEL = r"^(?:id|article|source|條文|出處|來源)[ ]?[=:] ?";
}

/// A model's text on its way to the reader.
#[derive(Debug)]
pub(crate) struct IdFilter {
    given: Vec<(ArticleId, String)>,
    held: String,
    text: String,
    cited: Vec<(usize, ArticleId)>,
    dropped: Vec<usize>,
    says_not_in_rules: bool,
}

/// What became of a model's text.
#[derive(Debug)]
pub(crate) struct Filtered {
    /// The text that was let through; the pieces joined.
    pub(crate) text: String,
    /// Markers in it: where they begin, and whom they name.
    pub(crate) cited: Vec<(usize, ArticleId)>,
    /// Where markers were taken out that named no given article.
    pub(crate) dropped: Vec<usize>,
    /// The model said that the articles do not answer.
    pub(crate) says_not_in_rules: bool,
}

enum Step {
    /// Not clear yet: wait for more text.
    Wait,
    /// This many bytes are dealt with.
    Consumed(usize),
}

impl IdFilter {
    /// A filter that knows the articles that the model was given.
    pub(crate) fn new(given: impl IntoIterator<Item = ArticleId>) -> Self {
        let given = given.into_iter().map(|id| {
            let key = key_of(&id.to_string());
            (id, key)
        });
        Self {
            given: given.collect(),
            held: String::new(),
            text: String::new(),
            cited: Vec::new(),
            dropped: Vec::new(),
            says_not_in_rules: false,
        }
    }

    /// Takes a piece and returns what can be shown of the text so far.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        self.release(false)
    }

    /// Ends the text and returns the rest of it, with what became of it.
    pub(crate) fn finish(mut self) -> (String, Filtered) {
        let rest = self.release(true);
        let filtered = Filtered {
            text: self.text,
            cited: self.cited,
            dropped: self.dropped,
            says_not_in_rules: self.says_not_in_rules,
        };
        (rest, filtered)
    }

    fn release(&mut self, is_end: bool) -> String {
        let from = self.text.len();
        let held = std::mem::take(&mut self.held);
        let mut at = 0;
        // White space is let through only before a visible character: a reply has none at either end.
        while at < held.len() {
            let rest = &held[at..];
            match self.step(rest, is_end) {
                Step::Wait => break,
                Step::Consumed(bytes) => at += bytes,
            }
        }
        self.held = held[at..].to_owned();
        self.text[from..].to_owned()
    }

    fn step(&mut self, rest: &str, is_end: bool) -> Step {
        let Some(c) = rest.chars().next() else { return Step::Wait };
        if self.text.is_empty() && self.says_not_in_rules {
            return Step::Consumed(rest.len());
        }
        if c.is_whitespace() || self.text.is_empty() && DECORATION.contains(&c) {
            return self.hold_before_word(rest, is_end);
        }
        match c {
            '[' => self.bracket(rest, ']', is_end),
            '【' => self.bracket(rest, '】', is_end),
            '［' => self.bracket(rest, '］', is_end),
            '〔' => self.bracket(rest, '〕', is_end),
            '(' => self.bracket(rest, ')', is_end),
            '（' => self.bracket(rest, '）', is_end),
            c if is_run(c) => self.run(rest, is_end),
            c => {
                self.text.push(c);
                Step::Consumed(c.len_utf8())
            }
        }
    }

    /// White space, and marks before the first word, wait for what follows them.
    fn hold_before_word(&mut self, rest: &str, is_end: bool) -> Step {
        let is_first = self.text.is_empty();
        let skipped = |c: char| c.is_whitespace() || is_first && DECORATION.contains(&c);
        let Some(next) = rest.find(|c| !skipped(c)) else {
            return if is_end { Step::Consumed(rest.len()) } else { Step::Wait };
        };
        let ahead = &rest[next..];
        if is_first && !is_end && NOT_IN_RULES.starts_with(ahead) {
            return Step::Wait;
        }
        if is_first && ahead.starts_with(NOT_IN_RULES) {
            return Step::Consumed(next);
        }
        // A marker that is taken out takes the space before it along.
        let before = self.text.len();
        match self.step(ahead, is_end) {
            Step::Wait => Step::Wait,
            Step::Consumed(bytes) if self.text.len() == before => Step::Consumed(next + bytes),
            Step::Consumed(bytes) => {
                let space = if is_first { rest[..next].trim_start() } else { &rest[..next] };
                self.text.insert_str(before, space);
                for (at, _) in self.cited.iter_mut().rev().take_while(|(at, _)| *at >= before) {
                    *at += space.len();
                }
                Step::Consumed(next + bytes)
            }
        }
    }

    fn bracket(&mut self, rest: &str, close: char, is_end: bool) -> Step {
        let open = rest.chars().next().unwrap_or('[');
        let inner_start = open.len_utf8();
        let reach = &rest[inner_start..];
        let end = reach.find([close, '\n', open]);
        match end {
            None if !is_end && reach.len() <= MAX_HELD => Step::Wait,
            Some(end) if end <= MAX_HELD && reach[end..].starts_with(close) => {
                let inner = &reach[..end];
                let whole = inner_start + end + close.len_utf8();
                if self.marker(inner, matches!(open, '(' | '（')) { Step::Consumed(whole) } else { self.literal(open) }
            }
            _ => self.literal(open),
        }
    }

    fn literal(&mut self, open: char) -> Step {
        self.text.push(open);
        Step::Consumed(open.len_utf8())
    }

    /// Deals with what stands in brackets, if it is a marker at all.
    fn marker(&mut self, inner: &str, is_round: bool) -> bool {
        // What stands in the innermost brackets is looked at when they are reached.
        if inner.contains(['[', '【', '［', '〔', '(', '（']) {
            return false;
        }
        let pieces: Vec<&str> = match self.resolve(inner) {
            Some(_) => vec![inner],
            None => inner.split([',', '，', '、', ';', '；']).filter(|piece| !piece.trim().is_empty()).collect(),
        };
        if pieces.iter().any(|piece| key_of(piece) == key_of(NOT_IN_RULES)) {
            self.says_not_in_rules = true;
            return true;
        }
        let is_marker = !pieces.is_empty()
            && pieces.iter().all(|piece| {
                let key = key_of(piece);
                let named = !is_round && (LOOKS_LIKE_POSITION.is_match(&key) || names_an_article(piece));
                self.resolve(piece).is_some() && (!is_round || key.contains('#'))
                    || LOOKS_LIKE_ID.is_match(&key)
                    || named
            });
        if !is_marker {
            return false;
        }
        for piece in pieces {
            match self.resolve(piece).cloned() {
                Some(id) => {
                    self.cited.push((self.text.len(), id.clone()));
                    self.text.push_str(&format!("[{id}]"));
                }
                None => self.dropped.push(self.text.len()),
            }
        }
        true
    }

    /// A run of characters that ids are made of, outside brackets.
    fn run(&mut self, rest: &str, is_end: bool) -> Step {
        let end = rest.find(|c| !is_run(c)).unwrap_or(rest.len());
        if end == rest.len() && !is_end && end <= MAX_HELD {
            return Step::Wait;
        }
        // The full stop of a sentence is no part of an id.
        let run = rest[..end].trim_end_matches(['.', '/', '-']);
        let run = if run.is_empty() { &rest[..end] } else { run };
        if run == NOT_IN_RULES {
            self.says_not_in_rules = true;
        } else if let Some(hash) = run.find('#')
            && run[hash + 1..].starts_with(|c: char| c.is_ascii_alphanumeric())
        {
            // A source name that is not ASCII has gone out already; the whole id is then its end and this run.
            let address = &run[hash..];
            let spoken = format!("{}{run}", self.text);
            let known = self.given.iter().find(|(_, key)| key_of(&tail(&spoken, key.chars().count())) == *key);
            match known.map(|(id, _)| id.clone()).or_else(|| self.resolve(address).cloned().filter(|_| hash == 0)) {
                Some(id) => {
                    self.cited.push((self.text.len(), id));
                    self.text.push_str(run);
                }
                None => self.dropped.push(self.text.len()),
            }
        } else {
            self.text.push_str(run);
        }
        Step::Consumed(run.len())
    }

    /// The given article that a marker names: its id, `#26`, or 第 26 條 where only one of the given has that number.
    fn resolve(&self, marker: &str) -> Option<&ArticleId> {
        let key = key_of(marker);
        if let Some((id, _)) = self.given.iter().find(|(_, known)| *known == key) {
            return Some(id);
        }
        if let Some(address) = key.strip_prefix('#') {
            return self.only(address);
        }
        let mentions = bylaw_corpus::article_mentions(marker);
        match mentions.as_slice() {
            [one] if one.span.len() == marker.trim().len() => self.only(&one.address.to_string()),
            _ => None,
        }
    }

    fn only(&self, address: &str) -> Option<&ArticleId> {
        let mut with = self.given.iter().filter(|(id, _)| id.article.as_str().eq_ignore_ascii_case(address));
        let first = with.next()?;
        with.next().is_none().then_some(&first.0)
    }
}

const fn is_run(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | '#')
}

fn names_an_article(marker: &str) -> bool {
    bylaw_corpus::article_mentions(marker).first().is_some_and(|mention| mention.span.len() == marker.trim().len())
}

/// The last `chars` characters.
fn tail(text: &str, chars: usize) -> String {
    let start = text.char_indices().rev().nth(chars.saturating_sub(1)).map_or(0, |(at, _)| at);
    text[start..].to_owned()
}

/// The one spelling in which markers are compared: folded, without labels, quotation marks and spaces around.
fn key_of(marker: &str) -> String {
    let folded = analysis::fold(marker.trim()).text;
    let key = folded.trim_matches(['`', '"', '\'', ' ', '*', '[', ']']);
    LABEL.replace(key, "").into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GIVEN: [&str; 4] = ["work_rules.md#26", "work_rules.md#26-1", "員工工作規則.md#21", "other.md#40"];

    fn filter() -> IdFilter {
        IdFilter::new(GIVEN.iter().map(|id| id.parse().unwrap()))
    }

    fn run(pieces: &[&str]) -> (Vec<String>, Filtered) {
        let mut filter = filter();
        let mut shown: Vec<String> = pieces.iter().map(|piece| filter.push(piece)).collect();
        let (rest, filtered) = filter.finish();
        shown.push(rest);
        assert_eq!(shown.concat(), filtered.text);
        (shown, filtered)
    }

    fn check(reply: &str, text: &str, cited: &[&str], dropped: usize) {
        let (_, filtered) = run(&[reply]);
        let ids: Vec<_> = filtered.cited.iter().map(|(_, id)| id.to_string()).collect();
        assert_eq!(
            (filtered.text.as_str(), ids, filtered.dropped.len()),
            (text, cited.iter().map(ToString::to_string).collect(), dropped),
            "{reply}"
        );
        // However the reply is cut into pieces, the same comes out.
        let characters: Vec<String> = reply.chars().map(String::from).collect();
        let pieces: Vec<&str> = characters.iter().map(String::as_str).collect();
        assert_eq!(run(&pieces).1.text, text, "{reply}, piece by piece");
    }

    #[test]
    fn ids_that_were_given_come_out_in_one_spelling_and_others_never() {
        check("七日[work_rules.md#26]。", "七日[work_rules.md#26]。", &["work_rules.md#26"], 0);
        check("七日【work_rules.md#26】。", "七日[work_rules.md#26]。", &["work_rules.md#26"], 0);
        check("七日（WORK_RULES.MD#26）。", "七日[work_rules.md#26]。", &["work_rules.md#26"], 0);
        check("七日 [ work_rules.md#26 ]。", "七日 [work_rules.md#26]。", &["work_rules.md#26"], 0);
        check("七日[員工工作規則.md#21]", "七日[員工工作規則.md#21]", &["員工工作規則.md#21"], 0);
        check("七日[员工工作规则.md#21]", "七日[員工工作規則.md#21]", &["員工工作規則.md#21"], 0);
        check("七日[#40]", "七日[other.md#40]", &["other.md#40"], 0);
        check("七日[第40條]", "七日[other.md#40]", &["other.md#40"], 0);
        check("七日[第二十六條之一]", "七日[work_rules.md#26-1]", &["work_rules.md#26-1"], 0);
        check(
            "甲[work_rules.md#26, other.md#40]",
            "甲[work_rules.md#26][other.md#40]",
            &["work_rules.md#26", "other.md#40"],
            0,
        );
        check("甲[work_rules.md#26; work_rules.md#99]", "甲[work_rules.md#26]", &["work_rules.md#26"], 1);
        check("見 work_rules.md#26。", "見 work_rules.md#26。", &["work_rules.md#26"], 0);
        check("見員工工作規則.md#21。", "見員工工作規則.md#21。", &["員工工作規則.md#21"], 0);
        check("特別休假七日[9]。", "特別休假七日。", &[], 1);
        check("特別休假七日 [9]。", "特別休假七日。", &[], 1);
        check("七日[work_rules.md#99]。", "七日。", &[], 1);
        check("七日[第99條]。", "七日。", &[], 1);
        check("七日 fake.md#3。", "七日。", &[], 1);
        check("七日[evil.md#26]", "七日", &[], 1);
    }

    #[test]
    fn brackets_that_are_no_markers_stay() {
        check("（含養父母）八日", "（含養父母）八日", &[], 0);
        check("(1) 八日 [sic] f(x)", "(1) 八日 [sic] f(x)", &[], 0);
        check("C# 與 #tag", "C# 與", &[], 1);
        check("未閉合[abc", "未閉合[abc", &[], 0);
        check("（見[work_rules.md#26]）", "（見[work_rules.md#26]）", &["work_rules.md#26"], 0);
        check("依第26條之規定（第40條）", "依第26條之規定（第40條）", &[], 0);
    }

    #[test]
    fn a_part_of_a_marker_is_never_shown() {
        let (shown, _) = run(&["七日[work_rul", "es.md#26]", "。"]);
        assert_eq!(shown, ["七日", "[work_rules.md#26]", "。", ""]);
        let (shown, _) = run(&["七日[work_rul", "es.md#9", "9]。"]);
        assert_eq!(shown.concat(), "七日。");
        assert!(shown.iter().all(|piece| !piece.contains("work")));
    }

    #[test]
    fn saying_that_the_articles_do_not_answer_is_never_shown() {
        for reply in
            ["NOT_IN_RULES", "  NOT_IN_RULES\n", "**NOT_IN_RULES**", "[NOT_IN_RULES]", "NOT_IN_RULES\n條文沒有。"]
        {
            let (_, filtered) = run(&[reply]);
            assert!(filtered.says_not_in_rules && filtered.text.is_empty(), "{reply}: {filtered:?}");
            let characters: Vec<String> = reply.chars().map(String::from).collect();
            let (_, filtered) = run(&characters.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(filtered.says_not_in_rules && filtered.text.is_empty(), "{reply}: {filtered:?}");
        }
        let (_, filtered) = run(&["事假十四日[#40]。\nNOT_IN_RULES"]);
        assert!(filtered.says_not_in_rules);
        assert_eq!(filtered.text, "事假十四日[other.md#40]。");
    }

    proptest! {
        #[test]
        fn what_comes_out_does_not_depend_on_the_pieces(
            parts in prop::collection::vec(prop_oneof![
                Just("[work_rules.md#26]"), Just("[work_rules"), Just(".md#26"), Just("]"), Just("#40"), Just("（"), Just("）"),
                Just("七日"), Just("。"), Just(" "), Just("\n"), Just("*"), Just("NOT_IN_RULES"), Just("員工工作規則.md#21"), Just("[9]"),
            ], 0..14),
            cuts in prop::collection::vec(1_usize..5, 0..40),
        ) {
            let whole = parts.concat();
            let at_once = run(&[&whole]).1;
            let mut pieces = Vec::new();
            let mut characters = whole.chars();
            for cut in cuts {
                pieces.push(characters.by_ref().take(cut).collect::<String>());
            }
            pieces.push(characters.collect());
            let piecewise = run(&pieces.iter().map(String::as_str).collect::<Vec<_>>()).1;
            prop_assert_eq!(&at_once.text, &piecewise.text);
            prop_assert_eq!(at_once.dropped, piecewise.dropped);
            for (at, id) in &at_once.cited {
                prop_assert!(at_once.text[*at..].contains(&*id.article.to_string()));
            }
            prop_assert_eq!(at_once.text.trim(), at_once.text.as_str());
        }
    }
}
