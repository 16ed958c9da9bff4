use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::analysis::tokens;

fn index_of(texts: &[String]) -> (tempfile::TempDir, LexicalIndex) {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create(folder.path()).unwrap();
    for text in texts {
        writer.add(std::iter::once(text.as_str())).unwrap();
    }
    writer.finish().unwrap();
    let index = LexicalIndex::open(folder.path(), u32::try_from(texts.len()).unwrap(), RESIDENT_TOKENS).unwrap();
    (folder, index)
}

/// The postings of a term, counted from the texts themselves.
fn counted(texts: &[String], term: &str) -> Vec<Posting> {
    let count = |text: &String| tokens(text).iter().filter(|token| token.term == term).count();
    let counts = texts.iter().map(count).enumerate();
    counts
        .filter(|&(_, count)| count > 0)
        .map(|(ordinal, count)| Posting {
            ordinal: u32::try_from(ordinal).unwrap(),
            count: u32::try_from(count).unwrap(),
        })
        .collect()
}

/// BM25 by the book, with lengths as tantivy rounds them.
fn bm25(texts: &[String], term: &str, ordinal: u32) -> f64 {
    let length = |text: &String| tokens(text).len();
    let rounded = |length: usize| {
        let id = (0..=u8::MAX).rev().find(|&id| FieldNormReader::id_to_fieldnorm(id) as usize <= length).unwrap();
        f64::from(FieldNormReader::id_to_fieldnorm(id))
    };
    let average = texts.iter().map(length).sum::<usize>() as f64 / texts.len() as f64;
    let postings = counted(texts, term);
    let Some(posting) = postings.iter().find(|posting| posting.ordinal == ordinal) else { return 0.0 };
    let (n, df, tf) = (texts.len() as f64, postings.len() as f64, f64::from(posting.count));
    let norm = 1.0 - 0.75 + 0.75 * rounded(length(&texts[ordinal as usize])) / average;
    (1.0 + (n - df + 0.5) / (df + 0.5)).ln() * tf * 2.2 / (tf + 1.2 * norm)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn postings_and_scores_are_those_of_the_book(texts in prop::collection::vec("[假日事病特休工a-c7 ]{0,30}", 1..8)) {
        let (_folder, index) = index_of(&texts);
        let all: BTreeMap<String, ()> = texts.iter().flat_map(|text| tokens(text)).map(|token| (token.term, ())).collect();
        for term in all.keys() {
            let found = index.term(term, terms::key(term)).unwrap().unwrap();
            let mut postings = Vec::new();
            index.each(&found, |posting| postings.push(posting)).unwrap();
            prop_assert_eq!(&postings, &counted(&texts, term));
            for posting in postings {
                let score = index.idf(found.articles) * index.saturation(index.lengths(), posting);
                let expected = bm25(&texts, term, posting.ordinal);
                prop_assert!((f64::from(score) - expected).abs() < 1e-4, "{} {} {}", term, score, expected);
            }
        }
    }
}

#[test]
fn the_disk_and_the_memory_say_the_same() {
    let texts: Vec<String> = (0..400).map(|n| format!("第 {n} 件事假 {} 日", n % 7)).collect();
    let (_folder, resident) = index_of(&texts);
    assert!(resident.is_resident());
    let index = Index::open_in_dir(_folder.path()).unwrap();
    let segment = tantivy::SegmentReader::open(&index.searchable_segments().unwrap()[0]).unwrap();
    let inverted = segment.inverted_index(index.schema().get_field(write::FIELD).unwrap()).unwrap();
    let disk = LexicalIndex {
        storage: Storage::Disk(inverted),
        documents: resident.documents,
        norms: resident.norms.clone(),
        length: resident.length.clone(),
    };
    for term in ["事假", "#3日", "件"] {
        let postings = |index: &LexicalIndex| {
            let found = index.term(term, terms::key(term)).unwrap().unwrap();
            let mut postings = Vec::new();
            index.each(&found, |posting| postings.push(posting)).unwrap();
            assert_eq!(found.articles as usize, postings.len());
            postings
        };
        assert_eq!(postings(&resident), postings(&disk), "{term}");
    }
    assert!(disk.term("沒有", terms::key("沒有")).unwrap().is_none());
}

#[test]
fn a_folder_of_another_size_is_refused() {
    let (folder, _index) = index_of(&["一".to_owned(), "二".to_owned()]);
    assert!(LexicalIndex::open(folder.path(), 3, RESIDENT_TOKENS).is_err());
}
