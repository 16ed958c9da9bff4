//! Structure, form by form: what is a heading, what is a body, and how articles are called.

use bylaw_contract::{SourceName, sources::Structure};

use crate::{Document, read};

fn parse(name: &str, text: &str) -> Document {
    read(&SourceName::new(name).unwrap(), text.as_bytes()).unwrap()
}

/// Articles as `address|title|text`, lines of the text joined by `/`.
fn check(name: &str, text: &str, expected: &[&str]) {
    let document = parse(name, text);
    let found: Vec<_> = document
        .articles
        .iter()
        .map(|article| {
            let words: Vec<_> = document.text_of(article).lines().filter(|line| !line.trim().is_empty()).collect();
            format!("{}|{}|{}", article.address, article.title, words.join("/"))
        })
        .collect();
    assert_eq!(found, expected, "{text}\n{:?}", document.warnings);
}

#[test]
fn chinese_article_headings() {
    for (heading, expected) in [
        ("### 第 3 條", "3|第 3 條"),
        ("# 第三條", "3|第三條"),
        ("###### 第３條", "3|第３條"),
        ("### 第 26 條之 1（遞延）", "26-1|第 26 條之 1（遞延）"),
        ("### 第二十六條之一", "26-1|第二十六條之一"),
        ("### 第 26-1 條", "26-1|第 26-1 條"),
        ("### 第26條之1之2", "26-1-2|第26條之1之2"),
        ("### 第廿六條", "26|第廿六條"),
        ("### 第 一百零五 條", "105|第 一百零五 條"),
        ("### 第 一 百 零 五 條", "105|第 一 百 零 五 條"),
        ("### 第一千零一條【標題】", "1001|第一千零一條【標題】"),
        ("### 第三條 (目的)", "3|第三條 (目的)"),
        ("### 第三條　目的", "3|第三條　目的"),
        ("### 第三条 目的", "3|第三条 目的"),
        ("**第三條**", "3|第三條"),
        ("**第三條（目的）**", "3|第三條（目的）"),
        ("### **第三條** 目的", "3|第三條 目的"),
        ("第三條\n===", "3|第三條"),
    ] {
        check("a.md", &format!("{heading}\n\n內容。\n"), &[&format!("{expected}|內容。")]);
    }
}

#[test]
fn captions_are_told_from_titles() {
    for (heading, caption) in [
        ("### 第 3 條（目的）", Some("目的")),
        ("### 第 3 條", None),
        ("### 第 3 條 目的", Some("目的")),
        ("### 第 3 條【目的】", Some("目的")),
        ("### 第 3 條（縣（市）政府）", Some("縣（市）政府")),
        ("### Article 12 (Remote work)", Some("Remote work")),
        ("### Article 12. Remote work", Some("Remote work")),
        ("### Article 12", None),
        ("### 4.2 Remote work", Some("Remote work")),
    ] {
        let document = parse("a.md", &format!("{heading}\n\n內容。\n\n### 4.3 x\n\ny\n"));
        assert_eq!(document.articles[0].caption.as_deref(), caption, "{heading}");
    }
}

#[test]
fn articles_in_plain_text() {
    check(
        "a.txt",
        "第一條（目的）本規則依法訂定。\n第二條　本規則適用於員工。\n第三條：用詞如下。\n第四條 報到\n應於三日內。",
        &[
            "1|第一條（目的）|本規則依法訂定。",
            "2|第二條|本規則適用於員工。",
            "3|第三條|用詞如下。",
            "4|第四條 報到|應於三日內。",
        ],
    );
    check(
        "a.txt",
        "工作規則\n\n第 一 條\n甲。\n第 一 條 之 一\n乙。\n第 二 條\n丙。",
        &["1|第 一 條|甲。", "1-1|第 一 條 之 一|乙。", "2|第 二 條|丙。"],
    );
    check(
        "a.txt",
        "第一條本規則依法訂定。\n第二條員工應守規則。",
        &["1|第一條|本規則依法訂定。", "2|第二條|員工應守規則。"],
    );
    check(
        "a.txt",
        "第一條、本規則依法訂定。\n第二條、員工應守規則。",
        &["1|第一條|本規則依法訂定。", "2|第二條|員工應守規則。"],
    );
    check(
        "a.md",
        "**第一條** 本規則依法訂定。\n\n**第二條** 員工應守規則。",
        &["1|第一條|本規則依法訂定。", "2|第二條|員工應守規則。"],
    );
}

