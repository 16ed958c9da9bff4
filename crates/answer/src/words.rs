//! How much of a question's words a stretch of the rules holds.

use std::collections::HashSet;

use bylaw_retrieval::{Known, QuestionWord, analysis};

use crate::pattern::patterns;

patterns! {
    // Words that every rule is about; they never tell one rule from another.
    // A word that asks, or says for which period, tells nothing about the subject.
    ASKING = r"幾|多少|多久|多長|怎|什麼|甚麼|誰|哪|嗎|何時|如何|為何|何人|是否|有沒有|可不可以|能不能|\b(?:how|what|when|who|which)\b";
    // What the glossary hears in a question for a number; every rule with a number has it.
    NUMBERISH = r"^(?:最[高低多少])?(?:日數|天數|上限|下限|期限|額度|限度|次數|時數|金額)$";
    PERIOD = r"^(?:一|每|單|當|全)?個?(?:天|日|週|星期|禮拜|月|年|年度|晚|次|期間|小時)$|^[0-9]+$|^(?:day|week|month|year|night|daili|weekli|monthli|annual|per|a year|a month|a week)$|^最(?:多|高|長|少|晚|早|遲|久|低)$|^上限$";
    GENERIC = r"^(?:公司|本公司|我們公司|員工|同仁|勞工|大家|我們?|自己|規定|規則|本規則|辦法|條文|問|想|要|可以|能|有|是|的|請問|一下|時候|情況|申請|辦理|工作|上班|要|又|會|受|行|人|放|給|到|把|被|讓|跟|在|用|做|沒|沒有|內|前|後|時|日|天|再|還|也|就|都|才|處理|流程|手續|步驟|方式|方法|天數|金額|標準|條件|結果|影響|拿到|入帳|需要|應該|company|employee|staff|i|my|we|our|you|get|take|work|rule|polici|policy|handbook|much|mani|need|have|there)$";
}

/// Most words of a question that are weighed, the most telling first.
const MAX_WORDS: usize = 48;

/// One word of a question, ready to be looked for.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    /// Where in the question it stands.
    pub(crate) start: usize,
    /// One past its last byte there.
    pub(crate) end: usize,
    /// Who knows it.
    pub(crate) known: Known,
    /// How telling it is.
    pub(crate) weight: f32,
    /// How telling it would be if somebody knew it.
    pub(crate) idf: f32,
    /// Whether it is one that every rule is about.
    pub(crate) is_generic: bool,
    forms: Vec<Form>,
    /// For a word that the rules do not use as a whole: the shorter words it is put together from.
    halves: Vec<String>,
}

#[derive(Clone, Debug)]
struct Form {
    text: String,
    terms: Vec<String>,
    is_latin: bool,
    worth: f32,
}

/// A stretch of the rules, ready to be looked into.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stretch {
    folded: String,
    /// The same without 之 and 的: 延長之工作時間 is 延長工作時間.
    joined: String,
    terms: HashSet<String>,
}

impl Stretch {
    /// How much of this stretch's information another one holds, 0 to 1; single characters do not count.
    pub(crate) fn share_in(&self, other: &Self, idf: &dyn Fn(&str) -> f32) -> f32 {
        let (mut shared, mut total) = (0.0, 0.0);
        for term in self.terms.iter().filter(|term| term.chars().count() > 1) {
            let weight = idf(term);
            total += weight;
            if other.terms.contains(term) {
                shared += weight;
            }
        }
        if total > 0.0 { shared / total } else { 0.0 }
    }

    /// Prepares a text.
    pub(crate) fn new(text: &str) -> Self {
        let folded = analysis::fold(text).text;
        Self {
            joined: folded.replace(['之', '的'], ""),
            folded,
            terms: analysis::tokens(text).into_iter().map(|token| token.term).collect(),
        }
    }
}

/// How much of its information a word keeps that says little about the subject.
const LITTLE: f32 = 0.15;
/// A single Chinese character is rarely a word of its own.
const SINGLE: f32 = 0.3;
/// What nobody knows cannot be found; it must not drown what can.
const UNKNOWN: f32 = 0.35;

/// Words that mean something else inside a longer one: 主管機關 is an authority and no 主管.
const LONGER_WORDS: [(&str, &str); 2] = [("主管", "主管机关"), ("产假", "陪产假")];

fn weight_of(word: &QuestionWord, is_generic: bool) -> f32 {
    let single = word.folded.chars().count() == 1;
    let factor = match word.known {
        _ if is_generic => LITTLE,
        Known::Nobody if single => LITTLE,
        _ if single => SINGLE,
        Known::Nobody => UNKNOWN,
        Known::Corpus | Known::Glossary | Known::Topic => 1.0,
    };
    factor * word.idf
}

/// Prepares a question's words.
pub(crate) fn words(analysed: &[QuestionWord]) -> Vec<Word> {
    let mut words: Vec<Word> = analysed
        .iter()
        .map(|word| {
            let expansions: Vec<&String> = word.expansions.iter().filter(|form| !NUMBERISH.is_match(form)).collect();
            let only_asks = ASKING.is_match(&word.folded) && expansions.is_empty();
            let is_generic = only_asks || GENERIC.is_match(&word.folded) || PERIOD.is_match(&word.folded);
            let own = std::iter::once(Form::new(&word.folded, 1.0));
            let others = expansions.into_iter().map(|form| Form::new(form, 0.9));
            Word {
                start: word.span.start,
                end: word.span.end,
                known: word.known,
                weight: weight_of(word, is_generic),
                idf: word.idf,
                is_generic,
                halves: if word.known == Known::Corpus { Vec::new() } else { halves(&word.folded) },
                forms: own.chain(others).collect(),
            }
        })
        .collect();
    if words.len() > MAX_WORDS {
        words.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        words.truncate(MAX_WORDS);
        words.sort_by_key(|word| word.start);
    }
    words
}

