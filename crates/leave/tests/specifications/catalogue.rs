//! The bundled leave types against the laws that they cite.

use bylaw_contract::Language;
use bylaw_leave::domain::catalogue::{Catalogue, Pay, Quota};

fn law(code: &str) -> Option<String> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/labour-laws/zh");
    let text = std::fs::read_to_string(path.join(format!("{code}.md"))).ok();
    if text.is_none() {
        eprintln!("NOT CHECKED: the laws are absent ({})", path.display());
    }
    text
}

/// The text of one article.
fn article(law: &str, number: &str) -> String {
    let head = format!("### 第 {number} 條\n");
    let rest = &law[law.find(&head).unwrap_or_else(|| panic!("article {number}"))..][head.len()..];
    rest.split("\n#").next().unwrap_or_default().to_owned()
}

#[test]
fn every_article_that_is_cited_exists() {
    let catalogue = Catalogue::bundled().unwrap();
    for kind in catalogue.types() {
        assert!(!kind.articles.is_empty(), "{}", kind.id);
        for cited in &kind.articles {
            let of = catalogue.law(&cited.law).unwrap();
            let Some(text) = law(&of.code) else { return };
            assert!(text.starts_with(&format!("# {}\n", of.name_zh)), "{}", of.code);
            assert!(article(&text, &cited.article).chars().count() > 10, "{} {}", of.name_zh, cited.article);
        }
    }
}

/// Type, case, days, law, article, and the words of the article that say so.
#[test]
fn every_figure_is_in_the_article_that_it_comes_from() {
    let catalogue = Catalogue::bundled().unwrap();
    for (kind, case, days, code, number, words) in [
        ("sick", "", 30, "N0030006", "4", "未住院者，一年內合計不得超過三十日"),
        ("personal", "", 14, "N0030006", "7", "一年內合計不得超過十四日"),
        ("family_care", "", 7, "N0030014", "20", "併入事假計算，全年以七日為限"),
        ("menstrual", "", 1, "N0030014", "14", "每月得請生理假一日"),
        ("marriage", "marriage", 8, "N0030006", "2", "婚假八日"),
        ("bereavement", "parent", 8, "N0030006", "3", "父母、養父母、繼父母、配偶喪亡者，給予喪假八日"),
        ("bereavement", "spouse", 8, "N0030006", "3", "父母、養父母、繼父母、配偶喪亡者，給予喪假八日"),
        (
            "bereavement",
            "grandparent",
            6,
            "N0030006",
            "3",
            "祖父母、子女、配偶之父母、配偶之養父母或繼父母喪亡者，給予喪假六日",
        ),
        (
            "bereavement",
            "child",
            6,
            "N0030006",
            "3",
            "祖父母、子女、配偶之父母、配偶之養父母或繼父母喪亡者，給予喪假六日",
        ),
        ("bereavement", "spouse_parent", 6, "N0030006", "3", "配偶之父母、配偶之養父母或繼父母喪亡者，給予喪假六日"),
        (
            "bereavement",
            "great_grandparent",
            3,
            "N0030006",
            "3",
            "曾祖父母、兄弟姊妹、配偶之祖父母喪亡者，給予喪假三日",
        ),
        ("bereavement", "sibling", 3, "N0030006", "3", "曾祖父母、兄弟姊妹、配偶之祖父母喪亡者，給予喪假三日"),
        ("bereavement", "spouse_grandparent", 3, "N0030006", "3", "配偶之祖父母喪亡者，給予喪假三日"),
        ("maternity", "birth", 56, "N0030001", "50", "產假八星期"),
        (
            "maternity",
            "miscarriage_from_three_months",
            28,
            "N0030014",
            "15",
            "妊娠三個月以上流產者，應使其停止工作，給予產假四星期",
        ),
        (
            "maternity",
            "miscarriage_from_two_months",
            7,
            "N0030014",
            "15",
            "妊娠二個月以上未滿三個月流產者，應使其停止工作，給予產假一星期",
        ),
        (
            "maternity",
            "miscarriage_below_two_months",
            5,
            "N0030014",
            "15",
            "妊娠未滿二個月流產者，應使其停止工作，給予產假五日",
        ),
        ("prenatal", "pregnancy", 7, "N0030014", "15", "產檢假七日"),
        ("paternity", "birth", 7, "N0030014", "15", "陪產檢及陪產假七日"),
    ] {
        let found = catalogue.named(kind).unwrap();
        let figure = match &found.quota {
            Quota::PerYear { days } | Quota::PerMonth { days } => *days,
            Quota::PerEvent { cases } => cases.iter().find(|each| each.id == case).unwrap().days,
            other => panic!("{kind}: {other:?}"),
        };
        assert_eq!(figure, days, "{kind} {case}");
        let Some(text) = law(code) else { continue };
        assert!(article(&text, number).contains(words), "{kind} {case}: {words}");
    }
}

