//! The language a question is written in, from its script alone.

use bylaw_contract::Language;

use crate::analysis::{Script, is_cjk, script_of};

/// The language of a question. Chinese with an English word in it (WFH 要先報備嗎) is Chinese.
#[must_use]
pub fn language_of(question: &str) -> Language {
    let (mut characters, mut traditional, mut simplified, mut words) = (0_usize, 0_usize, 0_usize, 0_usize);
    let mut in_word = false;
    for c in question.chars() {
        let letter = c.is_alphabetic() && !is_cjk(c);
        words += usize::from(letter && !in_word);
        in_word = letter || (in_word && matches!(c, '\'' | '\u{2019}' | '-'));
        if is_cjk(c) {
            characters += 1;
            match script_of(c) {
                Script::Traditional => traditional += 1,
                Script::Simplified => simplified += 1,
                Script::Either => {}
            }
        }
    }
    if words > characters {
        Language::English
    } else if simplified > traditional {
        Language::SimplifiedChinese
    } else {
        Language::TraditionalChinese
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_of_a_question_is_its_language() {
        let check = |question: &str, language| assert_eq!(language_of(question), language, "{question}");
        check("特別休假幾天", Language::TraditionalChinese);
        check("特别休假几天", Language::SimplifiedChinese);
        check("事假病假", Language::TraditionalChinese);
        check("WFH 要先報備嗎", Language::TraditionalChinese);
        check("offer 签了，第一天要带什么", Language::SimplifiedChinese);
        check("How many days of annual leave (特休) do I get?", Language::English);
        check("2,400", Language::TraditionalChinese);
    }
}