#[test]
fn a_line_that_begins_with_a_reference_stays_body() {
    for line in [
        "第二條所定之特別休假，應於年度終結前休畢。",
        "第 2 條至第 5 條之規定，不適用之。",
        "第二條第一項之員工，準用之。",
        "第二條、第三條及第五條規定，於契約人員準用之。",
        "第二條及第三條不適用之。",
        "第二條規定，於派遣人員準用之。",
        "第 2 條之規定",
        "第 2 條之 1 所定期間",
        "第九條 規定者，從其規定。",
        "第一項之期間，自次日起算。",
        "第二款情形，不在此限。",
        "第二章之規定準用之。",
        "第八章獎懲規定處理，情節重大者。",
    ] {
        let text = format!("第一條　甲。\n{line}\n第二條　乙。\n第三條　丙。");
        check("a.txt", &text, &[&format!("1|第一條|甲。/{line}"), "2|第二條|乙。", "3|第三條|丙。"]);
        let text = format!("### 第 1 條\n\n甲。\n{line}\n\n### 第 2 條\n\n乙。");
        check("a.md", &text, &[&format!("1|第 1 條|甲。/{line}"), "2|第 2 條|乙。"]);
    }
    // The numbers around it decide where the words do not.
    check(
        "a.txt",
        "第一條　甲。\n第二條　乙。\n第一條　在此。\n第三條　丙。",
        &["1|第一條|甲。", "2|第二條|乙。/第一條　在此。", "3|第三條|丙。"],
    );
    check(
        "a.txt",
        "第一條　甲。\n第九條　在此。\n第二條　乙。\n第三條　丙。",
        &["1|第一條|甲。/第九條　在此。", "2|第二條|乙。", "3|第三條|丙。"],
    );
    check(
        "a.md",
        "### Article 1\n\nA.\nArticle 8 shall apply.\n\n### Article 2\n\nB.",
        &["1|Article 1|A./Article 8 shall apply.", "2|Article 2|B."],
    );
}

#[test]
fn headings_stand_above_articles() {
    let text = "# 規則\n\n第一編 總則\n第一章　通則\n第一節 適用\n第一條　甲。\n第二節 用詞\n第二條　乙。\n第二章 附則\n第三條　丙。";
    let document = parse("a.txt", text.trim_start_matches("# 規則\n\n"));
    let paths: Vec<Vec<_>> = document
        .articles
        .iter()
        .map(|article| article.heading_path.iter().map(|heading| (heading.text.as_str(), heading.number)).collect())
        .collect();
    assert_eq!(
        paths,
        [
            vec![("第一編 總則", Some(1)), ("第一章　通則", Some(1)), ("第一節 適用", Some(1))],
            vec![("第一編 總則", Some(1)), ("第一章　通則", Some(1)), ("第二節 用詞", Some(2))],
            vec![("第一編 總則", Some(1)), ("第二章 附則", Some(2))],
        ]
    );
}

#[test]
fn annexes_are_articles_of_their_own() {
    check(
        "a.md",
        "### 第 1 條\n\n甲。\n\n## 附表一 日支\n\n| a | b |\n\n### 說明\n\n乙。\n\n## 附件\n\n丙。",
        &["1|第 1 條|甲。", "annex-1|附表一 日支|| a | b |/### 說明/乙。", "annex-2|附件|丙。"],
    );
    check(
        "a.txt",
        "第一條　依附表一。\n附表一所定金額。\n第二條　乙。\n\n附表一 日支\n丙。\n附件二：表單\n丁。",
        &[
            "1|第一條|依附表一。/附表一所定金額。",
            "2|第二條|乙。",
            "annex-1|附表一 日支|丙。",
            "annex-2|附件二：表單|丁。",
        ],
    );
    check(
        "a.md",
        "### Article 1\n\nA.\n\n## Annex A Rates\n\nB.\n\n## Appendix 2\n\nC.",
        &["1|Article 1|A.", "annex-a|Annex A Rates|B.", "annex-2|Appendix 2|C."],
    );
}

