//! Which sentence of a model's answer stands on which articles.

use bylaw_contract::{
    ArticleId, Language,
    ask::{Sentence, SentenceStatus},
};
use bylaw_retrieval::analysis;

use crate::{id_filter::Filtered, pattern::patterns, script};

/// A sentence cites an article that was not given.
pub(crate) const INVALID_CITATION: &str = "invalid_citation";
/// A sentence says something about the rules and cites nothing.
pub(crate) const NO_CITATION: &str = "no_citation";
/// A sentence is written in the other script than the question.
pub(crate) const WRONG_SCRIPT: &str = "wrong_script";

patterns! {
    NO_CLAIM = r"^(?:以上|希望|如有(?:其他|任何)?(?:疑問|問題)|若有(?:其他|任何)?(?:疑問|問題)|您好|你好|請問還|謝謝|簡單(?:來)?說|結論|hope this|let me know|please (?:contact|ask)|in short|thank)[^0-9]{0,40}$|[:]$";
    MARKER = r"\[[^\[\]]{1,300}#[^\[\]\s]{1,64}\]";
}

/// Cuts the text that was let through into sentences and gives each its citations. Nothing is added to what the model
/// cited.
pub(crate) fn attribute(filtered: &Filtered, given: &[ArticleId], language: Language) -> Vec<Sentence> {
    let text = &filtered.text;
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for span in bylaw_corpus::sentences(text) {
        let mut start = span.start;
        // A marker behind the full stop belongs to the sentence that ended there.
        if let Some(previous) = spans.last_mut() {
            while let Some(marker) = MARKER.find(&text[start..span.end]).filter(|marker| marker.start() == 0) {
                if text[previous.1..start].contains('\n') {
                    break;
                }
                start += marker.end();
                previous.1 = start;
                start += text[start..span.end].len() - text[start..span.end].trim_start().len();
            }
        }
        let says_something = text[start..span.end].chars().any(char::is_alphanumeric);
        if says_something {
            spans.push((start, span.end));
        } else if let Some(previous) = spans.last_mut() {
            previous.1 = span.end;
        }
    }
    spans
        .iter()
        .map(|(start, end)| {
            let words = &text[*start..*end];
            let mut citations: Vec<ArticleId> = Vec::new();
            let marked = filtered.cited.iter().filter(|(at, _)| (*start..*end).contains(at)).map(|(_, id)| id.clone());
            for id in marked.chain(mentioned(words, given)) {
                if !citations.contains(&id) {
                    citations.push(id);
                }
            }
            let invalid = filtered.dropped.iter().any(|at| *start < *at && *at <= *end || *at == 0 && *start == 0);
            judge(words, citations, invalid, language)
        })
        .collect()
}

/// The given articles that a sentence names in words, where only one of them has that number.
fn mentioned(words: &str, given: &[ArticleId]) -> Vec<ArticleId> {
    let without_markers = MARKER.replace_all(words, "");
    bylaw_corpus::article_mentions(&without_markers)
        .into_iter()
        .filter_map(|mention| {
            let mut with = given.iter().filter(|id| id.article == mention.address);
            let first = with.next()?;
            with.next().is_none().then(|| first.clone())
        })
        .collect()
}

fn judge(words: &str, citations: Vec<ArticleId>, invalid: bool, language: Language) -> Sentence {
    let plain = MARKER.replace_all(words, "");
    let claims = !NO_CLAIM.is_match(analysis::fold(plain.trim()).text.trim());
    let mut problems = Vec::new();
    if invalid {
        problems.push(INVALID_CITATION.to_owned());
    }
    if claims && citations.is_empty() {
        problems.push(NO_CITATION.to_owned());
    }
    let status = if !problems.is_empty() {
        SentenceStatus::Unsupported
    } else if citations.is_empty() {
        SentenceStatus::NoClaim
    } else {
        SentenceStatus::Supported
    };
    if language == Language::TraditionalChinese && script::simplified_only(&plain) > 0 {
        problems.push(WRONG_SCRIPT.to_owned());
    }
    Sentence { text: words.to_owned(), status, citations, problems }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id_filter::IdFilter;

    fn check(reply: &str, expected: &[(&str, SentenceStatus, &[&str], &[&str])]) {
        let given: Vec<ArticleId> = ["r.md#26", "r.md#27"].iter().map(|id| id.parse().unwrap()).collect();
        let mut filter = IdFilter::new(given.clone());
        filter.push(reply);
        let (_, filtered) = filter.finish();
        let found = attribute(&filtered, &given, Language::TraditionalChinese);
        let found: Vec<_> = found
            .iter()
            .map(|s| {
                (
                    s.text.as_str(),
                    s.status,
                    s.citations.iter().map(ToString::to_string).collect::<Vec<_>>(),
                    s.problems.clone(),
                )
            })
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(text, status, ids, problems)| {
                (
                    *text,
                    *status,
                    ids.iter().map(ToString::to_string).collect(),
                    problems.iter().map(ToString::to_string).collect(),
                )
            })
            .collect();
        assert_eq!(found, expected, "{reply}");
    }

    #[test]
    fn each_sentence_stands_on_what_it_cites_and_on_nothing_else() {
        use SentenceStatus::{NoClaim, Supported, Unsupported};
        check("七日[r.md#26]。", &[("七日[r.md#26]。", Supported, &["r.md#26"], &[])]);
        check(
            "七日。[r.md#26] 不給工資。[r.md#27]",
            &[("七日。[r.md#26]", Supported, &["r.md#26"], &[]), ("不給工資。[r.md#27]", Supported, &["r.md#27"], &[])],
        );
        check("特別休假七日[9]。", &[("特別休假七日。", Unsupported, &[], &[INVALID_CITATION, NO_CITATION])]);
        check("公司重視員工健康。", &[("公司重視員工健康。", Unsupported, &[], &[NO_CITATION])]);
        check("依第26條，七日。", &[("依第26條，七日。", Supported, &["r.md#26"], &[])]);
        check(
            "七日[r.md#26]。也是[r.md#26]。",
            &[("七日[r.md#26]。", Supported, &["r.md#26"], &[]), ("也是[r.md#26]。", Supported, &["r.md#26"], &[])],
        );
        check(
            "七日[r.md#26]。希望有幫助。",
            &[("七日[r.md#26]。", Supported, &["r.md#26"], &[]), ("希望有幫助。", NoClaim, &[], &[])],
        );
        check(
            "事假合计不得超过十四日[r.md#27]。",
            &[("事假合计不得超过十四日[r.md#27]。", Supported, &["r.md#27"], &[WRONG_SCRIPT])],
        );
    }
}
