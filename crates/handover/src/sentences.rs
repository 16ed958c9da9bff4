//! What outcomes, stops and lists are called for a model, in both languages.
//!
//! A model believes each word. So what was found is called "found", whether or not an answer used it; a limit says that it
//! was a limit; and where nothing was decided about the rules, the sentence says so.

use bylaw_contract::{Language, Outcome, StopReason};

/// What an outcome means.
#[must_use]
pub const fn outcome(outcome: Outcome, language: Language) -> &'static str {
    match (outcome, language.is_chinese()) {
        (Outcome::Answered, true) => "規章裡有答案。",
        (Outcome::NotInRules, true) => "查過了：規章裡沒有這一項規定。後面列的只是最接近的條文，不一定有關。",
        (Outcome::Insufficient, true) => "規章提到這件事，但沒有寫到所問的這一點。",
        (Outcome::RuledElsewhere, true) => "規章把這件事交給另一份文件規定，內容不在這裡。",
        (Outcome::NotUnderstood, true) => "看不懂問題的用詞，請換個說法再問；這不代表規章沒有規定。",
        (Outcome::Stopped, true) => "工作因上限停下，沒有做完；這不代表規章沒有規定。",
        (Outcome::Degraded, true) => "需要的元件目前無法使用，只能給條文摘錄；這不代表規章沒有規定。",
        (Outcome::Answered, false) => "The rules answer this.",
        (Outcome::NotInRules, false) => {
            "It was looked up, and the rules do not mention it. The articles listed below are only the nearest ones and may \
             have nothing to do with it."
        }
        (Outcome::Insufficient, false) => "The rules touch on this, but do not say what was asked.",
        (Outcome::RuledElsewhere, false) => "The rules leave this to another document, whose content is not here.",
        (Outcome::NotUnderstood, false) => {
            "The words of the question are not known here: ask in other words. This does not mean that the rules are silent."
        }
        (Outcome::Stopped, false) => {
            "A limit stopped the work before it was done. This does not mean that the rules are silent."
        }
        (Outcome::Degraded, false) => {
            "A part that this needs is not available, so only sentences of the rules can be given. This does not mean that \
             the rules are silent."
        }
    }
}

/// What it means that a run ended for this reason, and what to do about it.
#[must_use]
pub const fn stop(reason: StopReason, language: Language) -> &'static str {
    match (reason, language.is_chinese()) {
        (StopReason::Completed, true) => "已正常結束。",
        (StopReason::Steps, true) => {
            "查詢步數到了上限，只能用當時查到的資料作答，可能不完整；沒查到的不代表規章沒有規定。不要原樣再問一次，請把問題拆小。"
        }
        (StopReason::ToolCalls, true) => {
            "工具呼叫次數到了上限，只能用當時查到的資料作答，可能不完整；沒查到的不代表規章沒有規定。不要原樣再問一次，請把問題拆小。"
        }
        (StopReason::RepeatedCall, true) => {
            "一再重複同樣的查詢而被停下，可能不完整；這不代表規章沒有規定。不要原樣再問一次，請換個說法。"
        }
        (StopReason::Context, true) => {
            "查到的內容超過模型一次能讀的量而被停下；這不代表規章沒有規定。不要原樣再問一次，請把問題拆小。"
        }
        (StopReason::Cost, true) => {
            "花費到了上限，還沒做完就停下；列出的條文是停下之前查到的。這不代表規章沒有規定。不要原樣再問一次，請自己用 search_rules 查，或告訴使用者。"
        }
        (StopReason::Time, true) => {
            "時間到了上限，還沒做完就停下；列出的條文是停下之前查到的。這不代表規章沒有規定。不要原樣再問一次，請把問題拆小，或自己用 search_rules 查。"
        }
        (StopReason::Cancelled, true) => "呼叫端取消，還沒做完就停下；這不代表規章沒有規定。",
        (StopReason::UpstreamIncomplete, true) => {
            "服務用的模型回覆到一半就斷了；這不代表規章沒有規定。可以再試一次，或自己用 search_rules 查。"
        }
        (StopReason::UpstreamTimeout, true) => {
            "服務用的模型太久沒有回應；這不代表規章沒有規定。可以再試一次，或自己用 search_rules 查。"
        }
        (StopReason::Refused, true) => {
            "服務用的模型拒絕回答；這不代表規章沒有規定。不要原樣再問一次，請自己用 search_rules 查。"
        }
        (StopReason::Failed, true) => {
            "處理時出錯而停下；這不代表規章沒有規定。可以再試一次；若仍然如此，請告訴使用者。"
        }
        (StopReason::Completed, false) => "it ended by itself.",
        (StopReason::Steps, false) => {
            "the limit on steps was reached, so the answer had to be given from what had been found by then and may be \
             incomplete; what was not found may still be in the rules. Do not ask the same again word for word: ask for less."
        }
        (StopReason::ToolCalls, false) => {
            "the limit on tool calls was reached, so the answer had to be given from what had been found by then and may be \
             incomplete; what was not found may still be in the rules. Do not ask the same again word for word: ask for less."
        }
        (StopReason::RepeatedCall, false) => {
            "the same look-up was made again and again, and what there is may be incomplete. This does not mean that the rules \
             are silent. Do not ask the same again word for word: use other words."
        }
        (StopReason::Context, false) => {
            "more was found than the model can read at once. This does not mean that the rules are silent. Do not ask the same \
             again word for word: ask for less."
        }
        (StopReason::Cost, false) => {
            "the limit on cost was reached before the work was done; what is listed was found before that. This does not mean \
             that the rules are silent. Do not ask the same again word for word: look it up yourself with search_rules, or tell \
             the person."
        }
        (StopReason::Time, false) => {
            "the limit on time was reached before the work was done; what is listed was found before that. This does not mean \
             that the rules are silent. Do not ask the same again word for word: ask for less, or look it up yourself with \
             search_rules."
        }
        (StopReason::Cancelled, false) => {
            "the caller cancelled before the work was done. This does not mean that the rules are silent."
        }
        (StopReason::UpstreamIncomplete, false) => {
            "the service's model broke off in the middle of its reply. This does not mean that the rules are silent. Try once \
             more, or look it up yourself with search_rules."
        }
        (StopReason::UpstreamTimeout, false) => {
            "the service's model did not answer in time. This does not mean that the rules are silent. Try once more, or look \
             it up yourself with search_rules."
        }
        (StopReason::Refused, false) => {
            "the service's model refused to answer. This does not mean that the rules are silent. Do not ask the same again \
             word for word: look it up yourself with search_rules."
        }
        (StopReason::Failed, false) => {
            "something broke. This does not mean that the rules are silent. Try once more; if it goes on, tell the person."
        }
    }
}

