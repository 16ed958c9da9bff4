//! Which kind of fact a question asks for.

use crate::{
    facts::{Fact, FactKind, Unit},
    pattern::patterns,
};

/// A kind of fact that a question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum AskedKind {
    /// 幾天, 多久, how long.
    Duration,
    /// 幾點, what time.
    Clock,
    /// 何時, 幾號, 多久之內, by when.
    Deadline,
    /// 多少錢, 上限多少, 打幾折, how much.
    Amount,
    /// 上限多少, 分別有多少: any number.
    Number,
    /// 幾次, 幾人, how often.
    Count,
    /// 幾歲, how old.
    Age,
    /// 誰, 找哪個單位, who.
    Who,
    /// 會怎樣, 受什麼處分, what happens if.
    Consequence,
    /// 什麼是, 何謂, what is meant by.
    Definition,
    /// 怎麼申請, 要準備什麼, how do I.
    How,
    /// 哪些, 什麼, which.
    Which,
    /// 可以…嗎, 要不要, may I.
    Permission,
}

impl AskedKind {
    /// Whether only a certain kind of fact answers: a number, a person, a consequence.
    const fn is_specific(self) -> bool {
        match self {
            Self::Duration
            | Self::Clock
            | Self::Deadline
            | Self::Amount
            | Self::Number
            | Self::Count
            | Self::Age
            | Self::Who
            | Self::Consequence => true,
            Self::Definition | Self::How | Self::Which | Self::Permission => false,
        }
    }

    /// How well each kind of fact answers this, best first; what is not listed does not.
    const fn accepts(self) -> &'static [(FactKind, f32)] {
        use FactKind::{
            Age, Clock, Consequence, Count, Date, Deadline, Definition, Duration, Modal, Money, Pay, Procedure, Role,
            Share,
        };
        match self {
            Self::Duration => &[(Duration, 1.0), (Deadline, 1.0)],
            Self::Clock => &[(Clock, 1.0)],
            Self::Deadline => &[(Deadline, 1.0), (Date, 0.95), (Clock, 0.8), (Duration, 0.7)],
            Self::Amount => &[(Money, 1.0), (Share, 0.95), (Pay, 0.9)],
            Self::Number => &[(Money, 1.0), (Duration, 1.0), (Share, 0.95), (Pay, 0.9), (Count, 0.9), (Deadline, 0.8)],
            Self::Count => &[(Count, 1.0)],
            Self::Age => &[(Age, 1.0)],
            Self::Who => &[(Role, 1.0)],
            Self::Consequence => &[(Consequence, 1.0), (Pay, 0.7), (Share, 0.4), (Modal, 0.3)],
            Self::Definition => &[(Definition, 1.0), (Modal, 0.2)],
            Self::How => &[
                (Procedure, 0.8),
                (Share, 0.8),
                (Pay, 0.8),
                (Money, 0.8),
                (Consequence, 0.8),
                (Modal, 0.4),
                (Duration, 0.4),
            ],
            Self::Which => {
                &[(Definition, 0.6), (Modal, 0.5), (Procedure, 0.4), (Role, 0.4), (Duration, 0.4), (Count, 0.4)]
            }
            Self::Permission => &[(Modal, 0.7), (Pay, 0.7), (Consequence, 0.7), (Procedure, 0.4), (Duration, 0.4)],
        }
    }
}

/// What a question asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The kinds, the most telling first; none when the question is a bare topic.
    pub(crate) kinds: Vec<AskedKind>,
    /// What the asked number counts, where the question says so.
    pub(crate) unit: Option<Unit>,
    /// Asks for the most there can be.
    pub(crate) at_most: bool,
    /// Asks how long before something.
    pub(crate) ahead: bool,
    /// Asks how long after something at the latest.
    pub(crate) within: bool,
    /// Asks for the last moment.
    pub(crate) latest: bool,
}

