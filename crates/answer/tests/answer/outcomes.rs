//! What kind of answer a question gets without a model.

use crate::rulebook::{Rulebook, quoted};
use bylaw_contract::{Outcome, ask::Mode};

const RULES: &str = "# 員工工作規則\n\n\
## 第一章 總則\n\n### 第一條（目的）\n\n本規則依勞動基準法訂定。\n\n\
## 第二章 工作時間與休假\n\n\
### 第二十六條（特別休假）\n\n員工繼續服務滿六個月未滿一年者，特別休假三日；滿一年未滿二年者，七日；滿二年未滿三年者，十日。\n\n\
### 第二十七條（事假）\n\n事假一年合計不得超過十四日，不給工資。\n\n\
### 第二十八條（病假）\n\n普通傷病假未住院者，一年合計不得超過三十日；工資折半發給。\n\n\
### 第二十九條（停車）\n\n員工停車位之分配，依《停車場管理辦法》辦理。\n\n\
## 第三章 出差\n\n\
### 第四十條（住宿標準）\n\n國內住宿費每日上限新臺幣２，４００元，檢據核實報支。國外住宿費每日上限 150 美元。\n\n\
### 第四十一條（報支）\n\n出差返回後十四日內辦理報支，由部門主管核准；逾期者不予受理。\n\n\
### 第五十條（未盡事宜）\n\n本規則未規定之事項，適用勞動基準法及其他有關法令。\n";

async fn check(rules: &Rulebook, question: &str, outcome: Outcome, holds: &str, lacks: &str) {
    let answer = rules.ask(question, Mode::Extract).await;
    let text: String = quoted(&answer).into_iter().map(|(_, text)| text).collect();
    assert_eq!(answer.outcome, outcome, "{question}: {text}");
    assert!(text.contains(holds), "{question}: {text}");
    assert!(lacks.is_empty() || !text.contains(lacks), "{question}: {text}");
    let answered = outcome == Outcome::Answered;
    assert_eq!(answer.answer.is_some(), answered, "{question}");
    assert_eq!(answer.extract.is_none(), answered, "{question}");
    assert_eq!(answer.citations.iter().any(|citation| citation.used), answered, "{question}");
    for citation in &answer.citations {
        for quote in &citation.quotes {
            assert_eq!(quote.span.of(&citation.text), Some(quote.text.as_str()));
        }
    }
}

#[tokio::test]
async fn each_question_ends_as_it_should() {
    use Outcome::{Answered, Insufficient, NotInRules, NotUnderstood, RuledElsewhere};
    let rules = Rulebook::of(&[("work_rules.md", RULES)]);
    let rows = [
        ("事假一年幾天？", Answered, "十四日", "三十日"),
        ("事假一年几天？", Answered, "十四日", "三十日"),
        ("How many days of personal leave a year?", Answered, "十四日", "三十日"),
        ("滿一年特別休假幾天", Answered, "七日", "十日"),
        ("滿二年特別休假幾天", Answered, "十日", "七日"),
        ("國外出差住宿費上限多少？", Answered, "150 美元", "２，４００"),
        ("國內出差住宿費上限多少？", Answered, "２，４００元", "150"),
        ("出差回來幾天內要報支？", Answered, "十四日內", ""),
        ("出差報支由誰核准？", Answered, "部門主管", ""),
        ("出差報支逾期會怎樣？", Answered, "不予受理", ""),
        ("沒住院的病假一年幾天？", Answered, "三十日", "十四日"),
        ("停車位怎麼分配？", RuledElsewhere, "《停車場管理辦法》", ""),
        ("事假要提前幾天申請？", Insufficient, "", ""),
        ("公司有健身房或運動補助嗎", NotInRules, "", ""),
        ("員工可以帶寵物上班嗎", NotInRules, "", ""),
        ("Is there a stock option plan?", NotInRules, "", ""),
        ("第九十九條規定什麼", NotInRules, "", ""),
        ("咕嚕嚕啵啵", NotUnderstood, "", ""),
    ];
    for (question, outcome, holds, lacks) in rows {
        check(&rules, question, outcome, holds, lacks).await;
    }
}

#[tokio::test]
async fn both_subjects_of_one_question_are_answered() {
    let rules = Rulebook::of(&[("work_rules.md", RULES)]);
    let rows = [
        ("事假和病假各可以請幾天？", "十四日", "三十日"),
        ("事假一年幾天？病假一年又幾天？", "十四日", "三十日"),
        ("病假一年幾天，薪水怎麼給？", "三十日", "工資折半發給"),
        ("報支要幾天內，超過的話會怎樣？", "十四日內", "不予受理"),
        ("出差報支由誰核准，幾天內要辦？", "部門主管", "十四日內"),
    ];
    for (question, one, other) in rows {
        check(&rules, question, Outcome::Answered, one, "").await;
        check(&rules, question, Outcome::Answered, other, "").await;
    }
}

#[tokio::test]
async fn a_question_in_simplified_quotes_the_original() {
    let rules = Rulebook::of(&[("work_rules.md", RULES)]);
    check(&rules, "特别休假满一年几天", Outcome::Answered, "滿一年未滿二年者，七日", "").await;
}

#[tokio::test]
async fn an_article_that_does_not_exist_is_named() {
    let rules = Rulebook::of(&[("work_rules.md", RULES)]);
    let answer = rules.ask("第九十九條規定什麼", Mode::Extract).await;
    assert_eq!(answer.outcome, Outcome::NotInRules);
    assert_eq!(answer.warnings, ["規章裡找不到「第九十九條」。"]);
    assert!(rules.ask("第二十六條規定什麼", Mode::Extract).await.warnings.is_empty());
}
