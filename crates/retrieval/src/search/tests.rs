use bylaw_contract::SourceName;
use proptest::prelude::*;

use crate::{
    Filter, HitKind, Known,
    fixture::{HANDBOOK, RULES, fixture, highlighted, ids},
};

#[test]
fn words_of_one_and_two_characters_are_found() {
    let fixture = fixture(&[HANDBOOK, RULES]);
    let check = |question: &str, expected: &str| {
        assert!(
            fixture.ids(question).iter().take(3).any(|id| id == expected),
            "{question}: {:?}",
            fixture.ids(question)
        );
    };
    check("加班", "work_rules.md#29");
    check("事假", "work_rules.md#27");
    check("病假", "work_rules.md#28");
    let one = fixture.search("假");
    assert!((1..=5).contains(&one.hits.len()));
    assert_eq!(highlighted(&one, "work_rules.md#27"), ["假"]);
}

#[test]
fn either_script_finds_and_the_original_is_shown() {
    let fixture = fixture(&[HANDBOOK, RULES]);
    for question in ["特別休假幾天", "特别休假几天"] {
        let found = fixture.search(question);
        assert_eq!(found.hits[0].article.id.to_string(), "work_rules.md#26");
        assert_eq!(highlighted(&found, "work_rules.md#26"), ["特別休假"]);
    }
}

#[test]
fn a_number_is_found_and_highlighted_however_it_is_written() {
    let fixture = fixture(&[HANDBOOK, RULES]);
    let check = |question: &str, expected: &str| {
        let found = fixture.search(question);
        assert_eq!(found.hits[0].article.id.to_string(), "work_rules.md#40", "{question}");
        assert_eq!(highlighted(&found, "work_rules.md#40"), [expected], "{question}");
        assert!(found.question.words.iter().all(|word| word.known == Known::Corpus), "{question}");
    };
    check("2,400", "２，４００");
    check("２，４００", "２，４００");
    check("2400", "２，４００");
    check("2400元", "２，４００元");
    check("兩千四百元", "２，４００元");
    check("二千四百", "２，４００");
}

#[test]
fn the_rules_words_are_found_by_the_words_people_use() {
    let fixture = fixture(&[HANDBOOK, RULES]);
    let found = fixture.search("年假可以放幾天");
    assert_eq!(found.hits[0].article.id.to_string(), "work_rules.md#26");
    assert_eq!(highlighted(&found, "work_rules.md#26"), ["特別休假"]);
    let word = found.question.words.iter().find(|word| word.folded == "年假").unwrap();
    assert_eq!(word.known, Known::Corpus);
    assert!(word.expansions.contains(&"特别休假".to_owned()));
    assert_eq!(fixture.ids("WFH 要先報備嗎")[0], "handbook_en.md#12");
    assert!(found.hits[0].coverage > 0.4 && found.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.coverage)));
}

#[test]
fn who_knows_a_word_is_told() {
    let fixture = fixture(&[RULES]);
    let check = |question: &str, expected: &[(&str, Known)]| {
        let words = fixture.search(question).question.words;
        let words: Vec<(&str, Known)> = words.iter().map(|word| (word.folded.as_str(), word.known)).collect();
        assert_eq!(words, expected, "{question}");
    };
    check("請問病假怎麼請？", &[("病假", Known::Corpus)]);
    check("公司有健身房嗎", &[("健身房", Known::Topic)]);
    check("開除", &[("开除", Known::Glossary)]);
    check("請問嗎呢", &[]);
    check("魍魎魑魅", &[("魍魉魑魅", Known::Nobody)]);
    check("2,400 元", &[("2400", Known::Corpus), ("元", Known::Corpus)]);
    check("99999", &[("99999", Known::Nobody)]);
    // The number of an article is looked up and is no word.
    check("第九十九條的病假", &[("病假", Known::Corpus)]);
}

#[test]
fn words_point_at_the_question() {
    let fixture = fixture(&[RULES]);
    let question = "請問ＷＦＨ時，事假㎡幾天？";
    for word in fixture.search(question).question.words {
        assert!(word.span.of(question).is_some_and(|part| !part.is_empty()), "{word:?}");
    }
}

