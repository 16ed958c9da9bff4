//! Numbers in place of article ids: `[work_rules.md#27]` is `[1]` for readers who get the list of links.

use bylaw_contract::ArticleId;

/// Longest marker, in bytes. Names of sources have at most 200 characters.
const LONGEST: usize = 900;

/// Numbers the markers of a text that arrives in pieces. What may still become a marker is held back.
#[derive(Debug, Default)]
pub(crate) struct Markers {
    held: String,
    /// Whoever is in place `n` has the number `n + 1`.
    numbered: Vec<ArticleId>,
}

impl Markers {
    /// Takes a piece; returns what can be shown. `known` are the articles that may be named.
    pub(crate) fn push(&mut self, piece: &str, known: impl Fn(&ArticleId) -> bool) -> String {
        let mut shown = String::with_capacity(piece.len());
        for c in piece.chars() {
            if c == '[' {
                shown.push_str(&std::mem::take(&mut self.held));
            }
            if c == '[' || !self.held.is_empty() {
                self.held.push(c);
            } else {
                shown.push(c);
            }
            if c == ']' && !self.held.is_empty() {
                let held = std::mem::take(&mut self.held);
                match held[1..held.len() - 1].parse().ok().filter(&known) {
                    Some(id) => shown.push_str(&format!("[{}]", self.number(id))),
                    None => shown.push_str(&held),
                }
            } else if self.held.len() > LONGEST {
                shown.push_str(&std::mem::take(&mut self.held));
            }
        }
        shown
    }

    /// What was held back when the text ended.
    pub(crate) fn rest(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// The number of an article: the one that it has, or the next.
    pub(crate) fn number(&mut self, id: ArticleId) -> usize {
        match self.numbered.iter().position(|numbered| *numbered == id) {
            Some(place) => place + 1,
            None => {
                self.numbered.push(id);
                self.numbered.len()
            }
        }
    }

    /// The articles that have numbers, in their order.
    pub(crate) fn numbered(&self) -> &[ArticleId] {
        &self.numbered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(id: &ArticleId) -> bool {
        id.source.as_str() == "a.md"
    }

    fn whole(pieces: &[&str]) -> String {
        let mut markers = Markers::default();
        let mut text: String = pieces.iter().map(|piece| markers.push(piece, known)).collect();
        text.push_str(&markers.rest());
        text
    }

    #[test]
    fn known_articles_are_numbered_in_the_order_of_their_first_naming() {
        let rows = [
            ("", ""),
            ("七日[a.md#26-1]，十四日[a.md#27][a.md#26-1]。", "七日[1]，十四日[2][1]。"),
            ("[b.md#1] [a.md#9] [] [a.md] [#1]", "[b.md#1] [1] [] [a.md] [#1]"),
            ("[[a.md#1]]", "[[1]]"),
            ("a [open", "a [open"),
            ("a ] b", "a ] b"),
        ];
        for (text, expected) in rows {
            assert_eq!(whole(&[text]), expected, "{text}");
        }
        let long = format!("[{}]", "長".repeat(LONGEST));
        assert_eq!(whole(&[&long]), long);
    }

    #[test]
    fn however_a_text_is_cut_it_reads_the_same() {
        let text = "七日[a.md#26-1]，見[b.md#2]與[[a.md#27]。[a.md#26-1";
        let expected = whole(&[text]);
        let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        for &first in &places {
            for &second in places.iter().filter(|&&second| second >= first) {
                assert_eq!(whole(&[&text[..first], &text[first..second], &text[second..]]), expected);
            }
        }
        let letters: Vec<String> = text.chars().map(String::from).collect();
        assert_eq!(whole(&letters.iter().map(String::as_str).collect::<Vec<_>>()), expected);
    }
}