#[test]
fn pay_is_what_the_law_says_at_least() {
    let catalogue = Catalogue::bundled().unwrap();
    for (kind, pay, code, number, words) in [
        ("sick", Pay::Half, "N0030006", "4", "工資折半發給"),
        ("personal", Pay::None, "N0030006", "7", "不給工資"),
        ("menstrual", Pay::Half, "N0030014", "14", "減半發給"),
        ("marriage", Pay::Full, "N0030006", "2", "工資照給"),
        ("bereavement", Pay::Full, "N0030006", "3", "工資照給"),
        ("official", Pay::Full, "N0030006", "8", "工資照給"),
        (
            "maternity",
            Pay::FullAfterSixMonths,
            "N0030001",
            "50",
            "六個月以上者，停止工作期間工資照給；未滿六個月者減半發給",
        ),
        ("paternity", Pay::Full, "N0030014", "15", "薪資照給"),
        ("prenatal", Pay::Full, "N0030014", "15", "薪資照給"),
    ] {
        assert_eq!(catalogue.named(kind).unwrap().pay, pay, "{kind}");
        let Some(text) = law(code) else { continue };
        assert!(article(&text, number).contains(words), "{kind}: {words}");
    }
}

#[test]
fn a_type_answers_to_every_name_of_it() {
    let catalogue = Catalogue::bundled().unwrap();
    for (name, id) in [
        ("特休", "annual"),
        ("特別休假", "annual"),
        ("年假", "annual"),
        (" Annual Leave ", "annual"),
        ("普通傷病假", "sick"),
        ("陪產假", "paternity"),
        ("補休", "compensatory"),
    ] {
        assert_eq!(catalogue.named(name).map(|kind| kind.id.as_str()), Some(id), "{name}");
    }
    assert!(catalogue.named("假").is_none());
    let annual = catalogue.named("annual").unwrap();
    assert_eq!(catalogue.cite(annual, Language::TraditionalChinese)[2], "勞動基準法施行細則第 24 條之 1");
    assert_eq!(catalogue.cite(annual, Language::English)[0], "Labor Standards Act, article 38");
}

#[test]
fn a_catalogue_file_says_what_is_wrong_with_it() {
    use bylaw_leave::domain::catalogue::BUNDLED;
    for (from, to, part) in [
        ("unit = \"half_day\"", "unit = \"quarter\"", "quarter"),
        ("law = \"lsa\"", "law = \"lsb\"", "lsb"),
        ("type = \"personal\"", "type = \"private\"", "private"),
        ("aliases = [\"menstrual\"]", "aliases = [\"特休\"]", "特休"),
        ("carry_over_until = \"03-31\"", "carry_over_until = \"02-29\"", "carry_over_until"),
        ("kind = \"as_needed\"", "kind = \"as_needed\"\ncolour = 1", "colour"),
        ("{ months = 6, days = 3 }", "{ months = 66, days = 3 }", "fewest first"),
    ] {
        assert!(BUNDLED.contains(from), "{from}");
        let error = Catalogue::parse(&BUNDLED.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(part), "{to}: {error}");
    }
}
