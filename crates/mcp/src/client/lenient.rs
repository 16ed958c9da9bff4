//! Reading messages of servers that are not quite right.

use rmcp::model::ServerJsonRpcMessage;

/// A message of a server, or why it is none. Half of a surrogate pair, which strict JSON readers refuse together with
/// everything around it, becomes U+FFFD.
pub(super) fn read_message(text: &str) -> Result<ServerJsonRpcMessage, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| match replace_lone_surrogates(text) {
        Some(repaired) => serde_json::from_str(&repaired),
        None => Err(error),
    })
}

/// `text` with `\ufffd` for every escaped half of a surrogate pair; nothing if there is none.
pub(super) fn replace_lone_surrogates(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        let start = at + found;
        let unit = escaped_unit(text, start);
        match unit {
            Some(0xD800..=0xDBFF) if matches!(escaped_unit(text, start + 6), Some(0xDC00..=0xDFFF)) => at = start + 12,
            Some(0xD800..=0xDFFF) => {
                out.push_str(&text[copied..start]);
                out.push_str("\\ufffd");
                at = start + 6;
                copied = at;
            }
            // Whatever is escaped is one character, which may be longer than a byte in what is no JSON anyway.
            _ => at = start + 1 + text[start + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    (copied > 0).then(|| out + &text[copied..])
}

fn escaped_unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

/// Bytes as text as they arrive: what is no UTF-8 becomes U+FFFD, and a character that is cut between two pieces waits
/// for its rest.
#[derive(Debug, Default)]
pub(super) struct LossyText {
    waiting: Vec<u8>,
}

impl LossyText {
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.waiting.extend_from_slice(bytes);
        let cut = match std::str::from_utf8(&self.waiting) {
            Ok(_) => self.waiting.len(),
            Err(_) => {
                // Only the last three bytes can be the beginning of a character.
                let from = self.waiting.len().saturating_sub(3);
                let start = self.waiting[from..].iter().rposition(|byte| *byte >= 0xC0).map(|at| from + at);
                let unfinished =
                    |at: &usize| std::str::from_utf8(&self.waiting[*at..]).is_err_and(|e| e.error_len().is_none());
                start.filter(unfinished).unwrap_or(self.waiting.len())
            }
        };
        let rest = self.waiting.split_off(cut);
        let text = String::from_utf8_lossy(&self.waiting).into_owned();
        self.waiting = rest;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_becomes_a_visible_mark_and_whole_pairs_stay() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(replace_lone_surrogates(text).as_deref(), expected, "{text}");
        };
        check(r#"{"a":"plain"}"#, None);
        check(r#""\ud83d\ude00""#, None);
        check(r#""\ud83d""#, Some(r#""\ufffd""#));
        check(r#""\ude00 \ud83d\ude00 \uD83D""#, Some(r#""\ufffd \ud83d\ude00 \ufffd""#));
        check(r#""\\ud83d""#, None);
        check(r#""\ud83d\n""#, Some(r#""\ufffd\n""#));
        check("\\假", None);
        check("\\", None);
    }

    #[test]
    fn bytes_cut_inside_a_character_read_the_same() {
        let check = |bytes: &[u8], expected: &str| {
            for cut in 0..=bytes.len() {
                let mut text = LossyText::default();
                let joined = text.push(&bytes[..cut]) + &text.push(&bytes[cut..]);
                assert_eq!(joined, expected, "cut at {cut}");
            }
        };
        check("杭州 😀.".as_bytes(), "杭州 😀.");
        check(b"a\xffb.", "a\u{fffd}b.");
    }
}