#[test]
fn no_text_is_lost() {
    check(
        "a.md",
        "# 規則\n\n> 虛構。\n\n## 第一章 總則\n\n導言。\n\n### 第 1 條\n\n甲。\n\n## 說明\n\n乙。",
        &["preamble|前言|> 虛構。", "preamble-2|第一章 總則 前言|導言。", "1|第 1 條|甲。", "preamble-3|說明|乙。"],
    );
    check("a.md", "# Rules\n\nFor all.\n\n## Article 1\n\nA.", &["preamble|Preamble|For all.", "1|Article 1|A."]);
}

#[test]
fn an_article_without_words_covers_its_heading() {
    check(
        "a.md",
        "### 第 1 條（刪除）\n\n### 第 2 條\n\n（刪除）\n\n### 第 3 條\n",
        &["1|第 1 條（刪除）|第 1 條（刪除）", "2|第 2 條|（刪除）", "3|第 3 條|第 3 條"],
    );
    let document = parse("a.md", "### 第 1 條（刪除）\n\n### 第 3 條\n");
    assert_eq!(document.warnings, ["第 3 條: nothing stands below this heading"]);
}

#[test]
fn a_number_that_occurs_again_is_kept_apart() {
    check(
        "a.md",
        "### 第 26 條\n\n甲。\n\n### 第 26 條\n\n乙。\n\n### 第 26 條\n\n丙。",
        &["26|第 26 條|甲。", "26~2|第 26 條|乙。", "26~3|第 26 條|丙。"],
    );
    assert_eq!(parse("a.md", "# 第 1 條\n甲\n# 第 1 條\n乙").warnings.len(), 1);
}

#[test]
fn english_articles_and_sections() {
    for (heading, expected) in [
        ("### Article 12 (Caption)", "12|Article 12 (Caption)"),
        ("### ARTICLE XII", "12|ARTICLE XII"),
        ("### ARTICLE 4.", "4|ARTICLE 4"),
        ("### Article 26-1", "26-1|Article 26-1"),
        ("### Section 4.2", "4.2|Section 4.2"),
        ("### Sec. 4.2: Leave", "4.2|Sec. 4.2: Leave"),
        ("### § 4.2 Leave", "4.2|§ 4.2 Leave"),
        ("**Article Four**", "4|Article Four"),
    ] {
        check("a.md", &format!("{heading}\n\nWords.\n"), &[&format!("{expected}|Words.")]);
    }
    check(
        "a.txt",
        "Handbook\n\nArticle 1. Scope\nAll staff.\n\nArticle 2 (Leave)\nTen days.\n\nArticle 3: Pay is monthly.",
        &["1|Article 1. Scope|All staff.", "2|Article 2 (Leave)|Ten days.", "3|Article 3|Pay is monthly."],
    );
    check(
        "a.md",
        "# ARTICLE IV. LEAVE\n\n## Section 4.1 Annual\n\nTen.\n\n## Section 4.2 Sick\n\nFive.",
        &["4.1|Section 4.1 Annual|Ten.", "4.2|Section 4.2 Sick|Five."],
    );
}

#[test]
fn numbered_headings_are_articles() {
    let text = "# Handbook\n\n## 1. Scope\n\nAll.\n\n## 2. Leave\n\n### 2.1 Annual\n\nTen.\n\n### 2.2 Sick\n\nFive.\n\n## 3. Pay\n\nMonthly.";
    check("a.md", text, &["1|1. Scope|All.", "2.1|2.1 Annual|Ten.", "2.2|2.2 Sick|Five.", "3|3. Pay|Monthly."]);
    let document = parse("a.md", text);
    assert_eq!(document.articles[1].heading_path[0].text, "2. Leave");
    check(
        "a.txt",
        "Handbook\n\n1.1 Scope\nAll.\n\n1.2 Leave\nTen.\n1. first\n2. second\n\n1.3 Pay\nMonthly.",
        &["1.1|1.1 Scope|All.", "1.2|1.2 Leave|Ten./1. first/2. second", "1.3|1.3 Pay|Monthly."],
    );
}