#[test]
fn filters_restrict_before_ranking_and_add_up() {
    let travel = "# 出差辦法\n\n## 第三章 住宿\n\n第四條\n住宿費。\n\n第五條\n交通費。\n";
    let fixture = fixture(&[HANDBOOK, ("travel.md", travel), RULES]);
    let rules = SourceName::new("work_rules.md").unwrap();
    let check = |question: &str, source, chapter_no, expected: &[&str]| {
        let found = fixture.search_in(question, 1, Filter { source, chapter_no, readable: None });
        assert_eq!(ids(&found), expected, "{question} {source:?} {chapter_no:?}");
    };
    check("住宿費", None, None, &["travel.md#4"]);
    check("住宿費", Some(&rules), None, &["work_rules.md#40"]);
    check("請假", None, Some(3), &["work_rules.md#41"]);
    check("特別休假", Some(&rules), Some(2), &["work_rules.md#26"]);
    check("檢據", Some(&rules), Some(2), &[]);
    let elsewhere =
        fixture.search_in("第四十條", 5, Filter { source: Some(&rules), chapter_no: Some(2), readable: None });
    assert!(elsewhere.hits.iter().all(|hit| hit.kind != HitKind::LookedUp && hit.article.id.article.as_str() != "40"));
    check("第四十條", Some(&rules), Some(3), &["work_rules.md#40"]);
    check("住宿費", Some(&SourceName::new("none.md").unwrap()), None, &[]);
    // References do not leave the filter either: article 41 names 26, which is in another chapter.
    let found = fixture.search_in("日支費", 1, Filter { source: Some(&rules), chapter_no: Some(3), readable: None });
    let referenced: Vec<String> = found.referenced.iter().map(|hit| hit.article.id.to_string()).collect();
    assert_eq!(referenced, ["work_rules.md#40"]);
}

#[test]
fn articles_that_the_best_hits_name_are_added_and_labelled() {
    let fixture = fixture(&[RULES]);
    let found = fixture.search_in("日支費", 1, Filter::default());
    let referenced: Vec<(String, HitKind)> =
        found.referenced.iter().map(|hit| (hit.article.id.to_string(), hit.kind)).collect();
    let from = found.hits[0].ordinal;
    assert_eq!(
        referenced,
        [
            ("work_rules.md#26".to_owned(), HitKind::Referenced { from }),
            ("work_rules.md#40".to_owned(), HitKind::Referenced { from })
        ]
    );
    assert!(found.referenced.iter().all(|hit| hit.score == 0.0));
}

#[test]
fn twenty_six_is_not_twenty_six_dash_one() {
    let fixture = fixture(&[RULES]);
    let found = fixture.search("第26條");
    assert_eq!(found.hits[0].article.id.to_string(), "work_rules.md#26");
    assert_eq!(found.hits[0].kind, HitKind::LookedUp);
    assert_eq!(fixture.ids("第26條之1")[0], "work_rules.md#26-1");
}

#[test]
fn a_question_of_a_hundred_kilobytes_is_answered() {
    let fixture = fixture(&[RULES]);
    let found = fixture.search(&"一十".repeat(17_000));
    assert!(found.hits.len() <= 5);
    assert!(found.question.words.len() < 50);
    fixture.search(&"第一條".repeat(10_000));
    fixture.search(&"勞動基準法".repeat(6_000));
}

#[test]
fn the_same_question_has_the_same_answer() {
    let fixture = fixture(&[HANDBOOK, RULES]);
    for question in ["假", "日", "請假要扣工資嗎", "leave days", "的"] {
        let answer = || format!("{:?}", fixture.search(question));
        assert_eq!(answer(), answer());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn highlights_lie_in_the_text(question in "\\PC{1,30}|[特休假日工資0-9０-９，,一二三十百千元第條之 a-z]{1,30}") {
        thread_local! {
            static FIXTURE: crate::fixture::Fixture = fixture(&[HANDBOOK, RULES]);
        }
        FIXTURE.with(|fixture| {
            let found = fixture.search(&question);
            for hit in found.hits.iter().chain(&found.referenced) {
                let mut end = 0;
                for span in &hit.highlights {
                    prop_assert!(span.of(&hit.article.text).is_some_and(|part| !part.is_empty()));
                    prop_assert!(span.start >= end);
                    end = span.end;
                }
                prop_assert!(hit.score.is_finite() && hit.score >= 0.0);
            }
            for word in &found.question.words {
                prop_assert!(word.span.of(&question).is_some());
            }
            Ok(())
        })?;
    }
}
