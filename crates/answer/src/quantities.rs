//! Amounts of time, age and the like in a question, and the ranges in the rules that they fall into.

use crate::pattern::patterns;

/// What a quantity measures. Quantities of different kinds are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Days.
    Time,
    /// Hours, which rules never convert to days.
    Hours,
    /// Days of pregnancy, which say nothing about somebody's service.
    Pregnancy,
    /// Years of life.
    Age,
    /// 次.
    Times,
    /// Money, in its unit.
    Money,
    /// Kilometres.
    Distance,
}

/// A quantity that a question states as a circumstance: 做滿三年, 超過三天.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quantity {
    /// What it measures.
    pub(crate) measure: Measure,
    /// How much; a hair more or less where the question says so.
    pub(crate) value: f64,
}

/// A range that a rule speaks of: 滿三年未滿五年, 三日以內, 逾三日.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    /// What it measures.
    pub(crate) measure: Measure,
    /// Smallest value, included; 0 where open.
    pub(crate) low: f64,
    /// Largest value; infinite where open.
    pub(crate) high: f64,
    /// Whether `high` itself belongs to it.
    pub(crate) high_included: bool,
}

impl Bounds {
    /// Whether a stated quantity falls into this range. `None` where they cannot be compared.
    pub(crate) fn holds(&self, quantity: &Quantity) -> Option<bool> {
        (self.measure == quantity.measure).then_some(
            quantity.value >= self.low
                && (quantity.value < self.high || self.high_included && quantity.value <= self.high),
        )
    }

    /// Whether both ends are stated.
    pub(crate) fn is_closed(&self) -> bool {
        self.low > 0.0 && self.high.is_finite()
    }
}

/// A month and a year in days; only their order and 半年 = 六個月 matter.
const MONTH: f64 = 30.4375;
const YEAR: f64 = 365.25;

patterns! {
    QUANTITY = r"(?<lead>未滿|不滿|未達|未逾|不到|不足|不超過|滿|逾|超過|達|至少|第|前|(?:under|less than|below|over|after|more than|at least|exceeding|longer than|first|completed|completes) )?(?:(?<number>{N})個?(?:工作|完整)?(?<unit>年|月|週|星期|禮拜|日|天|小時|鐘頭|歲|次|公里|元)|(?<en>{E})(?: (?:completed|consecutive|working|full|business|calendar))*[ -](?<enunit>year|month|week|day|hour|kilometre|km)s?\b)(?<tail>以上|以下|以內|之內|多|起|者起)?";
    // 一年未滿者, but not 滿一年未滿二年, where 未滿 leads the next number.
    UNDER_BEHIND = r"^(?:未滿|不到)(?:[^0-9〇零一二兩三四五六七八九十百半]|$)";
    OF_PREGNANCY = r"(?:妊娠|懷孕)(?:已|期間)?$";
    STATED = r"滿|做|工作|服務|年資|待|進公司|進來|到職|任職|連續|一次請|一次放|超過|以上|以下|不到|未滿|第|after|more than|over|completed|worked|been|service|in a row|under|第";
}

struct Found {
    measure: Measure,
    value: f64,
    lead: String,
    tail: String,
    start: usize,
    end: usize,
}

fn quantities(text: &str) -> Vec<Found> {
    QUANTITY
        .captures_iter(text)
        .filter_map(|captures| {
            let whole = captures.get(0)?;
            let group = |name: &str| captures.name(name).map_or("", |m| m.as_str());
            let (measure, scale) = measure_of(if group("unit").is_empty() { group("enunit") } else { group("unit") })?;
            let number = number_of(if group("number").is_empty() { group("en") } else { group("number") })?;
            // 四月 is a month of the calendar unless 個 says otherwise.
            if group("unit") == "月" && !whole.as_str().contains('个') {
                return None;
            }
            Some(Found {
                measure,
                value: number * scale,
                lead: group("lead").trim().to_owned(),
                tail: if UNDER_BEHIND.is_match(&text[whole.end()..]) { "未满" } else { group("tail") }.to_owned(),
                start: whole.start(),
                end: whole.end(),
            })
        })
        .collect()
}