patterns! {
    DURATION = r"幾個?(?:工作)?(?:天|日|月|年|週|星期|禮拜|小時|鐘頭|分鐘)|多少個?(?:天|日|小時|鐘頭|年|月|分鐘|時間)|多久|多長|天數|日數|時數|期間多|\bhow (?:long|many (?:more )?(?:[a-z]+ )?(?:days?|weeks?|months?|years?|hours?|minutes?))|\bhow much (?:notice|time|leave|annual leave|sick leave|vacation)\b|\bhours\b|\bnumber of (?:days|weeks|months|hours)\b|\bhow far in advance\b";
    UNIT = r"(?:幾|多少)個?(?:工作)?(?<unit>天|日|月|年|週|星期|禮拜|小時|鐘頭|分鐘|次|回|人|名|位)|how many (?:more )?(?:[a-z]+ )?(?<en>day|week|month|year|hour|minute|time)s?\b|(?:cap|limit|maximum|number)[a-z ]* (?<cap>day|week|month|hour|minute)s?\b";
    CLOCK = r"幾點|幾時|什麼時間|時段|\bwhat time\b|\bwhat hours\b|\bcore hours\b";
    DEADLINE = r"何時|什麼時候|甚麼時候|啥時|哪一?天|哪一?日|幾號|幾月|期限|截止|多快|最晚|最遲|之前要|時限|(?:幾|多少)個?(?:工作)?(?:天|日|月|年|週|星期|禮拜|小時|鐘頭|分鐘|點)(?:之|以)?(?:內|前)|多久(?:之|以)?(?:內|前)|提前(?:多久|幾)|提早(?:多久|幾)|\bwhen\b|\bby when\b|\bdeadline\b|\bhow (?:soon|fast|quickly|early|late|far in advance)\b|\bwhat (?:day|date)\b|\bwhich (?:day|date)\b|\btime limit\b|\bdue\b|\bhow much notice\b|\bhow many [a-z ]{0,20}(?:in advance|ahead|before)\b|\bhow long (?:do|does|have|before|after)\b";
    AMOUNT = r"多少錢|多少元|多少塊|幾元|幾塊|幾萬|幾千|金額|額度|幾折|幾成|幾倍|百分之幾|幾%|幾趴|多少比例|比例多|比率|(?:錢|薪|薪水|工資|費|費用|獎金|津貼|補助|補貼|給付)[^,。?]{0,6}(?:怎麼|如何|怎樣)(?:算|給|計|發|分|付)|(?:怎麼|如何|怎樣)(?:算|給|計|發|分|付)[^,。?]{0,4}(?:錢|薪|費|獎金)|又?怎麼給|油錢|有錢|多的錢|換錢|薪水剩|(?:補|給|領|拿|賠|報|付|扣|花|發)[^,。?]{0,4}多少|加[^,。?班]{0,4}多少|\bhow much\b|\bhow many (?:dollars|usd|percent|weeks of [a-z]+ pay|weeks of pay|months of (?:salary|pay))|\bwhat (?:percentage|rate|amount|share)\b|\bthe most i can (?:spend|claim)\b|\bcost\b|\ballowance\b|\bper night\b";
    NOT_MONEY = r"\bhow much (?:notice|time|leave|annual leave|sick leave|vacation|holiday)\b";
    BARE_AMOUNT = r"多少";
    MONEY_WORD = r"錢|薪|工資|費|獎金|津貼|補助|補貼|給付|補償|賠";
    YES_OR_NO = r"(?:嗎|咩|嘛)[?!。]*$";
    OPEN = r"幾|多|何|什麼|甚麼|怎|誰|哪|啥|最晚|最遲";
    HANDLED = r"(?:天數|日數|時數)[^,。?]{0,4}(?:怎麼|怎樣|如何)(?:處理|處置|辦|結)";
    COUNT = r"(?:幾|多少)(?:次|回|人|名|位|個人|種|件|個字|字|公里|份|級|晚|餐|班|期)|次數|人數|\bhow (?:often|many (?:times|people|persons|members|characters|copies))\b|\bhow many\b";
    AGE = r"幾歲|年齡|\bhow old\b|\bwhat age\b";
    WHO = r"誰|哪一?個?(?:單位|部門|主管|人|處)|哪位|什麼單位|何單位|何人|找哪|由何|向哪|跟哪|窗口|找(?:什麼|甚麼)人|\bwho(?:m|se)?\b|\bwhich (?:department|team|person|manager|office)\b|\bwhose approval\b";
    CONSEQUENCE = r"會怎麼?樣|會如何|變怎麼?樣|會怎麼(?:處理|處罰|罰)|後果|什麼處分|處分|被罰|罰則|懲處|處罰|怎麼處置|會被|算(?:什麼|曠職|遲到)|會(?:過期|失效|不見|歸零|作廢)|被開除|有事嗎|記過|\bwhat (?:happens|if)\b|\bwhat (?:is|are) the (?:consequences?|penalt(?:y|ies))\b|\bpunish|\bpenalt|\bconsequence|\bget (?:fired|in trouble)\b";
    DEFINITION = r"什麼是|何謂|定義|什麼叫|是什麼意思|是指什麼|算是|如何認定|\bwhat (?:is|does) [^?]{0,40} mean\b|\bdefinition\b|\bdefine|\bmeant by\b|\bcounts as\b";
    HOW = r"怎麼|怎樣|如何|流程|程序|步驟|手續|(?:準備|帶|附|交|填|檢附|檢具)(?:什麼|甚麼|哪些|啥)|需要什麼|什麼(?:文件|資料|證明|單據)|\bhow (?:do|does|can|should|is|are|to)\b|\bprocedure\b|\bprocess\b|\bsteps?\b|\bwhat (?:documents?|paperwork|evidence|do i need)\b";
    WHICH = r"哪些|哪幾|哪種|哪一|什麼|甚麼|啥|\bwhat\b|\bwhich\b|有無規定|規定為何|為何";
    PERMISSION = r"可以|可不可以|能不能|能否|可否|得否|是否|要不要|需不需要|會不會|有沒有|有無|准不准|該不該|行不行|算不算|給不給|(?:嗎|咩|嘛|沒有|ok|行|不)[?!。]*$|嗎|必須|一定要|\b(?:may|can|could|must|should|shall|am|is|are|do|does|did|will|would|has|have) (?:i|we|you|they|he|she|an?|the|my|it|there|employees?|staff|anyone|company|part-time)\b|\bdo i (?:have|need)\b|\ballowed\b|\bpermitted\b|\brequired to\b|\bok to\b|\bneed to\b";
    AT_MOST = r"最多|最高|最長|最久|上限|至多|頂多|不能超過|限額|\bmost\b|\bmaximum\b|\bmax\b|\bcap\b|\blimit\b|\blongest\b|\bup to\b";
    AHEAD = r"(?:多久|幾個?(?:工作)?(?:天|日|月|週|星期|小時|年))(?:之|以)?前|提前|提早|事先|預告|前要|之前|前(?:申請|提出|告知|通知|講|說)|\bin advance\b|\bahead\b|\bnotice\b|\bbefore\b|\bprior\b";
    WITHIN = r"(?:多久|幾個?(?:工作)?(?:天|日|月|週|星期|小時|年)|期限)(?:之|以)?內|內要|多快|之內|以內|\bwithin\b|\bhow (?:soon|fast|quickly)\b|\bdeadline\b|\bafter\b";
    SENTENCE_AT_MOST = r"為限|上限|不得超過|不超過|最高|最長|至多|最多|未逾|以內|\blimited to\b|\bup to\b|\bno more than\b|\bnot exceed\b|\bno employee may\b|\bmaximum\b|\bcap\b|\bat most\b";
    SENTENCE_AHEAD = r"{N}個?(?:工作)?(?:日|天|月|週|星期|年|小時)(?:以|之)?前|時前|前(?:於|向|以|提出|申請)|日前|事前|預告|\bahead\b|\bin advance\b|\bbefore\b|\bnotice\b|\bprior\b";
    LATEST = r"最晚|最遲|截止|\blatest\b";
    SENTENCE_WITHIN = r"(?:日|天|月|年|時|週|期|星期|分鐘)(?:之|以)?內|\bwithin\b|\bby\b|\bno later than\b|\buntil\b";
}

