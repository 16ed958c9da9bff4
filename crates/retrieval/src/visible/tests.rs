//! What is not readable does not exist: a search by somebody who may read some sources says what a search of a generation
//! of only those sources says.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;

use super::*;
use crate::{
    Filter, Found, Hit, HitKind, Known, Query, Vocabulary,
    fixture::{Fixture, HANDBOOK, RULES, fixture},
};

const LABOUR: &str = "# 勞動基準法\n\n## 第四章 休假\n\n第三十八條\n勞工繼續工作滿一定期間者，應給予特別休假。\n\n第三十九條\n\
     休假日工資照給；加班者，加倍發給工資。\n\n第四十三條\n勞工因婚、喪、疾病請假，健康檢查給公假。\n";
const TRAVEL: &str = "# 出差辦法\n\n## 第二章 住宿\n\n第四條\n住宿費依工作規則第四十條辦理，住宿費收據應檢附。\n\n第五條\n\
     交通費依勞動基準法第三十九條及差旅費作業要點第 2 條，核實報支 2,400 元。\n\n第二十六條\n本辦法之特別休假，依勞動基準法第三十八條。\n";

fn record(id: &str, title: &str, text: &str) -> String {
    format!("{{\"id\":\"{id}\",\"title\":\"{title}\",\"text\":\"{text}\"}}\n")
}

/// Six small sources that speak of the same things, name each other, and share the names of laws.
fn documents() -> Vec<(&'static str, String)> {
    let fees = [
        record("x-2", "差旅費作業要點 第 2 條", "住宿費每日二千元，依勞動基準法第三十八條。"),
        record("x-26", "勞動基準法施行細則 第 26 條", "寵物不得帶入餐廳。"),
        record("x-a", "職工福利章程 第 2 條之 300", "健身房補助每年三千元。"),
        record("x-g", "性別工作平等法 第 38 條", "產假八星期。"),
    ];
    let laws = [
        record("a-38", "勞動基準法 第 38 條", "特別休假七日。"),
        record("b-38", "勞動基準法施行細則 第 38 條", "特別休假之計算。"),
        record("b-26", "勞動基準法施行細則 第 26 條", "工資之計算。"),
        record("c-7", "全民健康保險法施行細則 第 7 條", "眷屬投保，自付保費。"),
        record("d-38", "全民健康保險法 第 38 條", "保險費逾期加徵滯納金，逾期一日百分之一。"),
    ];
    vec![
        ("fees.jsonl", fees.concat()),
        (HANDBOOK.0, HANDBOOK.1.to_owned()),
        ("labour.md", LABOUR.to_owned()),
        ("laws.jsonl", laws.concat()),
        ("travel.md", TRAVEL.to_owned()),
        (RULES.0, RULES.1.to_owned()),
    ]
}

const QUESTIONS: &[&str] = &[
    "特別休假幾天",
    "年假可以放幾天，加班費怎麼給",
    "住宿費上限多少",
    "2,400 元的住宿費",
    "二千四百",
    "健身房補助",
    "員工可以帶寵物上班嗎",
    "annual leave days",
    "How many days may I work remotely?",
    "日支費",
    "假",
    "第26條",
    "第三十八條和第二條",
    "勞動基準法第38條",
    "勞基法第 38 條",
    "勞基法第三十九條的工資",
    "勞動基準法施行細則第38條與第26條",
    "勞基法細則第26條",
    "健保法第38條",
    "健保法細則第 7 條",
    "差旅費要點第2條",
    "工作規則第四十一條，出差辦法第五條",
    "職工福利章程第2條之300",
    "職工福利章程第3條",
    "性平法第38條",
    "Article 13 of the Employee Handbook",
    "Article 12",
    "labour第38條",
    "交通費怎麼報支",
    "魍魎魑魅",
    "請問嗎呢",
];

/// All sources, once in memory and once on the disk.
static WHOLE: LazyLock<[Generation; 2]> = LazyLock::new(|| {
    let Fixture { folder, generation } = fixture_of(usize::MAX);
    let on_disk = Generation::open_keeping(folder.path(), Arc::new(Vocabulary::builtin()), 0).unwrap();
    assert!(generation.index().is_resident() && !on_disk.index().is_resident());
    [generation, on_disk]
});

/// For each set of the sources, a generation of it alone.
static ALONE: LazyLock<Vec<(BTreeSet<SourceName>, Generation)>> = LazyLock::new(|| {
    let sets = 0..1 << documents().len();
    // Files that are open outlive their folder; nobody would remove it at the end.
    sets.map(|set| fixture_of(set).generation).map(|alone| (names_of(&alone), alone)).collect()
});

/// A generation of the sources whose bits are set.
fn fixture_of(set: usize) -> Fixture {
    let documents = documents();
    let chosen = documents.iter().enumerate().filter(|(at, _)| set & (1 << at) != 0);
    fixture(&chosen.map(|(_, (name, text))| (*name, text.as_str())).collect::<Vec<_>>())
}

