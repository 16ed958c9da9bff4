use super::*;
use crate::analysis::Analysis;

fn matched(vocabulary: &Vocabulary, text: &str) -> Vec<(String, Vec<String>)> {
    let mut analysis = Analysis::default();
    analysis.run(text);
    let units = Units::of(&analysis);
    let mut found = Vec::new();
    for hit in vocabulary.matches(&units).iter().filter(|hit| !vocabulary.is_question_word(hit)) {
        let Some(form) = vocabulary.form_of(hit) else { continue };
        let mut forms = Vec::new();
        vocabulary.expansions(hit, |form, _| forms.push(vocabulary.form(form).folded.to_string()));
        found.push((vocabulary.form(form).folded.to_string(), forms));
    }
    found
}

#[test]
fn what_ships_can_be_read_and_finds_what_it_should() {
    let vocabulary = Vocabulary::builtin();
    let check = |question: &str, word: &str, expansion: &str| {
        let found = matched(&vocabulary, question);
        let hit = found.iter().find(|(found, _)| found == word);
        assert!(hit.is_some_and(|(_, forms)| forms.iter().any(|form| form == expansion)), "{question}: {found:?}");
    };
    check("請問年假有幾天", "年假", "特别休假");
    check("请问年假有几天", "年假", "特别休假");
    check("忘記打卡怎麼辦", "忘记打卡", "忘打卡");
    check("How much annual leave do I get", "annual leav", "特别休假");
    check("被開除有錢拿嗎", "被开除", "解雇");
    assert!(vocabulary.law_aliases().iter().any(|(alias, name)| &**alias == "劳基法" && &**name == "劳动基准法"));
}

#[test]
fn a_latin_word_is_matched_whole_and_the_longest_wins() {
    let text = "[[group]]\nterms = [\"pet\", \"寵物\"]\n[[group]]\nterms = [\"annual leave\", \"特休\"]\n[[group]]\nterms = [\"leave\", \"假\"]";
    let vocabulary = Vocabulary::with_operator_file("g.toml", &format!("replace = true\n{text}")).unwrap();
    let words = |question: &str| matched(&vocabulary, question).into_iter().map(|(word, _)| word).collect::<Vec<_>>();
    assert_eq!(words("a petition about a pet"), ["pet"]);
    assert_eq!(words("annual leave, leave and leaves"), ["annual leav", "leav", "leav"]);
    assert_eq!(words("我的pet特休"), ["pet", "特休"]);
    assert_eq!(words("PETS"), ["pet"]);
}

#[test]
fn an_operator_extends_groups_and_adds_laws() {
    let text = "[[group]]\nterms = [\"特別休假\", \"充電假\"]\n[[law]]\nname = \"本公司章程\"\nalias = [\"大法\"]\n[[topic]]\nname = \"茶水\"\nterms = [\"手搖飲\"]";
    let vocabulary = Vocabulary::with_operator_file("mine.toml", text).unwrap();
    let found = matched(&vocabulary, "充電假可以請幾天");
    assert!(found[0].1.contains(&"年假".to_owned()), "{found:?}");
    assert!(vocabulary.law_aliases().iter().any(|(alias, _)| &**alias == "大法"));
    let alone = Vocabulary::with_operator_file("mine.toml", &format!("replace = true\n{text}")).unwrap();
    assert!(matched(&alone, "年假").is_empty());
    assert!(alone.forms().len() < 10);
}

#[test]
fn shipped_groups_do_not_run_into_each_other() {
    let vocabulary = Vocabulary::builtin();
    let written = GLOSSARY.1.lines().filter(|line| *line == "[[group]]").count();
    let kept = vocabulary.groups.iter().filter(|group| !group.is_empty()).count();
    assert_eq!(kept, written, "two groups share a word after folding and stemming");
}

#[test]
fn a_broken_file_says_where() {
    let check = |text: &str, expected: &str| {
        let error = Vocabulary::with_operator_file("g.toml", text).unwrap_err().to_string();
        assert!(error.starts_with("g.toml: ") && error.contains(expected), "{error}");
    };
    check("[[group]]\nterms = [", "line 2");
    check("[[group]]\nterms = [\"a\"]\nweight = 3", "line 3");
    check("[[group]]\nterms = [\"a\"]\nweight = 3", "weight");
    check("\n\n[[hint]]\nsaid = []\nrules = [\"a\"]", "line 4: `said` is empty");
    check("[[law]]\nname = \"民法\"\nalias = [\"\"]", "line 3");
    check("[[group]]\nterms = [\"好\", \"……\"]", "has no letter or digit");
    check("colour = 1", "colour");
}