fn measure_of(unit: &str) -> Option<(Measure, f64)> {
    Some(match unit {
        "年" | "year" => (Measure::Time, YEAR),
        "月" | "month" => (Measure::Time, MONTH),
        "周" | "星期" | "礼拜" | "week" => (Measure::Time, 7.0),
        "日" | "天" | "day" => (Measure::Time, 1.0),
        "小时" | "钟头" | "hour" => (Measure::Hours, 1.0),
        "岁" => (Measure::Age, 1.0),
        "次" => (Measure::Times, 1.0),
        "公里" | "kilometre" | "km" => (Measure::Distance, 1.0),
        "元" => (Measure::Money, 1.0),
        _ => return None,
    })
}

/// The value of a number in figures, Chinese numerals or English words.
fn number_of(text: &str) -> Option<f64> {
    const WORDS: [(&str, f64); 20] = [
        ("one", 1.0),
        ("two", 2.0),
        ("three", 3.0),
        ("four", 4.0),
        ("five", 5.0),
        ("six", 6.0),
        ("seven", 7.0),
        ("eight", 8.0),
        ("nine", 9.0),
        ("ten", 10.0),
        ("eleven", 11.0),
        ("twelve", 12.0),
        ("fifteen", 15.0),
        ("sixteen", 16.0),
        ("eighteen", 18.0),
        ("twenty", 20.0),
        ("thirty", 30.0),
        ("forty", 40.0),
        ("sixty", 60.0),
        ("ninety", 90.0),
    ];
    if let Some((_, value)) = WORDS.iter().find(|(word, _)| *word == text) {
        return Some(*value);
    }
    if text == "半" {
        return Some(0.5);
    }
    let plain: String = text.chars().filter(|c| *c != ',').collect();
    plain.trim_end_matches('.').parse::<f64>().ok().or_else(|| bylaw_corpus::parse_number(&plain).map(f64::from))
}

/// The circumstances that a folded question states as amounts. 「一個月可以補登幾次」 states none: there it is a period.
pub(crate) fn stated(question: &str) -> Vec<Quantity> {
    quantities(question)
        .into_iter()
        .filter(|found| {
            let near = &question[floor(question, found.start.saturating_sub(18))..ceil(question, found.end + 9)];
            let is_period = found.lead.is_empty() && found.tail.is_empty() && (found.value - 1.0).abs() < 1e-9
                || [7.0, MONTH, YEAR].iter().any(|period| (found.value - period).abs() < 1e-9) && found.lead.is_empty();
            found.measure == Measure::Age
                || STATED.is_match(near) && (!is_period || !found.lead.is_empty() || near.contains('满'))
        })
        .map(|found| {
            let more =
                matches!(found.lead.as_str(), "超过" | "逾" | "over" | "more than" | "exceeding" | "longer than")
                    || found.tail == "多";
            let less = matches!(
                found.lead.as_str(),
                "未满" | "不满" | "未达" | "不到" | "不足" | "under" | "less than" | "below"
            ) || found.tail == "未满";
            let hair = found.value * 0.01 + 0.001;
            let value = if more {
                found.value + hair
            } else if less {
                found.value - hair
            } else {
                found.value
            };
            let is_of_pregnancy = is_of_pregnancy(&question[..found.start], &[], &found);
            Quantity { measure: if is_of_pregnancy { Measure::Pregnancy } else { found.measure }, value }
        })
        .collect()
}

