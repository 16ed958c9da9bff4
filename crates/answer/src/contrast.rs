//! Words of which a rule has one for each case: 國內 or 國外, 汽車 or 機車. A question about one is not answered by a
//! sentence about the other.

use regex::Regex;

use crate::pattern::{folded, patterns};

/// Cases that exclude each other. Each row is one matter, each pattern one case of it.
static CASES: std::sync::LazyLock<Vec<Vec<Regex>>> = std::sync::LazyLock::new(|| {
    const ROWS: &[&[&str]] = &[
        &["國外|海外|境外|出國|駐外", "國內|境內"],
        &[r"\b(?:abroad|overseas|international|foreign|another country)\b", r"\bdomestic\b"],
        &["平日|工作日加班", "休息日", "國定假日|節日|例假"],
        &["汽車|開車", "機車|摩托車|騎車"],
        &["自請|自己離職|主動離職|辭職", "資遣|預告終止|強制"],
        &["男性|男員工", "女性|女員工"],
        &["正職|全職|全時", "兼職|部分工時|計時"],
        &[r"\bfull-time\b", r"\bpart-time\b"],
        &["早餐", "午餐|中餐", "晚餐|宵夜"],
        &[
            "祖父母|爺爺|奶奶|阿公|阿嬤|外公|外婆",
            "兄弟|姊妹|姐妹|手足",
            "岳父|岳母|公婆|公公|婆婆|配偶之父母|配偶的父母",
        ],
        &["遲到|晚到", "早退|提早走"],
        &["書面告誡|警告", "記過", "記大過"],
    ];
    ROWS.iter().map(|row| row.iter().map(|case| folded(case)).collect()).collect()
});

patterns! {
    NEGATED = r"(?:沒有?|未|不|無)(?:經|曾|有|能)?(?<what>[一-龥]{2})";
}

/// Whether a folded sentence speaks of another case than the folded question: some case of a matter that the question
/// raises, but not the question's case.
pub(crate) fn is_other_case(question: &str, sentence: &str) -> bool {
    CASES.iter().any(|row| {
        let asked: Vec<bool> = row.iter().map(|case| case.is_match(question)).collect();
        asked.contains(&true)
            && row.iter().any(|case| case.is_match(sentence))
            && !row.iter().zip(&asked).any(|(case, asked)| *asked && case.is_match(sentence))
    })
}

/// Whether a folded sentence speaks of a case that the folded question raises, in its own words: 阿嬤 and 祖父母.
pub(crate) fn is_same_case(question: &str, sentence: &str) -> bool {
    CASES.iter().flatten().any(|case| case.is_match(question) && case.is_match(sentence))
}

/// How a folded sentence agrees with what the question negates (沒住院): 1 where it negates the same, -1 where it says
/// the same without negating, 0 where it does not speak of it.
pub(crate) fn negation(question: &str, sentence: &str) -> i8 {
    let mut verdict = 0;
    for found in NEGATED.captures_iter(question) {
        let Some(what) = found.name("what").map(|m| m.as_str()) else { continue };
        let Some(at) = sentence.find(what) else { continue };
        let negated = sentence[..at].ends_with(['未', '不', '没', '无', '非']);
        verdict += if negated { 1 } else { -1 };
    }
    verdict.clamp(-1, 1)
}

#[cfg(test)]
mod tests {
    use bylaw_retrieval::analysis::fold;

    use super::*;

    #[test]
    fn a_sentence_about_the_other_case_is_seen() {
        let other = |question: &str, sentence: &str| is_other_case(&fold(question).text, &fold(sentence).text);
        assert!(other("國外出差誰核准", "國內出差由直屬主管核准"));
        assert!(!other("國外出差誰核准", "國內出差由直屬主管核准，國外出差由總經理核准"));
        assert!(!other("國外出差誰核准", "出差應事先申請"));
        assert!(other("騎機車一公里補多少", "汽車：每公里 8 元"));
        assert!(other("岳父過世幾天", "兄弟姊妹：三日"));
    }

    #[test]
    fn a_negated_circumstance_prefers_the_negated_rule() {
        let sign = |question: &str, sentence: &str| negation(&fold(question).text, &fold(sentence).text);
        assert_eq!(sign("沒住院的病假", "未住院治療者，每年三十日"), 1);
        assert_eq!(sign("沒住院的病假", "住院治療者，合計一年"), -1);
        assert_eq!(sign("住院的病假", "住院治療者，合計一年"), 0);
    }
}