impl Asked {
    /// Reads the asked kinds off a folded question, or a part of one.
    pub(crate) fn of(folded: &str) -> Self {
        let text = folded.trim();
        let mut kinds = Vec::new();
        for (pattern, kind) in [
            (&AGE, AskedKind::Age),
            (&CLOCK, AskedKind::Clock),
            (&DEADLINE, AskedKind::Deadline),
            (&DURATION, AskedKind::Duration),
            (&COUNT, AskedKind::Count),
            (&AMOUNT, AskedKind::Amount),
            (&WHO, AskedKind::Who),
            (&CONSEQUENCE, AskedKind::Consequence),
            (&DEFINITION, AskedKind::Definition),
            (&HOW, AskedKind::How),
            (&PERMISSION, AskedKind::Permission),
            (&WHICH, AskedKind::Which),
        ] {
            if pattern.is_match(text) {
                kinds.push(kind);
            }
        }
        // 多少 alone asks for any number, for money where money is spoken of.
        if BARE_AMOUNT.is_match(text) && !kinds.iter().any(|kind| is_number(*kind)) {
            kinds.insert(0, if MONEY_WORD.is_match(text) { AskedKind::Amount } else { AskedKind::Number });
        }
        // 多少 and how much may count time instead of money.
        if NOT_MONEY.is_match(text) {
            kinds.retain(|kind| *kind != AskedKind::Amount);
        }
        // In a yes-or-no question, 時數 or 期限 is what it is about, not what it asks for.
        if YES_OR_NO.is_match(text) && !OPEN.is_match(text) {
            kinds.retain(|kind| !is_number(*kind) && !matches!(kind, AskedKind::Deadline | AskedKind::Clock));
        }
        // What becomes of a number of days is not how many they are.
        if HANDLED.is_match(text) && !DURATION.is_match(&HANDLED.replace_all(text, "")) {
            kinds.retain(|kind| *kind != AskedKind::Duration);
        }
        // Before what time of day is asked for a time of day.
        if kinds.contains(&AskedKind::Clock) {
            kinds.retain(|kind| *kind != AskedKind::Deadline);
        }
        // By when is asked with the words of how long: 幾天之內, 多久以前. 天數與期限 asks for both.
        if kinds.contains(&AskedKind::Deadline) && !DURATION.is_match(&DEADLINE.replace_all(text, "")) {
            kinds.retain(|kind| *kind != AskedKind::Duration);
        }
        // `how many` counts whatever follows; days are a duration.
        if kinds.contains(&AskedKind::Duration) && !unit_is_times(text) {
            kinds.retain(|kind| *kind != AskedKind::Count);
        }
        Self {
            unit: asked_unit(text),
            at_most: AT_MOST.is_match(text),
            ahead: AHEAD.is_match(text),
            within: WITHIN.is_match(text),
            latest: LATEST.is_match(text),
            kinds,
        }
    }

