//! Which kinds of fact a sentence of the rules holds.

use crate::pattern::patterns;

/// A kind of fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FactKind {
    /// How long: 三日, 六個月, 22 Working Days.
    Duration,
    /// By when: 七日內, 出發三日前, within two hours.
    Deadline,
    /// A day: 每月五日, 星期四, 31 March.
    Date,
    /// A time of day: 上午九時, 10:00.
    Clock,
    /// An amount of money.
    Money,
    /// Pay in terms of pay: 工資照給, 折半, full salary.
    Pay,
    /// A share: 百分之五, 三分之一, 150%.
    Share,
    /// How many: 三次, 七人, twice.
    Count,
    /// An age: 六十五歲.
    Age,
    /// Who: 直屬主管, 人力資源處, the Country Head.
    Role,
    /// What may, must or must not be done.
    Modal,
    /// What follows: 以曠職論, 記過, lapse.
    Consequence,
    /// A step to take: 填具, 檢附, submit.
    Procedure,
    /// What a word means: 指….
    Definition,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unit {
    /// 日, 天, 工作日.
    Day,
    /// 週, 星期.
    Week,
    /// 個月.
    Month,
    /// 年.
    Year,
    /// 小時.
    Hour,
    /// 分鐘.
    Minute,
    /// 次.
    Times,
    /// 人, 名, 位.
    Person,
    /// Anything else that is counted.
    Other,
}

/// One fact in a folded text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    /// Its kind.
    pub(crate) kind: FactKind,
    /// What its number counts, where it has one.
    pub(crate) unit: Option<Unit>,
    /// Bytes in the folded text.
    pub(crate) start: usize,
    /// One past its last byte.
    pub(crate) end: usize,
    /// Whether it names a number, and not only a moment or a measure in words (next payment date, pro rata).
    pub(crate) has_number: bool,
}

impl Fact {
    /// Whether it says by when, on which day or at what time.
    pub(crate) const fn is_moment(&self) -> bool {
        matches!(self.kind, FactKind::Deadline | FactKind::Date | FactKind::Clock)
    }
}