/// 預支薪水 → 預支, 薪水. Words of three characters give both pairs.
fn halves(word: &str) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    if word.is_ascii() || characters.len() < 3 {
        return Vec::new();
    }
    let step = if characters.len() == 3 { 1 } else { 2 };
    characters
        .windows(2)
        .step_by(step)
        .map(|pair| pair.iter().collect::<String>())
        .filter(|pair| !GENERIC.is_match(pair))
        .collect()
}

impl Form {
    fn new(text: &str, worth: f32) -> Self {
        let is_latin = text.is_ascii();
        let mut terms: Vec<String> = analysis::tokens(text).into_iter().map(|token| token.term).collect();
        if !is_latin {
            // Single characters are in almost every sentence; bigrams tell.
            let bigrams: Vec<String> = terms.iter().filter(|term| term.chars().count() > 1).cloned().collect();
            if !bigrams.is_empty() {
                terms = bigrams;
            }
        }
        Self { text: text.to_owned(), terms, is_latin, worth }
    }

    fn share_in(&self, stretch: &Stretch) -> f32 {
        if !self.is_latin && (stretch.folded.contains(&self.text) || stretch.joined.contains(&self.text)) {
            let inside = LONGER_WORDS.iter().filter(|(word, _)| *word == self.text);
            let is_other = inside.into_iter().any(|(word, longer)| !stretch.folded.replace(longer, "").contains(word));
            return if is_other { 0.0 } else { self.worth };
        }
        if self.terms.is_empty() {
            return 0.0;
        }
        let found = self.terms.iter().filter(|term| stretch.terms.contains(*term)).count();
        let share =
            f64::from(u32::try_from(found).unwrap_or(0)) / f64::from(u32::try_from(self.terms.len()).unwrap_or(1));
        #[expect(clippy::cast_possible_truncation, reason = "a share between 0 and 1")]
        let share = share as f32;
        if share >= 1.0 {
            self.worth * if self.is_latin { 1.0 } else { 0.95 }
        } else if share >= 0.5 && self.worth >= 1.0 {
            // Half of the question's own word may be its subject; half of an expansion is another word.
            self.worth * share * 0.7
        } else {
            0.0
        }
    }
}

impl Word {
    /// The shorter words of a word that the rules do not use as a whole, for looking them up one by one: 「加班。上限」.
    /// Not for a topic: its silence is an answer.
    pub(crate) fn taken_apart(&self) -> Option<String> {
        let is_compound = self.halves.len() > 1 && matches!(self.known, Known::Glossary | Known::Nobody);
        is_compound.then(|| self.halves.join("。"))
    }

    /// Learns how the rules say the parts of it.
    pub(crate) fn learn(&mut self, parts: &[QuestionWord]) {
        for part in parts.iter().filter(|part| part.known == Known::Corpus && part.folded.chars().count() > 1) {
            if !GENERIC.is_match(&part.folded) && !PERIOD.is_match(&part.folded) {
                self.forms.push(Form::new(&part.folded, 0.8));
                self.forms.extend(part.expansions.iter().map(|form| Form::new(form, 0.7)));
                self.known = Known::Corpus;
                self.weight = self.weight.max(0.7 * self.idf);
            }
        }
    }

    /// How much of this word a stretch holds in any of its forms, 0 to 1.
    pub(crate) fn share_in(&self, stretch: &Stretch) -> f32 {
        let whole = self.forms.iter().map(|form| form.share_in(stretch)).fold(0.0, f32::max);
        let found = self.halves.iter().filter(|half| stretch.folded.contains(half.as_str())).count();
        if found == 0 {
            return whole;
        }
        whole.max(if found == self.halves.len() { 0.8 } else { 0.4 })
    }

    /// Whether a folded text is this very word, in any of its forms.
    pub(crate) fn is(&self, folded: &str) -> bool {
        self.forms.iter().any(|form| form.worth >= 1.0 && form.text == folded)
    }

    /// Whether a stretch speaks of this word, if only in part.
    pub(crate) fn is_in(&self, stretch: &Stretch) -> bool {
        self.share_in(stretch) >= 0.35
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_in_a_sentence_that_says_it_with_a_particle_and_not_in_another_word() {
        let rows = [
            ("延長工作時間", "延長之工作時間，一個月不得超過四十六小時。", true),
            ("延長工作時間", "每日正常工作時間為八小時。", false),
            ("主管", "由直屬主管核准。", true),
            ("主管", "報請主管機關核備。", false),
            ("產假", "給予陪產檢及陪產假七日。", false),
            ("主管", "主管應報請主管機關核備。", true),
        ];
        for (word, sentence, expected) in rows {
            let found = Form::new(&analysis::fold(word).text, 1.0).share_in(&Stretch::new(sentence));
            assert_eq!(found >= 0.9, expected, "{word} in {sentence}: {found}");
        }
    }
}