/// The ranges that a folded sentence of the rules speaks of.
pub(crate) fn bounds(sentence: &str) -> Vec<Bounds> {
    let mut ranges: Vec<(Bounds, usize)> = Vec::new();
    for found in quantities(sentence) {
        // 每滿一年 is a rate, not a range.
        if sentence[..found.start].ends_with('每') {
            continue;
        }
        let measure =
            if is_of_pregnancy(&sentence[..found.start], &ranges, &found) { Measure::Pregnancy } else { found.measure };
        let open = Bounds { measure, low: 0.0, high: f64::INFINITY, high_included: false };
        // 一年以上未滿二年: the 未滿 behind 以上 belongs to the next number, which takes it as its lead.
        let range = match (found.lead.as_str(), found.tail.as_str()) {
            ("未满" | "不满" | "未达" | "不到" | "不足" | "under" | "less than" | "below", _) | (_, "未满") => {
                Bounds { high: found.value, ..open }
            }
            ("未逾" | "不超过" | "前" | "first", _) | (_, "以下" | "以内" | "之内") => {
                Bounds { high: found.value, high_included: true, ..open }
            }
            ("逾" | "超过" | "over" | "more than" | "exceeding" | "longer than", _) => {
                Bounds { low: found.value * 1.001 + 0.0005, ..open }
            }
            ("满" | "达" | "after" | "at least" | "completed" | "completes", _) | (_, "以上" | "起" | "者起") => {
                Bounds { low: found.value, ..open }
            }
            _ => continue,
        };
        // A lower end right before an upper end is one range.
        if range.high.is_finite()
            && let Some((last, end)) = ranges.last_mut()
            && last.measure == range.measure
            && last.high.is_infinite()
            && last.low < range.high
            && found.start.saturating_sub(*end) <= 9
        {
            last.high = range.high;
            last.high_included = range.high_included;
            *end = found.end;
            continue;
        }
        ranges.push((range, found.end));
    }
    ranges.into_iter().map(|(range, _)| range).collect()
}

/// 妊娠滿二個月、未滿三個月: the number right behind the word, and the other end of the same range.
fn is_of_pregnancy(before: &str, ranges: &[(Bounds, usize)], found: &Found) -> bool {
    let goes_on = ranges.last().is_some_and(|(last, end)| {
        last.measure == Measure::Pregnancy && last.high.is_infinite() && found.start.saturating_sub(*end) <= 9
    });
    found.measure == Measure::Time && (goes_on || OF_PREGNANCY.is_match(before))
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use bylaw_retrieval::analysis::fold;

    use super::*;

    fn falls_into(question: &str, sentence: &str) -> Option<bool> {
        let stated = stated(&fold(question).text);
        let bounds = bounds(&fold(sentence).text);
        let verdicts: Vec<bool> =
            stated.iter().flat_map(|quantity| bounds.iter().filter_map(|range| range.holds(quantity))).collect();
        (!verdicts.is_empty()).then(|| verdicts.contains(&true))
    }

    #[test]
    fn a_stated_circumstance_selects_the_range_it_falls_into() {
        let rows = [
            ("做滿三年特休幾天", "三、服務滿二年、未滿三年者：十日。", Some(false)),
            ("做滿三年特休幾天", "四、服務滿三年、未滿五年者：每年十四日。", Some(true)),
            ("年資五年", "五年以上十年未滿者，每年十五日。", Some(true)),
            ("年資五年", "三年以上未滿五年者", Some(false)),
            ("做滿半年", "六個月以上一年未滿者，三日。", Some(true)),
            ("做滿兩年", "滿2年未滿3年", Some(true)),
            ("做三年多想走", "滿三年以上者：三十日前。", Some(true)),
            ("一次請假超過三天是誰准", "一次請假三日以內者，由直屬主管核准", Some(false)),
            ("一次請假超過三天是誰准", "逾三日者，由部門主管核准", Some(true)),
            ("連續放六天特休", "達五日以上者", Some(true)),
            ("連續放六天特休", "未達五日者，應於三日前提出", Some(false)),
            ("進來不到三個月想走", "一、服務滿三個月、未滿一年者：十日前。", Some(false)),
            ("進來不到三個月想走", "服務未滿三個月者，得於一日前提出。", Some(true)),
            ("加班到第三個小時", "一、前二小時：每小時加給三分之一。", Some(false)),
            ("加班到第三個小時", "二、第三小時起：每小時加給三分之二。", Some(true)),
            ("小孩兩歲", "撫育未滿三歲子女之員工", Some(true)),
            ("if I quit after six years", "two months once over five years of service", Some(true)),
            ("一個月可以補登幾次", "一個月以內", None),
            ("事假一年幾天", "滿一年者", None),
            ("做滿一年產假多久", "妊娠滿二個月、未滿三個月者：一星期。", None),
            ("懷孕滿四個月流產", "妊娠三個月以上流產者", Some(true)),
            ("做滿三年資遣費多少", "每滿一年發給一個月平均工資", None),
        ];
        for (question, sentence, expected) in rows {
            assert_eq!(falls_into(question, sentence), expected, "{question} / {sentence}");
        }
    }
}
