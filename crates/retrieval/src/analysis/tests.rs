use proptest::prelude::*;

use super::*;

fn terms(text: &str) -> Vec<String> {
    tokens(text).into_iter().map(|token| token.term).collect()
}

#[test]
fn folding_makes_the_spelling_irrelevant() {
    let check = |input: &str, expected: &str| assert_eq!(fold(input).text, expected, "{input}");
    check("ＰＰＲ－９０８７", "ppr-9087");
    check("㎡ ㈠ ﬁ ½", "m2 (一) fi 1\u{2044}2");
    check("Ｒｅｍｏｔｅ Café CAFE\u{301}", "remote café café");
    check("特別休假與臺灣的著作權", "特别休假与台湾的着作权");
    check("ｶﾞｷﾞ", "ガギ");
    // Every spelling of one word folds to the same characters.
    for spellings in
        [["裏", "裡", "里"], ["爲", "為", "为"], ["衆", "眾", "众"], ["麪", "麵", "面"], ["峯", "峰", "峰"]]
    {
        let folded: Vec<String> = spellings.iter().map(|spelling| fold(spelling).text).collect();
        assert!(folded.iter().all(|other| *other == folded[0]), "{spellings:?} {folded:?}");
    }
    for (one, other) in [("喫", "吃"), ("僱", "雇"), ("臺", "台"), ("佔", "占"), ("計劃", "計畫"), ("帳", "賬")]
    {
        assert_eq!(fold(one).text, fold(other).text);
    }
    // And different words stay apart.
    assert_ne!(fold("己").text, fold("已").text);
}

#[test]
fn the_way_back_covers_whole_characters() {
    let check = |input: &str, part: &str, expected: &str| {
        let folded = fold(input);
        let start = folded.text.find(part).unwrap();
        let span = folded.original(start, start + part.len());
        assert_eq!(span.of(input), Some(expected), "{input} {part}");
    };
    check("每坪３.3㎡計", "m", "㎡");
    check("每坪３.3㎡計", "m2", "㎡");
    check("（㈠）甲", "一", "㈠");
    check("cafe\u{301} au", "é", "e\u{301}");
    check("上限２，４００元", "2,400", "２，４００");
}

#[test]
fn a_text_becomes_characters_bigrams_words_and_numbers() {
    let check = |input: &str, expected: &[&str]| assert_eq!(terms(input), expected, "{input}");
    check("事假", &["事", "事假", "假"]);
    check("事 假", &["事", "假"]);
    check("PPR-9087", &["ppr-9087", "ppr", "#9087"]);
    check("30-1", &["30-1", "#30", "#1"]);
    check("user_id", &["user_id", "user", "id"]);
    check("Employees' policies", &["employe", "polici"]);
    check("the employee\u{2019}s leave.", &["the", "employe", "leav"]);
    check("WFH要報備", &["wfh", "要", "要报", "报", "报备", "备"]);
    check("1,2,34", &["#1", "#2", "#34"]);
    check("", &[]);
    check("🙂……", &[]);
}

#[test]
fn a_number_is_one_term_however_it_is_written() {
    let check = |input: &str, expected: &str| {
        assert!(terms(input).contains(&expected.to_owned()), "{input}: {:?}", terms(input));
    };
    for spelling in ["2,400", "２，４００", "2400", "２４００", "兩千四百", "二千四百", "两千四百", "貳仟肆佰", "2.4千"]
    {
        check(spelling, "#2400");
    }
    for spelling in ["七日", "7日", "７ 日", "7天", "七天", "柒日"] {
        check(spelling, "#7日");
    }
    for spelling in ["5萬元", "50,000元", "五萬元", "50000 元"] {
        check(spelling, "#50000元");
    }
    for spelling in ["95%", "９５％", "百分之九十五"] {
        check(spelling, "#95%");
    }
    check("二〇二四年", "#2024年");
    check("3.50", "#3.5");
    let check_not =
        |input: &str, term: &str| assert!(!terms(input).contains(&term.to_owned()), "{input}: {:?}", terms(input));
    check_not("一定", "#1");
    check_not("三四天", "#34");
    check_not("百分之五", "#100");
}

#[test]
fn a_question_in_the_other_script_has_the_same_terms() {
    let pairs = [
        ("請問員工加班費怎麼計算？", "请问员工加班费怎么计算？"),
        ("舊制勞工退休金準備金專戶裡的餘額", "旧制劳工退休金准备金专户里的余额"),
        ("颱風天停止上班後補發薪資", "台风天停止上班后补发薪资"),
        ("製造業併購與僱傭關係", "制造业并购与雇佣关系"),
    ];
    for (traditional, simplified) in pairs {
        assert_eq!(terms(traditional), terms(simplified));
    }
}

#[test]
fn a_hundred_kilobytes_of_numerals_are_linear() {
    let text = "一十".repeat(17_000);
    // 34,000 characters, as many bigrams less one, and no number.
    assert_eq!(tokens(&text).len(), 67_999);
    assert_eq!(tokens(&"a-".repeat(50_000)).len(), 50_001);
    assert_eq!(tokens(&"1,".repeat(50_000)).len(), 50_000);
    assert_eq!(tokens(&format!("a{}", "\u{301}".repeat(50_000))).len(), 1);
}

proptest! {
    #[test]
    fn every_folded_byte_has_an_origin(text in "\\PC{0,40}|[ａ-ｚ０-９㎡㈠ﬁ裡é\u{301}\u{fdfa}ｶﾞ]{0,20}") {
        let folded = fold(&text);
        prop_assert_eq!(folded.origin.len(), folded.text.len() + 1);
        prop_assert!(folded.origin.is_sorted());
        prop_assert_eq!(folded.origin.last(), Some(&text.len()));
        prop_assert!(folded.origin.iter().all(|&at| text.is_char_boundary(at)));
    }

    #[test]
    fn every_token_stands_for_a_part_of_the_text(text in "\\PC{0,60}|[一-十百千萬年月日0-9０-９，,. a-zA-Z'_-]{0,60}") {
        for token in tokens(&text) {
            let part = token.span.of(&text);
            prop_assert!(part.is_some_and(|part| !part.is_empty()), "{:?}", token);
        }
    }
}
