//! References, form by form.

use bylaw_contract::SourceName;

use crate::{ReferenceTarget, read};

/// The references of article 5 of ten articles in two chapters, whose words are `body`.
fn check(body: &str, expected: &[(&str, &str)]) {
    check_in("zh.md", "條", body, expected);
}

fn check_in(name: &str, _unit: &str, body: &str, expected: &[(&str, &str)]) {
    let chinese = name.starts_with("zh");
    let mut text = String::new();
    for number in 1..=10 {
        if number % 5 == 1 {
            let chapter = number / 5 + 1;
            text += &if chinese {
                format!("## 第{chapter}章 章名\n\n")
            } else {
                format!("## Part {chapter}. Name\n\n")
            };
        }
        let words = if number == 5 {
            body
        } else if chinese {
            "內容。"
        } else {
            "Words."
        };
        text += &if chinese {
            format!("### 第 {number} 條\n\n{words}\n\n")
        } else {
            format!("### Article {number}\n\n{words}\n\n")
        };
    }
    let document = read(&SourceName::new(name).unwrap(), text.as_bytes()).unwrap();
    let article = document.articles.iter().find(|article| article.address.as_str() == "5").unwrap();
    let found: Vec<_> = article
        .references
        .iter()
        .map(|reference| (reference.span.of(&document.text).unwrap().to_owned(), shown(&reference.target)))
        .collect();
    let expected: Vec<_> = expected.iter().map(|(words, target)| ((*words).to_owned(), (*target).to_owned())).collect();
    assert_eq!(found, expected, "{body}");
}

fn shown(target: &ReferenceTarget) -> String {
    match target {
        ReferenceTarget::Articles { articles } => {
            articles.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        }
        ReferenceTarget::Heading { heading, number } => format!("{heading:?} {number}"),
        ReferenceTarget::OtherDocument { name, article: None } => name.clone(),
        ReferenceTarget::OtherDocument { name, article: Some(article) } => format!("{name}#{article}"),
        ReferenceTarget::Missing { article } => format!("no {article}"),
    }
}

#[test]
fn articles_of_the_same_document() {
    check("依第三條規定。", &[("第三條", "3")]);
    check("依第 8 條及第10條規定。", &[("第 8 條", "8"), ("第10條", "10")]);
    check("第三條、第七條及第九條。", &[("第三條", "3"), ("第七條", "7"), ("第九條", "9")]);
    check("第三、七及九條。", &[("第三", "3"), ("七", "7"), ("九條", "9")]);
    check("第 2 條至第 4 條之規定。", &[("第 2 條至第 4 條", "2 3 4")]);
    check("第二條第一項至第四條。", &[("第二條第一項至第四條", "2 3 4")]);
    check("第四條至第六條。", &[("第四條至第六條", "4 6")]);
    check("前條第一項", &[("前條", "4")]);
    check("前二條", &[("前二條", "3 4")]);
    check("前 3 條", &[("前 3 條", "2 3 4")]);
    check("次條", &[("次條", "6")]);
    check("第五條", &[]);
    check("第五十條", &[("第五十條", "no 50")]);
    check("本規則第三條", &[("第三條", "3")]);
    check("前項、前款、前條件及提前條款", &[]);
    check("前十條", &[]);
    check("共 3 條，計二十條", &[]);
}

#[test]
fn headings_of_the_same_document() {
    check("本章規定", &[("本章", "Chapter 1")]);
    check("依第二章規定", &[("第二章", "Chapter 2")]);
    check("第九章", &[]);
    check("次章", &[("次章", "Chapter 2")]);
    check("本章程", &[]);
    check("本節", &[]);
}

#[test]
fn other_documents_by_name() {
    check("依勞動基準法第三十八條規定。", &[("勞動基準法第三十八條", "勞動基準法#38")]);
    check(
        "應依勞動基準法第 3 條、第 4 條及第七條第一項辦理。",
        &[("勞動基準法第 3 條", "勞動基準法#3"), ("第 4 條", "勞動基準法#4"), ("第七條", "勞動基準法#7")],
    );
    check("違反公司法第八條或第三條之規定", &[("公司法第八條", "公司法#8"), ("第三條", "公司法#3")]);
    check("民法及公司法第五條", &[("公司法第五條", "公司法#5")]);
    check("依勞工職業災害保險及保護法第六條", &[("勞工職業災害保險及保護法第六條", "勞工職業災害保險及保護法#6")]);
    check(
        "勞動基準法（以下簡稱本法）第三條；本法第四十三條",
        &[("勞動基準法（以下簡稱本法）第三條", "勞動基準法#3"), ("本法第四十三條", "勞動基準法#43")],
    );
    check("依《差旅費用管理辦法》辦理", &[("《差旅費用管理辦法》", "差旅費用管理辦法")]);
    check("依《差旅費用管理辦法》第 3 條辦理", &[("《差旅費用管理辦法》第 3 條", "差旅費用管理辦法#3")]);
    check("依公司「提案獎金辦法」發給", &[("「提案獎金辦法」", "提案獎金辦法")]);
    check(
        "依勞動基準法、性別平等工作法及勞工請假規則辦理",
        &[("勞動基準法", "勞動基準法"), ("性別平等工作法", "性別平等工作法"), ("勞工請假規則", "勞工請假規則")],
    );
    check("依法令規定、依法終止、依本規則、依前項辦法、以其他方法", &[]);
    check("同法第三條", &[]);
    check("依本規則施行細則第三條", &[]);
    check("┌法第三條；A法第四條；（法）第六條", &[("第六條", "6")]);
    check("雇主聘僱本法第三條之人員", &[("第三條", "3")]);
    check(
        "符合高級中等學校建教合作實施及建教生權益保障法之規定",
        &[("高級中等學校建教合作實施及建教生權益保障法", "高級中等學校建教合作實施及建教生權益保障法")],
    );
}

#[test]
fn english_references() {
    let check = |body: &str, expected: &[(&str, &str)]| check_in("en.md", "Article", body, expected);
    check("under Article 3.", &[("Article 3", "3")]);
    check("Articles 3 to 7 apply.", &[("Articles 3 to 7", "3 4 6 7")]);
    check("Articles 3, 7 and 9 apply.", &[("Articles 3", "3"), ("7", "7"), ("9", "9")]);
    check("Article 3 or Article 60", &[("Article 3", "3"), ("Article 60", "no 60")]);
    check("the preceding Article", &[("preceding Article", "4")]);
    check("the preceding two Articles", &[("preceding two Articles", "3 4")]);
    check("the following Article", &[("following Article", "6")]);
    check("the preceding paragraph", &[]);
    check("in this Part; only Part 2 applies", &[("this Part", "Chapter 1"), ("Part 2", "Chapter 2")]);
    check("in this part", &[]);
    check("Article 38 of the Labor Standards Act applies", &[("Article 38", "Labor Standards Act#38")]);
    check("Article 3 of the Act applies", &[("Article 3", "3")]);
    check(
        "Article 3 and Paragraph 1 of Article 60 of the Labor Standards Act",
        &[("Article 3", "Labor Standards Act#3"), ("Article 60", "Labor Standards Act#60")],
    );
}