    /// Whether only a certain kind of fact answers.
    pub(crate) fn is_specific(&self) -> bool {
        self.kinds.iter().any(|kind| kind.is_specific())
    }

    /// Each kind of fact that is asked for, on its own; only those that one kind of fact answers.
    pub(crate) fn one_by_one(&self) -> Vec<Self> {
        let one = |kind: &AskedKind| Self { kinds: vec![*kind], ..self.clone() };
        self.kinds.iter().filter(|kind| kind.is_specific()).map(one).collect()
    }

    /// Whether only a moment answers: how long before, how long after, by when at the latest.
    pub(crate) fn needs_a_moment(&self) -> bool {
        self.kinds.contains(&AskedKind::Deadline) && (self.ahead || self.within || self.latest)
    }

    /// Whether the words ask for anything at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// How well these facts are of the asked kind, 0 to 1. A question that asks for a number is not answered by a
    /// sentence that only permits.
    pub(crate) fn fit(&self, facts: &[Fact], nearness: &dyn Fn(&Fact) -> f32) -> f32 {
        if self.kinds.is_empty() {
            return 0.5;
        }
        let specific = self.is_specific();
        let mut best = 0.0_f32;
        for kind in self.kinds.iter().filter(|kind| !specific || kind.is_specific()) {
            for (accepted, worth) in kind.accepts() {
                for fact in facts.iter().filter(|fact| fact.kind == *accepted) {
                    let near = if specific { nearness(fact) } else { 1.0 };
                    let as_asked = self.unit_fit(fact) * number_fit(fact) * length_fit(*kind, fact, facts);
                    best = best.max(worth * as_asked * near);
                }
            }
        }
        best
    }

