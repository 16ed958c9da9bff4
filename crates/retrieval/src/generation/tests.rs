use super::*;
use crate::fixture::{HANDBOOK, RULES, fixture, input};

fn id(text: &str) -> ArticleId {
    text.parse().unwrap()
}

#[test]
fn a_generation_keeps_what_was_put_in() {
    let fixture = fixture(&[HANDBOOK, RULES]);
    let generation = &fixture.generation;
    assert_eq!(generation.number(), GenerationNumber(7));
    assert_eq!(generation.article_count(), 10);
    let source = generation.source(&SourceName::new("work_rules.md").unwrap()).unwrap();
    assert_eq!((source.first, source.articles), (Ordinal(2), 8));
    let input = input(RULES.0, RULES.1);
    for article in &input.document.articles {
        let ordinal = generation.find(&ArticleId::new(input.name.clone(), article.address.clone())).unwrap();
        let read = generation.article(ordinal).unwrap();
        assert_eq!(read.text, input.document.text_of(article));
        assert_eq!((&read.title, read.span, &read.caption), (&article.title, article.span, &article.caption));
        assert_eq!(read.heading_path, article.heading_path);
        assert_eq!(read.source_title.as_deref(), Some("工作規則"));
    }
    assert_eq!(generation.find(&id("work_rules.md#99")), None);
    assert_eq!(generation.find(&id("other.md#1")), None);
    assert!(generation.article(Ordinal(10)).is_err());
}

#[test]
fn references_go_both_ways() {
    let fixture = fixture(&[RULES]);
    let at = |article: &str| fixture.generation.find(&id(&format!("work_rules.md#{article}"))).unwrap();
    assert_eq!(fixture.generation.refers_to(at("41")), [at("26"), at("40")]);
    assert_eq!(fixture.generation.referred_by(at("27")), [at("28")]);
}

#[test]
fn articles_of_other_documents_are_found_by_the_name_of_the_law() {
    let law = "# 勞動基準法\n\n第三十八條\n勞工繼續工作滿一定期間者，應給予特別休假。\n\n第三十九條\n工資照給。\n";
    let rules = "# 工作規則\n\n第一條\n特別休假依勞動基準法第三十八條辦理。\n\n第二條\n施行。\n";
    let records = "{\"id\":\"x-2\",\"title\":\"差旅費辦法 第 2 條\",\"law\":\"差旅費辦法\",\"no\":\"2\",\"text\":\"依第 3 條及勞動基準法第三十八條。\"}\n\
                   {\"id\":\"x-3\",\"title\":\"差旅費辦法 第 3 條\",\"law\":\"差旅費辦法\",\"no\":\"3\",\"text\":\"檢據報支。\"}\n";
    let fixture = fixture(&[("law.md", law), ("orders.jsonl", records), ("rules.md", rules)]);
    let at = |text: &str| fixture.generation.find(&id(text)).unwrap();
    assert_eq!(fixture.generation.refers_to(at("rules.md#1")), [at("law.md#38")]);
    assert_eq!(fixture.generation.refers_to(at("orders.jsonl#x-2")), [at("law.md#38"), at("orders.jsonl#x-3")]);
    assert_eq!(fixture.generation.referred_by(at("law.md#38")), [at("orders.jsonl#x-2"), at("rules.md#1")]);
}

#[test]
fn an_empty_generation_answers_with_nothing() {
    let generation = Generation::empty(Arc::new(Vocabulary::builtin()));
    let query = Query { question: "特休第26條", k: 5, filter: Filter::default(), follow_references: true };
    let found = generation.search(&query).unwrap();
    assert!(found.hits.is_empty());
    assert_eq!(found.question.missing_citations, ["第26條"]);
    assert!(!generation.visible(None).unwrap().knows("特休"));
    assert!(generation.visible(None).unwrap().idf("特休").is_finite());
    // Nothing ingested is a generation too.
    assert_eq!(fixture(&[]).generation.article_count(), 0);
}

