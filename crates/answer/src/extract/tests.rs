//! An extract for somebody who may read some sources is the extract of a generation of only those sources.

use std::{collections::BTreeSet, sync::Arc};

use bylaw_contract::{GenerationNumber, SourceName, Timestamp, VersionId};
use bylaw_retrieval::{SourceInput, Vocabulary, build};

use super::*;

const RULES: &str = "# 工作規則\n\n## 第一章 休假\n\n\
第二十六條（特別休假）\n員工繼續服務滿六個月未滿一年者，特別休假三日；滿一年未滿二年者，七日；滿二年未滿三年者，十日。\n\n\
第二十七條（事假）\n事假一年合計不得超過十四日，不給工資。\n\n\
第二十八條（病假）\n普通傷病假未住院者，一年合計不得超過三十日；工資折半發給。\n\n\
第二十九條（停車）\n員工停車位之分配，依《停車場管理辦法》辦理。\n\n\
## 第二章 紀律\n\n\
第四十條（瞌睡）\n上班時間打瞌睡者，依第四十一條視為違反紀律論處。\n\n\
第四十一條（懲處）\n違反紀律者，視為曠職。\n\n\
第五十條（未盡事宜）\n本規則未規定之事項，適用勞動基準法及其他有關法令。\n";

const TRAVEL: &str = "# 出差辦法\n\n\
第三條（停車）\n出差之停車費，每日以三百元為限，員工停車位每月租金五百元。\n\n\
第四條（住宿）\n國內住宿費每日上限二千四百元。國外住宿費每日上限 150 美元。\n\n\
第五條（報支）\n出差返回後十四日內辦理報支，由部門主管核准；逾期者不予受理，依工作規則第四十一條懲處。\n\n\
第二十六條（加班）\n出差期間加班，一個月不得超過四十六小時，加班費之上限另定之。\n";

const BENEFITS: &str = "# 福利要點\n\n\
第一條（健身房）\n員工健身房補助每年三千元，應於年底前申請。\n\n\
第二條（寵物）\n員工得帶寵物上班，每週一日。\n\n\
第三條（特別休假）\n特別休假未休完者，得遞延至次年，或折發工資。\n";

const HANDBOOK: &str = "# Employee Handbook\n\n\
## Article 12 (Remote work)\n\nEmployees may work remotely up to two days per week with written approval.\n\n\
## Article 13 (Annual leave)\n\nEvery employee is entitled to 25 days of annual leave. Unused days lapse on 31 March.\n\n\
## Article 14 (Parking)\n\nParking is subject to the Site Parking Policy.\n";

const QUESTIONS: &[&str] = &[
    "滿一年特別休假幾天？沒休完可以延幾次？",
    "事假和病假各可以請幾天",
    "病假一年幾天，薪水怎麼給？",
    "停車位怎麼分配？",
    "國外出差住宿費上限多少？",
    "出差回來幾天內要報支，逾期會怎樣？",
    "公司有健身房補助嗎",
    "員工可以帶寵物上班嗎",
    "加班上限",
    "上班打瞌睡會怎樣",
    "Is there a stock option plan?",
    "How many days of annual leave do I get, and when do they lapse?",
    "第二十六條規定什麼",
    "第九十九條規定什麼",
    "勞基法第38條幾天",
    "Article 13",
    "咕嚕嚕啵啵",
];

/// Many articles that say in other words what the rules punish: what they hold tells little where they are readable.
fn circulars() -> String {
    (1..16)
        .map(|n| format!("第 {n} 條\n違反紀律者，視為違反通告第 {n} 號。\n\n"))
        .fold("# 通告\n\n".to_owned(), |a, b| a + &b)
}

fn generation(documents: &[(&str, &str)]) -> (tempfile::TempDir, Generation) {
    let folder = tempfile::tempdir().unwrap();
    let mut sources = documents.iter().map(|(name, text)| {
        let name = SourceName::new(*name).unwrap();
        let document = bylaw_corpus::read(&name, text.as_bytes()).unwrap();
        SourceInput { name, version: VersionId::new("0".repeat(64)).unwrap(), ingested_at: Timestamp(0), document }
    });
    build(folder.path(), GenerationNumber(1), &mut sources, 0, &mut |_| true).unwrap();
    let generation = Generation::open(folder.path(), Arc::new(Vocabulary::builtin())).unwrap();
    (folder, generation)
}

/// All that an extract says, without the places of articles in the generation.
fn said(generation: &Generation, question: &str, filter: Filter<'_>) -> String {
    let query = Query { question, k: READING_DEPTH, filter, follow_references: true };
    let found = generation.search(&query).unwrap();
    let reading = read(generation, question, &found, filter).unwrap();
    let extra = reading.extra.iter().map(|hit| format!("{} {:?} {:?}", hit.article.id, hit.score, hit.highlights));
    format!("{:?} {:#?} {:#?}", reading.outcome, reading.extract, extra.collect::<Vec<_>>())
}

#[test]
fn an_extract_says_what_a_generation_of_only_the_readable_sources_says() {
    let circulars = circulars();
    let documents = [
        ("benefits.md", BENEFITS),
        ("circulars.md", &*circulars),
        ("handbook.md", HANDBOOK),
        ("travel.md", TRAVEL),
        ("work_rules.md", RULES),
    ];
    let (_folder, all) = generation(&documents);
    let mut outcomes = BTreeSet::new();
    let sets: [&[usize]; 9] = [&[], &[0], &[2], &[3], &[4], &[0, 3], &[1, 4], &[2, 4], &[0, 3, 4]];
    for set in sets {
        let chosen: Vec<_> = set.iter().map(|at| documents[*at]).collect();
        let (_folder, alone) = generation(&chosen);
        let names: BTreeSet<SourceName> = chosen.iter().map(|(name, _)| SourceName::new(*name).unwrap()).collect();
        for question in QUESTIONS {
            let expected = said(&alone, question, Filter::default());
            let found = said(&all, question, Filter { readable: Some(&names), ..Filter::default() });
            assert_eq!(found, expected, "{question} in {names:?}");
            outcomes.insert(expected.split(' ').next().unwrap_or_default().to_owned());
        }
    }
    let every = ["Answered", "Insufficient", "NotInRules", "NotUnderstood", "RuledElsewhere"];
    assert_eq!(outcomes, every.map(str::to_owned).into(), "the questions end in every way");
}

#[test]
fn what_cannot_be_read_changes_no_outcome() {
    let (_folder, all) = generation(&[("benefits.md", BENEFITS), ("travel.md", TRAVEL), ("work_rules.md", RULES)]);
    let everything: BTreeSet<SourceName> = all.sources().iter().map(|source| source.name.clone()).collect();
    let rules = BTreeSet::from([SourceName::new("work_rules.md").unwrap()]);
    let check = |question: &str, to_all: Outcome, to_some: Outcome| {
        for (readable, expected) in [(&everything, to_all), (&rules, to_some), (&BTreeSet::new(), Outcome::NotInRules)]
        {
            let filter = Filter { readable: Some(readable), ..Filter::default() };
            let said = said(&all, question, filter);
            assert!(said.starts_with(&format!("{expected:?} ")), "{question} in {readable:?}: {said}");
        }
    };
    check("公司有健身房補助嗎", Outcome::Answered, Outcome::NotInRules);
    check("停車位每月租金多少？", Outcome::Answered, Outcome::RuledElsewhere);
    check("事假一年幾天？", Outcome::Answered, Outcome::Answered);
}