patterns! {
    HAS_NUMBER = r"{N}|{E}|半";
    ROW_NUMBER = r"[0-9][0-9,.]*|{N}";
    DATE = r"{N}年{N}月(?:{N}日)?|{N}月{N}日|(?:每|次|當|翌|同|本)個?月(?:之|的)?{N}[日號]|{N}號|(?:次|翌)(?:一?個?)(?:月|年度?)|月底|月初|[0-9一二三四五六七八九十]月|(?:星期|週)[一二三四五六日]|春節|端午|中秋|\b[0-9]{1,2}(?:st|nd|rd|th)\b(?: day)?(?: of each month)?|\b[0-9]{1,2} (?:january|february|march|april|may|june|july|august|september|october|november|december)\b|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b(?: [0-9]{1,2}\b)?|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:first|last|next) (?:working |business |payment )?(?:day|date)\b|\b(?:first|second|third|fourth|fifth) (?:consecutive |completed |working )*day\b";
    RELATIVE_DAY = r"當日|當天|次日|翌日|隔日|同日|次一工作日|前一工作日|前一日|即時|立即|立刻|事前|事先|應於[^,。;0-9一二三四五六七八九十]{2,8}時|\bimmediately\b|\bat once\b|\bin advance\b|\bsame day\b|\bbeforehand\b";
    CLOCK = r"(?:上午|下午|中午|晚間|晚上|清晨|午後|夜間)?{N}[時點](?:{N}分|半)?|中午|\b[0-9]{1,2}[:.][0-9]{2}(?: ?[ap]\.?m\b)?|\b[0-9]{1,2} ?[ap]\.?m\b|\bnoon\b|\bmidnight\b";
    HOURS_AND_TIMES = r"{N}個?(?:小時|鐘頭|分鐘)";
    DURATION = r"{N}個?(?:工作|日曆|曆|營業)?(?<unit>日|天|週|星期|禮拜|年|小時|鐘頭|分鐘)|{N}個(?<month>月)|半(?<half>年|天|日)";
    DURATION_EN = r"{E}(?:[ -](?:consecutive|calendar|working|business|full|completed|paid|more|additional))*[ -](?<unit>day|week|month|year|hour|minute)s?\b";
    BEFORE_AFTER = r"^(?:之|以)?(?:內|前)|^ (?:ahead|before|in advance|prior|notice|of the|after)";
    DEADLINE_LEAD = r"(?:within|no later than|not later than|by|before|at least) (?:the )?$|應於$|至遲於?$";
    MONEY = r"(?:新臺幣|新台幣|美元|美金|台幣|臺幣) ?{N}(?:元|圓)?|{N} ?(?:元|圓|塊錢|美元|美金)|(?:usd|us\$|nt\$|ntd|twd|eur|gbp|\$|€|£) ?[0-9][0-9,.]*|\b[0-9][0-9,.]* ?(?:usd|dollars?|euros?|pounds?)\b";
    PAY = r"工資照給|薪資照給|照給工資|照常給薪|工資照發|全薪|半薪|半數工資|工資折半|折半發給|減半|半數發給|全額|不給付?(?:予)?(?:工資|薪資)|不給薪|無薪|核實報支|實報實銷|原領工資|{N}(?:日|個月)(?:之|的)?(?:平均)?(?:工資|薪資|本薪|薪水)|{N}(?:倍|一倍)工資|不予發給|不予扣薪|扣減工資|加發|加給|補助|\b(?:full|half|no|base|final) (?:pay|salary)\b|\bunpaid\b|\bpaid (?:out|leave|at)\b|\bno bonus\b|\bpro rata\b";
    SHARE = r"百分之{N}|{N}又?分之{N}|{N} ?%|{N}(?:倍|成|折)|\b[0-9.]+ ?(?:percent|per cent)|一半|半數|\bhalf\b|\bpro rata\b|比例";
    COUNT = r"{N}(?<times>次|回)|{N}(?<person>人|名|位)|{N}個?(?:字元|字|公里|級|種|件|份|晚|餐|項|類|等|班|期)|\b(?<once>once|twice)\b";
    COUNT_EN = r"{E} (?:times|characters|people|persons|members|metres|kilometres|copies|items)\b";
    AGE = r"{N}歲|{E} years old|\bage of {E}";
    ROLE = r"主管|總經理|董事長|董事會|處長|經理|委員會|(?:資訊|財務|稽核|法務|公關|人力資源|人事|會計|總務|行政|管理|職業安全衛生|安全衛生|採購|人資|財會|業務|權責|用人|工會)(?:處|室|部|課|組|單位|部門|主管)|單位|部門|專線|分機|雇主|主管機關|勞資會議|代理人|醫療院所|醫師|人資|\b(?:line manager|country head|manager|head of [a-z]+|hr|human resources|payroll|compliance officer|service desk|hotline|supervisor|director|committee|officer|board|ceo)\b";
    MODAL = r"不得|應|得|須|可|禁止|為限|不適用|不在此限|不予|照給|給予|\b(?:may|must|shall|should|can|cannot|not|never|required|requires|allowed|permitted|entitled|needs?|is paid|are paid|receives?|eligible)\b";
    CONSEQUENCE = r"視為|懲處|懲戒|記過|記大過|警告|告誡|申誡|解僱|終止(?:勞動)?契約|不予|不得(?:列|再)|論處|以[^,。;]{1,8}[論計]|停止|取消|喪失|失效|賠償|追回|扣減|扣除|扣薪|扣發|減發|折發|折算|折發加班費|鎖定|罰|逾期|不受理|負[^,。;]{0,6}責任|\b(?:lapses?|forfeit(?:ed)?|dismissal|dismissed|warning|misconduct|treated as|lose|loses|paid out|refused|rejected|deducted|no claim|appeal)\b";
    PROCEDURE = r"填具|填寫|提出|申請|檢附|檢具|繳驗|繳交|辦理|登錄|通知|通報|報請|送|書面|核准|\b(?:appl(?:y|ied)|submit(?:ted)?|request(?:ed)?|report(?:ed)?|filed?|written|approv(?:al|ed)|receipts?|notice|tell|agreed)\b";
    DEFINITION = r"[:,]?(?:係)?指|定義|以下簡稱|(?:者)?為(?:遲到|早退|曠職)|稱|\bmeans?\b|\bis defined\b|分為|包括";
}

/// Longest stretch of one sentence that is looked at, in bytes; no sentence of a rule comes near it.
const MAX_BYTES: usize = 8_192;

