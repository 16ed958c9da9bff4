//! What an answer is: one of seven things, never a bare empty string.

use serde::{Deserialize, Serialize};

use crate::language::Language;

/// How a question ended for the person who asked it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The rules answer it, and the answer cites them.
    Answered,
    /// The topic is known, and the rules do not mention it.
    NotInRules,
    /// The rules touch the topic but do not say what was asked.
    Insufficient,
    /// The rules send the reader to another rule.
    RuledElsewhere,
    /// The words of the question are known neither to the rules, nor to the glossary, nor to the list of topics.
    NotUnderstood,
    /// A cap stopped the work. Says nothing about the rules.
    Stopped,
    /// A part that was needed is missing or broken (no model, an upstream failure). Says nothing about the rules.
    Degraded,
}

impl Outcome {
    /// Every outcome, in the order of the enum.
    pub const ALL: [Self; 7] = [
        Self::Answered,
        Self::NotInRules,
        Self::Insufficient,
        Self::RuledElsewhere,
        Self::NotUnderstood,
        Self::Stopped,
        Self::Degraded,
    ];

    /// The outcome as one sentence for a person, in the question's language.
    #[must_use]
    pub const fn note(self, language: Language) -> &'static str {
        if language.is_chinese() {
            match self {
                Self::Answered => "規章裡有答案，引文與條號如下。",
                Self::NotInRules => "規章裡沒有這一項規定。下面是查到最接近的條文，不一定與問題有關。",
                Self::Insufficient => "規章提到這件事，但沒有寫到你問的這一點。",
                Self::RuledElsewhere => "規章把這件事交給另一份辦法規定，本規章沒有寫明內容。",
                Self::NotUnderstood => "看不懂這個問題的用詞，請換個說法再問一次；這不代表規章沒有規定。",
                Self::Stopped => "處理到一半因上限而停止；這不代表規章沒有規定。",
                Self::Degraded => "需要的元件目前無法使用，只能提供條文摘錄；這不代表規章沒有規定。",
            }
        } else {
            match self {
                Self::Answered => "The rules answer this; the quoted articles follow.",
                Self::NotInRules => {
                    "The rules do not mention this. The nearest articles follow; they may have nothing to do with it."
                }
                Self::Insufficient => "The rules touch on this, but do not say what you asked.",
                Self::RuledElsewhere => "The rules leave this to another document and do not give its content here.",
                Self::NotUnderstood => {
                    "The words of this question are not known here; please ask in other words. This does not mean that \
                     the rules are silent."
                }
                Self::Stopped => "A limit stopped the work. This does not mean that the rules are silent.",
                Self::Degraded => {
                    "A part that this needs is not available, so only the extract can be given. This does not mean \
                     that the rules are silent."
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_that_is_not_about_the_rules_says_so() {
        for outcome in [Outcome::NotUnderstood, Outcome::Stopped, Outcome::Degraded] {
            assert!(outcome.note(Language::TraditionalChinese).contains("不代表規章沒有規定"), "{outcome:?}");
            assert!(outcome.note(Language::English).contains("does not mean"), "{outcome:?}");
        }
    }

    #[test]
    fn no_sentence_calls_what_was_retrieved_grounds() {
        for outcome in Outcome::ALL {
            for language in [Language::TraditionalChinese, Language::English] {
                let note = outcome.note(language);
                for word in ["根據", "依據", "based on"] {
                    assert!(!note.to_lowercase().contains(word), "{outcome:?}: {note}");
                }
            }
        }
    }
}