    fn unit_fit(&self, fact: &Fact) -> f32 {
        use Unit::{Day, Hour, Minute, Month, Other, Person, Times, Week, Year};
        match (self.unit, fact.unit) {
            (None, _) => 1.0,
            (Some(_), None) => 0.75,
            (Some(asked), Some(given)) if asked == given => 1.0,
            (Some(Times | Person | Other), Some(_)) => 0.3,
            // A leave of so many days may well be given in weeks; nobody answers 幾個月 with 十日.
            (Some(Day), Some(Week | Month | Year)) | (Some(Hour), Some(Minute)) | (Some(Minute), Some(Hour)) => 0.8,
            (Some(Week | Month | Year), Some(Week | Month | Year)) => 0.75,
            (Some(_), Some(_)) => 0.5,
        }
    }

    /// How many of the question's bounds (at most, ahead, within, at the latest) a folded sentence shares, 0 to 4.
    pub(crate) fn shared_bounds(&self, sentence: &str) -> u8 {
        u8::from(self.at_most && SENTENCE_AT_MOST.is_match(sentence))
            + u8::from(self.ahead && SENTENCE_AHEAD.is_match(sentence))
            + u8::from(self.within && !self.ahead && SENTENCE_WITHIN.is_match(sentence))
            + u8::from(self.latest && (SENTENCE_AHEAD.is_match(sentence) || SENTENCE_WITHIN.is_match(sentence)))
    }
}

/// How long something lasts is not said by the days within which it must be done.
fn length_fit(kind: AskedKind, fact: &Fact, facts: &[Fact]) -> f32 {
    let is_deadline = |other: &Fact| other.kind == FactKind::Deadline && other.start == fact.start;
    if kind == AskedKind::Duration && facts.iter().any(is_deadline) { 0.85 } else { 1.0 }
}

/// A number says more than a moment or a measure in words.
fn number_fit(fact: &Fact) -> f32 {
    let is_measure = matches!(
        fact.kind,
        FactKind::Duration | FactKind::Deadline | FactKind::Date | FactKind::Clock | FactKind::Share | FactKind::Count
    );
    if is_measure && !fact.has_number { 0.85 } else { 1.0 }
}

const fn is_number(kind: AskedKind) -> bool {
    matches!(kind, AskedKind::Duration | AskedKind::Count | AskedKind::Amount | AskedKind::Age)
}

fn unit_is_times(text: &str) -> bool {
    matches!(asked_unit(text), Some(Unit::Times | Unit::Person | Unit::Other))
}

fn asked_unit(text: &str) -> Option<Unit> {
    let captures = UNIT.captures(text)?;
    let word = ["unit", "en", "cap"].iter().find_map(|name| captures.name(name))?.as_str();
    Some(match word {
        "次" | "回" | "time" => Unit::Times,
        "人" | "名" | "位" => Unit::Person,
        other => crate::facts::unit_of(other),
    })
}

#[cfg(test)]
mod tests {
    use bylaw_retrieval::analysis::fold;

    use super::*;

    fn check(question: &str, expected: AskedKind) {
        let asked = Asked::of(&fold(question).text);
        assert_eq!(asked.kinds.first(), Some(&expected), "{question}: {asked:?}");
    }

