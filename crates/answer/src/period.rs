//! Per what an amount is counted: a day, a month, a year.

use regex::Regex;

use crate::pattern::folded;

/// For each period: how questions say it, and how rules do.
static PERIODS: std::sync::LazyLock<Vec<(Regex, Regex)>> = std::sync::LazyLock::new(|| {
    const ROWS: &[(&str, &str)] = &[
        (
            r"每天|一天|每日|一日|\b(?:per|a|each|every) day\b|\bdaily\b",
            r"每日|每天|一日|\ba day\b|\bdaily\b|\beach day\b",
        ),
        (
            r"一週|每週|一星期|每星期|一?個?禮拜|\b(?:per|a|each|every) week\b|\bweekly\b",
            r"每週|每星期|一週|\ba week\b|\bweekly\b",
        ),
        (
            r"一個月|每月|每個月|單月|當月|月上限|\b(?:per|a|each|every) month\b|\bmonthly\b",
            r"每月|每個月|當月|單月|一個月內|\b(?:a|calendar|each) month\b|\bmonthly\b",
        ),
        (
            r"一年|每年|全年|整年|年度|\b(?:per|a|each|every) year\b|\bannually\b|\byearly\b",
            r"每年|全年|一年內|一年合計|年度|\b(?:a|calendar|each|per) year\b|\bannual\b",
        ),
        (r"一晚|每晚|一夜|\b(?:per|a|each) night\b", r"每晚|每夜|一晚|\ba night\b|\bper night\b"),
        (r"一公里|每公里|\bper k", r"每公里|\bper k|\ba kilom"),
        (r"一小時|每小時|一個?鐘頭|\b(?:per|an|each) hour\b|\bhourly\b", r"每小時|\ban hour\b|\bhourly\b"),
        (r"一次|每次|\beach time\b", r"每次|一次|\beach time\b"),
    ];
    ROWS.iter().map(|(asked, given)| (folded(asked), folded(given))).collect()
});

/// How a folded sentence agrees with the period that the folded question asks about: 1 where it counts per the same,
/// -1 where it counts per another only, 0 where one of them names none.
pub(crate) fn agreement(question: &str, sentence: &str) -> i8 {
    let asked: Vec<bool> = PERIODS.iter().map(|(asked, _)| asked.is_match(question)).collect();
    if !asked.contains(&true) {
        return 0;
    }
    let given: Vec<bool> = PERIODS.iter().map(|(_, given)| given.is_match(sentence)).collect();
    if asked.iter().zip(&given).any(|(asked, given)| *asked && *given) {
        1
    } else if given.contains(&true) {
        -1
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use bylaw_retrieval::analysis::fold;

    use super::*;

    #[test]
    fn a_sentence_counts_per_the_asked_period_or_per_another() {
        let sign = |question: &str, sentence: &str| agreement(&fold(question).text, &fold(sentence).text);
        assert_eq!(sign("一個月可以補登幾次", "補登每月以三次為限"), 1);
        assert_eq!(sign("一年最多幾天", "每週以二日為限"), -1);
        assert_eq!(sign("一年最多幾天", "應於三日前提出"), 0);
        assert_eq!(sign("最多幾天", "每週以二日為限"), 0);
        assert_eq!(sign("How much per night?", "up to USD 180 a night"), 1);
    }
}
