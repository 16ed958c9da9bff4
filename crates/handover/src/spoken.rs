//! The language that somebody writes in.

use bylaw_contract::Language;

/// Chinese if there is a Chinese character in it, English if there are only other letters, else `otherwise`.
pub(crate) fn spoken(words: &str, otherwise: Language) -> Language {
    let is_han = |c: char| matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    if words.chars().any(is_han) {
        Language::TraditionalChinese
    } else if words.chars().any(char::is_alphabetic) {
        Language::English
    } else {
        otherwise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_chinese_character_makes_it_chinese() {
        for (words, expected) in [
            ("特休幾天", Language::TraditionalChinese),
            ("WFH 可以嗎", Language::TraditionalChinese),
            ("How much annual leave?", Language::English),
            ("26-1", Language::SimplifiedChinese),
            ("", Language::SimplifiedChinese),
        ] {
            assert_eq!(spoken(words, Language::SimplifiedChinese), expected, "{words}");
        }
    }
}