#[test]
fn knowing_a_word_means_that_it_stands_somewhere() {
    let fixture = fixture(&[HANDBOOK, RULES]);
    let visible = fixture.generation.visible(None).unwrap();
    let check = |folded: &str, expected| assert_eq!(visible.knows(folded), expected, "{folded}");
    check("加班", true);
    check("特别休假", true);
    check("假", true);
    check("remot", true);
    check("annual leav", true);
    check("leav annual", false);
    check("健身房", false);
    // 休假 and 假三 stand side by side, 日休 does not: each bigram alone is not enough.
    check("休假三日", true);
    check("别休别", false);
    check("", false);
    assert!(visible.idf("健身") > visible.idf("病假"));
    assert!(visible.idf("病假") > visible.idf("日"));
}

#[test]
fn a_damaged_generation_is_refused_with_a_reason() {
    let vocabulary = || Arc::new(Vocabulary::builtin());
    let check = |damage: &dyn Fn(&Path), expected: &str| {
        let fixture = fixture(&[RULES]);
        damage(fixture.folder.path());
        let error = Generation::open(fixture.folder.path(), vocabulary()).unwrap_err();
        assert!(format!("{error:?} {error}").contains(expected), "{error:?}");
    };
    let truncate = |name: &'static str| {
        move |folder: &Path| {
            let bytes = std::fs::read(folder.join(name)).unwrap();
            std::fs::write(folder.join(name), &bytes[..bytes.len() - 1]).unwrap();
        }
    };
    check(&|folder| std::fs::remove_file(folder.join("meta.json")).unwrap(), "never finished");
    check(&|folder| std::fs::write(folder.join("meta.json"), "{").unwrap(), "meta.json cannot be read");
    check(&|folder| std::fs::remove_file(folder.join("articles.jsonl")).unwrap(), "a file is missing");
    check(&|folder| std::fs::remove_dir_all(folder.join("index")).unwrap(), "the lexical index cannot be read");
    check(&truncate("articles.jsonl"), "articles.jsonl is not what was written");
    check(&truncate("tables.bin"), "tables.bin is not what was written");
    check(
        &|folder| {
            let mut bytes = std::fs::read(folder.join("tables.bin")).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            std::fs::write(folder.join("tables.bin"), bytes).unwrap();
        },
        "tables.bin is not what was written",
    );
    check(
        &|folder| {
            let meta = std::fs::read_to_string(folder.join("meta.json")).unwrap();
            let revision = format!("\"analysis\":{}", crate::analysis::REVISION);
            std::fs::write(folder.join("meta.json"), meta.replace(&revision, "\"analysis\":0")).unwrap();
        },
        "Outdated",
    );
}

#[test]
fn a_cancelled_or_misordered_build_leaves_no_generation() {
    let folder = tempfile::tempdir().unwrap();
    let mut sources = std::iter::once(input(RULES.0, RULES.1));
    let stopped = build(folder.path(), GenerationNumber(1), &mut sources, 8, &mut |_| false);
    assert!(matches!(stopped, Err(GenerationError::Cancelled)));
    assert!(Generation::open(folder.path(), Arc::new(Vocabulary::builtin())).is_err());
    // The half-built folder is not built over.
    let again = build(folder.path(), GenerationNumber(1), &mut std::iter::empty(), 0, &mut |_| true);
    assert!(matches!(again, Err(GenerationError::Damaged { .. })));

    let folder = tempfile::tempdir().unwrap();
    let mut sources = [input(RULES.0, RULES.1), input(HANDBOOK.0, HANDBOOK.1)].into_iter();
    let misordered = build(folder.path(), GenerationNumber(1), &mut sources, 0, &mut |_| true);
    assert!(matches!(misordered, Err(GenerationError::Damaged { .. })));
}

#[test]
fn the_longest_name_at_a_place_is_found() {
    let mut laws = tables::Texts::default();
    for name in ["刑法", "劳动基准法", "劳动基准法施行细则", "民法", "民法总则施行法"] {
        laws.push(name);
    }
    let check = |text: &str, expected: Option<&str>| {
        assert_eq!(laws::longest_prefix(&laws, text).map(|length| &text[..length]), expected, "{text}");
    };
    check("劳动基准法施行细则第一条", Some("劳动基准法施行细则"));
    check("劳动基准法施行", Some("劳动基准法"));
    check("劳动基准法", Some("劳动基准法"));
    check("民法总则第一条", Some("民法"));
    check("民事诉讼法", None);
    check("", None);
}
