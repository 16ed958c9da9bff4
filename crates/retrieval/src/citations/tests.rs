use crate::{
    HitKind, Vocabulary,
    fixture::{Fixture, HANDBOOK, RULES, fixture, fixture_with, ids},
};

fn laws() -> Fixture {
    let record =
        |id: &str, title: &str| format!("{{\"id\":\"{id}\",\"title\":\"{title}\",\"text\":\"{title}之內容。\"}}\n");
    let records = [
        record("a-38", "勞動基準法 第 38 條"),
        record("a-39", "勞動基準法 第 39 條"),
        record("b-38", "勞動基準法施行細則 第 38 條"),
        record("c-7", "勞工基本保障辦法 第 7 條"),
        record("d-3-1", "事業單位依第四十六條規定提撥辦法 第 3 條之 1"),
        record("e-38", "民法 第 38 條"),
        record("f-38", "全民健康保險法 第 38 條"),
        record("g-38", "全民健康保險法施行細則 第 38 條"),
        record("h-38", "涉外民事法律適用法 第 38 條"),
    ];
    fixture(&[("laws.jsonl", &records.concat())])
}

fn first(fixture: &Fixture, question: &str) -> Option<String> {
    let found = fixture.search(question);
    let hit = found.hits.first().filter(|hit| hit.kind == HitKind::LookedUp)?;
    assert!(found.question.names_an_article);
    Some(hit.article.id.article.to_string())
}

#[test]
fn an_article_of_a_law_is_looked_up() {
    let fixture = laws();
    let check = |question: &str, expected: &str| {
        assert_eq!(first(&fixture, question).as_deref(), Some(expected), "{question}");
    };
    check("勞動基準法第38條", "a-38");
    check("请问劳动基准法第三十八条怎么说", "a-38");
    check("《勞動基準法》第 ３８ 條", "a-38");
    check("勞動基準法的第38條", "a-38");
    check("勞動基準法施行細則第38條", "b-38");
    check("民法第38條", "e-38");
    check("請問民法第38條", "e-38");
    check("依涉外民法適用法第38條", "h-38");
    // By the glossary, then by rule: characters in order, a statute before an order, the shortest first.
    check("勞基法第38條", "a-38");
    check("勞基法施行細則第 38 條", "b-38");
    check("請問健保法第38條的內容", "f-38");
    check("健保法細則第38條", "g-38");
    check("全民健康保險法細則第38條", "g-38");
    // A name may hold an article's number.
    check("事業單位依第四十六條規定提撥辦法第三條之一", "d-3-1");
}

#[test]
fn every_named_article_is_found_in_the_order_of_the_question() {
    let found = laws().search("勞動基準法第39條和第38條，還有民法第38條");
    assert_eq!(ids(&found)[..3], ["laws.jsonl#a-39", "laws.jsonl#a-38", "laws.jsonl#e-38"]);
}

#[test]
fn what_does_not_exist_is_said_and_not_replaced() {
    let laws = laws();
    let rules = fixture(&[RULES]);
    let check = |fixture: &Fixture, question: &str, expected: &str| {
        let found = fixture.search(question);
        assert_eq!(found.question.missing_citations, [expected], "{question}");
        assert!(found.question.names_an_article);
        assert!(found.hits.iter().all(|hit| hit.kind != HitKind::LookedUp), "{question}");
    };
    check(&laws, "勞動基準法第999條", "第999條");
    check(&laws, "請問火星開發法第3條", "火星開發法第3條");
    check(&rules, "第九十九條規定什麼", "第九十九條");
    check(&rules, "第 26 條之 9", "第 26 條之 9");
    // A company's article 38 is not the Labour Standards Act's.
    check(&rules, "勞基法第27條", "勞基法第27條");
    check(&rules, "LSA Article 27", "LSA Article 27");
}

#[test]
fn a_bare_number_means_the_article_of_every_document_that_has_it() {
    let rules = "# 出差辦法\n\n第二十五條\n膳費。\n\n第二十六條\n交通費。\n";
    let fixture = fixture(&[HANDBOOK, ("travel.md", rules), RULES]);
    let check = |question: &str, expected: &[&str]| {
        let found = fixture.search(question);
        let looked_up = found.hits.iter().filter(|hit| hit.kind == HitKind::LookedUp);
        assert_eq!(looked_up.map(|hit| hit.article.id.to_string()).collect::<Vec<_>>(), expected, "{question}");
    };
    check("第26條的特別休假", &["work_rules.md#26", "travel.md#26"]);
    check("第二十六條之一", &["work_rules.md#26-1"]);
    check("第２７條", &["work_rules.md#27"]);
    check("本規則第27條", &["work_rules.md#27"]);
    check("工作規則第26條", &["work_rules.md#26"]);
    check("出差辦法第26條", &["travel.md#26"]);
    check("What does Article 12 say?", &["handbook_en.md#12"]);
    check("Article 13 of the Employee Handbook", &["handbook_en.md#13"]);
    check("employees of the article department", &[]);
}

#[test]
fn an_operator_names_laws() {
    let text = "[[law]]\nname = \"工作規則\"\nalias = [\"小白書\", \"LWB\"]";
    let fixture = fixture_with(&[HANDBOOK, RULES], Vocabulary::with_operator_file("g.toml", text).unwrap());
    assert_eq!(first(&fixture, "小白書第27條").as_deref(), Some("27"));
    assert_eq!(first(&fixture, "LWB 第 27 條").as_deref(), Some("27"));
}