#[test]
fn without_articles_headings_cut_and_without_headings_paragraphs() {
    let text =
        "# 常見問題\n\n說明。\n\n## 請假\n\n### 病假\n\n三十日。\n\n### 事假\n\n十四日。\n\n## 薪資\n\n每月五日。";
    check("a.md", text, &["preamble|前言|說明。", "s1|病假|三十日。", "s2|事假|十四日。", "s3|薪資|每月五日。"]);
    let document = parse("a.md", text);
    assert_eq!(document.structure, Structure::Sections);
    assert_eq!(document.articles[1].heading_path[0].text, "請假");
    assert_eq!(document.warnings.len(), 1);

    let paragraph = "員工應守規則。".repeat(40);
    let document = parse("a.txt", &format!("短。\n\n{paragraph}\n\n{paragraph}"));
    assert_eq!(document.structure, Structure::Paragraphs);
    let addresses: Vec<_> = document.articles.iter().map(|article| article.address.as_str()).collect();
    assert_eq!(addresses, ["p1", "p2"]);
    check("a.txt", "只有一句", &["p1|段落 1|只有一句"]);
    check("a.md", "# 只有標題", &["p1|段落 1|只有標題"]);
}

#[test]
fn an_excerpt_of_one_article_is_that_article() {
    check("a.md", "第五條 P7 薪資帶為每月 120,000 元。", &["5|第五條|P7 薪資帶為每月 120,000 元。"]);
    check(
        "a.txt",
        "\nArticle 12 (Remote work). Employees may work remotely two days per week.\n",
        &["12|Article 12 (Remote work)|Employees may work remotely two days per week."],
    );
    check("a.txt", "第五條所稱薪資，指本薪。", &["p1|段落 1|第五條所稱薪資，指本薪。"]);
}

#[test]
fn titles_are_found() {
    for (name, text, title) in [
        ("a.md", "# 規則\n\n### 第 1 條\n\n甲。", Some("規則")),
        ("a.md", "### 第 1 條\n\n甲。", None),
        ("a.md", "---\ntitle: 規則\n---\n\n### 第 1 條\n\n甲。", Some("規則")),
        ("a.txt", "工作規則\n\n第一條 甲。\n第二條 乙。", Some("工作規則")),
        ("a.txt", "第一條 甲。\n第二條 乙。", None),
        ("a.html", "<title>規則</title><h2>第 1 條</h2><p>甲。</p>", Some("規則")),
    ] {
        assert_eq!(parse(name, text).title.as_deref(), title, "{text}");
    }
}

#[test]
fn hostile_text_takes_linear_time() {
    let chapter = format!("# 第一章 {}\n", "長".repeat(100_000));
    for (name, text) in [
        ("a.md", "一十".repeat(17_000)),
        ("a.md", "第".repeat(333_000)),
        ("a.md", "#".repeat(1_000_000)),
        ("a.md", "# \n".repeat(100_000) + "x"),
        ("a.md", "[".repeat(200_000)),
        ("a.md", "# ".to_owned() + &"[".repeat(200_000)),
        ("a.txt", "第一條".repeat(30_000)),
        ("a.txt", "第一條\n".repeat(20_000)),
        ("a.txt", "本法（以下簡稱".repeat(10_000)),
        ("a.txt", "依".repeat(100_000)),
        ("a.txt", "（".repeat(100_000)),
        ("a.txt", "Article ".repeat(50_000)),
        ("a.txt", "Articles 1, ".repeat(30_000)),
        ("a.txt", "第一條 甲\n第一條至第九百條。\n".to_owned() + &"前條及第一條至第九條".repeat(5_000)),
        ("a.md", chapter + &"## 第1條\n甲\n".repeat(2_000)),
    ] {
        let document = parse(name, &text);
        // Nothing is timed: a quadratic step would keep this test from ending.
        assert!(!document.articles.is_empty());
    }
}
