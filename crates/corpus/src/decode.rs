//! From bytes to text: UTF-8 only, strict, with one kind of line end.

use bylaw_contract::SourceName;

use crate::CorpusError;

/// Decodes a document: drops a byte order mark, makes every line end `\n`, and drops control characters (a NUL among
/// them) that no page shows.
pub(crate) fn decode(name: &SourceName, bytes: &[u8]) -> Result<String, CorpusError> {
    let start = if bytes.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
    let text = std::str::from_utf8(&bytes[start..]).map_err(|error| CorpusError::InvalidEncoding {
        name: name.to_string(),
        offset: start + error.valid_up_to(),
    })?;
    let text = printable(text);
    if is_blank(&text) { Err(CorpusError::Empty { name: name.to_string() }) } else { Ok(text) }
}

/// The text with `\n` line ends and without control characters.
pub(crate) fn printable(text: &str) -> String {
    if !text.bytes().any(|byte| byte.is_ascii_control() && byte != b'\n' && byte != b'\t') {
        return text.to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    clean.push('\n');
                }
            }
            '\n' | '\t' => clean.push(c),
            c if c.is_ascii_control() => {}
            c => clean.push(c),
        }
    }
    clean
}

/// Whether nothing in the text can be seen.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(is_unseen)
}

/// White space, and characters of no width that editors and web pages leave behind.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: Result<&str, CorpusError>) {
        let name = SourceName::new("a.txt").unwrap();
        assert_eq!(decode(&name, bytes), expected.map(str::to_owned), "{bytes:?}");
    }

    #[test]
    fn utf8_is_read_and_nothing_else() {
        let bad = |offset| Err(CorpusError::InvalidEncoding { name: "a.txt".into(), offset });
        let empty = || Err(CorpusError::Empty { name: "a.txt".into() });
        check("第一條".as_bytes(), Ok("第一條"));
        check("\u{feff}第一條".as_bytes(), Ok("第一條"));
        check(b"a\r\nb\rc\nd", Ok("a\nb\nc\nd"));
        check(b"a\0b\x1b", Ok("ab"));
        check(b"abc\xff", bad(3));
        check(b"\xef\xbb\xbfabc\xff", bad(6));
        check(b"\xff\xfe,{", bad(0));
        check(&"第".as_bytes()[..2], bad(0));
        check(b"", empty());
        check(b" \r\n\t", empty());
        check(b"\0\0\0", empty());
        check("\u{feff}\u{200b}".as_bytes(), empty());
    }
}