/// The whole notice of a stop: how often was looked up, if that is known, and what it means.
#[must_use]
pub fn stop_notice(reason: StopReason, looked_up: Option<u32>, language: Language) -> String {
    let meaning = stop(reason, language);
    match (looked_up, language.is_chinese()) {
        (Some(0), true) => format!("（還沒開始查就被攔下來：{meaning}）"),
        (Some(times), true) => format!("（被攔下來，查了 {times} 次：{meaning}）"),
        (None, true) => format!("（被攔下來：{meaning}）"),
        (Some(0), false) => format!("(Stopped before anything was looked up: {meaning})"),
        (Some(1), false) => format!("(Stopped after looking up once: {meaning})"),
        (Some(times), false) => format!("(Stopped after looking up {times} times: {meaning})"),
        (None, false) => format!("(Stopped: {meaning})"),
    }
}

/// What stands above a list, or marks an entry of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Above what a search found.
    Nearest,
    /// Above what was found for an answer.
    Found,
    /// Above sentences of the rules that are given instead of an answer.
    Verbatim,
    /// Above what was written before a stop.
    Draft,
    /// Above sentences of an answer that what they cite does not support.
    Unsupported,
    /// Beside an article that the answer rests on.
    Used,
    /// Beside an article that is there because another names it.
    Referenced,
    /// Instead of a list of articles.
    Nothing,
}

impl Label {
    /// Every label, in the order of the enum.
    pub const ALL: [Self; 8] = [
        Self::Nearest,
        Self::Found,
        Self::Verbatim,
        Self::Draft,
        Self::Unsupported,
        Self::Used,
        Self::Referenced,
        Self::Nothing,
    ];

