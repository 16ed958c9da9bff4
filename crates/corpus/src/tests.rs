//! What holds for every document: the span invariant, and the structure of the sample rulebooks.

use std::{fmt::Write as _, path::Path};

use bylaw_contract::{SourceName, sources::Structure};
use proptest::prelude::*;

use crate::{CorpusError, Document, ReferenceTarget, read};

fn parse(name: &str, text: &str) -> Document {
    read(&SourceName::new(name).unwrap(), text.as_bytes()).unwrap()
}

/// One line per article: headings, address, title, caption, first words.
fn outline(document: &Document) -> String {
    let mut text = format!("{:?} {:?} {:?}\n", document.title, document.language, document.structure);
    let mut above = Vec::new();
    for article in &document.articles {
        if article.heading_path != above {
            above.clone_from(&article.heading_path);
            let path: Vec<_> = above.iter().map(|h| format!("{} [{:?} {:?}]", h.text, h.kind, h.number)).collect();
            let _ = writeln!(text, "{}", path.join(" > "));
        }
        let words: String = document.text_of(article).chars().take(12).collect();
        let _ = writeln!(
            text,
            "  {:<10} {} | {:?} | {:?}",
            article.address.to_string(),
            article.title,
            article.caption,
            words
        );
        for reference in &article.references {
            let _ = writeln!(text, "    {:?} -> {:?}", reference.span.of(&document.text).unwrap(), reference.target);
        }
    }
    for warning in &document.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    text
}

/// The invariants of [`Document`].
fn hold(document: &Document) -> Result<(), TestCaseError> {
    let mut end = 0;
    let mut addresses = std::collections::HashSet::new();
    prop_assert!(!document.articles.is_empty());
    for article in &document.articles {
        prop_assert!(article.span.start >= end && article.span.end > article.span.start, "{:?}", article);
        let words = article.span.of(&document.text);
        prop_assert!(words.is_some_and(|words| !words.trim().is_empty() && words == words.trim()), "{:?}", article);
        prop_assert!(addresses.insert(&article.address), "{} twice", article.address);
        end = article.span.end;
        for reference in &article.references {
            prop_assert!(article.span.contains(reference.span) && reference.span.of(&document.text).is_some());
            if let ReferenceTarget::Articles { articles } = &reference.target {
                prop_assert!(!articles.is_empty() && !articles.contains(&article.address));
            }
        }
    }
    let known: std::collections::HashSet<_> = addresses;
    for reference in document.articles.iter().flat_map(|article| &article.references) {
        if let ReferenceTarget::Articles { articles } = &reference.target {
            prop_assert!(articles.iter().all(|address| known.contains(address)));
        }
    }
    Ok(())
}

fn sample(name: &str) -> Document {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/sample").join(name);
    parse(name, &std::fs::read_to_string(path).unwrap())
}

#[test]
fn the_sample_rulebooks_have_their_outline() {
    for (name, snapshot) in [("員工工作規則.md", "work_rules"), ("employee-handbook.md", "employee_handbook")] {
        let document = sample(name);
        hold(&document).unwrap();
        assert_eq!(document.structure, Structure::Articles);
        insta::assert_snapshot!(snapshot, outline(&document));
    }
}

#[test]
fn the_name_decides_the_extractor_and_the_limit() {
    for (name, extractor) in [
        ("規則.md", Some("markdown/1")),
        ("a/b.MARKDOWN", Some("markdown/1")),
        ("a.txt", Some("text/1")),
        ("a.htm", Some("html/1")),
        ("a.HTML", Some("html/1")),
        ("a.jsonl", Some("jsonl/1")),
        ("a.pdf", None),
        ("md", None),
        (".md", None),
        ("a.md/b", None),
    ] {
        assert_eq!(crate::extractor_of(name), extractor, "{name}");
        assert_eq!(crate::is_readable(name), extractor.is_some(), "{name}");
    }
    let read = |name: &str, bytes: &[u8]| read(&SourceName::new(name).unwrap(), bytes);
    assert!(matches!(read("a.pdf", b"x"), Err(CorpusError::UnsupportedFormat { .. })));
    assert!(matches!(read("a.md", b"a\xff"), Err(CorpusError::InvalidEncoding { offset: 1, .. })));
    assert!(matches!(read("a.jsonl", b"\xef\xbb\xbf\xff"), Err(CorpusError::InvalidEncoding { offset: 3, .. })));
    for (name, text) in [("a.md", ""), ("a.txt", " \n\0"), ("a.md", "---\n\n***"), ("a.html", "<p hidden>x</p>")] {
        assert!(matches!(read(name, text.as_bytes()), Err(CorpusError::Empty { .. })), "{text:?}");
    }
    let large = vec![b'a'; crate::MAX_DOCUMENT_BYTES + 1];
    assert!(matches!(read("a.txt", &large), Err(CorpusError::TooLarge { .. })));
}

fn fragment() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "第三條",
        "法",
        "辦法",
        "本",
        "條例",
        "│",
        "依",
        "及",
        "of the Act",
        "第 12 條之 1",
        "（目的）",
        "第一章 總則",
        "第二節",
        "附表一",
        "# ",
        "## ",
        "### ",
        "**",
        "> ",
        "| a | b |",
        "```",
        "---",
        "===",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "Article 4 ",
        "(Scope)",
        "Section 4.2 ",
        "§ 9",
        "4.2 Title",
        "Chapter II",
        "前條",
        "次條",
        "前二條",
        "第 3 條至第 5 條",
        "第三條、第五條及第七條",
        "本章",
        "第八章",
        "勞動基準法第 38 條",
        "《差旅辦法》",
        "（以下簡稱本法）",
        "本法第四條",
        "依請假辦法",
        "the preceding Article",
        "Articles 3 to 5",
        "this Part",
        "員工應於三日前申請。",
        "；",
        "「",
        "」",
        "👩‍💻",
        "e\u{301}",
        "２６",
        "　",
        " ",
        "\t",
        "\0",
        "\u{feff}",
        "〇",
        "一十",
        "第",
        "條",
        "之",
        "<b>",
        "</b>",
        "<p>",
        "<h2>",
        "</h2>",
        "&amp;",
    ])
    .prop_map(str::to_owned);
    prop_oneof![9 => fixed, 1 => ".{0,6}"]
}

proptest! {
    #[test]
    fn spans_hold_over_any_mixture(parts in prop::collection::vec(fragment(), 0..60), extension in prop::sample::select(vec!["md", "txt", "html"])) {
        let name = SourceName::new(format!("a.{extension}")).unwrap();
        if let Ok(document) = read(&name, parts.concat().as_bytes()) {
            hold(&document)?;
        }
    }

    #[test]
    fn spans_hold_over_any_text(text in "(?s).{0,200}", extension in prop::sample::select(vec!["md", "txt", "html"])) {
        let name = SourceName::new(format!("a.{extension}")).unwrap();
        if let Ok(document) = read(&name, text.as_bytes()) {
            hold(&document)?;
        }
    }
}