/// The facts of a folded sentence, in no particular order.
pub(crate) fn facts(text: &str) -> Vec<Fact> {
    let text = &text[..floor(text, text.len().min(MAX_BYTES))];
    let mut found = Vec::new();
    // Dates first: the 五日 of 每月五日 is not a duration.
    for date in DATE.find_iter(text) {
        push(&mut found, FactKind::Date, None, date.start(), date.end());
        deadline_around(text, date.start(), date.end(), None, &mut found);
    }
    for hours in HOURS_AND_TIMES.find_iter(text) {
        let unit = if hours.as_str().ends_with(['时', '头']) { Unit::Hour } else { Unit::Minute };
        push(&mut found, FactKind::Duration, Some(unit), hours.start(), hours.end());
        deadline_around(text, hours.start(), hours.end(), Some(unit), &mut found);
    }
    for clock in CLOCK.find_iter(text) {
        if free(&found, clock.start(), clock.end()) {
            push(&mut found, FactKind::Clock, None, clock.start(), clock.end());
            deadline_around(text, clock.start(), clock.end(), None, &mut found);
        }
    }
    for duration in DURATION.captures_iter(text).chain(DURATION_EN.captures_iter(text)) {
        let Some(whole) = duration.get(0) else { continue };
        // An ordinal (第三年) says which, not how long; years of the calendar are dates.
        if !free(&found, whole.start(), whole.end()) {
            continue;
        }
        let unit = ["unit", "month", "half"].iter().find_map(|name| duration.name(name)).map(|m| unit_of(m.as_str()));
        push(&mut found, FactKind::Duration, unit, whole.start(), whole.end());
        deadline_around(text, whole.start(), whole.end(), unit, &mut found);
    }
    for day in RELATIVE_DAY.find_iter(text) {
        push(&mut found, FactKind::Deadline, None, day.start(), day.end());
    }
    for count in COUNT.captures_iter(text) {
        let Some(whole) = count.get(0) else { continue };
        let unit = if count.name("times").or_else(|| count.name("once")).is_some() {
            Unit::Times
        } else if count.name("person").is_some() {
            Unit::Person
        } else {
            Unit::Other
        };
        push(&mut found, FactKind::Count, Some(unit), whole.start(), whole.end());
    }
    for count in COUNT_EN.find_iter(text) {
        let unit = if count.as_str().ends_with("times") { Unit::Times } else { Unit::Other };
        push(&mut found, FactKind::Count, Some(unit), count.start(), count.end());
    }
    for (pattern, kind) in [
        (&MONEY, FactKind::Money),
        (&PAY, FactKind::Pay),
        (&SHARE, FactKind::Share),
        (&AGE, FactKind::Age),
        (&ROLE, FactKind::Role),
        (&MODAL, FactKind::Modal),
        (&CONSEQUENCE, FactKind::Consequence),
        (&PROCEDURE, FactKind::Procedure),
        (&DEFINITION, FactKind::Definition),
    ] {
        for fact in pattern.find_iter(text) {
            push(&mut found, kind, None, fact.start(), fact.end());
        }
    }
    for fact in &mut found {
        fact.has_number = HAS_NUMBER.is_match(&text[fact.start..fact.end]);
    }
    found
}

/// The facts of a row of a table. What its numbers count stands in the head of the table or above it, so a number may
/// be any kind of amount.
pub(crate) fn row_facts(text: &str) -> Vec<Fact> {
    let mut found = facts(text);
    for number in ROW_NUMBER.find_iter(text) {
        for kind in [FactKind::Money, FactKind::Duration, FactKind::Count, FactKind::Share] {
            push(&mut found, kind, None, number.start(), number.end());
        }
    }
    found
}

fn push(found: &mut Vec<Fact>, kind: FactKind, unit: Option<Unit>, start: usize, end: usize) {
    found.push(Fact { kind, unit, start, end, has_number: true });
}

/// Whether no date, clock time or duration already covers these bytes.
fn free(found: &[Fact], start: usize, end: usize) -> bool {
    // Facts before `start` by more than one match cannot overlap, but the list is not sorted across kinds; the sentences
    // this runs on are short, and the last few entries are the near ones.
    found.iter().rev().take(64).all(|fact| fact.end <= start || end <= fact.start)
}