    fn check_none_specific(question: &str) {
        let asked = Asked::of(&fold(question).text);
        assert!(!asked.is_specific(), "{question}: {asked:?}");
    }

    #[test]
    fn a_question_asks_for_this_kind_first() {
        use AskedKind::{
            Age, Amount, Clock, Consequence, Count, Deadline, Definition, Duration, How, Number, Permission, Who,
        };
        let rows = [
            ("特休有幾天？", Duration),
            ("特休有几天？", Duration),
            ("婚假給予幾日", Duration),
            ("試用期多久", Duration),
            ("產假多長？", Duration),
            ("每週工時上限是多少小時？", Duration),
            ("How many days of annual leave do I get?", Duration),
            ("How long is the probation period?", Duration),
            ("出差住宿費上限多少？", Amount),
            ("機車一公里補多少錢", Amount),
            ("試用期薪水打幾折", Amount),
            ("加班費怎麼算？", Amount),
            ("各職等的薪級表是多少？", Amount),
            ("日支費是几元", Amount),
            ("一個月加班上限多少？", Number),
            ("特休跟產假分別有多少？", Number),
            ("剩下的天數怎麼處理？", How),
            ("How much is the daily meal allowance?", Amount),
            ("What percentage of salary is paid?", Amount),
            ("薪水幾號發？", Deadline),
            ("年終獎金什麼時候發？", Deadline),
            ("遠距工作應於何時以前提出申請？", Deadline),
            ("離職要提前多久說", Deadline),
            ("發票幾天內要核銷？", Deadline),
            ("筆電掉了要多快講", Deadline),
            ("When must I return my laptop?", Deadline),
            ("What is the deadline for filing expenses?", Deadline),
            ("What day is payday?", Deadline),
            ("最早幾點可以進公司", Clock),
            ("What time do core hours start?", Clock),
            ("請假要找誰簽？", Who),
            ("國外出差由哪個單位核准？", Who),
            ("被騷擾要向何單位申訴", Who),
            ("Who approves overtime?", Who),
            ("可以養寵物嗎？", Permission),
            ("能不能帶小孩上班", Permission),
            ("員工得否兼職？", Permission),
            ("需不需要證明", Permission),
            ("May I work from home?", Permission),
            ("Do I have to wear a badge?", Permission),
            ("代打卡會怎樣？", Consequence),
            ("無故曠職的後果", Consequence),
            ("What happens if I am late?", Consequence),
            ("一個月可以補登幾次？", Count),
            ("委員會有幾人", Count),
            ("How often are passwords changed?", Count),
            ("幾歲可以退休", Age),
            ("加班要怎麼申請？", How),
            ("How do I apply for leave?", How),
            ("新人要帶什麼文件", How),
            ("何謂曠職？", Definition),
        ];
        for (question, expected) in rows {
            check(question, expected);
        }
    }

    #[test]
    fn a_question_may_ask_for_several_kinds() {
        let asked = Asked::of(&fold("事假可以請幾天、要找誰核准").text);
        for kind in [AskedKind::Duration, AskedKind::Who, AskedKind::Permission] {
            assert!(asked.kinds.contains(&kind), "{asked:?}");
        }
    }

    #[test]
    fn a_yes_or_no_question_asks_for_no_number() {
        for question in
            ["可以帶寵物上班嗎", "Is there a stock option plan?", "特別休假", "要看醫生證明嗎", "時數會計入每月上限嗎"]
        {
            check_none_specific(question);
        }
    }

    #[test]
    fn the_unit_of_the_asked_number_is_read() {
        let unit = |question: &str| Asked::of(&fold(question).text).unit;
        assert_eq!(unit("特休有幾天"), Some(Unit::Day));
        assert_eq!(unit("最多加班多少小時"), Some(Unit::Hour));
        assert_eq!(unit("延長以幾個月為限"), Some(Unit::Month));
        assert_eq!(unit("可以補登幾次"), Some(Unit::Times));
        assert_eq!(unit("How many weeks of redundancy pay?"), Some(Unit::Week));
        assert_eq!(unit("可以嗎"), None);
    }
}