fn names_of(generation: &Generation) -> BTreeSet<SourceName> {
    generation.sources().iter().map(|source| source.name.clone()).collect()
}

/// Everything that a search says, without the places of articles in the generation.
fn said(generation: &Generation, found: &Found) -> String {
    let hit = |hit: &Hit| {
        let kind = match hit.kind {
            HitKind::Ranked => "ranked".to_owned(),
            HitKind::LookedUp => "looked up".to_owned(),
            HitKind::Referenced { from } => format!("named by {}", generation.article(from).unwrap().id),
        };
        format!("{} {kind} {:?} {:?} {:?}\n", hit.article.id, hit.score, hit.coverage, hit.highlights)
    };
    let hits: String = found.hits.iter().map(hit).collect();
    let referenced: String = found.referenced.iter().map(hit).collect();
    format!("{hits}beside them\n{referenced}{:#?}", found.question)
}

fn search(generation: &Generation, question: &str, k: usize, filter: Filter<'_>) -> String {
    said(generation, &find(generation, question, k, filter))
}

fn find(generation: &Generation, question: &str, k: usize, filter: Filter<'_>) -> Found {
    generation.search(&Query { question, k, filter, follow_references: true }).unwrap()
}

fn check(question: &str, k: usize, source: Option<&SourceName>, chapter_no: Option<u32>) {
    for (names, alone) in &*ALONE {
        let expected = search(alone, question, k, Filter { source, chapter_no, readable: None });
        for generation in &*WHOLE {
            let filter = Filter { source, chapter_no, readable: Some(names) };
            let found = search(generation, question, k, filter);
            assert_eq!(found, expected, "{question} in {names:?}, {source:?}, chapter {chapter_no:?}");
        }
    }
}

#[test]
fn who_may_read_some_sources_finds_what_a_generation_of_only_those_says() {
    for question in QUESTIONS {
        check(question, 8, None, None);
    }
}

#[test]
fn other_filters_mean_the_same_within_what_is_readable() {
    let names = ["work_rules.md", "laws.jsonl", "none.md"].map(|name| SourceName::new(name).unwrap());
    for question in QUESTIONS {
        for source in &names {
            check(question, 2, Some(source), None);
        }
        check(question, 2, None, Some(2));
    }
}

#[test]
fn nothing_is_found_or_known_where_nothing_is_readable() {
    let (none, elsewhere) = (BTreeSet::new(), BTreeSet::from([SourceName::new("elsewhere.md").unwrap()]));
    for readable in [&none, &elsewhere] {
        for question in QUESTIONS {
            let filter = Filter { readable: Some(readable), ..Filter::default() };
            let found = find(&WHOLE[0], question, 8, filter);
            assert!(found.hits.is_empty() && found.referenced.is_empty(), "{question}");
            assert!(found.question.words.iter().all(|word| word.known != Known::Corpus), "{question}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_missing_like_what_was_never_there() {
    let readable = BTreeSet::from([SourceName::new("travel.md").unwrap()]);
    let check = |question: &str, missing: &[&str]| {
        let found = find(&WHOLE[0], question, 8, Filter { readable: Some(&readable), ..Filter::default() });
        assert_eq!(found.question.missing_citations, missing, "{question}");
        assert!(found.hits.iter().all(|hit| hit.article.id.source.as_str() == "travel.md"), "{question}");
    };
    check("勞基法第38條", &["勞基法第38條"]);
    check("第41條", &["第41條"]);
    check("出差辦法第4條", &[]);
}

#[test]
fn who_may_read_everything_is_not_restricted() {
    let generation = &WHOLE[0];
    let everything = names_of(generation);
    for question in QUESTIONS {
        let restricted = Filter { readable: Some(&everything), ..Filter::default() };
        assert_eq!(search(generation, question, 8, restricted), search(generation, question, 8, Filter::default()));
    }
}

#[test]
fn a_word_is_known_and_tells_as_much_as_the_readable_articles_say() {
    for (names, alone) in &*ALONE {
        let expected = alone.visible(None).unwrap();
        for generation in &*WHOLE {
            let visible = generation.visible(Some(names)).unwrap();
            for word in ["特别休假", "健身房", "寵物", "住宿费", "annual leav", "remot", "假", "#2400", "魍魉", ""]
            {
                assert_eq!(visible.knows(word), expected.knows(word), "{word} in {names:?}");
                assert_eq!(visible.idf(word).to_bits(), expected.idf(word).to_bits(), "{word} in {names:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_question_tells_what_is_not_readable(
        parts in prop::collection::vec(prop::sample::select(&[
            "特別休假", "住宿費", "勞動基準法", "勞基法", "施行細則", "第38條", "第 26 條", "第二條", "健保法", "工作規則", "加班",
            "產假", "寵物", "和", "，", "幾天", "2400元", " leave ", "Article 12", "健康檢查", "的", "滯納金", "餐廳", "辦法",
        ][..]), 1..7),
    ) {
        check(&parts.concat(), 6, None, None);
    }
}