/// Adds a deadline where a time is followed by 內 or 前, or introduced by `within` or `by`.
fn deadline_around(text: &str, start: usize, end: usize, unit: Option<Unit>, found: &mut Vec<Fact>) {
    let lead_from = floor(text, start.saturating_sub(32));
    if BEFORE_AFTER.is_match(&text[end..]) || DEADLINE_LEAD.is_match(&text[lead_from..start]) {
        found.push(Fact { kind: FactKind::Deadline, unit, start, end, has_number: true });
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The unit of a folded unit word.
pub(crate) fn unit_of(word: &str) -> Unit {
    match word {
        "周" | "星期" | "礼拜" | "week" => Unit::Week,
        "月" | "month" => Unit::Month,
        "年" | "year" => Unit::Year,
        "小时" | "钟头" | "hour" => Unit::Hour,
        "分钟" | "minute" => Unit::Minute,
        _ => Unit::Day,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bylaw_retrieval::analysis::fold;

    use super::*;

    fn check(sentence: &str, expected: &[FactKind]) {
        let folded = fold(sentence).text;
        let numeric: BTreeSet<_> = facts(&folded)
            .into_iter()
            .map(|fact| fact.kind)
            .filter(|kind| !matches!(kind, FactKind::Modal | FactKind::Procedure | FactKind::Definition))
            .collect();
        assert_eq!(numeric, expected.iter().copied().collect(), "{sentence}");
    }

    #[test]
    fn a_sentence_holds_these_kinds_of_fact() {
        use FactKind::{Age, Clock, Consequence, Count, Date, Deadline, Duration, Money, Pay, Role, Share};
        let rows: &[(&str, &[FactKind])] = &[
            ("員工結婚者給予婚假八日。", &[Duration]),
            ("員工结婚者给予婚假8日", &[Duration]),
            ("試用期間為三個月。", &[Duration]),
            ("滿六個月未滿一年者：3 天。", &[Duration]),
            ("應於到職後七日內補繳", &[Duration, Deadline]),
            ("應於十四日前提出", &[Duration, Deadline]),
            ("應於當日下午五時前提出申請", &[Clock, Deadline]),
            ("上午九時至下午六時為上班時間", &[Clock]),
            ("工資於次月五日給付", &[Date]),
            ("每年四月辦理調薪", &[Date]),
            ("應於星期四下午五時前", &[Date, Clock, Deadline]),
            ("應於離職結算時一併發給", &[Deadline]),
            ("不以遲到計", &[Consequence]),
            ("不得扣發全勤獎金", &[Consequence]),
            ("住宿費每日上限新臺幣２，４００元", &[Money]),
            ("每公里新臺幣 8 元", &[Money]),
            ("以預估總額之百分之八十為上限", &[Share]),
            ("每小時加給三分之一", &[Pay, Share]),
            ("事假期間工資照給", &[Pay]),
            ("補登以三次為限", &[Count]),
            ("委員會置委員七人", &[Count, Role]),
            ("年滿六十五歲者", &[Age]),
            ("由部門主管核准", &[Role]),
            ("於一小時內通報資訊處", &[Duration, Deadline, Role]),
            ("連續曠職者，以曠職論", &[Consequence]),
            ("有下列情形之一者，予以記過", &[Consequence]),
            ("密碼長度至少十二個字元", &[Count]),
            ("本公司尊重員工", &[]),
            ("The probation period is three months from the start.", &[Duration]),
            ("rising to 25 Working Days a year", &[Duration]),
            ("must be reported within two hours", &[Duration, Deadline]),
            ("at least 21 days ahead", &[Duration, Deadline]),
            ("must be used by 31 March", &[Date, Deadline]),
            ("between 7:30 and 10:00", &[Clock]),
            ("up to USD 180 a night", &[Money]),
            ("paid at 150% of the hourly rate", &[Pay, Share]),
            ("Country Head approval", &[Role]),
            ("after which they lapse", &[Consequence]),
            ("at most twice", &[Count]),
        ];
        for (sentence, expected) in rows {
            check(sentence, expected);
        }
    }

    #[test]
    fn a_number_keeps_its_unit() {
        let units = |text: &str| facts(&fold(text).text).into_iter().find_map(|fact| fact.unit);
        assert_eq!(units("八星期"), Some(Unit::Week));
        assert_eq!(units("三個月"), Some(Unit::Month));
        assert_eq!(units("三十分鐘"), Some(Unit::Minute));
        assert_eq!(units("四十六小時"), Some(Unit::Hour));
        assert_eq!(units("三次"), Some(Unit::Times));
        assert_eq!(units("six weeks"), Some(Unit::Week));
    }

    #[test]
    fn of_a_hundred_kilobytes_of_numerals_only_the_beginning_is_looked_at() {
        assert!(facts(&"一十".repeat(17_000)).len() < 1_000);
    }
}