    /// The label in words.
    #[must_use]
    pub const fn words(self, language: Language) -> &'static str {
        match (self, language.is_chinese()) {
            (Self::Nearest, true) => "字面上最接近的條文（規章沒有規定時也會列出，請讀過再判斷）：",
            (Self::Found, true) => "服務查到的條文（不一定每一條都跟答案有關）：",
            (Self::Verbatim, true) => "條文裡最接近的句子（逐字照錄，不一定回答了問題）：",
            (Self::Draft, true) => "停下之前寫到一半的內容（沒有寫完，也沒有核對）：",
            (Self::Unsupported, true) => "下列句子沒有得到所引條文的支持，請不要當成規定：",
            (Self::Used, true) => "［答案用到］",
            (Self::Referenced, true) => "［因為被上面的條文提到而列出］",
            (Self::Nothing, true) => "沒有任何條文和這些字詞有關。請換個說法再查；這不代表規章沒有規定。",
            (Self::Nearest, false) => {
                "The nearest articles (there are some even where the rules are silent: read them and judge):"
            }
            (Self::Found, false) => {
                "Articles that the service found (not every one of them has to do with the answer):"
            }
            (Self::Verbatim, false) => {
                "The nearest sentences of the rules, word for word (they may not answer the question):"
            }
            (Self::Draft, false) => "What was written before the stop (unfinished and unchecked):",
            (Self::Unsupported, false) => {
                "These sentences are not supported by what they cite; do not take them for rules:"
            }
            (Self::Used, false) => "[used in the answer]",
            (Self::Referenced, false) => "[listed because an article above names it]",
            (Self::Nothing, false) => {
                "No article has anything to do with these words. Search in other words; this does not mean that the rules are \
                 silent."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANGUAGES: [Language; 2] = [Language::TraditionalChinese, Language::English];

    fn all(language: Language) -> Vec<String> {
        let outcomes = Outcome::ALL.map(|each| outcome(each, language).to_owned());
        let stops = StopReason::ALL.map(|each| stop(each, language).to_owned());
        let notices = StopReason::ALL.map(|each| stop_notice(each, Some(2), language));
        let labels = Label::ALL.map(|each| each.words(language).to_owned());
        outcomes.into_iter().chain(stops).chain(notices).chain(labels).collect()
    }

    #[test]
    fn each_outcome_stop_and_label_has_a_sentence_of_its_own_in_each_language() {
        for language in LANGUAGES {
            let sentences = all(language);
            let different: std::collections::BTreeSet<_> = sentences.iter().collect();
            assert_eq!(different.len(), sentences.len(), "{language:?}");
            for sentence in &sentences {
                assert!(sentence.chars().count() > 3, "{sentence}");
                assert_eq!(sentence.is_ascii(), !language.is_chinese(), "{sentence}");
            }
        }
        let both: std::collections::BTreeSet<_> = LANGUAGES.into_iter().flat_map(all).collect();
        assert_eq!(both.len(), 2 * all(Language::English).len());
    }

    #[test]
    fn nothing_that_was_found_is_called_grounds() {
        for sentence in LANGUAGES.into_iter().flat_map(all) {
            for word in ["根據", "依據", "based on", "grounds", "evidence"] {
                assert!(!sentence.to_lowercase().contains(word), "{word}: {sentence}");
            }
        }
    }

    #[test]
    fn whatever_ends_a_run_too_early_is_not_told_as_a_missing_rule() {
        for reason in StopReason::ALL.into_iter().filter(|reason| *reason != StopReason::Completed) {
            assert!(stop(reason, Language::TraditionalChinese).contains("不代表規章沒有規定"), "{reason:?}");
            let english = stop(reason, Language::English);
            assert!(
                english.contains("does not mean that the rules are silent")
                    || english.contains("may still be in the rules")
            );
        }
        for unsure in [Outcome::NotUnderstood, Outcome::Stopped, Outcome::Degraded] {
            assert!(outcome(unsure, Language::TraditionalChinese).contains("不代表規章沒有規定"), "{unsure:?}");
            assert!(
                outcome(unsure, Language::English).contains("does not mean that the rules are silent"),
                "{unsure:?}"
            );
        }
    }

    #[test]
    fn what_a_limit_stopped_is_not_to_be_asked_again_word_for_word() {
        for reason in [StopReason::Steps, StopReason::ToolCalls, StopReason::Cost, StopReason::Time] {
            assert!(stop(reason, Language::TraditionalChinese).contains("不要原樣再問"), "{reason:?}");
            assert!(stop(reason, Language::English).contains("Do not ask the same again"), "{reason:?}");
        }
    }

    #[test]
    fn a_notice_says_how_often_was_looked_up() {
        let english = |times| stop_notice(StopReason::Time, times, Language::English);
        assert!(english(Some(2)).starts_with("(Stopped after looking up 2 times: the limit on time"));
        assert!(english(Some(1)).starts_with("(Stopped after looking up once: "));
        assert!(english(Some(0)).starts_with("(Stopped before anything was looked up: "));
        assert!(english(None).starts_with("(Stopped: "));
        assert!(
            stop_notice(StopReason::Steps, Some(2), Language::TraditionalChinese)
                .starts_with("（被攔下來，查了 2 次：")
        );
    }
}
