//! Laws and rules in force, read whole. The folder with them is not part of the project; without it these tests say so
//! and pass.

#![expect(clippy::print_stderr, reason = "a skipped test must be heard")]
#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use bylaw_contract::{SourceName, sources::Structure};
use bylaw_corpus::{Document, ReferenceTarget, read};

fn data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: ../shared/data is absent");
    None
}

fn parse(path: &Path) -> Document {
    let name = SourceName::new(path.file_name().unwrap().to_str().unwrap()).unwrap();
    read(&name, &fs::read(path).unwrap()).unwrap()
}

fn markdown_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    files
}

fn hold(document: &Document, path: &Path) {
    let mut end = 0;
    let mut addresses = HashSet::new();
    for article in &document.articles {
        let words = article.span.of(&document.text).unwrap();
        assert!(
            article.span.start >= end && !words.is_empty() && words == words.trim(),
            "{path:?} {}",
            article.address
        );
        assert!(addresses.insert(&article.address), "{path:?} {}", article.address);
        assert!(article.references.iter().all(|reference| article.span.contains(reference.span)), "{path:?}");
        end = article.span.end;
    }
}

#[test]
fn every_labour_law_is_cut_at_each_of_its_articles() {
    let Some(data) = data() else { return };
    for (language, unit) in [("zh", "### 第"), ("en", "### Article")] {
        let (mut articles, mut resolved, mut missing, mut headings, mut others) = (0, 0, 0, 0, 0);
        for path in markdown_files(&data.join("labour-laws").join(language)) {
            let document = parse(&path);
            hold(&document, &path);
            assert_eq!(document.structure, Structure::Articles, "{path:?}");
            let marked = document.text.lines().filter(|line| line.starts_with(unit)).count();
            let found = document.articles.iter().filter(|article| article.address.main_number().is_some()).count();
            assert_eq!(found, marked, "{path:?}");
            articles += found;
            for reference in document.articles.iter().flat_map(|article| &article.references) {
                match reference.target {
                    ReferenceTarget::Articles { .. } => resolved += 1,
                    ReferenceTarget::Missing { .. } => missing += 1,
                    ReferenceTarget::Heading { .. } => headings += 1,
                    ReferenceTarget::OtherDocument { .. } => others += 1,
                }
            }
        }
        eprintln!(
            "labour-laws/{language}: {articles} articles; references to articles {resolved}, to headings {headings}, to \
             other documents {others}, missing {missing}"
        );
        assert!(resolved > 800, "{language}: {resolved} references resolved");
        assert!(missing * 20 < resolved, "{language}: {missing} references name an article that is not there");
    }
}

#[test]
fn the_work_rules_have_fifty_nine_articles() {
    let Some(data) = data() else { return };
    let path = data.join("trustrag/work_rules.md");
    let document = parse(&path);
    hold(&document, &path);
    assert_eq!(document.structure, Structure::Articles);
    let numbers: Vec<_> = document.articles.iter().filter_map(|article| article.address.main_number()).collect();
    assert_eq!(numbers, (1..=59).collect::<Vec<_>>());
    assert_eq!(document.articles[0].address.as_str(), "preamble");
    assert_eq!(document.articles.len(), 60);
}

#[test]
fn every_line_of_a_collection_is_a_record() {
    let Some(data) = data() else { return };
    for name in ["drcd-dev", "stard-gold", "labour-en2zh"] {
        let path = data.join(name).join("corpus.jsonl");
        let document = parse(&path);
        hold(&document, &path);
        assert_eq!(document.structure, Structure::Records);
        assert_eq!(document.articles.len(), fs::read_to_string(&path).unwrap().lines().count(), "{name}");
    }
}
