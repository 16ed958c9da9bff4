//! How much of the rules fits into one reply, and where the rest is.

/// The most characters of articles in one reply. About as much as a model reads without losing the thread, and well below
/// the 25,000 tokens at which common clients cut results off in the middle of a sentence.
pub const MOST_CHARS: usize = 12_000;

/// The parts that an article is read in. Joined, they are its text; each has at most `most` characters. They end with a
/// paragraph if one ends in their second half, else with a sentence, else anywhere.
pub(crate) fn parts(text: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((end, _)) = rest.char_indices().nth(most.max(1)) {
        let (whole, from) = (&rest[..end], half(rest, most));
        let after = |marks: &[char]| {
            let last = whole[from..].rfind(marks).map(|at| from + at);
            last.and_then(|at| whole[at..].chars().next().map(|mark| at + mark.len_utf8()))
        };
        let cut = after(&['\n']).or_else(|| after(&['。', '；', '.', ';'])).unwrap_or(end);
        let (part, others) = rest.split_at(cut);
        parts.push(part);
        rest = others;
    }
    if !rest.is_empty() || parts.is_empty() {
        parts.push(rest);
    }
    parts
}

/// Where the second half of a part begins, in bytes.
fn half(text: &str, most: usize) -> usize {
    text.char_indices().nth(most / 2).map_or(0, |(at, _)| at)
}

/// The part that is named after the address: `26~2` is the second part of article 26.
pub(crate) fn named_part(address: &str) -> (&str, usize) {
    match address.rsplit_once('~').map(|(address, part)| (address, part.parse::<usize>())) {
        Some((address, Ok(part))) if part > 0 && !address.is_empty() => (address, part),
        _ => (address, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_joined_are_the_text_and_none_is_too_long() {
        let texts = [
            "",
            "短",
            "一二三四五六七八九十",
            "第一項。第二項。第三項。",
            "a\nbb\nccc\ndddd\neeeee\n",
            "。。。。。。。",
        ];
        for text in texts {
            for most in 1..12 {
                let parts = parts(text, most);
                assert_eq!(parts.concat(), text);
                assert!(parts.iter().all(|part| part.chars().count() <= most), "{most}: {parts:?}");
                assert!(parts.len() == 1 || parts.iter().all(|part| !part.is_empty()), "{parts:?}");
            }
        }
    }

    #[test]
    fn a_part_ends_with_a_paragraph_or_a_sentence_where_one_ends() {
        assert_eq!(parts("第一項。\n第二項。\n第三項。", 11), ["第一項。\n第二項。\n", "第三項。"]);
        assert_eq!(parts("第一項。第二項。第三項。", 9), ["第一項。第二項。", "第三項。"]);
        assert_eq!(parts("一二三四五六", 4), ["一二三四", "五六"]);
    }

    #[test]
    fn a_part_is_named_after_its_address() {
        for (text, expected) in
            [("26", ("26", 1)), ("26-1~3", ("26-1", 3)), ("26~0", ("26~0", 1)), ("~2", ("~2", 1)), ("a~b", ("a~b", 1))]
        {
            assert_eq!(named_part(text), expected, "{text}");
        }
    }
}
